//! All that may be shown: one immutable value, published by the engine, read by
//! metrics, API and page alike. What is not here cannot be shown by mistake.

mod balance;
mod checks;
mod cost;
mod counters;
mod disagreements;
mod duration;
mod episode;
mod episode_labels;
mod episode_rounds;
mod group;
mod habits;
mod labels;
mod pattern;
mod states;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

pub use crate::facts::observation::AssignmentError;
pub use balance::{BalanceAnswer, ConnectorBalance, KindBalance};
pub use checks::{ChecksAnswer, ComparedAnswer, FiredAnswer, Severity, UndecidedAnswer};
pub use cost::{DownReason, HandoverHow, MoveNeed};
pub use counters::{Counters, Histogram};
pub use disagreements::{Confidence, DisagreementAnswer, DisagreementType, DisagreementsAnswer};
pub use duration::{Bound, DurationAnswer};
pub use episode::{
    Cause, CauseAnswer, ClosingAnswer, CostAnswer, DepartureAnswer, DepartureHow, EpisodeAnswer,
    EpisodeOutcome, EpisodeState, EpisodesAnswer, JoinedAnswer, LeftOutAnswer, LossEnd, LostAnswer,
    SkewAnswer, TasksRoot,
};
pub use episode_rounds::{
    EpisodeRound, ItemPhase, Phase, PhaseWork, PolledBounds, PolledRound, PolledWorker,
    WorkerPhases,
};
pub use group::{GroupAnswer, GroupState, MemberAnswer, OwnWorker, Role};
pub use habits::{HabitAnswer, HabitsAnswer};
pub use pattern::{FAILED_ROUNDS, Pattern, PatternAnswer, PatternNumber};
pub use states::{ConnectorStates, EffectiveState, ItemState, StatesAnswer};

use crate::facts::ids::{Kind, Protocol};
use crate::facts::input::{Settings, Topic, Trouble};
use crate::facts::time::{ArrivalTime, EventTime};

/// Everything the engine of one group says at one moment.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Answers {
    /// What is watched.
    pub settings: Settings,
    /// The newest moment the engine knows of, on the group's coordinator clock.
    pub now: Option<EventTime>,
    /// The same moment on the agent's clock.
    pub arrived: Option<ArrivalTime>,
    /// How well the agent sees, by input.
    pub inputs: Vec<InputAnswer>,
    /// How well the coordinator answers.
    pub polls: PollsAnswer,
    /// The agent's mode: what it can see.
    pub mode: Mode,
    /// Whether the group's answers are true now: every input they rest on was read to
    /// its end once, and was confirmed current less than 30 s ago.
    pub fresh: bool,
    /// The oldest instant since which the history behind the answers is whole.
    pub whole_since: Option<EventTime>,
    /// The group as its newest record describes it; absent until one was read.
    pub group: Option<GroupAnswer>,
    /// The group's state at this moment; absent where only the topics are read.
    pub state: Option<GroupState>,
    /// The worker beside the agent; absent where none of the members is.
    pub own: Option<OwnWorker>,
    /// What is configured; absent until the config topic was read to its end.
    pub configured: Option<ConfiguredAnswer>,
    /// Work that should run and has no owner, with its reason; absent where it is not
    /// known who owns what, or what is configured.
    pub unassigned: Option<Vec<UnassignedAnswer>>,
    /// When the scheduled rebalance delay ends, and what it is for.
    pub deadline: Option<DeadlineAnswer>,
    /// The last rounds, oldest first, at most `limits::ROUNDS_SHOWN_MAX`.
    pub rounds: Vec<RoundAnswer>,
    /// Generations in the last minutes, from the log, history included.
    pub recent: RecentAnswer,
    /// What a person calls rebalances; absent where the group's records are not read. Shown
    /// by themselves: there may be a hundred of them.
    #[serde(skip)]
    pub episodes: Option<EpisodesAnswer>,
    /// Tasks that do not run now, by connector and reason.
    #[serde(serialize_with = "cost::as_list")]
    pub unavailable: BTreeMap<(Arc<str>, DownReason), u64>,
    /// What everything that is configured does; absent where it is not known who owns what, or
    /// what is configured.
    pub states: Option<StatesAnswer>,
    /// Where the status topic and the group say different things; absent where the group's
    /// records, the config topic or the status topic may not be read.
    #[serde(flatten)]
    pub disagreements: Option<DisagreementsAnswer>,
    /// What the last half hour looks like; absent where the group's records are not read.
    pub pattern: Option<PatternAnswer>,
    /// How evenly work is spread; absent until a generation is confirmed.
    pub balance: Option<BalanceAnswer>,
    /// How long things usually take; absent where the group's records are not read.
    pub habits: Option<Arc<HabitsAnswer>>,
    /// Whether the clocks agree; absent where the group's records are not read. Shown by itself.
    #[serde(skip)]
    pub checks: Option<Arc<ChecksAnswer>>,
    /// Moves by kind of which it is not settled yet whether they had to be: who had it may
    /// be back soon.
    pub moves_unsettled: BTreeMap<Kind, u64>,
    /// What was counted while the agent watched.
    pub counters: Counters,
    /// Things about the inputs that a person should know.
    pub findings: Vec<FindingAnswer>,
}

