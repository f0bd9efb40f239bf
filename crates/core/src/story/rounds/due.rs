//! Which open rounds have something new to be weighed by: a thousand that wait for their
//! barrier are not looked at again with every record.

use std::collections::BTreeSet;

use super::Round;

/// What arrived since rounds were last weighed.
#[derive(Debug, Clone, Default)]
pub struct Due {
    all: bool,
    some: bool,
    generations: BTreeSet<i32>,
}

// === impl Due ===

impl Due {
    /// More is proven to be read, or known of clocks: it may concern every round.
    pub fn all(&mut self) {
        self.all = true;
    }

    /// A record arrived: it concerns the newest round and the one before it.
    pub fn newest(&mut self) {
        self.some = true;
    }

    /// A status with this generation arrived.
    pub fn generation(&mut self, generation: i32) {
        self.generations.insert(generation);
    }

    /// Whether nothing is to be weighed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.all && !self.some && self.generations.is_empty()
    }

    /// Whether a round is to be weighed.
    pub(super) fn has(&self, round: &Round) -> bool {
        self.all || round.fresh || self.generations.contains(&round.generation)
    }
}
