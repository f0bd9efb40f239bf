//! Decides, when a topic is reached again, whether reading goes on where it was or
//! begins again, and whether it is still the same topic.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use evenkeel_core::facts::input::Topic;
use serde::{Deserialize, Serialize};

use super::frontier::Progress;

/// How far another process read the topics of a group: where this one goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadTo {
    /// Each topic that it began to read.
    pub topics: BTreeMap<Topic, TopicReadTo>,
    /// The number that its next new content of a configuration would have got.
    pub contents: u32,
}

/// How far one topic was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicReadTo {
    /// Partition and the offset below which everything was read.
    pub positions: Vec<(i32, i64)>,
    /// Partition and leader epoch of the last record that was passed on.
    pub epochs: Vec<(i32, i32)>,
    /// Which topic it was.
    pub identity: Identity,
}

/// Where a partition begins and ends now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) partition: i32,
    pub(super) low: i64,
    pub(super) end: i64,
}

/// What was read of a topic by clients before.
#[derive(Debug, Default)]
pub(super) struct Saved {
    /// How far each partition is that reading began of.
    pub(super) positions: BTreeMap<i32, Progress>,
    /// Leader epoch of the last record of each partition.
    pub(super) epochs: BTreeMap<i32, i32>,
    /// Which topic it was, as far as known.
    pub(super) identity: Identity,
    /// What went wrong since.
    pub(super) trouble: PastTrouble,
    /// Whether another process read it, so that where reading goes on has to be said.
    pub(super) is_inherited: bool,
}

/// Signs that a topic may have been replaced.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PastTrouble {
    /// It was gone for a while.
    pub(super) was_missing: bool,
    /// Its log was shorter than what was read, or its leader epochs went back.
    pub(super) was_replaced: bool,
    /// The next offset to read was not there.
    pub(super) was_out_of_range: bool,
}

/// What tells a topic from another one of the same name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Kafka's id of the cluster, where the broker told it.
    pub cluster_id: Option<String>,
    /// Kafka's id of the topic, where the broker told it (KIP-516).
    pub topic_id: Option<[i64; 2]>,
}

/// How to go on with a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resume {
    /// Where it was, saying nothing.
    Continue(Progress),
    /// From the beginning, saying so.
    Begin { anew: bool },
}

/// How to go on with each partition, in the order of `bounds`.
pub(super) fn resume(saved: &Saved, now: &Identity, bounds: &[Bounds]) -> Vec<Resume> {
    let PastTrouble {
        was_missing,
        was_replaced,
        was_out_of_range,
    } = saved.trouble;
    let is_any = |is: fn(i64, &Bounds) -> bool| {
        bounds.iter().any(|bounds| {
            let next = saved.positions.get(&bounds.partition);
            next.is_some_and(|progress| is(progress.next, bounds))
        })
    };
    // An offset that was not there and is there now: the log was shorter and has grown.
    let has_grown = was_out_of_range && !is_any(|next, bounds| next < bounds.low);
    let anew = !saved.positions.is_empty()
        && (was_replaced
            || has_grown
            || is_any(|next, bounds| next > bounds.end)
            || saved.identity.is_other(now)
            || (was_missing && !saved.identity.is_same(now))
            // The group moved to another partition: the offsets topic has more of them.
            || !is_any(|_, _| true));
    bounds
        .iter()
        .map(|bounds| match saved.positions.get(&bounds.partition) {
            Some(&progress) if !anew && progress.next >= bounds.low => Resume::Continue(progress),
            // Records between were deleted before they were read: a gap, no new topic.
            _ => Resume::Begin { anew },
        })
        .collect()
}

// === impl Saved ===

impl Saved {
    /// Goes on where another process was.
    pub(super) fn inherit(read_to: &TopicReadTo) -> Self {
        let positions = read_to.positions.iter();
        let positions = positions.map(|&(partition, next)| Progress::begin(partition, next));
        let mut saved = Self {
            epochs: read_to.epochs.iter().copied().collect(),
            identity: read_to.identity.clone(),
            is_inherited: true,
            ..Self::default()
        };
        saved.keep(positions);
        saved
    }

    /// Remembers how far all partitions are, in place of what was known before.
    pub(super) fn keep(&mut self, progress: impl IntoIterator<Item = Progress>) {
        let by_partition = progress.into_iter().map(|part| (part.partition, part));
        self.positions = by_partition.collect();
    }
}

// === impl Identity ===

impl Identity {
    /// Surely another topic.
    pub(super) fn is_other(&self, now: &Self) -> bool {
        differ(&self.cluster_id, &now.cluster_id) || differ(&self.topic_id, &now.topic_id)
    }

    /// Whether it cannot be told that this is the cluster of what was read before, though
    /// that is known of what was.
    pub(super) fn is_untold(&self, now: &Self) -> bool {
        self.cluster_id.is_some() && now.cluster_id.is_none()
    }

    /// Surely the same topic; old brokers give no ids, then nobody knows.
    fn is_same(&self, now: &Self) -> bool {
        !self.is_other(now) && self.topic_id.is_some() && self.topic_id == now.topic_id
    }
}

fn differ<T: PartialEq>(before: &Option<T>, now: &Option<T>) -> bool {
    matches!((before, now), (Some(before), Some(now)) if before != now)
}
