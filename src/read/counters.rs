//! What the reader counts about itself, shared with whoever shows it.

use std::sync::atomic::{AtomicU64, Ordering};

use evenkeel_core::facts::input::Topic;

/// All counters of one watched group's readers.
#[derive(Debug, Default)]
pub struct ReadCounters {
    topics: [TopicCounters; 3],
    /// The search for the group's newest record.
    pub search: SearchProgress,
}

/// What was read of one topic.
#[derive(Debug, Default)]
pub struct TopicCounters {
    /// Records read, those of other groups included.
    pub records: Count,
    /// Bytes of their keys and values.
    pub bytes: Count,
    /// Records passed on.
    pub passed: Count,
    /// End offset questions that were answered.
    pub ends_answered: Count,
    /// End offset questions that were not.
    pub ends_failed: Count,
    /// Seeks made to prove that nothing is left before an end.
    pub proofs: Count,
    /// Times that reading had to begin again with a new client.
    pub restarts: Count,
}

/// How far the search of the offsets partition is.
#[derive(Debug, Default)]
pub struct SearchProgress {
    /// Offsets of the partition when the search began.
    pub offsets: Count,
    /// Offsets searched so far; fewer than all where the record was found.
    pub searched: Count,
    /// Offsets searched in a second.
    pub rate: Count,
    /// Found records that were left out because too many were found.
    pub cut_records: Count,
    /// 1 once the search is over.
    pub done: Count,
}

/// A number that one thread changes and others read.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

// === impl ReadCounters ===

impl ReadCounters {
    /// The counters of one topic.
    #[must_use]
    pub fn topic(&self, topic: Topic) -> &TopicCounters {
        let [offsets, config, status] = &self.topics;
        match topic {
            Topic::Offsets => offsets,
            Topic::Config => config,
            Topic::Status => status,
        }
    }
}

// === impl SearchProgress ===

impl SearchProgress {
    /// How much of the partition was searched, 0 to 100; 100 once it is over.
    #[must_use]
    pub fn percent(&self) -> u64 {
        if self.done.get() > 0 {
            return 100;
        }
        let searched = self.searched.get().saturating_mul(100);
        searched.checked_div(self.offsets.get()).unwrap_or(0)
    }

    /// Seconds until all is searched at the present rate: the longest it can take.
    #[must_use]
    pub fn seconds_left_max(&self) -> Option<u64> {
        if self.done.get() > 0 {
            return Some(0);
        }
        let left = self.offsets.get().saturating_sub(self.searched.get());
        left.checked_div(self.rate.get())
    }
}

// === impl Count ===

impl Count {
    /// The number now.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(super) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}
