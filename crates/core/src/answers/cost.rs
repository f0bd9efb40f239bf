//! What rebalances cost: why work did not run, and how it changed hands.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

/// Why work did not run: the label `reason` (D10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DownReason {
    /// It goes from one worker to another.
    Handover,
    /// Its owner is gone from the group.
    Lost,
    /// Its owner lost its coordinator and stopped it.
    Dropped,
    /// Its tasks were committed anew.
    Reconfigured,
    /// Somebody, or its worker, restarted it.
    Restarted,
    /// It failed.
    Failed,
    /// It was paused.
    Paused,
    /// Its connector was stopped.
    Stopped,
    /// Its connector was deleted, or has fewer tasks.
    Deleted,
}

/// How work changed hands: the label `how` (D11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandoverHow {
    /// It had stopped before it was started elsewhere.
    Clean,
    /// Nobody wrote that it had stopped: both may have run it.
    Unclean,
}

/// Whether work had to go to another worker: the label `need` (D11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MoveNeed {
    /// Its worker is gone, or an even split took it.
    Required,
    /// It went back to, or away from, a worker that was gone for a short time.
    Returned,
    /// Nothing of that.
    Extra,
}

// === impl DownReason ===

impl DownReason {
    /// All, in the order they are shown.
    pub const ALL: [Self; 9] = [
        Self::Handover,
        Self::Lost,
        Self::Dropped,
        Self::Reconfigured,
        Self::Restarted,
        Self::Failed,
        Self::Paused,
        Self::Stopped,
        Self::Deleted,
    ];

    /// Whether somebody wanted that it does not run: that is no downtime.
    #[must_use]
    pub fn is_wanted(self) -> bool {
        matches!(self, Self::Paused | Self::Stopped | Self::Deleted)
    }

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Handover => "handover",
            Self::Lost => "lost",
            Self::Dropped => "dropped",
            Self::Reconfigured => "reconfigured",
            Self::Restarted => "restarted",
            Self::Failed => "failed",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
            Self::Deleted => "deleted",
        }
    }
}

// === impl HandoverHow ===

impl HandoverHow {
    /// All, in the order they are shown.
    pub const ALL: [Self; 2] = [Self::Clean, Self::Unclean];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Unclean => "unclean",
        }
    }
}

// === impl MoveNeed ===

impl MoveNeed {
    /// All, in the order they are shown.
    pub const ALL: [Self; 3] = [Self::Required, Self::Returned, Self::Extra];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Returned => "returned",
            Self::Extra => "extra",
        }
    }
}

/// Tasks of one connector that do not run for one reason.
#[derive(Serialize)]
struct Unavailable<'a> {
    connector: &'a str,
    reason: DownReason,
    tasks: u64,
}

/// Pairs have no form in JSON.
pub(super) fn as_list<S: Serializer>(
    down: &BTreeMap<(Arc<str>, DownReason), u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(down.iter().map(|((connector, reason), tasks)| Unavailable {
        connector,
        reason: *reason,
        tasks: *tasks,
    }))
}
