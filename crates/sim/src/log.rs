//! The three topics as they are on the brokers.

use evenkeel_core::facts::input::{Record, Topic};
use evenkeel_core::facts::time::EventTime;

/// Partitions of the status topic.
pub const STATUS_PARTITIONS: i32 = 5;

/// One entry of a partition.
#[derive(Debug, Clone)]
pub struct Entry {
    /// When it was written, in true time.
    pub written_ms: i64,
    /// When a reader can see it.
    pub visible_ms: i64,
    /// The record; `None` for what a reader of the group never sees: markers, and records
    /// of others.
    pub record: Option<Record>,
}

/// The topics.
#[derive(Debug, Clone, Default)]
pub struct Logs {
    offsets: Vec<Entry>,
    config: Vec<Entry>,
    status: [Vec<Entry>; 5],
}

/// A record to write.
#[derive(Debug, Clone)]
pub struct Written {
    /// When, in true time.
    pub now_ms: i64,
    /// What its writer's clock says.
    pub stamp_ms: i64,
    /// How long until it is seen.
    pub replication_ms: i64,
    /// Leader epoch of the partition.
    pub epoch: i32,
    /// Key and value; `None` is an offset without a record.
    pub content: Option<(Vec<u8>, Option<Vec<u8>>)>,
}

/// Each topic and partition there is.
pub fn partitions() -> impl Iterator<Item = (Topic, i32)> {
    let status = (0..STATUS_PARTITIONS).map(|partition| (Topic::Status, partition));
    [(Topic::Offsets, 0), (Topic::Config, 0)]
        .into_iter()
        .chain(status)
}

/// Where a key of the status topic lies: any fixed spread will do.
#[must_use]
pub fn status_partition(key: &[u8]) -> i32 {
    let mut hash = 0xcbf2_9ce4_u32;
    for byte in key {
        hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    }
    i32::try_from(hash % 5).unwrap_or(0)
}

// === impl Logs ===

impl Logs {
    /// The entries of a partition.
    #[must_use]
    pub fn partition(&self, topic: Topic, partition: i32) -> &[Entry] {
        match topic {
            Topic::Offsets => &self.offsets,
            Topic::Config => &self.config,
            Topic::Status => usize::try_from(partition)
                .ok()
                .and_then(|at| self.status.get(at))
                .map_or(&[], Vec::as_slice),
        }
    }

    /// Appends.
    pub fn append(&mut self, topic: Topic, partition: i32, written: Written) {
        let entries = match topic {
            Topic::Offsets => &mut self.offsets,
            Topic::Config => &mut self.config,
            Topic::Status => &mut self.status[usize::try_from(partition).unwrap_or(0) % 5],
        };
        let offset = i64::try_from(entries.len()).unwrap_or(i64::MAX);
        let seen_ms = entries.last().map_or(i64::MIN, |last| last.visible_ms);
        let record = written.content.map(|(key, value)| Record {
            topic,
            partition,
            offset,
            leader_epoch: Some(written.epoch),
            timestamp: Some(EventTime(written.stamp_ms)),
            append_time: false,
            key: Some(key),
            value,
        });
        entries.push(Entry {
            written_ms: written.now_ms,
            visible_ms: (written.now_ms + written.replication_ms).max(seen_ms),
            record,
        });
    }

    /// The offset after the last entry that could be seen at an instant.
    #[must_use]
    pub fn end_at(&self, topic: Topic, partition: i32, true_ms: i64) -> i64 {
        let entries = self.partition(topic, partition);
        let seen = entries
            .iter()
            .take_while(|entry| entry.visible_ms <= true_ms);
        i64::try_from(seen.count()).unwrap_or(i64::MAX)
    }
}
