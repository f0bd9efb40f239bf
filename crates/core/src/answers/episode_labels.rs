//! Label values of what belongs to episodes.

use super::{Cause, DepartureHow, EpisodeOutcome, LossEnd, Phase};

impl Cause {
    /// All, in order of precedence.
    pub const ALL: [Self; 19] = [
        Self::GroupFormed,
        Self::GroupEmptied,
        Self::ProtocolChanged,
        Self::CoordinatorLost,
        Self::WorkerLost,
        Self::WorkerUnresponsive,
        Self::WorkerLeft,
        Self::WorkerGone,
        Self::WorkerRestarted,
        Self::WorkerJoined,
        Self::DelayExpired,
        Self::ConfigMismatch,
        Self::ConnectorCreated,
        Self::ConnectorDeleted,
        Self::TasksChanged,
        Self::RevocationFollowup,
        Self::ConfigAdvanced,
        Self::CoordinatorMoved,
        Self::Unknown,
    ];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::GroupFormed => "group_formed",
            Self::GroupEmptied => "group_emptied",
            Self::ProtocolChanged => "protocol_changed",
            Self::CoordinatorLost => "coordinator_lost",
            Self::WorkerLost => "worker_lost",
            Self::WorkerUnresponsive => "worker_unresponsive",
            Self::WorkerLeft => "worker_left",
            Self::WorkerGone => "worker_gone",
            Self::WorkerRestarted => "worker_restarted",
            Self::WorkerJoined => "worker_joined",
            Self::DelayExpired => "delay_expired",
            Self::ConfigMismatch => "config_mismatch",
            Self::ConnectorCreated => "connector_created",
            Self::ConnectorDeleted => "connector_deleted",
            Self::TasksChanged => "tasks_changed",
            Self::RevocationFollowup => "revocation_followup",
            Self::ConfigAdvanced => "config_advanced",
            Self::CoordinatorMoved => "coordinator_moved",
            Self::Unknown => "unknown",
        }
    }
}

impl DepartureHow {
    /// All, in the order they are shown.
    pub const ALL: [Self; 5] = [
        Self::Graceful,
        Self::CutShort,
        Self::Crashed,
        Self::Unresponsive,
        Self::Unknown,
    ];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Graceful => "graceful",
            Self::CutShort => "cut_short",
            Self::Crashed => "crashed",
            Self::Unresponsive => "unresponsive",
            Self::Unknown => "unknown",
        }
    }

    /// The cause of a rebalance that such a departure brings about.
    #[must_use]
    pub fn cause(self) -> Cause {
        match self {
            Self::Graceful => Cause::WorkerLeft,
            Self::CutShort | Self::Crashed => Cause::WorkerLost,
            Self::Unresponsive => Cause::WorkerUnresponsive,
            Self::Unknown => Cause::WorkerGone,
        }
    }
}

impl EpisodeOutcome {
    /// All, in the order they are shown.
    pub const ALL: [Self; 3] = [Self::Settled, Self::Unresolved, Self::GroupGone];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::Unresolved => "unresolved",
            Self::GroupGone => "group_gone",
        }
    }
}

impl LossEnd {
    /// All, in the order they are shown.
    pub const ALL: [Self; 4] = [
        Self::Reclaimed,
        Self::Reassigned,
        Self::Removed,
        Self::GroupGone,
    ];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Reclaimed => "reclaimed",
            Self::Reassigned => "reassigned",
            Self::Removed => "removed",
            Self::GroupGone => "group_gone",
        }
    }
}

impl Phase {
    /// All, in the order they happen.
    pub const ALL: [Self; 4] = [Self::Join, Self::Sync, Self::Stop, Self::Start];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Sync => "sync",
            Self::Stop => "stop",
            Self::Start => "start",
        }
    }
}
