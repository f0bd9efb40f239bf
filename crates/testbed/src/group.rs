//! A Connect group as it runs: its id, its three topics, the names of its workers.

use serde::{Deserialize, Serialize};

/// What somebody who watches the group must know of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    pub group_id: String,
    pub config_topic: String,
    pub offset_topic: String,
    pub status_topic: String,
    /// Names of its workers, also of stopped ones.
    pub workers: Vec<String>,
}
