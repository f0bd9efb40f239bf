//! What followed a round: the next record, or the group's end.

use serde::{Deserialize, Serialize};

use crate::facts::time::{ArrivalTime, EventTime};

/// What followed a round.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Next {
    /// When the next join phase ended, or the group was found gone.
    pub join_ended: EventTime,
    /// When its record was written.
    pub recorded: EventTime,
    /// When the agent had that record: the barrier is asked after it.
    pub arrived: ArrivalTime,
    /// The number of the step that leads to it.
    pub step: u64,
    /// Whether it happened while the agent watched.
    pub live: bool,
    /// Whether the same coordinator wrote both: only then is the time between them known.
    pub same_clock: bool,
}

// === impl Next ===

impl Next {
    /// When its record was written, on the clock of the record before.
    #[must_use]
    pub fn on_same_clock(&self) -> Option<EventTime> {
        self.same_clock.then_some(self.recorded)
    }
}
