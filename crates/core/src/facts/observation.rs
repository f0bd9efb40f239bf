//! What one record says, in our words: the only thing the floors above see.
//!
//! Nothing here is derived from more than one record.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::facts::ids::{ConnectorId, Protocol, WorkItem};
use crate::facts::time::EventTime;

/// The error of an assignment: the label `error`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum AssignmentError {
    /// `ConnectProtocol.Assignment.CONFIG_MISMATCH` (1).
    ConfigMismatch,
    /// A number that no released Connect writes.
    Other,
}

/// What one group-metadata record says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSnapshot {
    /// Offset of the record in the offsets partition.
    pub offset: i64,
    /// When it was written: the coordinator's clock.
    pub recorded: EventTime,
    /// `currentStateTimestamp`: the end of the join phase, or the instant the group
    /// became empty. Absent before value version 2.
    pub join_ended: Option<EventTime>,
    /// The generation.
    pub generation: i32,
    /// The protocol, if it is one that Connect speaks.
    pub protocol: Option<Protocol>,
    /// The member id of the leader.
    pub leader: Option<Arc<str>>,
    /// The leader's URL as the assignments say it.
    pub leader_url: Option<Arc<str>>,
    /// The error that the leader put into the assignments.
    pub error: Option<AssignmentError>,
    /// The scheduled delay that the leader put into the assignments.
    pub delay_ms: i32,
    /// The config offset that the assignments were computed from.
    pub config_offset: Option<i64>,
    /// The members, by member id.
    pub members: Vec<Arc<Member>>,
    /// Workers that several of them advertise, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<Arc<str>>,
    /// Size of the value.
    pub bytes: u64,
}

/// One member of a group-metadata record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Kafka's id for this process in the group.
    pub id: Arc<str>,
    /// Its client id.
    pub client_id: Arc<str>,
    /// The address it connected from, without Java's leading slash.
    pub client_host: Arc<str>,
    /// Its `session.timeout.ms`.
    pub session_timeout_ms: i32,
    /// Its `rebalance.timeout.ms`; the session timeout in records without one.
    pub rebalance_timeout_ms: i32,
    /// Its advertised URL.
    pub url: Arc<str>,
    /// `host:port` of that URL: what status records call `worker_id`.
    pub worker: Arc<str>,
    /// The offset after the last config record it had read when it joined.
    pub config_offset: Option<i64>,
    /// What it said it owns when it joined.
    pub claim: Claim,
    /// The mark of the assignment that it had received last when it joined: its claim still
    /// carries leader, config offset and delay of that.
    #[serde(default)]
    pub received: Option<u64>,
    /// The mark of the assignment that this record hands it.
    #[serde(default)]
    pub handed: Option<u64>,
    /// What the leader told it to start (cooperative) or to own (eager). Sorted.
    pub assigned: Vec<WorkItem>,
    /// What the leader told it to stop. Sorted.
    pub revoked: Vec<WorkItem>,
    /// What it owns once it obeys: claim − revoked + assigned. Sorted.
    pub told: Vec<WorkItem>,
    /// Hash of the bytes all this was read from: equal bytes are not read again.
    pub fingerprint: u64,
}

/// What a member said it owns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Claim {
    /// The protocol has no claims (eager), or its bytes could not be read.
    Unsaid,
    /// Nothing remembered: a fresh process, or one that dropped its work.
    Nothing,
    /// These items, sorted, each once.
    Items(Vec<WorkItem>),
}

/// What one record of the config topic says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConfigFact {
    /// A connector's configuration was written; the number stands for its content. With
    /// what it says of its clients.
    Connector(ConnectorId, Option<u32>, Clients),
    /// A connector's configuration was deleted.
    ConnectorDeleted(ConnectorId),
    /// A task's configuration was written, to be applied by the next commit.
    Task(WorkItem, Option<u32>),
    /// A task's configuration was deleted.
    TaskDeleted(WorkItem),
    /// The connector's tasks are now this many.
    Commit(ConnectorId, i32),
    /// The connector's commit was deleted.
    CommitDeleted(ConnectorId),
    /// What the connector should do.
    Target(ConnectorId, TargetState),
    /// The target state was deleted: started, by default.
    TargetDeleted(ConnectorId),
    /// A session key: proof that the group spoke the sessioned protocol (KIP-507).
    SessionKey,
    /// A record that changes no configured work: restart, fencing, logger level.
    NoWork,
    /// A key that no released Connect writes, or a record that could not be read: it
    /// still moves the config offset.
    Unknown,
}

/// What a connector's configuration says of its clients, as far as that is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clients {
    /// The group of its consumers, where it is a sink that tells.
    pub sink_group: Option<SinkGroup>,
    /// `producer.override.delivery.timeout.ms`.
    pub delivery_timeout_ms: Override,
    /// `producer.override.request.timeout.ms`.
    pub request_timeout_ms: Override,
}

/// A number that a connector may set over that of its worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Override {
    /// It does not.
    #[default]
    Unset,
    /// It does, to what is no number, perhaps looked up where the worker runs.
    Untold,
    /// To this.
    To(i64),
}

