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
    /// Answers larger than is read.
    pub too_large: Count,
    /// Connections opened, authentication included.
    pub connections: Count,
    /// Bytes of all answers.
    pub bytes_in: Count,
    /// Answers that nobody took in time.
    pub dropped: Count,
    /// When the last answer was in hand, in milliseconds since the epoch; 0 before.
    pub last_answer_ms: Count,
}
