//! Episodes and what belongs to them: causes, departures, lost work, phases, each with how
//! it is known.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{DisagreementAnswer, DurationAnswer, EpisodeRound, Pattern, PolledBounds};
use crate::facts::time::EventTime;

/// What a person calls a rebalance: one stretch of unrest over one or more generations (D8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpisodeAnswer {
    /// The same on every sidecar: the first generation and the end of its join phase.
    pub id: Arc<str>,
    /// Where it stands.
    pub state: EpisodeState,
    /// The first sign of it in the logs.
    pub began: EventTime,
    /// When it closed.
    pub closed: Option<EventTime>,
    /// Whether the agent read all of it, from the record before its first one on.
    pub whole: bool,
    /// Whether it may be the rest of an episode that the agent did not read from its beginning.
    #[serde(default)]
    pub rest: bool,
    /// How it ended; absent while it is open.
    pub outcome: Option<EpisodeOutcome>,
    /// Why it came about; settled when the episode closes.
    pub cause: Cause,
    /// Which worker or connector the cause is about.
    pub subject: Option<Arc<str>>,
    /// Everything that applies, the cause itself first, each with its evidence.
    pub contributing: Vec<CauseAnswer>,
    /// Causes beyond `limits::CAUSES_SHOWN_MAX`.
    pub causes_left_out: u64,
    /// Generations in it, those without a record included.
    pub generations: u64,
    /// The first of them.
    pub first_generation: i32,
    /// The last of them.
    pub last_generation: i32,
    /// Time in which the group was not stable, or work was stopping or starting.
    pub active: DurationAnswer,
    /// Time in which it only waited for a scheduled delay.
    pub parked: DurationAnswer,
    /// Its last rounds, oldest first, at most `limits::EPISODE_ROUNDS_SHOWN_MAX`.
    pub rounds: Vec<EpisodeRound>,
    /// Who left.
    pub departures: Vec<DepartureAnswer>,
    /// Who came, in the order of the records that have them first.
    #[serde(default)]
    pub joined: Vec<JoinedAnswer>,
    /// What the bounds on lists left out.
    #[serde(default)]
    pub left_out: LeftOutAnswer,
    /// Work that lost its owner in it.
    pub lost: LostAnswer,
    /// Tasks that stood still because of it.
    #[serde(default)]
    pub cost: CostAnswer,
    /// The episode before, if it closed unresolved and this one goes on with it.
    pub follows: Option<Arc<str>>,
    /// What this agent's own polls add: the only part that differs between sidecars.
    pub polled: PolledBounds,
}

/// Where an episode stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeState {
    /// The group is not stable, or work is stopping or starting.
    Active,
    /// Only a scheduled delay is waited for.
    Parked,
    /// It is over.
    Closed,
}

/// How an episode ended: the label `outcome`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeOutcome {
    /// Nothing is pending.
    Settled,
    /// Something is pending, nothing is scheduled, and nothing moved for a minute.
    Unresolved,
    /// The group has no members any more.
    GroupGone,
}

/// Why a generation or an episode came about: the label `cause`, in order of precedence (D9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The group was created, or left the state `Empty`.
    GroupFormed,
    /// The last member is gone.
    GroupEmptied,
    /// The members speak another protocol.
    ProtocolChanged,
    /// Members came back under their ids without a claim: they lost their coordinator.
    CoordinatorLost,
    /// A worker crashed, or was cut short while it stopped.
    WorkerLost,
    /// A worker was gone and came back with its claim: frozen, or its herder was blocked.
    WorkerUnresponsive,
    /// A worker stopped in good order.
    WorkerLeft,
    /// A worker is gone, nobody can say how.
    WorkerGone,
    /// A worker that had left is back.
    WorkerRestarted,
    /// A worker is new.
    WorkerJoined,
    /// The scheduled delay is over.
    DelayExpired,
    /// The leader had answered `CONFIG_MISMATCH`.
    ConfigMismatch,
    /// A connector is new.
    ConnectorCreated,
    /// A connector is gone.
    ConnectorDeleted,
    /// The tasks of a connector were written anew.
    TasksChanged,
    /// What the round before revoked is handed out.
    RevocationFollowup,
    /// A member was ahead of the assignment's config offset and joined again.
    ConfigAdvanced,
    /// The group has another coordinator.
    CoordinatorMoved,
    /// No evidence.
    Unknown,
}

/// What made the tasks of a connector be written anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TasksRoot {
    /// The connector is new.
    Created,
    /// A person wrote its configuration.
    Reconfigured,
    /// It was stopped (KIP-875).
    Stopped,
    /// It was resumed after a stop.
    Resumed,
    /// The connector itself asked for it.
    Requested,
}

