//! What the polls count about themselves.

use std::sync::{Mutex, PoisonError};

use crate::read::counters::Count;
use crate::read::hitch::Hitch;

/// Counters of one group's polls.
#[derive(Debug, Default)]
pub struct PollCounters {
    /// Answered `ListGroups`.
    pub lists: Count,
    /// Answered `DescribeGroups`.
    pub descriptions: Count,
    /// Answered `FindCoordinator`.
    pub finds: Count,
    /// Questions that were refused or not answered.
    pub failures: Count,
    /// What stood in the way at the last question.
    hitch: Mutex<Option<Hitch>>,
}

// === impl PollCounters ===

impl PollCounters {
    /// What stands in the way, where the kind of trouble does not say it.
    #[must_use]
    pub fn hitch(&self) -> Option<Hitch> {
        *self.hitch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_hitch(&self, hitch: Option<Hitch>) {
        *self.hitch.lock().unwrap_or_else(PoisonError::into_inner) = hitch;
    }
}
