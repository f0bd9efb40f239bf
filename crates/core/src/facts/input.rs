//! What the engine is fed, and what a capture holds: bytes with coordinates, answers
//! to questions about the log's end, changes of rights, settings, ticks.
//!
//! Values of the config and status topics are redacted before they become an input
//! (`wire::redact`), so nothing above the reader ever holds a secret.

use serde::{Deserialize, Serialize};

use crate::facts::cluster::Cluster;
use crate::facts::poll::Polled;
use crate::facts::time::{ArrivalTime, EventTime};

/// One of the three topics that evenkeel reads: the label `input`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// The one partition of `__consumer_offsets` that holds the group.
    Offsets,
    /// `config.storage.topic`.
    Config,
    /// `status.storage.topic`.
    Status,
}

/// One thing that reached the agent, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// When the agent had it in hand.
    pub at: ArrivalTime,
    /// What it is.
    pub kind: InputKind,
}

/// The kinds of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputKind {
    /// What the agent watches; first of all, and again when it changes.
    Settings(Settings),
    /// Reading of a partition begins, or begins anew.
    Start(Start),
    /// A record. Of the offsets topic only those of the watched group.
    Record(Record),
    /// Everything below an offset was read, holes and markers included. Only said
    /// where the last record's offset does not already show it.
    Reached(Reached),
    /// Records of the group are left out from now on, or none any more.
    Sampled(Sampled),
    /// Where a topic's partitions end.
    Ends(Ends),
    /// A topic became readable, or stopped being so.
    Access(Access),
    /// The group's coordinator was asked for its state.
    Polled(Polled),
    /// Brokers said how they and the topics are set.
    Cluster(Cluster),
    /// Time passed.
    Tick,
}

/// What the agent watches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Kafka's cluster id, where the broker told it.
    pub cluster_id: Option<String>,
    /// The worker setting `group.id`.
    pub group: String,
    /// Name of the offsets topic (`__consumer_offsets`).
    pub offsets_topic: String,
    /// The partition of it that holds the group.
    pub offsets_partition: i32,
    /// The worker setting `config.storage.topic`.
    pub config_topic: String,
    /// How many partitions it has; Connect wants exactly one.
    pub config_partitions: i32,
    /// The worker setting `status.storage.topic`.
    pub status_topic: String,
    /// How many partitions it has.
    pub status_partitions: i32,
    /// The Kafka release of the workers, where a person stated it; it decides how
    /// the config topic is applied in order (KAFKA-16838), never a count.
    pub worker_release: Option<String>,
    /// `host:port` of the worker beside this agent, where a person or its file says so.
    pub own_worker: Option<String>,
    /// The addresses of the machine that the agent runs on, without loopback.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_addresses: Vec<String>,
    /// The timing settings of the worker beside this agent, from its file: values that
    /// no record shows. Shown only on series of that worker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worker_settings: Vec<WorkerSetting>,
    /// Whether connector names were replaced before they became an input
    /// (`wire::mask`): what is called a name is a code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
}

/// A setting of a worker, and where it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSetting {
    /// Kafka's name of it.
    pub name: String,
    /// Its value, as written; empty where the name alone is told.
    pub value: String,
    /// File and line, or environment variable.
    pub source: String,
}

/// Reading of a partition begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Of which topic.
    pub topic: Topic,
    /// Which partition.
    pub partition: i32,
    /// The first offset that will be read.
    pub offset: i64,
    /// The log's end when reading began: records from here on are watched live,
    /// those before are history.
    pub end: i64,
    /// Whether the topic is another one than before (deleted and created again),
    /// so that everything read from it so far no longer holds.
    pub anew: bool,
}

/// A record of one of the three topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Of which topic.
    pub topic: Topic,
    /// Which partition.
    pub partition: i32,
    /// Its offset.
    pub offset: i64,
    /// Leader epoch of the batch it came in, where the log has one.
    pub leader_epoch: Option<i32>,
    /// Its timestamp; `None` when the log has none.
    pub timestamp: Option<EventTime>,
    /// Whether the broker stamped it (`LogAppendTime`) instead of the writer.
    pub append_time: bool,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// Its value; `None` is a tombstone.
    pub value: Option<Vec<u8>>,
}

/// Everything below `offset` was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Of which topic.
    pub topic: Topic,
    /// Which partition.
    pub partition: i32,
    /// The next offset that may hold something.
    pub offset: i64,
}

/// Whether only the newest of the group's records are read, since all of them were beyond
/// the byte budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// Which partition of the offsets topic.
    pub partition: i32,
    /// Everything below was read or left out.
    pub offset: i64,
    /// Whether it goes on so; if not, all that comes is read again.
    pub on: bool,
}

/// Where the partitions of one topic end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ends {
    /// Of which topic.
    pub topic: Topic,
    /// When the question was sent: the answer proves nothing about records written later.
    pub asked: ArrivalTime,
    /// Partition and the offset after its last readable record.
    pub ends: Vec<(i32, i64)>,
}

/// Whether a topic can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Of which topic.
    pub topic: Topic,
    /// Why not; `None` when it can.
    pub trouble: Option<Trouble>,
    /// When the question was sent that found it so; `None` where no question did. It proves
    /// nothing about what was written later: the topic may have come, or the right to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<ArrivalTime>,
}

/// Why a topic cannot be read: a closed set, shown as a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// READ or DESCRIBE on the topic is missing.
    Denied,
    /// No such topic or partition.
    Missing,
    /// No broker answers.
    Unreachable,
    /// The broker refuses who we are.
    Unauthenticated,
    /// Another error; the log names it.
    Other,
}

// === impl Topic ===

impl Topic {
    /// All three, in the order they are shown.
    pub const ALL: [Self; 3] = [Self::Offsets, Self::Config, Self::Status];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Offsets => "offsets",
            Self::Config => "config",
            Self::Status => "status",
        }
    }
}

// === impl Trouble ===

impl Trouble {
    /// The reason as `/readyz` and the log say it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Missing => "missing",
            Self::Unreachable => "unreachable",
            Self::Unauthenticated => "unauthenticated",
            Self::Other => "other",
        }
    }

    /// Whether it lasts until somebody changes something: waiting for the topic is in vain.
    #[must_use]
    pub fn lasts(self) -> bool {
        matches!(self, Self::Denied | Self::Missing)
    }
}