/// One cause, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CauseAnswer {
    /// Which.
    pub cause: Cause,
    /// About which worker or connector.
    pub subject: Option<Arc<str>>,
    /// The first generation it applies to.
    pub generation: i32,
    /// What in the logs says so.
    pub evidence: String,
    /// For `tasks_changed`: what made them be written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub root: Option<TasksRoot>,
    /// For `tasks_changed`: whether their number or content is another one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub changed: Option<bool>,
    /// For changes of the config topic: when they were written, on the coordinator's clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<EventTime>,
}

/// Who came in an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinedAnswer {
    /// The worker.
    pub worker: Arc<str>,
    /// The first generation with it.
    pub generation: i32,
    /// When the join phase ended in which it came.
    pub at: EventTime,
    /// The departed worker in whose place it came.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub replaces: Option<Arc<str>>,
    /// Whether it is the same process that was gone, back with its claim.
    pub returned: bool,
}

/// What the bounds on an episode's lists left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutAnswer {
    /// Rounds with a record, the oldest.
    pub rounds: u64,
    /// Departures, the oldest.
    pub departures: u64,
    /// Members that came, the oldest.
    pub joined: u64,
}

/// Tasks that stood still because of an episode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostAnswer {
    /// How often a task stopped, or lost its worker, that was to run.
    pub stopped: u64,
    /// Of these, so many did not run yet when the episode closed.
    pub still: u64,
    /// How long they stood still, all together, until it closed.
    pub still_ms: Option<DurationAnswer>,
}

/// How a worker left: the label `how` (D6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DepartureHow {
    /// It stopped all its work first.
    Graceful,
    /// It stopped part of its work, and was gone a session later.
    CutShort,
    /// It wrote nothing; its work was left behind as running.
    Crashed,
    /// It came back with its claim: its work may have run on.
    Unresponsive,
    /// No evidence is possible.
    Unknown,
}

/// A departure and who took its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepartureAnswer {
    /// The worker.
    pub worker: Arc<str>,
    /// How it left, as far as it is known.
    pub how: DepartureHow,
    /// Whether that is settled: a worker that wrote nothing may still come back.
    pub settled: bool,
    /// What says so.
    pub evidence: String,
    /// The first generation without it.
    pub generation: i32,
    /// The instant at which the group was found to be without it.
    pub gone_by: EventTime,
    /// Between which instants a worker that wrote nothing stopped living, if the group
    /// noticed it by its session timeout.
    pub died_between: Option<(EventTime, EventTime)>,
    /// Connectors and tasks it had.
    pub owned: (u32, u32),
    /// The worker that came in its place, and in which generation.
    pub successor: Option<(Arc<str>, i32)>,
    /// The generation in which the same process was back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub returned: Option<i32>,
}

/// How lost work ended: the label `outcome` (D5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossEnd {
    /// Its owner, or who came in its place, has it again.
    Reclaimed,
    /// Another worker has it.
    Reassigned,
    /// It is not configured any more.
    Removed,
    /// The group was deleted.
    GroupGone,
}

/// Lost work of an episode.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostAnswer {
    /// Connectors and tasks that lost their owner.
    pub items: u64,
    /// Of which this many have no owner yet.
    pub open: u64,
    /// How the others ended, also after the episode was over.
    pub ended: Vec<(LossEnd, u64)>,
    /// The longest time without an owner among them.
    pub longest: Option<DurationAnswer>,
}

/// A worker's clock against the coordinator's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkewAnswer {
    /// The worker.
    pub worker: Arc<str>,
    /// How far its clock is ahead.
    pub ms: i64,
    /// Between which values, as far as evidence bounds it.
    pub between_ms: (Option<i64>, Option<i64>),
}

/// What is known beside an episode when it closes, at that instant: its pattern by the order of
/// the log, so that every sidecar says the same; disagreements by the statuses that were read.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosingAnswer {
    /// What the last half hour looked like.
    pub pattern: Pattern,
    /// Where the status topic and the group disagree, and where they did.
    pub disagreements: Vec<DisagreementAnswer>,
}

/// All episodes that are shown.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EpisodesAnswer {
    /// The one that is open.
    pub open: Option<Arc<EpisodeAnswer>>,
    /// Since when it is active, unless it only waits for a delay.
    pub active_since: Option<EventTime>,
    /// Those that closed, oldest first, at most `limits::EPISODES_SHOWN_MAX`.
    pub closed: Vec<Arc<EpisodeAnswer>>,
    /// Departures of the last minutes by how; those without are not settled.
    pub departed: Vec<(Option<DepartureHow>, u64)>,
    /// Clocks of workers, where there is evidence.
    pub skews: Vec<SkewAnswer>,
}
