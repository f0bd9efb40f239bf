//! How long things usually take in a group: what advice can rest on.

use std::sync::Arc;

use serde::Serialize;

/// How long things usually take (D16): the last 20 of each subject, history included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HabitsAnswer {
    /// By worker: from its last stop, or from when the group missed it, until who came in its
    /// place was in the group.
    pub restarts: Vec<HabitAnswer>,
    /// By worker: from the record that first gave work to a fresh process until all of that
    /// ran.
    pub catch_ups: Vec<HabitAnswer>,
    /// By connector: from the record that told a worker to start a piece of it until it ran.
    pub starts: Vec<HabitAnswer>,
    /// By connector: from the record that told a worker to stop a piece of it until it had.
    pub stops: Vec<HabitAnswer>,
}

/// How long one thing usually takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HabitAnswer {
    /// The worker or connector.
    pub subject: Arc<str>,
    /// How many were measured, of the last.
    pub count: u64,
    /// Of these so many took at least so long: when they began is not recorded.
    pub at_least: u64,
    /// The one in the middle.
    pub median_ms: i64,
    /// The longest.
    pub largest_ms: i64,
}
