//! Statuses whose turn has not come: one of a generation says what it says after the step of
//! that generation's record, whichever of the two is read first.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::facts::ids::WorkItem;
use crate::facts::observation::{Status, StatusFact};
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::STRETCHES_OVER_MAX;

/// What was read of a status topic.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Read {
    /// What it says.
    pub fact: StatusFact,
    /// By its worker's clock.
    pub recorded: Option<EventTime>,
    /// When the agent had it.
    pub had: ArrivalTime,
    /// Whether it was written while the agent watched.
    pub live: bool,
}

/// What waits, as it was read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Held {
    waiting: VecDeque<Read>,
}

// === impl Read ===

impl Read {
    fn item(&self) -> Option<WorkItem> {
        match &self.fact {
            StatusFact::State(status) => Some(status.item),
            StatusFact::Destroyed(item) => Some(*item),
            StatusFact::NoState | StatusFact::Unknown => None,
        }
    }

    /// What a worker wrote.
    #[must_use]
    pub fn status(&self) -> Option<&Status> {
        match &self.fact {
            StatusFact::State(status) => Some(status),
            StatusFact::Destroyed(_) | StatusFact::NoState | StatusFact::Unknown => None,
        }
    }

    /// Whether it is of a generation up to this one. A deletion has none.
    pub(super) fn is_of(&self, judged: Option<i32>) -> bool {
        self.status()
            .is_none_or(|status| Some(status.generation) <= judged)
    }
}

// === impl Held ===

impl Held {
    /// Takes what was read; gives back what is to be taken now.
    pub(super) fn take(
        &mut self,
        read: Read,
        has_its_turn: impl Fn(&Read) -> bool,
    ) -> Option<Read> {
        let item = read.item();
        let waits = || self.waiting.iter().any(|before| before.item() == item);
        if has_its_turn(&read) && !waits() {
            return Some(read);
        }
        self.waiting.push_back(read);
        if self.waiting.len() > STRETCHES_OVER_MAX {
            return self.waiting.pop_front();
        }
        None
    }

    /// What has its turn now, as it was read; of each piece of work what comes first is waited
    /// for.
    pub(super) fn release(&mut self, has_its_turn: impl Fn(&Read) -> bool) -> Vec<Read> {
        // Mostly none has, and each step of a long history asks.
        if !self.waiting.iter().any(&has_its_turn) {
            return Vec::new();
        }
        let mut due = Vec::new();
        let mut waits = BTreeSet::new();
        let waiting = std::mem::take(&mut self.waiting);
        for read in waiting {
            let item = read.item();
            if has_its_turn(&read) && item.is_none_or(|item| !waits.contains(&item)) {
                due.push(read);
            } else {
                waits.extend(item);
                self.waiting.push_back(read);
            }
        }
        due
    }

    /// No record is to come for what was read until then.
    pub(super) fn passed(&mut self, passed: impl Fn(ArrivalTime) -> bool) -> Vec<Read> {
        let mut due = Vec::new();
        while self
            .waiting
            .front()
            .is_some_and(|oldest| passed(oldest.had))
        {
            due.extend(self.waiting.pop_front());
        }
        due
    }

    /// When the newest was read.
    pub(super) fn since(&self) -> Option<ArrivalTime> {
        self.waiting.back().map(|newest| newest.had)
    }
}
