//! The rounds of an episode: their phases, who stopped and started what, and what polls add.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Cause, DurationAnswer, ItemAnswer, Outcome};
use crate::facts::time::EventTime;

/// One round of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRound {
    /// Its number.
    pub generation: i32,
    /// Numbers before it that left no record.
    pub missing_before: u64,
    /// By when it had begun, where something in the logs dates that: a config record, a
    /// stop, the end of a delay.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub began: Option<EventTime>,
    /// When its join phase ended.
    pub join_ended: Option<EventTime>,
    /// When its record was written.
    pub recorded: EventTime,
    /// Who led it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub leader: Option<Arc<str>>,
    /// Who is next after the leader by worker id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deputy: Option<Arc<str>>,
    /// How it ended; absent until that is settled.
    pub outcome: Option<Outcome>,
    /// Why it came about.
    pub cause: Cause,
    /// About which worker or connector.
    pub subject: Option<Arc<str>>,
    /// From the end of its join phase to its record: the leader's turn.
    pub sync: Option<DurationAnswer>,
    /// The slowest worker's stops; absent where nothing stopped.
    pub stop: Option<DurationAnswer>,
    /// The slowest worker's starts; absent where nothing started.
    pub start: Option<DurationAnswer>,
    /// Stops and starts by worker.
    pub workers: Vec<WorkerPhases>,
    /// What took longest to stop and to start, the slowest first, at most
    /// `limits::EPISODE_SLOWEST_SHOWN_MAX` of each.
    #[serde(default)]
    pub slowest: Vec<ItemPhase>,
    /// The scheduled delay that it carried.
    pub delay_ms: i32,
}

/// How long one worker took in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerPhases {
    /// The worker.
    pub worker: Arc<str>,
    /// Its stops.
    pub stop: Option<DurationAnswer>,
    /// Its starts.
    pub start: Option<DurationAnswer>,
    /// What it was to stop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stops: Option<PhaseWork>,
    /// What it was to start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub starts: Option<PhaseWork>,
}

/// Work that one worker was to stop, or to start, in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseWork {
    /// Connectors and tasks.
    pub items: u64,
    /// Of which so many the worker wrote that it did.
    pub done: u64,
    /// From when on.
    pub from: EventTime,
    /// When it did the last of them, as well as its clock is known; `from` where it wrote
    /// nothing.
    pub by: EventTime,
}

/// One piece of work in a phase of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemPhase {
    /// Which.
    #[serde(flatten)]
    pub item: ItemAnswer,
    /// Whose.
    pub worker: Arc<str>,
    /// Whether it was stopped or started.
    pub phase: Phase,
    /// From when on.
    pub from: EventTime,
    /// When it was done, as well as the worker's clock is known.
    pub by: EventTime,
}

/// What this agent itself saw of an episode: by its polls, and by when statuses arrived.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PolledBounds {
    /// The phases of its rounds, where they are known better than by the logs alone.
    pub rounds: Vec<PolledRound>,
    /// Stops and starts of workers, where arrivals bound them better than the logs alone.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub workers: Vec<PolledWorker>,
    /// Active time, with the join phases that polls saw.
    pub active: Option<DurationAnswer>,
    /// Whether it closed while this agent watched, not before or between two of its runs.
    #[serde(default)]
    pub watched: bool,
}

/// What this agent itself saw of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolledRound {
    /// Its number.
    pub generation: i32,
    /// Its join phase, by polls.
    pub join: Option<DurationAnswer>,
    /// The slowest worker's stops.
    pub stop: Option<DurationAnswer>,
    /// The slowest worker's starts.
    pub start: Option<DurationAnswer>,
}

/// A phase of a round: the label `phase` (D7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Members join.
    Join,
    /// The leader computes and hands out.
    Sync,
    /// Workers stop work.
    Stop,
    /// Workers start work.
    Start,
}

/// What this agent itself saw of one worker's stops or starts in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolledWorker {
    /// The round's number.
    pub generation: i32,
    /// The worker.
    pub worker: Arc<str>,
    /// Whether it stopped or started.
    pub phase: Phase,
    /// How long that took.
    pub lasted: DurationAnswer,
}

// === impl PolledRound ===

impl PolledRound {
    /// Whether anything was seen.
    #[must_use]
    pub fn says_something(&self) -> bool {
        self.join.is_some() || self.stop.is_some() || self.start.is_some()
    }
}