// === impl Answers ===

impl Answers {
    /// Work without an owner, as far as that is known.
    #[must_use]
    pub fn without_owner(&self) -> &[UnassignedAnswer] {
        self.unassigned.as_deref().unwrap_or_default()
    }
}

/// What the agent can see: the label `mode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The group's records are read, and its coordinator answers.
    Full,
    /// There are more of the group's records than the byte budget allows: the newest is
    /// read once a second. What lies between two of them is not known.
    Sampled,
    /// The group's records may not be read, or do not exist; its coordinator says who is
    /// in it and what they were told. What lies between two answers is not known.
    NoOffsetsTopic,
    /// The group's records are read; its coordinator does not answer.
    NoPolls,
    /// Neither; the config or the status topic is read.
    TopicsOnly,
    /// Nothing can be read.
    #[default]
    Blind,
}

/// How well one input is seen.
#[derive(Debug, Clone, Serialize)]
pub struct InputAnswer {
    /// Which.
    pub topic: Topic,
    /// Whether it was ever read to the end it had at start.
    pub caught_up: bool,
    /// Records between what was read and the newest known end.
    pub lag_records: i64,
    /// The last moment at which it was proven that nothing was unread.
    pub confirmed: Option<ArrivalTime>,
    /// Why it cannot be read now.
    pub trouble: Option<Trouble>,
    /// Records of this input that the engine took, redelivered ones left out.
    pub records: u64,
    /// Records that could not be decoded, by the label of the error.
    pub decode_errors: BTreeMap<String, u64>,
    /// Records of an unknown type or version, by what they said.
    pub unknown: BTreeMap<String, u64>,
    /// Whether the answers of the group rest on it: they are not true while it is not
    /// current. Where a topic may not be read, answers leave out what it would add.
    pub needed: bool,
}

/// How well the coordinator answers.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PollsAnswer {
    /// When the newest question that was answered was sent.
    pub confirmed: Option<ArrivalTime>,
    /// Why there is no answer now.
    pub trouble: Option<Trouble>,
    /// Whether the answers of the group rest on it.
    pub needed: bool,
}

/// A connector (no task) or a task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize)]
pub struct ItemAnswer {
    /// The connector's name.
    pub connector: Arc<str>,
    /// The task's number; absent for the connector instance.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<i32>,
}

/// What is configured, by key.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ConfiguredAnswer {
    /// The offset after the last config record that was read.
    pub config_offset: i64,
    /// Each connector.
    pub connectors: Vec<ConnectorAnswer>,
}

/// A configured connector.
#[derive(Debug, Clone, Serialize)]
pub struct ConnectorAnswer {
    /// Its name.
    pub connector: Arc<str>,
    /// Its tasks, by its last applicable commit.
    pub tasks: i32,
    /// `STARTED`, `PAUSED` or `STOPPED`.
    pub target_state: &'static str,
    /// Whether workers that apply the log in order see fewer tasks (KAFKA-17719).
    pub config_hazard: bool,
}

