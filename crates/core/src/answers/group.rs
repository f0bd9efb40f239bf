//! What may be shown of the group itself: its state, its members, the one beside the agent.

use std::sync::Arc;

use serde::Serialize;

use super::ItemAnswer;
use crate::facts::ids::Protocol;
use crate::facts::time::EventTime;

/// The worker beside the agent, by the group's own members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OwnWorker {
    /// Its label.
    pub worker: Arc<str>,
    /// What the newest record makes of it.
    pub role: Role,
}

/// The part of the worker beside the agent in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It leads: this agent asks the coordinator often, and is the reporter.
    Leader,
    /// The next after the leader by worker id: this agent asks often, too.
    Deputy,
    /// Any other.
    Member,
}

/// The state of a classic group (`ClassicGroupState`), by its records or by polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupState {
    /// The newest record has members.
    Stable,
    /// Members are joining; only polls show it.
    PreparingRebalance,
    /// The leader is computing the assignment; only polls show it.
    CompletingRebalance,
    /// The newest record has none.
    Empty,
    /// The group was deleted.
    Dead,
}

/// The group as its newest record describes it.
#[derive(Debug, Clone, Serialize)]
pub struct GroupAnswer {
    /// Stable, empty or dead.
    pub state: GroupState,
    /// How many times the group was created anew since the agent's history begins.
    pub incarnation: u32,
    /// Its generation; without its records at least this, by the statuses that its members
    /// wrote, absent where they wrote none.
    pub generation: Option<i32>,
    /// When the record was written (coordinator clock); absent without records.
    pub recorded: Option<EventTime>,
    /// When its join phase ended (`currentStateTimestamp`), where the record says so.
    pub join_ended: Option<EventTime>,
    /// Size of the record's value; absent without records.
    pub record_bytes: Option<u64>,
    /// The protocol in force; absent for an empty group and an unknown name.
    pub protocol: Option<Protocol>,
    /// The best protocol that this group has proven it can speak.
    pub protocol_best: Option<Protocol>,
    /// Set while the protocol is below the best one: the workers that came with the
    /// fall; empty when the fall was not seen.
    pub downgraded: Option<Vec<Arc<str>>>,
    /// The leader's worker.
    pub leader: Option<Arc<str>>,
    /// The leader's REST URL, as the assignments say.
    pub leader_url: Option<Arc<str>>,
    /// Its members, by worker.
    pub members: Vec<MemberAnswer>,
}

/// One member of the newest record.
#[derive(Debug, Clone, Serialize)]
pub struct MemberAnswer {
    /// Kafka's id of this process in the group. Never a label.
    pub member_id: Arc<str>,
    /// The label `worker`: `host:port` of the advertised URL; with the client host
    /// behind an `@` where several members share it.
    pub worker: Arc<str>,
    /// The advertised URL.
    pub url: Arc<str>,
    /// Kafka client id.
    pub client_id: Arc<str>,
    /// Address the member connected from.
    pub client_host: Arc<str>,
    /// The member's `session.timeout.ms`.
    pub session_timeout_ms: Option<i32>,
    /// The member's `rebalance.timeout.ms`.
    pub rebalance_timeout_ms: Option<i32>,
    /// The offset after the last config record it had read when it joined.
    pub config_offset: Option<i64>,
    /// Whether it came with a claim: `false` is a fresh process, or one that dropped
    /// its work. `None` under the eager protocol, which has no claims.
    pub claims: Option<bool>,
    /// What it was told to own after this record.
    pub owned: Vec<ItemAnswer>,
    /// What this record told it to start.
    pub assigned: Vec<ItemAnswer>,
    /// What this record told it to stop.
    pub revoked: Vec<ItemAnswer>,
}
