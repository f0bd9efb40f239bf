//! What was counted while the agent watched.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::{
    Cause, DepartureHow, DownReason, HandoverHow, LossEnd, MoveNeed, Outcome, Phase, RevocationHow,
};
use crate::facts::ids::Kind;
use crate::facts::observation::AssignmentError;

/// What was counted while the agent watched. Kept in the engine's state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Counters {
    /// Settled generations by cause and outcome.
    #[serde(with = "crate::facts::pairs")]
    pub generations: BTreeMap<(Cause, Outcome), u64>,
    /// Closed episodes by cause.
    #[serde(with = "crate::facts::pairs")]
    pub rebalances: BTreeMap<Cause, u64>,
    /// Active time of closed episodes.
    pub rebalance_duration: Histogram,
    /// Phases of rounds that could be measured.
    #[serde(with = "crate::facts::pairs")]
    pub phases: BTreeMap<Phase, Histogram>,
    /// Phases of rounds that could not.
    #[serde(with = "crate::facts::pairs")]
    pub phases_unmeasured: BTreeMap<Phase, u64>,
    /// Settled departures, by worker and how.
    #[serde(with = "crate::facts::pairs")]
    pub departures: BTreeMap<(Arc<str>, DepartureHow), u64>,
    /// Lost work whose loss ended, by kind and how.
    #[serde(with = "crate::facts::pairs")]
    pub lost: BTreeMap<(Kind, LossEnd), u64>,
    /// How long it was without an owner.
    pub lost_duration: Histogram,
    /// Work taken away, by kind and how.
    #[serde(with = "crate::facts::pairs")]
    pub revocations: BTreeMap<(Kind, RevocationHow), u64>,
    /// Work handed out and taken, by kind.
    #[serde(with = "crate::facts::pairs")]
    pub assignments: BTreeMap<Kind, u64>,
    /// Running work that stopped, by kind and reason.
    #[serde(with = "crate::facts::pairs", default)]
    pub interruptions: BTreeMap<(Kind, DownReason), u64>,
    /// Work that went from one worker to another, by kind and how.
    #[serde(with = "crate::facts::pairs", default)]
    pub handovers: BTreeMap<(Kind, HandoverHow), u64>,
    /// Work that was handed to another worker than had it last, by kind and need.
    #[serde(with = "crate::facts::pairs", default)]
    pub moves: BTreeMap<(Kind, MoveNeed), u64>,
    /// How long tasks did not run, in milliseconds, by connector and reason: stretches that
    /// are over.
    #[serde(with = "crate::facts::pairs", default)]
    pub unavailable_ms: BTreeMap<(Arc<str>, DownReason), u64>,
    /// Assignments that carried an error, by its name.
    #[serde(with = "crate::facts::pairs")]
    pub assignment_errors: BTreeMap<AssignmentError, u64>,
    /// Generations whose leader is another member than the one before.
    pub leader_changes: u64,
}

/// Durations counted by length. Edges are those of `Histogram::EDGES_MS`; what is longer
/// than the last only adds to count and sum.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Histogram {
    /// How many were no longer than each edge and longer than the one before.
    pub counts: [u64; Histogram::EDGES_MS.len()],
    /// How many there were.
    pub count: u64,
    /// All of them together.
    pub sum_ms: u64,
}

// === impl Counters ===

impl Counters {
    /// Settled generations with this outcome, whatever their cause.
    #[must_use]
    pub fn generations_of(&self, outcome: Outcome) -> u64 {
        let of_it = self
            .generations
            .iter()
            .filter(|((_, of), _)| *of == outcome);
        of_it.map(|(_, count)| count).sum()
    }
}

// === impl Histogram ===

impl Histogram {
    /// Upper edges, in milliseconds: 10 s, 60 s and 300 s are those that people ask for.
    pub const EDGES_MS: [u64; 13] = [
        50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 900_000,
    ];

    /// Counts one.
    pub fn add(&mut self, ms: i64) {
        if let Some(count) = self.counts.get_mut(Self::bucket(ms)) {
            *count = count.saturating_add(1);
        }
        self.count = self.count.saturating_add(1);
        let ms = u64::try_from(ms).unwrap_or(0);
        self.sum_ms = self.sum_ms.saturating_add(ms);
    }

    /// The place of the bucket that counts this length: that of its edge, or the one after
    /// the last for what is longer.
    #[must_use]
    pub fn bucket(ms: i64) -> usize {
        let ms = u64::try_from(ms).unwrap_or(0);
        let edge = Self::EDGES_MS.iter().position(|edge| ms <= *edge);
        edge.unwrap_or(Self::EDGES_MS.len())
    }

    /// How many lie in this bucket, and in none before it.
    #[must_use]
    pub fn in_bucket(&self, place: usize) -> u64 {
        let before: u64 = self.counts.iter().sum();
        let last = self.count.saturating_sub(before);
        self.counts.get(place).copied().unwrap_or(last)
    }
}
