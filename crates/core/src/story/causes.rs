//! D9: why a round came about. Every rule looks at one step; all that apply are kept, and
//! the first in the order of `answers::Cause` is the cause.
//!
//! 1. *group_formed*: the record before has no members, or is of an older creation.
//! 2. *group_emptied*: the record has no members.
//! 3. *protocol_changed*: the two records name different protocols.
//! 4. *coordinator_lost*: members that had something are back under their ids without a
//!    claim.
//! 5. to 8. *worker_lost*, *worker_unresponsive*, *worker_left*, *worker_gone*: a member is
//!    not there any more; how it left decides which. Who comes back with its claim is
//!    *worker_unresponsive*, too.
//! 9. *worker_restarted*: a newcomer takes the place of a departed worker.
//! 10. *worker_joined*: a newcomer that nobody knows; the first record of a history has none.
//! 11. *delay_expired*: the delay that the record before carried was over.
//! 12. *config_mismatch*: the record before carried that error.
//! 13. to 15. *connector_created*, *connector_deleted*, *tasks_changed*: the config topic says
//!     so between the config offsets of the two records.
//! 16. *revocation_followup*: the record before revoked something from a member that is here.
//! 17. *config_advanced*: nothing of that, but a member was ahead of the offset of the record
//!     before, or was behind it and has caught up, and the round followed at once.
//! 18. *coordinator_moved*: nothing of that, but another broker wrote the record.

mod rules;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{Cause, CauseAnswer, TasksRoot};
use crate::facts::time::EventTime;
use crate::limits::CAUSES_SHOWN_MAX;
use crate::story::departures::{Departures, Moves};
use crate::story::steps::Turn;
pub(crate) use rules::recommitted;

/// One cause that applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Which.
    pub cause: Cause,
    /// About which worker or connector.
    pub subject: Option<Arc<str>>,
    /// In which generation it was found first.
    pub generation: i32,
    /// The config record it rests on.
    pub offset: Option<i64>,
    /// What says so.
    pub evidence: String,
    /// The departure it rests on: how that went may not be settled yet.
    pub departure: Option<u64>,
    /// For changed tasks: what made them be written.
    pub root: Option<TasksRoot>,
    /// For changed tasks: whether their number or content is another one.
    pub changed: Option<bool>,
    /// When the config record was written, on the coordinator's clock.
    pub at: Option<EventTime>,
}

/// Causes in order of precedence, each with a subject once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Causes {
    found: Vec<Found>,
    left_out: u64,
}

/// All causes of a step.
#[must_use]
pub fn causes(turn: &Turn<'_>, moves: &Moves, departures: &Departures) -> Causes {
    let mut causes = Causes::default();
    for found in rules::all(turn, moves, departures) {
        causes.add(found);
    }
    causes
}

// === impl Found ===

impl Found {
    /// Precedence, then what came first, then names: the order is the same wherever it is
    /// made.
    fn rank(&self) -> (Cause, i32, Option<i64>, Option<&str>) {
        // Names may be masked: they come last.
        (
            self.cause,
            self.generation,
            self.offset,
            self.subject.as_deref(),
        )
    }
}

// === impl Causes ===

impl Causes {
    /// Adds a cause; what is known of that subject stays as it was found first.
    pub fn add(&mut self, found: Found) {
        let known = |other: &Found| other.cause == found.cause && other.subject == found.subject;
        let earlier = |other: &Found| known(other) && other.generation <= found.generation;
        if self.found.iter().any(earlier) {
            return;
        }
        // How a worker left may be settled after it came back and left once more.
        self.found.retain(|other| !known(other));
        let place = self
            .found
            .partition_point(|other| other.rank() <= found.rank());
        self.found.insert(place, found);
        if self.found.len() > CAUSES_SHOWN_MAX {
            // The first of them is the cause; the last says least.
            self.found.pop();
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Adds all of another step.
    pub fn extend(&mut self, other: &Self) {
        for found in &other.found {
            self.add(found.clone());
        }
        self.left_out = self.left_out.saturating_add(other.left_out);
    }

    /// More is known of a departure.
    pub fn settle(&mut self, departure: u64, cause: Cause, evidence: &str) {
        let (of_it, others) = std::mem::take(&mut self.found)
            .into_iter()
            .partition(|found| found.departure == Some(departure));
        self.found = others;
        let of_it: Vec<Found> = of_it;
        for found in of_it {
            self.add(Found {
                cause,
                evidence: evidence.to_owned(),
                ..found
            });
        }
    }

    /// The cause: the first.
    #[must_use]
    pub fn first(&self) -> Option<&Found> {
        self.found.first()
    }

    /// The cause, as a label.
    #[must_use]
    pub fn cause(&self) -> Cause {
        self.first().map_or(Cause::Unknown, |found| found.cause)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Found> {
        self.found.iter()
    }

    /// Causes beyond the bound.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// As they are shown.
    #[must_use]
    pub fn answers(&self) -> Vec<CauseAnswer> {
        let answer = |found: &Found| CauseAnswer {
            cause: found.cause,
            subject: found.subject.clone(),
            generation: found.generation,
            evidence: found.evidence.clone(),
            root: found.root,
            changed: found.changed,
            at: found.at,
        };
        self.found.iter().map(answer).collect()
    }
}
