//! What brokers say of themselves and of the group's topics: settings and shapes that no
//! record shows. Asked rarely, and only what a check compares.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::input::Trouble;

/// What the brokers of the cluster said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// How many brokers were there; none where nobody said.
    pub brokers: Option<u32>,
    /// Settings of the broker that coordinates the group.
    pub coordinator: Told,
    /// The topics that the group's workers and its coordinator write.
    pub topics: Vec<ClusterTopic>,
}

/// One topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterTopic {
    /// What it is for.
    pub role: TopicRole,
    /// Its name.
    pub name: String,
    /// How many partitions it has.
    pub partitions: Option<u32>,
    /// The least number of replicas that one of them has.
    pub replicas: Option<u32>,
    /// Why its shape was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
    /// Its settings.
    pub settings: Told,
}

/// Settings by name, or why they were not told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Of what was asked for, what is set or holds by default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// Why nothing was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
}

/// What a topic is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopicRole {
    /// `config.storage.topic`.
    Config,
    /// `offset.storage.topic`.
    Offset,
    /// `status.storage.topic`.
    Status,
    /// Where the coordinator keeps groups: `__consumer_offsets`.
    Groups,
}

/// The least session that a coordinator allows.
pub const SESSION_MIN: &str = "group.min.session.timeout.ms";
/// The longest session that a coordinator allows.
pub const SESSION_MAX: &str = "group.max.session.timeout.ms";
/// How long the first round of a group waits.
pub const INITIAL_DELAY: &str = "group.initial.rebalance.delay.ms";
/// What becomes of old records of a topic.
pub const CLEANUP: &str = "cleanup.policy";
/// The largest batch of records that a topic takes.
pub const MESSAGE_MAX: &str = "max.message.bytes";

/// What is asked of the coordinator.
pub const COORDINATOR_SETTINGS: [&str; 3] = [SESSION_MIN, SESSION_MAX, INITIAL_DELAY];

/// What is asked of a topic.
pub const TOPIC_SETTINGS: [&str; 2] = [CLEANUP, MESSAGE_MAX];

// === impl TopicRole ===

impl TopicRole {
    /// The worker's setting that names it; the groups' topic has none.
    #[must_use]
    pub fn setting(self) -> Option<&'static str> {
        match self {
            Self::Config => Some("config.storage.topic"),
            Self::Offset => Some("offset.storage.topic"),
            Self::Status => Some("status.storage.topic"),
            Self::Groups => None,
        }
    }
}

// === impl Told ===

impl Told {
    /// Nothing, for this reason.
    #[must_use]
    pub fn failed(trouble: Trouble) -> Self {
        Self {
            values: BTreeMap::new(),
            trouble: Some(trouble),
        }
    }

    /// A number that was told.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i64> {
        self.values.get(name)?.trim().parse().ok()
    }
}

// === impl Cluster ===

impl Cluster {
    /// The rights without which something was not told: operation and resource, as Kafka
    /// names them.
    #[must_use]
    pub fn rights_missing(&self) -> Vec<(&'static str, String)> {
        let is_denied = |trouble| trouble == Some(Trouble::Denied);
        let mut missing = Vec::new();
        if is_denied(self.coordinator.trouble) {
            missing.push(("DESCRIBE_CONFIGS", "the cluster".to_owned()));
        }
        for topic in &self.topics {
            let resource = || format!("topic {}", topic.name);
            if is_denied(topic.trouble) {
                missing.push(("DESCRIBE", resource()));
            }
            if is_denied(topic.settings.trouble) {
                missing.push(("DESCRIBE_CONFIGS", resource()));
            }
        }
        missing
    }
}
