//! What really happened, as plain data in true time: rounds, departures, lost work, and
//! when each worker stopped and started what.

mod runs;
mod scribe;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::item::{Item, Work};
use crate::protocol::Why;

pub use runs::{RunEnd, TrueRun};
pub use scribe::{Departing, Doer, Scribe};

/// Everything that happened in a world.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Truth {
    /// Every join phase that ended, in order.
    pub rounds: Vec<TrueRound>,
    /// Every member that left the group, in order.
    pub departures: Vec<TrueDeparture>,
    /// Work of departed members until somebody had it again.
    pub losses: Vec<TrueLoss>,
    /// Work that members stopped because they lost the coordinator.
    pub drops: Vec<TrueDrop>,
    /// Every stop of a piece of work by its worker.
    pub stops: Vec<TrueStop>,
    /// Every start.
    pub starts: Vec<TrueStart>,
    /// Every run, in the order in which they began.
    pub runs: Vec<TrueRun>,
    /// When the group was created and deleted.
    pub lives: Vec<TrueLife>,
    /// The clocks that records were stamped by: brokers by leader epoch, workers by address.
    pub clocks: BTreeMap<String, Clock>,
    /// The clocks of coordinators, from when on each of them stamped the group's records.
    pub coordinators: Vec<(i64, Clock)>,
    /// Changes of the configuration that make workers rebalance, in order.
    pub changes: Vec<TrueChange>,
    /// How it all ended.
    pub end: TrueEnd,
}

/// A change of the configuration.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrueChange {
    /// When it was written.
    pub at_ms: i64,
    /// Of which connector.
    pub connector: String,
    /// What changed.
    pub what: ChangeWhat,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeWhat {
    /// A connector that was not configured.
    Created,
    /// A connector is gone.
    Deleted,
    /// Its tasks were committed.
    Committed,
}

/// A creation of the group.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrueLife {
    /// Which, from 1.
    pub incarnation: u32,
    /// When it was created.
    pub created_ms: i64,
    /// When it was deleted.
    pub deleted_ms: Option<i64>,
}

/// How a join phase ended in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// At least one member took its assignment.
    Completed,
    /// Nobody got anything.
    Aborted,
    /// All were told `CONFIG_MISMATCH`.
    Mismatch,
    /// It ended without members.
    Emptied,
    /// The world ended before it did.
    Open,
}

/// One round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrueRound {
    /// Which creation of the group.
    pub incarnation: u32,
    /// Its number. A coordinator that was lost before it wrote a number uses it again.
    pub generation: i32,
    /// When the coordinator began to prepare it.
    pub prepare_started_ms: i64,
    /// Why, and what came to it before the join phase ended; in order.
    pub triggers: Vec<Trigger>,
    /// When the join phase ended.
    pub join_ended_ms: i64,
    /// When its record was written, if it was.
    pub recorded_ms: Option<i64>,
    /// When its assignments took effect in the coordinator.
    pub effective_ms: Option<i64>,
    /// How it ended.
    pub outcome: Outcome,
    /// The protocol version: 0 eager, 1 compatible, 2 sessioned.
    pub version: i16,
    /// The leader's member id.
    pub leader: Option<String>,
    /// The delay that was told.
    pub delay_ms: i64,
    /// What each member said and was told, by member id.
    pub members: BTreeMap<String, TrueMember>,
}

/// One member of a round.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TrueMember {
    /// `host:port` of its worker.
    pub worker: String,
    /// What it claimed; `None` for a null claim, and under the eager protocol.
    pub claim: Option<Work>,
    /// What it was told to start.
    pub assigned: Work,
    /// What it was told to stop.
    pub revoked: Work,
    /// When it had its assignment in hand.
    pub received_ms: Option<i64>,
    /// When it had stopped what was revoked, and took the rest as its own.
    pub applied_ms: Option<i64>,
}

/// Why a rebalance was prepared, or what came to it. Members that merely follow are
/// [`Trigger::Rejoined`] with [`Why::Asked`]; see [`TrueRound::causes`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The group had no members.
    GroupFormed,
    /// A member joined.
    Joined {
        /// `host:port` of its worker.
        worker: String,
        /// Its id.
        member: String,
        /// The id that the same worker had before.
        successor_of: Option<String>,
    },
    /// A member asked to leave.
    Left {
        /// Its id.
        member: String,
    },
    /// A member's session was over.
    Expired {
        /// Its id.
        member: String,
    },
    /// A member did not join, or did not ask for its assignment, in time.
    Kicked {
        /// Its id.
        member: String,
    },
    /// A member joined again.
    Rejoined {
        /// Its id.
        member: String,
        /// Why it did.
        why: Why,
    },
}

