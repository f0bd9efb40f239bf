//! What workers and coordinator say to each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::item::Work;

/// What a worker believes it owns; the rest is left over from its last assignment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// 0, or 1: `CONFIG_MISMATCH`.
    pub error: i16,
    /// The leader's member id.
    pub leader: String,
    /// The leader's URL.
    pub leader_url: String,
    /// The config offset to have read.
    pub config_offset: i64,
    /// To start; in a claim all that is owned.
    pub assigned: Work,
    /// To stop.
    pub revoked: Work,
    /// When to rejoin.
    pub delay_ms: i64,
}

/// What a worker says when it joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Kafka client id.
    pub client_id: String,
    /// Where it connects from.
    pub host: String,
    /// Its advertised URL.
    pub url: String,
    /// The offset after the last config record it read.
    pub config_offset: i64,
    /// `None` is a null claim.
    pub claim: Option<Told>,
    /// The best protocol version that it offers: 0 eager, 1 compatible, 2 sessioned.
    pub version: i16,
    /// `session.timeout.ms`
    pub session_ms: i64,
    /// `rebalance.timeout.ms`
    pub rebalance_ms: i64,
}

/// Why a worker asks to join, as it alone knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The coordinator asked for it.
    Asked,
    /// A process that was not in the group.
    New,
    /// It saw a new connector.
    ConnectorCreated(String),
    /// It saw that a connector was deleted.
    ConnectorDeleted(String),
    /// It saw a commit of a connector's tasks.
    TasksChanged(String),
    /// The scheduled delay is over.
    DelayExpired,
    /// It has stopped what was revoked.
    FollowUp,
    /// It was told `CONFIG_MISMATCH`.
    Mismatch,
    /// It had read more of the config topic than its assignment names.
    ConfigAhead,
    /// It lost the coordinator and stopped its work.
    CoordinatorLost,
    /// A join or a sync of its failed.
    Retry,
    /// It was no longer known to the coordinator.
    Unknown,
}

/// What a worker asks.
#[derive(Debug, Clone)]
pub enum Request {
    /// JoinGroup.
    Join {
        /// Its id, once it has one.
        member: Option<String>,
        /// What it says.
        meta: Box<Meta>,
        /// Why, for the truth alone.
        why: Why,
    },
    /// SyncGroup.
    Sync {
        /// Its id.
        member: String,
        /// The generation.
        generation: i32,
        /// The leader's assignments.
        handed: Option<BTreeMap<String, Told>>,
    },
    /// Heartbeat.
    Heartbeat {
        /// Its id.
        member: String,
        /// The generation it is in.
        generation: i32,
    },
    /// LeaveGroup.
    Leave {
        /// Its id.
        member: String,
    },
}

/// What the coordinator answers.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Join again with this id.
    MemberIdRequired(String),
    /// UNKNOWN_MEMBER_ID
    UnknownMember,
    /// ILLEGAL_GENERATION
    IllegalGeneration,
    /// REBALANCE_IN_PROGRESS
    Rebalancing,
    /// No coordinator answers.
    Unavailable,
    /// The join phase is over.
    Joined {
        /// The new generation.
        generation: i32,
        /// The leader's member id.
        leader: String,
        /// The protocol version that was chosen.
        version: i16,
        /// What all members said; for the leader alone.
        members: Option<BTreeMap<String, Meta>>,
    },
    /// The assignment, and the generation's protocol version.
    Synced(Told),
    /// All is well.
    Alive,
}

/// Whose answer it is: a process, and its how-manieth question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// The process.
    pub process: usize,
    /// The question.
    pub asked: u64,
}