/// Why work has no owner: the label `reason`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum UnassignedReason {
    /// Its owner is gone from the group.
    Lost,
    /// Its owner is present but claims nothing: it lost its coordinator.
    Dropped,
    /// Its owner was told to stop it; the next round hands it out.
    Revoked,
    /// Configured and never owned so far.
    New,
    /// The round that should have handed it out ended in `CONFIG_MISMATCH`.
    Mismatch,
    /// Workers that apply the config log in order do not see it.
    ConfigHazard,
    /// No evidence.
    Unknown,
}

/// One piece of work without an owner.
#[derive(Debug, Clone, Serialize)]
pub struct UnassignedAnswer {
    /// Which.
    #[serde(flatten)]
    pub item: ItemAnswer,
    /// Why: the oldest unmet cause.
    pub reason: UnassignedReason,
    /// Since when, as recorded.
    pub since: Option<EventTime>,
    /// Who had it last.
    pub last_owner: Option<Arc<str>>,
}

/// What a scheduled delay is for: the label `reason` of the deadline.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum DelayReason {
    /// Work of a departed owner is parked.
    Lost,
    /// Revoking rounds follow each other too quickly (KAFKA-12495).
    RevocationBackoff,
    /// A window runs although nothing is lost.
    Leftover,
}

/// When the scheduled rebalance delay ends.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DeadlineAnswer {
    /// Record time plus the delay that the record carries.
    pub at: EventTime,
    /// What for.
    pub reason: DelayReason,
    /// The delay that the newest record carries.
    pub delay_ms: i32,
}

/// How a generation ended: the label `outcome`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Its assignment was taken.
    Completed,
    /// It reached no member: no record, or a record that nobody applied.
    Aborted,
    /// The leader answered `CONFIG_MISMATCH`.
    Mismatch,
    /// It ended without members.
    Emptied,
    /// Not proven.
    Unknown,
}

/// One generation, with or without a record.
#[derive(Debug, Clone, Serialize)]
pub struct RoundAnswer {
    /// Which incarnation of the group.
    pub incarnation: u32,
    /// Its number.
    pub generation: i32,
    /// When its record was written; absent when it left none.
    pub recorded: Option<EventTime>,
    /// When its join phase ended.
    pub join_ended: Option<EventTime>,
    /// From the end of its join phase to its record: the leader's turn.
    pub sync_ms: Option<i64>,
    /// How it ended; absent until that is settled.
    pub outcome: Option<Outcome>,
    /// The rule that settled it (`docs/episodes.md`).
    pub settled_by: Option<&'static str>,
    /// The protocol.
    pub protocol: Option<Protocol>,
    /// The leader's worker.
    pub leader: Option<Arc<str>>,
    /// The delay it carried.
    pub delay_ms: i32,
    /// What each member was told.
    pub members: Vec<RoundMember>,
}

/// What a round told one member.
#[derive(Debug, Clone, Serialize)]
pub struct RoundMember {
    /// The worker.
    pub worker: Arc<str>,
    /// What it was told to start.
    pub assigned: Vec<ItemAnswer>,
    /// What it was told to stop.
    pub revoked: Vec<ItemAnswer>,
    /// How much it owned after it, by kind: connectors, tasks.
    pub owned: (u32, u32),
}

/// Generations in the last minutes: the label `window`.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct RecentAnswer {
    /// In the last two minutes.
    pub in_2m: u64,
    /// In the last ten.
    pub in_10m: u64,
    /// In the last thirty.
    pub in_30m: u64,
}

/// How work left its owner: the label `how`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum RevocationHow {
    /// The leader asked, and it is proven that the owner obeyed.
    Asked,
    /// An eager member stops all it has before it joins.
    Implied,
    /// The owner lost its coordinator and stopped by itself.
    Dropped,
}

/// Something about the inputs that a person should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingAnswer {
    /// Which kind of finding.
    pub finding: &'static str,
    /// What it is about: a worker, a topic, a connector.
    pub subject: String,
    /// The finding in a sentence.
    pub text: String,
    /// When it was first seen, where an input tells.
    pub since: Option<EventTime>,
}