/// How the coordinator came to remove a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Removed {
    /// LeaveGroup.
    Left,
    /// No heartbeat for its session timeout.
    Expired,
    /// It did not join in time.
    Kicked,
    /// It did not ask for its assignment in time.
    SyncKicked,
}

/// How a process came to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It stopped all its work, then left.
    Graceful,
    /// It was killed while it stopped.
    CutShort,
    /// It was killed.
    Crashed,
    /// It is alive, and was not heard of.
    Unresponsive,
}

/// A member that is gone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrueDeparture {
    /// `host:port` of its worker.
    pub worker: String,
    /// Its id.
    pub member: String,
    /// When it stopped working: died, froze, began to stop, or left.
    pub died_ms: i64,
    /// When the coordinator removed it.
    pub removed_ms: i64,
    /// What the coordinator saw.
    pub seen: Removed,
    /// What it was.
    pub how: How,
    /// What it owned when it stopped working.
    pub owned: Work,
    /// The next member of the same worker, and when it joined.
    pub successor: Option<(String, i64)>,
}

/// A piece of work without an owner, because its owner left.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrueLoss {
    /// Which.
    pub item: Item,
    /// Whose it was.
    pub member: String,
    /// When its owner stopped working.
    pub from_ms: i64,
    /// When that ended.
    pub until_ms: Option<i64>,
    /// How.
    pub ended: LossEnd,
}

/// How a loss ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossEnd {
    /// Its owner came back and claimed it.
    Reclaimed,
    /// A round gave it to a member, which took it.
    Reassigned,
    /// It is no longer configured.
    Removed,
    /// The group was deleted.
    GroupGone,
    /// It has not ended.
    Open,
}

/// Work that a member stopped because it lost the coordinator.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrueDrop {
    /// Its id.
    pub member: String,
    /// When it gave up.
    pub at_ms: i64,
    /// What it had.
    pub items: Work,
}

/// Why a worker stopped a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopWhy {
    /// The leader said so.
    Revoked,
    /// Its configuration changed.
    Reconfigured,
    /// Before an eager member joins.
    Eager,
    /// The coordinator was lost.
    Dropped,
    /// The worker stops.
    Shutdown,
}

/// A stop.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrueStop {
    /// What.
    pub item: Item,
    /// `host:port` of the worker.
    pub worker: String,
    /// Its member id then, if it had one.
    pub member: Option<String>,
    /// The generation that the worker had completed last.
    pub generation: i32,
    /// Why.
    pub why: StopWhy,
    /// Whether it was still configured.
    pub configured: bool,
    /// When it was asked to stop.
    pub from_ms: i64,
    /// When it had stopped, or was given up; `None` if its process died before.
    pub until_ms: Option<i64>,
    /// Whether it was given up and still runs.
    pub stuck: bool,
}

/// A start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrueStart {
    /// What.
    pub item: Item,
    /// `host:port` of the worker.
    pub worker: String,
    /// Its member id then, if it had one.
    pub member: Option<String>,
    /// The generation that the worker had completed last.
    pub generation: i32,
    /// When it was started.
    pub from_ms: i64,
    /// When it ran, was found paused, or failed; `None` if it never did.
    pub until_ms: Option<i64>,
}

/// Who has what when the world ends.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TrueEnd {
    /// When.
    pub at_ms: i64,
    /// Whether the group was at rest: a round is in effect and all members applied it.
    pub rest: bool,
    /// What each member takes as its own, by member id.
    pub owned: BTreeMap<String, (String, Work)>,
    /// All configured work.
    pub configured: Work,
}

// === impl Truth ===

impl Truth {
    /// What the coordinator's clock shows at a true instant.
    #[must_use]
    pub fn stamp(&self, true_ms: i64) -> i64 {
        let later = self
            .coordinators
            .partition_point(|(from, _)| *from <= true_ms);
        let clock = later
            .checked_sub(1)
            .and_then(|at| self.coordinators.get(at));
        clock.map_or(true_ms, |(_, clock)| clock.at(true_ms))
    }
}

// === impl TrueRound ===

impl TrueRound {
    /// What made it necessary, in order: all triggers but those of members that only did
    /// as the coordinator asked.
    pub fn causes(&self) -> impl Iterator<Item = &Trigger> {
        let follows = |trigger: &&Trigger| {
            matches!(
                trigger,
                Trigger::Rejoined {
                    why: Why::Asked,
                    ..
                }
            )
        };
        self.triggers
            .iter()
            .filter(move |trigger| !follows(trigger))
    }
}
