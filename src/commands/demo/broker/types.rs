//! What the broker's owner hands over, and the errors it gets back.

use std::net::SocketAddr;

use bytes::Bytes;

/// A topic to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSpec {
    pub name: String,
    pub partitions: i32,
}

/// A record to append.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    pub key: Option<Bytes>,
    /// `None` is a tombstone.
    pub value: Option<Bytes>,
    pub timestamp_ms: i64,
    /// `None` takes the next offset; a larger one leaves a hole, as compaction does.
    pub offset: Option<i64>,
}

/// The control record that ends a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    pub producer_id: i64,
    /// Committed, else aborted.
    pub commit: bool,
    pub timestamp_ms: i64,
    /// As in [`Record`].
    pub offset: Option<i64>,
}

/// What the broker cannot do for its owner.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    #[error("embedded broker cannot listen on {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: std::io::Error,
    },
    #[error("topic {topic} exists already")]
    TopicExists { topic: String },
    #[error("topic {topic} with {partitions} partitions is beyond the embedded broker's limits")]
    TopicRefused { topic: String, partitions: i32 },
    #[error("topic {topic} does not exist")]
    UnknownTopic { topic: String },
    #[error("partition {partition} of topic {topic} does not exist")]
    UnknownPartition { topic: String, partition: i32 },
    #[error("offset {offset} lies before the log end {end_offset}")]
    OffsetBehindEnd { offset: i64, end_offset: i64 },
    #[error("record batch not encoded: {0}")]
    Encode(String),
}
