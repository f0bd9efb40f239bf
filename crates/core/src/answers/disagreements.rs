//! Where the status topic and the group say different things of the same work (D12).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ItemAnswer;
use crate::facts::time::EventTime;

/// How they disagree: the label `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisagreementType {
    /// Who ran it left without a word, and nobody waits for it any more.
    RunningOnDepartedWorker,
    /// A member that is not told to have it says that it runs it.
    RunningElsewhere,
    /// Who is told to have it says nothing of it.
    AssignedNotRunning,
    /// Somebody has it, and it is said to have stopped.
    UnassignedButOwned,
    /// Several members claim it.
    DuplicateClaim,
    /// Who had it before writes beside who has it now.
    TwoWriters,
    /// An eager round moved it, and who had it did not stop it.
    PossibleOrphan,
    /// Who was to stop it gave up waiting for that.
    AbandonedStop,
    /// A state of an older group, with a larger generation, keeps newer ones out.
    StatusFrozen,
}

/// How sure it is that work runs, or does not run, as that says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Something harmless and frequent looks the same.
    Possible,
    /// Nothing else that is known looks the same for so long.
    Likely,
    /// The records say it themselves.
    Certain,
}

/// What disagrees.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DisagreementsAnswer {
    /// Now, by type, connector, task and worker; at most `limits::DISAGREEMENTS_SHOWN_MAX`.
    #[serde(rename = "disagreements")]
    pub now: Vec<DisagreementAnswer>,
    /// Those that stand beyond that.
    #[serde(rename = "disagreements_left_out")]
    pub left_out: usize,
    /// How many there are, all of them, by type, connector and worker.
    #[serde(skip)]
    pub counts: BTreeMap<(DisagreementType, Arc<str>, Arc<str>), u64>,
    /// Those that are over, the newest first, at most `limits::DISAGREEMENTS_OVER_MAX`. One that
    /// began and ended before the agent read of it may not be among them.
    #[serde(rename = "disagreements_over")]
    pub over: Vec<DisagreementAnswer>,
    /// Whether the status topic is read: without it only claims are compared.
    #[serde(skip)]
    pub statuses_known: bool,
}

/// One disagreement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DisagreementAnswer {
    /// How.
    #[serde(rename = "type")]
    pub kind: DisagreementType,
    /// Of what.
    #[serde(flatten)]
    pub item: ItemAnswer,
    /// Which worker does, or should do, what the other side does not know.
    pub worker: Arc<str>,
    /// Since when, on the coordinator's clock.
    pub since: EventTime,
    /// Until when; absent while it lasts.
    pub until: Option<EventTime>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What says so.
    pub evidence: String,
}

// === impl DisagreementsAnswer ===

impl DisagreementsAnswer {
    /// How many there are of a type.
    #[must_use]
    pub fn count(&self, kind: DisagreementType) -> u64 {
        let of_it = self.counts.iter().filter(|((of, ..), _)| *of == kind);
        of_it.map(|(_, count)| count).sum()
    }
}

// === impl DisagreementType ===

impl DisagreementType {
    /// All, in the order they are shown.
    pub const ALL: [Self; 9] = [
        Self::RunningOnDepartedWorker,
        Self::RunningElsewhere,
        Self::AssignedNotRunning,
        Self::UnassignedButOwned,
        Self::DuplicateClaim,
        Self::TwoWriters,
        Self::PossibleOrphan,
        Self::AbandonedStop,
        Self::StatusFrozen,
    ];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::RunningOnDepartedWorker => "running_on_departed_worker",
            Self::RunningElsewhere => "running_elsewhere",
            Self::AssignedNotRunning => "assigned_not_running",
            Self::UnassignedButOwned => "unassigned_but_owned",
            Self::DuplicateClaim => "duplicate_claim",
            Self::TwoWriters => "two_writers",
            Self::PossibleOrphan => "possible_orphan",
            Self::AbandonedStop => "abandoned_stop",
            Self::StatusFrozen => "status_frozen",
        }
    }

    /// The number of its rule.
    #[must_use]
    pub fn rule(self) -> u8 {
        match self {
            Self::RunningOnDepartedWorker => 1,
            Self::RunningElsewhere => 2,
            Self::AssignedNotRunning => 3,
            Self::UnassignedButOwned => 4,
            Self::DuplicateClaim => 5,
            Self::TwoWriters => 6,
            Self::PossibleOrphan => 7,
            Self::AbandonedStop => 8,
            Self::StatusFrozen => 9,
        }
    }
}

// === impl Confidence ===

impl Confidence {
    /// In a word.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}
