//! What a log line, an answer or a step of the script says, as a typed event.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::assignment::{Assignment, Work};
use super::jmx::JmxSample;
use super::statuses::Statuses;

/// Something that happened in one process, by that process's wall clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TruthEvent {
    pub at_ms: i64,
    pub process: String,
    #[serde(flatten)]
    pub what: What,
}

/// What the script did to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Start,
    /// SIGTERM
    Stop,
    /// SIGKILL
    Kill,
    /// SIGSTOP
    Freeze,
    /// SIGCONT
    Thaw,
    /// The proxy before a broker closes all connections and takes no new ones.
    Cut,
    /// It passes on again.
    Mend,
}

/// A connector or a task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Item {
    pub kind: ItemKind,
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    Connector,
    Task,
}

/// A point in the life of a connector or task on one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The herder asks for the start.
    StartAsked,
    /// The fixture's own `start` is entered and left.
    StartBegins,
    StartEnds,
    /// The worker says that the task runs; the status RUNNING is written next.
    Started,
    /// The worker asks for the stop.
    StopAsked,
    /// The fixture's own `stop` is entered and left.
    StopBegins,
    StopEnds,
    /// The worker waited for the end and saw it.
    StopInTime,
    /// The worker gave up waiting and cancelled.
    StopTimedOut,
    Failed,
    /// The worker did not even begin: it runs the same already, for example.
    StartRefused,
}

/// What the leader took its group for when it assigned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaderView {
    pub configured: Work,
    pub deleted: Work,
    pub lost: Work,
    /// Work that neither ran nor was assigned before.
    pub created: Work,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    // By the broker that coordinates the group.
    Preparing {
        old_generation: i64,
        reason: String,
    },
    /// The join phase ended with members.
    Stabilized {
        generation: i64,
        members: usize,
    },
    /// The join phase ended without members.
    GroupEmpty {
        generation: i64,
    },
    /// The leader's SyncGroup: the record of this generation is written now.
    AssignmentStored {
        generation: i64,
    },
    MemberLeft {
        member_id: String,
        reason: String,
    },
    /// No heartbeat within the session timeout.
    MemberExpired {
        member_id: String,
    },
    /// An id that was given out and never joined.
    PendingExpired {
        member_id: String,
    },
    /// The rebalance timeout passed first.
    NotRejoined {
        member_ids: String,
    },
    /// Joined, and never asked for its assignment.
    NotSynced {
        member_ids: String,
    },
    GroupLoaded,
    GroupUnloaded,
    /// The group is deleted; generations begin again.
    GroupRemoved,

    // By a worker.
    Rejoining,
    /// The JoinGroup response; only the leader is told the members.
    Joined {
        generation: i64,
        member_id: String,
        leader: String,
        protocol: String,
        members: Vec<String>,
    },
    /// The leader has computed the round: the content of the group's record.
    LeaderAssigned {
        generation: i64,
        assignments: Vec<(String, Assignment)>,
        view: LeaderView,
    },
    /// The assignment as it came: deltas in the cooperative protocols.
    Received {
        generation: i64,
        assignment: Assignment,
    },
    /// The assignment merged with what the worker kept: `assigned` is the total owned now.
    Applied {
        generation: i64,
        protocol_version: i64,
        assignment: Assignment,
    },
    /// Starts of connectors and tasks after an assignment are done.
    WorkFinished,
    /// What had to stop before the worker joins or goes on has stopped.
    StopsFinished,
    /// Their statuses are in the log.
    StatusesFlushed,
    /// The worker lost the coordinator and dropped all its work.
    WorkDropped,
    /// The worker leaves by itself.
    Leaving {
        reason: String,
    },
    /// It knows more of the config topic than the assignment says, and joins again.
    ConfigAhead {
        own_offset: i64,
        assigned_offset: i64,
    },
    /// A status came back from the status topic. Only stints keep it.
    StatusRead {
        item: Item,
        state: String,
        /// `host:port` of who wrote it.
        worker_id: String,
    },
    /// A task says that it runs. Only runs keep it.
    Alive {
        item: Item,
    },
    /// It read another configuration of a connector.
    ConnectorChanged {
        connector: String,
    },
    ConnectorRemoved {
        connector: String,
    },
    /// It read a commit of task configurations.
    TasksChanged {
        tasks: Vec<String>,
    },
    /// It stops these of its tasks before it joins, because their configurations changed.
    TasksStoppedToChange {
        tasks: Vec<String>,
    },
    /// It stops and starts a connector and its tasks because somebody asked for it.
    RestartPlanned {
        connector: String,
    },
    RestartDone {
        connector: String,
    },
    /// It sets the state that a connector and its tasks are to have.
    TargetState {
        connector: String,
        state: String,
    },
    HerderStopping,
    HerderStopped,
    Item {
        item: Item,
        step: Step,
    },

    // By the script.
    /// A verb: it began at the time of the event and had taken effect at its end.
    Script {
        verb: Verb,
        ended_ms: i64,
    },
    /// A REST call to a worker that changes something: begun at the time of the event.
    Request {
        method: String,
        path: String,
        /// The HTTP status of the answer.
        status: u16,
        ended_ms: i64,
    },
    Statuses(Statuses),
    Jmx(JmxSample),
}

/// When an event happened by the script's clock: what a worker logged is on its own.
pub(super) fn true_ms(event: &TruthEvent, skews_ms: &BTreeMap<String, i64>) -> i64 {
    let by_script = matches!(
        event.what,
        What::Script { .. } | What::Request { .. } | What::Statuses(_) | What::Jmx(_)
    );
    let skew_ms = skews_ms.get(&event.process).filter(|_| !by_script);
    event.at_ms - skew_ms.unwrap_or(&0)
}
