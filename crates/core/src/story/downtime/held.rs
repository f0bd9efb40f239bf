//! Statuses whose turn has not come: one of a generation says what it says after the step of
//! that generation's record, whichever of the two is read first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::facts::ids::WorkItem;
use crate::facts::observation::{Status, StatusFact};
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::HELD_STATUSES_MAX;

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

/// What waits. Each step of a long history asks for what has its turn, so that it is found by
/// generation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Read>", into = "Vec<Read>")]
pub(super) struct Held {
    /// By a number that grows as they are read.
    reads: BTreeMap<u64, Read>,
    /// Of each piece of work, in the order in which they were read.
    of_item: BTreeMap<WorkItem, VecDeque<u64>>,
    /// The first of each piece of work, by generation.
    first: BTreeSet<(i32, u64)>,
    next: u64,
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

    /// Of which generation it is. A deletion has none, and waits for none.
    fn generation(&self) -> i32 {
        self.status().map_or(i32::MIN, |status| status.generation)
    }
}

// === impl Held ===

impl From<Vec<Read>> for Held {
    fn from(reads: Vec<Read>) -> Self {
        let mut held = Self::default();
        for read in reads {
            held.push(read);
        }
        held
    }
}

impl From<Held> for Vec<Read> {
    fn from(held: Held) -> Self {
        held.reads.into_values().collect()
    }
}

impl Held {
    /// Takes what was read, of a generation up to `judged` or not; gives back what is to be
    /// taken now: it, unless it waits, or the oldest, if there are too many.
    pub(super) fn take(
        &mut self,
        read: Read,
        judged: Option<i32>,
        waits: impl Fn(&Read) -> bool,
    ) -> Option<Read> {
        let is_first = read
            .item()
            .is_none_or(|item| !self.of_item.contains_key(&item));
        if is_first && is_of(read.generation(), judged) && !waits(&read) {
            return Some(read);
        }
        self.push(read);
        if self.reads.len() > HELD_STATUSES_MAX {
            return self.pop_oldest();
        }
        None
    }

    /// What has its turn once a generation is judged, as it was read; of each piece of work what
    /// comes first is waited for.
    pub(super) fn release(
        &mut self,
        judged: Option<i32>,
        waits: impl Fn(&Read) -> bool,
    ) -> Vec<Read> {
        let up_to = self.first.iter();
        let up_to = up_to.take_while(|(generation, _)| is_of(*generation, judged));
        let firsts: Vec<u64> = up_to.map(|(_, number)| *number).collect();
        self.release_from(firsts, |read| {
            is_of(read.generation(), judged) && !waits(read)
        })
    }

    /// What was written until then, of whatever generation.
    pub(super) fn release_until(&mut self, end: EventTime) -> Vec<Read> {
        let firsts = self.first.iter().map(|(_, number)| *number).collect();
        self.release_from(firsts, |read| read.recorded.is_some_and(|at| at <= end))
    }

    fn release_from(
        &mut self,
        firsts: Vec<u64>,
        has_its_turn: impl Fn(&Read) -> bool,
    ) -> Vec<Read> {
        let mut due = BTreeMap::new();
        for first in firsts {
            let mut first = Some(first);
            while let Some(number) = first
                && self.reads.get(&number).is_some_and(&has_its_turn)
                && let Some((read, after)) = self.remove(number)
            {
                due.insert(number, read);
                first = after;
            }
        }
        due.into_values().collect()
    }

    /// No record is to come for what was read until then.
    pub(super) fn passed(&mut self, passed: impl Fn(ArrivalTime) -> bool) -> Vec<Read> {
        let mut due = Vec::new();
        while (self.reads.values().next()).is_some_and(|oldest| passed(oldest.had)) {
            due.extend(self.pop_oldest());
        }
        due
    }

    /// When the newest was read.
    pub(super) fn since(&self) -> Option<ArrivalTime> {
        self.reads.values().next_back().map(|newest| newest.had)
    }

    fn push(&mut self, read: Read) {
        // What says nothing waits for nothing.
        let Some(item) = read.item() else {
            return;
        };
        let number = self.next;
        self.next = number.saturating_add(1);
        let of_item = self.of_item.entry(item).or_default();
        if of_item.is_empty() {
            self.first.insert((read.generation(), number));
        }
        of_item.push_back(number);
        self.reads.insert(number, read);
    }

    fn pop_oldest(&mut self) -> Option<Read> {
        let oldest = self.reads.keys().next().copied()?;
        self.remove(oldest).map(|(read, _)| read)
    }

    /// Takes the first of a piece of work; gives the one after it, too.
    fn remove(&mut self, first: u64) -> Option<(Read, Option<u64>)> {
        let read = self.reads.remove(&first)?;
        self.first.remove(&(read.generation(), first));
        let item = read.item()?;
        let of_item = self.of_item.get_mut(&item)?;
        of_item.pop_front();
        let after = of_item.front().copied();
        match after.and_then(|after| self.reads.get(&after)) {
            Some(next) => {
                self.first
                    .extend(after.map(|after| (next.generation(), after)));
            }
            None => {
                self.of_item.remove(&item);
            }
        }
        Some((read, after))
    }
}

fn is_of(generation: i32, judged: Option<i32>) -> bool {
    generation == i32::MIN || Some(generation) <= judged
}
