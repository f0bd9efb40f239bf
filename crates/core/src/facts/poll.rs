//! What the group's coordinator answers when it is asked: live, without a generation,
//! without an offset, so it bounds and never counts.

use serde::{Deserialize, Serialize};

use crate::facts::input::Trouble;
use crate::facts::time::ArrivalTime;

/// One question to the coordinator, and what came of it. When the answer was in hand is
/// the input's own time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polled {
    /// When the question was sent: the answer was true at some instant since.
    pub asked: ArrivalTime,
    /// What was answered.
    pub answer: PollAnswer,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PollAnswer {
    /// `ListGroups` filtered by the two rebalancing states: the state the group was listed
    /// in, or `None` where it was not listed (it is stable, empty, dead, or hidden).
    Listed(Option<PolledState>),
    /// `DescribeGroups`.
    Described(Description),
    /// There was no answer, or a refusal.
    Failed(Trouble),
}

/// The state of a classic group (`ClassicGroupState`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolledState {
    /// No members, committed offsets or a record of it remain.
    Empty,
    /// Members are joining.
    PreparingRebalance,
    /// The leader is computing the assignment.
    CompletingRebalance,
    /// All is handed out.
    Stable,
    /// There is no such group.
    Dead,
    /// A state that no released broker names.
    Other,
}

/// What `DescribeGroups` says of the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Its state.
    pub state: PolledState,
    /// `connect`, or empty before the first join completed.
    pub protocol_type: String,
    /// The chosen protocol; empty unless stable.
    pub protocol: String,
    /// Who is in it now.
    pub members: Vec<PolledMember>,
}

/// One member of the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolledMember {
    /// The member id.
    pub member_id: String,
    /// `group.instance.id`; no released worker has one.
    pub instance_id: Option<String>,
    /// The client id.
    pub client_id: String,
    /// Where it connects from, as the broker writes it (`/10.0.0.7`).
    pub client_host: String,
    /// What it said when it joined: a `ConnectProtocol` subscription. Empty unless the
    /// group is stable.
    pub metadata: Vec<u8>,
    /// What it was told. Meaningful only while the group is stable: otherwise some
    /// brokers answer with the last one.
    pub assignment: Vec<u8>,
}

// === impl PolledState ===

impl PolledState {
    /// The state that Kafka calls `name`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name {
            "Empty" => Self::Empty,
            "PreparingRebalance" => Self::PreparingRebalance,
            "CompletingRebalance" => Self::CompletingRebalance,
            "Stable" => Self::Stable,
            "Dead" => Self::Dead,
            _ => Self::Other,
        }
    }

    /// The label value of `evenkeel_group_state`.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::PreparingRebalance => "preparing_rebalance",
            Self::CompletingRebalance => "completing_rebalance",
            Self::Stable => "stable",
            Self::Dead => "dead",
            Self::Other => "other",
        }
    }
}
