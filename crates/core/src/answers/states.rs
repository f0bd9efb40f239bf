//! What each configured connector and task does: from its status and from who has it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::ItemAnswer;

/// What a connector or task does: the label `state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectiveState {
    /// Its owner says that it runs.
    Running,
    /// Its owner says that it is paused.
    Paused,
    /// Its owner says that the connector is stopped, as somebody wanted.
    Stopped,
    /// Its owner says that it failed.
    Failed,
    /// Its owner was told to start it and has not said yet what became of it.
    Starting,
    /// Its owner restarts it.
    Restarting,
    /// Its owner was told to stop it and has not said yet that it did.
    Stopping,
    /// Nobody has it, or its owner says that it stopped it.
    Unassigned,
    /// Its owner is gone, or lost its coordinator.
    Lost,
    /// Nothing says what it does.
    Unknown,
}

/// What all that is configured does.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StatesAnswer {
    /// Each configured connector, by name.
    pub connectors: Vec<ConnectorStates>,
    /// What does not run, by name, at most `limits::STATES_SHOWN_MAX`.
    pub not_running: Vec<ItemState>,
    /// How many more do not run.
    pub not_running_left_out: u64,
}

/// What a connector and its tasks do.
#[derive(Debug, Clone, Serialize)]
pub struct ConnectorStates {
    /// Its name.
    pub connector: Arc<str>,
    /// What the connector itself does.
    pub state: EffectiveState,
    /// How many of its tasks do what.
    pub tasks: BTreeMap<EffectiveState, u64>,
}

/// What one connector or task does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemState {
    /// Which.
    #[serde(flatten)]
    pub item: ItemAnswer,
    /// What it does.
    pub state: EffectiveState,
    /// Who has it.
    pub worker: Option<Arc<str>>,
}

// === impl EffectiveState ===

impl EffectiveState {
    /// All, in the order they are shown.
    pub const ALL: [Self; 10] = [
        Self::Running,
        Self::Paused,
        Self::Stopped,
        Self::Failed,
        Self::Starting,
        Self::Restarting,
        Self::Stopping,
        Self::Unassigned,
        Self::Lost,
        Self::Unknown,
    ];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Starting => "starting",
            Self::Restarting => "restarting",
            Self::Stopping => "stopping",
            Self::Unassigned => "unassigned",
            Self::Lost => "lost",
            Self::Unknown => "unknown",
        }
    }
}
