//! Pieces of work, and sets of them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Kafka's task number for the connector instance itself.
pub const CONNECTOR: i32 = -1;

/// A connector instance or one of its tasks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Item {
    /// The connector's name.
    pub connector: Arc<str>,
    /// The task; [`CONNECTOR`] is the instance.
    pub task: i32,
}

/// Work as a set: lists on the wire may name a piece twice and mean it once.
pub type Work = BTreeSet<Item>;

// === impl Item ===

impl Item {
    /// A piece of work.
    #[must_use]
    pub fn new(connector: &str, task: i32) -> Self {
        Self {
            connector: Arc::from(connector),
            task,
        }
    }

    /// Whether it is the connector instance.
    #[must_use]
    pub fn is_connector(&self) -> bool {
        self.task == CONNECTOR
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_connector() {
            write!(f, "{}", self.connector)
        } else {
            write!(f, "{}-{}", self.connector, self.task)
        }
    }
}

/// What is in `left` and not in `right`.
#[must_use]
pub fn minus(left: &Work, right: &Work) -> Work {
    left.difference(right).cloned().collect()
}

/// How many connectors and how many tasks.
#[must_use]
pub fn counts(work: &Work) -> (usize, usize) {
    let connectors = work.iter().filter(|item| item.is_connector()).count();
    (connectors, work.len() - connectors)
}
