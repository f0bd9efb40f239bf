//! The last statuses of each item, as written: the newest alone does not show who stopped
//! what before somebody else started it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::facts::ids::WorkItem;
use crate::facts::observation::{RunState, StatusFact};
use crate::facts::time::EventTime;
use crate::limits::{DESTROYED_MAX, STATUS_ITEMS_MAX, STATUSES_PER_ITEM_MAX, TIMER_SLACK_MS};
use crate::story::skew::Skews;

/// The last statuses of each item, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StatusLog {
    #[serde(with = "crate::facts::pairs")]
    items: BTreeMap<WorkItem, ItemLog>,
    /// Items whose status was deleted: forgotten in that order when there are many.
    destroyed: VecDeque<WorkItem>,
}

/// The last statuses of one item, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct ItemLog {
    written: Vec<Written>,
    /// Whether its status was deleted since.
    destroyed: bool,
}

/// One status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The state.
    pub state: RunState,
    /// Who wrote it.
    pub worker: Arc<str>,
    /// The last generation that worker had completed.
    pub generation: i32,
    /// When: that worker's clock.
    pub recorded: Option<EventTime>,
    /// Which incarnation of the group had been seen when it arrived, where it arrived when it
    /// was written.
    pub life: Option<u32>,
}

/// A creation of the group: its numbers come again in the next one, so a status says something
/// of it only if it was written after it began, whatever its generation.
#[derive(Debug, Clone, Copy)]
pub struct Life<'a> {
    /// When it began, on the coordinator's clock.
    pub began: EventTime,
    /// When the next one began, where that was read already: who reads the whole log at once
    /// has statuses of it that carry the same numbers.
    pub ended: Option<EventTime>,
    /// Its number.
    pub incarnation: u32,
    /// Clocks of workers.
    pub skews: &'a Skews,
}

// === impl Life ===

impl Life<'_> {
    /// Whether a status may be of it.
    #[must_use]
    pub fn has(&self, written: &Written) -> bool {
        // What arrived while it was there is of it, whatever clock its writer has.
        if written.life == Some(self.incarnation) {
            return true;
        }
        written.recorded.is_none_or(|at| {
            let at = at.minus_ms(self.skews.of(&written.worker).ms());
            at >= self.began.plus_ms(-TIMER_SLACK_MS) && self.ended.is_none_or(|ended| at < ended)
        })
    }
}

// === impl Written ===

impl Written {
    /// Whether it says what became of work that was to start.
    fn is_start(&self) -> bool {
        !matches!(self.state, RunState::Unassigned | RunState::Restarting)
    }
}

// === impl StatusLog ===

impl StatusLog {
    /// Takes one record; gives the item it is about, if any.
    pub fn apply(
        &mut self,
        fact: &StatusFact,
        recorded: Option<EventTime>,
        life: Option<u32>,
    ) -> Option<WorkItem> {
        match fact {
            StatusFact::State(status) => {
                if self.items.len() >= STATUS_ITEMS_MAX && !self.items.contains_key(&status.item) {
                    return None;
                }
                let log = self.items.entry(status.item).or_default();
                log.destroyed = false;
                let written = &mut log.written;
                if written.len() >= STATUSES_PER_ITEM_MAX {
                    written.remove(0);
                }
                written.push(Written {
                    state: status.state,
                    worker: Arc::clone(&status.worker),
                    generation: status.generation,
                    recorded,
                    life,
                });
                Some(status.item)
            }
            StatusFact::Destroyed(item) => {
                if let Some(log) = self.items.get_mut(item)
                    && !std::mem::replace(&mut log.destroyed, true)
                {
                    self.destroyed.push_back(*item);
                }
                if self.destroyed.len() > DESTROYED_MAX
                    && let Some(oldest) = self.destroyed.pop_front()
                    && self.items.get(&oldest).is_some_and(|log| log.destroyed)
                {
                    self.items.remove(&oldest);
                }
                None
            }
            StatusFact::NoState | StatusFact::Unknown => None,
        }
    }

    /// What was written of an item, oldest first.
    #[must_use]
    pub fn of(&self, item: WorkItem) -> &[Written] {
        self.items
            .get(&item)
            .map(|log| log.written.as_slice())
            .unwrap_or_default()
    }

    /// What was written of each item, in the order of items: for who asks for all of them.
    pub fn all(&self) -> impl Iterator<Item = (WorkItem, &[Written])> {
        self.items
            .iter()
            .map(|(item, log)| (*item, log.written.as_slice()))
    }

    /// Forgets everything: the topic is another one now.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// What was written of an item by one worker with a generation of this range, in one
    /// life of the group, oldest first.
    pub fn by(
        &self,
        item: WorkItem,
        worker: &str,
        generations: std::ops::RangeInclusive<i32>,
        life: &Life<'_>,
    ) -> impl DoubleEndedIterator<Item = &Written> {
        self.items
            .get(&item)
            .map(|log| log.written.as_slice())
            .unwrap_or_default()
            .iter()
            .filter(move |w| &*w.worker == worker && generations.contains(&w.generation))
            .filter(|written| life.has(written))
    }

    /// Whether the last that a worker wrote of an item is that it has it running, or paused.
    #[must_use]
    pub fn runs(&self, item: WorkItem, worker: &str) -> bool {
        let log = self.items.get(&item).filter(|log| !log.destroyed);
        let mut written = log.into_iter().flat_map(|log| log.written.iter().rev());
        let last = written.find(|written| &*written.worker == worker);
        last.is_some_and(|last| !matches!(last.state, RunState::Unassigned | RunState::Failed))
    }

    /// When a worker stopped an item after it completed a generation and before it completed
    /// the next one.
    #[must_use]
    pub fn stopped(
        &self,
        item: WorkItem,
        worker: &str,
        generation: i32,
        life: &Life<'_>,
    ) -> Option<EventTime> {
        self.by(item, worker, generation..=generation, life)
            .rfind(|written| written.state == RunState::Unassigned)?
            .recorded
    }

    /// When a worker last stopped an item before it completed a generation: what the record
    /// of that generation revokes is stopped before it counts as completed.
    #[must_use]
    pub fn stopped_by(
        &self,
        item: WorkItem,
        worker: &str,
        generation: i32,
        life: &Life<'_>,
    ) -> Option<EventTime> {
        self.by(item, worker, i32::MIN..=generation.saturating_sub(1), life)
            .rfind(|written| written.state == RunState::Unassigned)?
            .recorded
    }

    /// The first that a worker said of an item that it was told to start, having completed one
    /// of these generations last: any state but that it stopped it.
    #[must_use]
    pub fn started(
        &self,
        item: WorkItem,
        worker: &str,
        generations: std::ops::RangeInclusive<i32>,
        life: &Life<'_>,
    ) -> Option<&Written> {
        self.by(item, worker, generations, life)
            .find(|written| written.is_start() && written.recorded.is_some())
    }
}
