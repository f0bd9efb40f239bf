//! One round: its record, what followed it, and how it ended.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Next, Rule};
use crate::answers::Outcome;
use crate::facts::observation::{GroupSnapshot, Member};

/// One round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Round {
    /// Which incarnation of the group.
    pub incarnation: u32,
    /// What its record says; absent when it left none.
    pub record: Option<Arc<GroupSnapshot>>,
    /// Its number.
    pub generation: i32,
    /// Whether each member's next claim follows or ignores what it was told.
    pub followed: Vec<Option<bool>>,
    /// Whether each member of the record is in the next one too.
    pub stayed: Vec<bool>,
    /// Whether each member of the record is in the next one without a claim.
    pub dropped: Vec<bool>,
    /// What followed.
    pub next: Option<Next>,
    /// How it ended, and the rule that says so.
    pub outcome: Option<(Outcome, Rule)>,
    /// Whether its record was written while the agent watched: only then is it counted.
    pub counts: bool,
    /// Whether what each member was told is counted, or is not to be.
    pub counted: Vec<bool>,
    /// Whether its record, or what followed it, was not weighed yet.
    pub(super) fresh: bool,
}

// === impl Round ===

impl Round {
    /// A round of this incarnation, about which nothing is known yet.
    #[must_use]
    pub fn of(incarnation: u32) -> Self {
        Self {
            incarnation,
            record: None,
            generation: 0,
            followed: Vec::new(),
            stayed: Vec::new(),
            dropped: Vec::new(),
            next: None,
            outcome: None,
            counts: false,
            counted: Vec::new(),
            fresh: false,
        }
    }

    /// Whether it was completed, and of some of its members it is not yet said whether
    /// they did what they were told.
    pub(super) fn waits_for_members(&self) -> bool {
        matches!(self.outcome, Some((Outcome::Completed, _))) && self.counted.contains(&false)
    }

    /// The members of the record.
    #[must_use]
    pub fn members(&self) -> &[Arc<Member>] {
        self.record
            .as_deref()
            .map(|record| record.members.as_slice())
            .unwrap_or_default()
    }

    /// Whether the record was applied; `None` until that is settled, or when it is unknown.
    #[must_use]
    pub fn applied(&self) -> Option<bool> {
        match self.outcome?.0 {
            Outcome::Completed => Some(true),
            Outcome::Aborted => Some(false),
            Outcome::Mismatch | Outcome::Emptied | Outcome::Unknown => None,
        }
    }

    /// Those of its members that are in the next record too.
    pub fn stayers(&self) -> impl Iterator<Item = &Arc<Member>> {
        self.members()
            .iter()
            .zip(&self.stayed)
            .filter(|(_, stayed)| **stayed)
            .map(|(m, _)| m)
    }
}
