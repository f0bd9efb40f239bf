//! What a leader hands out: the two assignors of Connect.
//!
//! Where Kafka iterates hash sets, the order here is that of names.

mod balance;
mod eager;
mod incremental;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::item::Work;

pub use eager::eager;
pub use incremental::{Incremental, Rules};

/// What the leader knows when it computes a round.
#[derive(Debug, Clone)]
pub struct Round<'a> {
    /// The generation of this round.
    pub generation: i32,
    /// The last generation that this worker completed; -1 before any.
    pub last_completed: i32,
    /// The leader's clock.
    pub now_ms: i64,
    /// All that the leader's config snapshot names.
    pub configured: &'a Work,
    /// What each member claims; nothing for a null claim.
    pub claims: &'a BTreeMap<String, Work>,
}

/// What one member is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delta {
    /// To start.
    pub assigned: Work,
    /// To stop.
    pub revoked: Work,
}

/// What a round hands out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handed {
    /// By member; every member has an entry.
    pub deltas: BTreeMap<String, Delta>,
    /// The scheduled rebalance delay that all are told.
    pub delay_ms: i64,
}
