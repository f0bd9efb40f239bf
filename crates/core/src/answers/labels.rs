//! The label values of every closed set in the answers, and the order they are shown in.

use super::{DelayReason, GroupState, Mode, Outcome, RevocationHow, UnassignedReason};
use crate::facts::observation::AssignmentError;

impl Mode {
    /// All, in the order they are shown.
    pub const ALL: [Self; 6] = [
        Self::Full,
        Self::Sampled,
        Self::NoOffsetsTopic,
        Self::NoPolls,
        Self::TopicsOnly,
        Self::Blind,
    ];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Sampled => "sampled",
            Self::NoOffsetsTopic => "no_offsets_topic",
            Self::NoPolls => "no_polls",
            Self::TopicsOnly => "topics_only",
            Self::Blind => "blind",
        }
    }
}

impl GroupState {
    /// All, in the order they are shown.
    pub const ALL: [Self; 5] = [
        Self::Stable,
        Self::PreparingRebalance,
        Self::CompletingRebalance,
        Self::Empty,
        Self::Dead,
    ];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::PreparingRebalance => "preparing_rebalance",
            Self::CompletingRebalance => "completing_rebalance",
            Self::Empty => "empty",
            Self::Dead => "dead",
        }
    }
}

impl UnassignedReason {
    /// All, in the order they are shown.
    pub const ALL: [Self; 7] = [
        Self::Lost,
        Self::Dropped,
        Self::Revoked,
        Self::New,
        Self::Mismatch,
        Self::ConfigHazard,
        Self::Unknown,
    ];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Dropped => "dropped",
            Self::Revoked => "revoked",
            Self::New => "new",
            Self::Mismatch => "mismatch",
            Self::ConfigHazard => "config_hazard",
            Self::Unknown => "unknown",
        }
    }
}

impl DelayReason {
    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::RevocationBackoff => "revocation_backoff",
            Self::Leftover => "leftover",
        }
    }
}

impl Outcome {
    /// All, in the order they are shown.
    pub const ALL: [Self; 5] = [
        Self::Completed,
        Self::Aborted,
        Self::Mismatch,
        Self::Emptied,
        Self::Unknown,
    ];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Aborted => "aborted",
            Self::Mismatch => "mismatch",
            Self::Emptied => "emptied",
            Self::Unknown => "unknown",
        }
    }
}

impl RevocationHow {
    /// All, in the order they are shown.
    pub const ALL: [Self; 3] = [Self::Asked, Self::Implied, Self::Dropped];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Implied => "implied",
            Self::Dropped => "dropped",
        }
    }
}

impl AssignmentError {
    /// All, in the order they are shown.
    pub const ALL: [Self; 2] = [Self::ConfigMismatch, Self::Other];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::ConfigMismatch => "config_mismatch",
            Self::Other => "other",
        }
    }
}
