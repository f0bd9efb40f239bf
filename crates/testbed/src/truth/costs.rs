//! What rebalances cost, from the logs of the workers and the script alone: when each connector
//! and task really ran, why it stopped, how long a task stood still, who took over from whom.
//!
//! All instants are by the script's clock: the skew of a worker's clock is taken off.

mod downtime;
mod moves;
mod needs;
mod reasons;
mod runs;
mod takeovers;

use serde::{Deserialize, Serialize};

use super::derive::TruthGeneration;
use super::event::{Item, TruthEvent};

/// Plain data, to be compared with what evenkeel says. Only what ends is whole: a run, stretch
/// or pause that goes on when the recording ends has no end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Costs {
    /// In the order in which they began.
    pub runs: Vec<Run>,
    /// In the order in which they were asked for, or happened.
    pub interruptions: Vec<Interruption>,
    /// Of tasks, in the order in which they began.
    pub downtime: Vec<Downtime>,
    /// In the order in which the next run began.
    pub handovers: Vec<Handover>,
    /// In the order of generations.
    pub moves: Vec<Move>,
    pub failures: Vec<Failure>,
}

/// A stretch in which a connector or task was really running on a worker: from the end of its
/// start to the end of its stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub item: Item,
    pub worker: String,
    pub from_ms: i64,
    pub began: RunBegin,
    /// The worker asked for the stop; a failure, a kill and a freeze are not asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stop_asked_ms: Option<i64>,
    /// The worker gave up waiting for the stop: from then on nobody knows of this run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gave_up_ms: Option<i64>,
    /// It says so, if its connector tells it to (`alive.every.ms`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_alive_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<RunEnd>,
    /// Why it was stopped, or ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Reason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunBegin {
    Started,
    /// Its frozen worker went on.
    Thawed,
    /// A pause ended: the worker read its RUNNING back.
    Resumed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    Stopped,
    /// It stopped after its worker had given up waiting.
    Abandoned,
    Failed,
    Killed,
    Frozen,
    /// The worker read its PAUSED back: it paused a moment before.
    Paused,
}

/// Why running work stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Revoked for another worker, or because everybody stops in an eager round.
    Handover,
    /// Its worker went, or froze.
    Lost,
    /// Its worker lost the coordinator.
    Dropped,
    Reconfigured,
    Restarted,
    Failed,
    Paused,
    Stopped,
    Deleted,
    Unknown,
}

/// A stop of running work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    pub item: Item,
    pub worker: String,
    /// When the stop was asked for; when it ended, of one that was not.
    pub at_ms: i64,
    /// When it no longer ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped_ms: Option<i64>,
    pub reason: Reason,
    /// Absent while it goes on stopping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<RunEnd>,
}

/// A stretch in which a task that had run, or failed to start, ran nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Downtime {
    pub task: String,
    pub reason: Reason,
    pub from_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<DowntimeEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DowntimeEnd {
    Running,
    /// It failed: another stretch begins.
    Failed,
    /// Somebody asked for a pause.
    Paused,
    /// It is no longer configured, as the leader sees it in the next round.
    Removed,
}

/// One run after another of the same connector or task, on the same worker or another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    pub item: Item,
    pub from: String,
    pub to: String,
    /// Why the run before ended; absent if nobody had asked it to when the new one began.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped_ms: Option<i64>,
    pub started_ms: i64,
    /// Nothing of the following holds.
    pub clean: bool,
    /// The run before was killed or frozen.
    pub crash: bool,
    /// Its worker gave up waiting for its stop.
    pub abandoned: bool,
    /// Others ran the same at the same time as the new run, for so long altogether.
    pub overlap_ms: i64,
}

/// A generation that gave a connector or task another owner than it had last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    pub incarnation: u32,
    pub generation: i64,
    pub item: Item,
    pub from: String,
    pub to: String,
    /// Absent where the recording ends before it could be known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub need: Option<Need>,
}

/// Whether a move had to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Its worker was gone, or an even split took it.
    Required,
    /// Away from, or back to, a worker that was gone for less than ten minutes.
    Returned,
    /// Nothing of that.
    Extra,
}

/// A connector or task failed, while it started or while it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub at_ms: i64,
    pub item: Item,
    pub worker: String,
    pub starting: bool,
}

/// `true_ms` is an event's time by the script's clock.
pub(super) fn costs(
    events: &[TruthEvent],
    generations: &[TruthGeneration],
    true_ms: &dyn Fn(&TruthEvent) -> i64,
) -> Costs {
    let (runs, failures) = runs::runs(events, true_ms);
    Costs {
        interruptions: takeovers::interruptions(&runs),
        downtime: downtime::downtime(&runs, &failures, events, true_ms),
        handovers: takeovers::handovers(&runs),
        moves: moves::moves(generations, end_ms(events, true_ms)),
        failures,
        runs,
    }
}

/// When the last thing was logged.
fn end_ms(events: &[TruthEvent], true_ms: &dyn Fn(&TruthEvent) -> i64) -> i64 {
    events.iter().map(true_ms).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
