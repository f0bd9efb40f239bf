//! What the polls count about themselves.

use crate::read::counters::Count;

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
}