/// The group of a sink connector's consumers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SinkGroup {
    /// `connect-` and the connector's name (`SinkUtils.consumerGroupId`).
    ByName,
    /// `consumer.override.group.id`.
    Named(Arc<str>),
}

/// What a connector should do (KIP-875).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TargetState {
    /// Run.
    #[default]
    Started,
    /// Stay assigned, do nothing.
    Paused,
    /// Have no tasks.
    Stopped,
}

/// What one record of the status topic says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatusFact {
    /// A connector or task changed its state.
    State(Status),
    /// Its status was deleted: it is no longer configured.
    Destroyed(WorkItem),
    /// A record about topic usage (KIP-558).
    NoState,
    /// A key that no released Connect writes.
    Unknown,
}

/// A state as its worker wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Whose.
    pub item: WorkItem,
    /// The state.
    pub state: RunState,
    /// Who wrote it.
    pub worker: Arc<str>,
    /// The last generation that worker had completed.
    pub generation: i32,
}

/// The states of `AbstractStatus.State`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RunState {
    /// Started.
    Running,
    /// Not polling, on request.
    Paused,
    /// Stopped, on request (connectors only).
    Stopped,
    /// Stopped by its worker.
    Unassigned,
    /// Dead by an error.
    Failed,
    /// Between stop and start of a requested restart.
    Restarting,
    /// Never stored by released code, but a name of the set.
    Destroyed,
    /// A name that no released Connect writes.
    Unknown,
}

// === impl GroupSnapshot ===

impl GroupSnapshot {
    /// The member with this id.
    #[must_use]
    pub fn member(&self, id: &str) -> Option<&Arc<Member>> {
        self.members
            .binary_search_by(|member| (*member.id).cmp(id))
            .ok()
            .and_then(|index| self.members.get(index))
    }

    /// The leader's member entry.
    #[must_use]
    pub fn leader_member(&self) -> Option<&Arc<Member>> {
        self.leader.as_ref().and_then(|id| self.member(id))
    }

    /// How long the coordinator waits for the slowest member: the largest
    /// `rebalance.timeout.ms` (`ClassicGroup.rebalanceTimeoutMs`).
    #[must_use]
    pub fn rebalance_timeout_ms_max(&self) -> i32 {
        self.members
            .iter()
            .map(|member| member.rebalance_timeout_ms)
            .max()
            .unwrap_or(0)
    }

    /// Whether it revoked something, and all its members are in the record after it: a delay
    /// there is for revoking too often, not for somebody who is gone.
    #[must_use]
    pub fn revoked_from_those_in(&self, now: &Self) -> bool {
        let revoked = self.members.iter().any(|member| !member.revoked.is_empty());
        revoked
            && self
                .members
                .iter()
                .all(|member| now.member(&member.id).is_some())
    }

    /// Whether several members advertise the same worker, so that a status cannot be
    /// told from another's.
    #[must_use]
    pub fn shares_worker(&self, worker: &str) -> bool {
        self.shared.iter().any(|shared| **shared == *worker)
    }

    /// The label `worker` of one of its members.
    #[must_use]
    pub fn label(&self, member: &Member) -> Arc<str> {
        member.label(self.shares_worker(&member.worker))
    }

    /// Finds the workers that several members advertise: once a record, not once a question.
    pub fn note_shared(&mut self) {
        let mut workers: Vec<&Arc<str>> =
            self.members.iter().map(|member| &member.worker).collect();
        workers.sort_unstable();
        let twice = workers.windows(2).filter_map(|pair| match pair {
            [left, right] if left == right => Some(Arc::clone(left)),
            _ => None,
        });
        let mut shared: Vec<Arc<str>> = twice.collect();
        shared.dedup();
        self.shared = shared;
    }
}

// === impl Member ===

impl Member {
    /// The label `worker`: members that share a URL are told apart by their client host.
    #[must_use]
    pub fn label(&self, is_shared: bool) -> Arc<str> {
        if is_shared && self.worker != self.client_host {
            Arc::from(format!("{}@{}", self.worker, self.client_host))
        } else {
            Arc::clone(&self.worker)
        }
    }

    /// What it said it owns when it joined, as far as it said.
    #[must_use]
    pub fn claimed(&self) -> &[WorkItem] {
        match &self.claim {
            Claim::Items(items) => items,
            Claim::Nothing | Claim::Unsaid => &[],
        }
    }

    /// Whether this record tells it to have the item.
    #[must_use]
    pub fn is_told(&self, item: WorkItem) -> bool {
        self.told.binary_search(&item).is_ok()
    }

    /// Whether this record told it to change anything.
    #[must_use]
    pub fn has_deltas(&self) -> bool {
        !self.assigned.is_empty() || !self.revoked.is_empty()
    }
}

// === impl TargetState ===

impl TargetState {
    /// Kafka's name for it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Started => "STARTED",
            Self::Paused => "PAUSED",
            Self::Stopped => "STOPPED",
        }
    }
}
