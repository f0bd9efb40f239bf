//! What an episode waits for: that workers say what became of the work they were told to
//! start, and that a new connector commits its tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::stuck_after;
use crate::facts::ids::{CONNECTOR_TASK, ConnectorId, WorkItem};
use crate::facts::observation::Member;
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::story::causes::recommitted;
use crate::story::config_log::What;
use crate::story::skew::Skews;
use crate::story::status_log::{Life, StatusLog};
use crate::story::steps::Turn;
use crate::story::switches::StoryRule;

/// What is waited for since the newest record, and what was done since.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Awaited {
    starts: BTreeMap<Arc<str>, Starts>,
    /// Connectors that are new and have no tasks yet.
    created: BTreeSet<ConnectorId>,
    /// When what was waited for was done, in the order of these instants.
    moves: Vec<Move>,
    /// How much was known of clocks when they were dated.
    dated: u64,
    /// The number of the newest record that was taken.
    newest: i32,
    /// What was started by who had completed a later one by then: it is done when the turn of
    /// that one comes.
    later: BTreeSet<WorkItem>,
}

/// What one worker was told to start.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Starts(#[serde(with = "crate::facts::pairs")] BTreeMap<WorkItem, Start>);

/// Something that was waited for was done.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Move {
    item: WorkItem,
    worker: Arc<str>,
    /// On the worker's clock.
    written: EventTime,
    /// When it was told to do it: no earlier.
    told: EventTime,
    at: EventTime,
}

/// An item that a worker was told to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Start {
    generation: i32,
    recorded: EventTime,
    /// When this life of the group began, and its number.
    life: (EventTime, u32),
}

// === impl Awaited ===

impl Awaited {
    pub(super) fn take(&mut self, turn: &Turn<'_>) {
        self.date(turn.statuses, turn.skews);
        // Whoever reads the history finds at once what was done only after this record, by a
        // worker that still has it: it is waited for like what is not read yet.
        let recorded = turn.step.recorded;
        self.moves.retain(|done| {
            let has = |member: &Arc<Member>| {
                member.worker == done.worker && sets::contains(&member.told, done.item)
            };
            done.at > recorded && turn.now().iter().any(has)
        });
        if turn.on(StoryRule::Episode(5)) {
            for change in turn.changes() {
                match change.what {
                    What::Created if turn.config_known => {
                        self.created.insert(change.connector);
                    }
                    What::Created => {}
                    What::Deleted | What::Committed { .. } => {
                        self.created.remove(&change.connector);
                    }
                }
            }
        }
        if !turn.statuses_known || !turn.on(StoryRule::Episode(4)) {
            self.starts.clear();
            return;
        }
        let Some(now) = turn.step.now.as_deref() else {
            self.starts.clear();
            return;
        };
        // What was to start before stays awaited while it is with the same worker.
        if !self.starts.is_empty() {
            let mut before = std::mem::take(&mut self.starts);
            for member in &now.members {
                let starts = before.remove(&member.worker);
                let Some(mut starts) = starts else {
                    continue;
                };
                starts
                    .0
                    .retain(|item, _| sets::contains(&member.told, *item));
                if !starts.0.is_empty() {
                    self.starts.insert(Arc::clone(&member.worker), starts);
                }
            }
        }
        self.newest = now.generation;
        for item in std::mem::take(&mut self.later) {
            self.wrote(item, turn.statuses, turn.skews);
        }
        let recommitted = recommitted(turn);
        for member in &now.members {
            let items = to_start(member, &recommitted);
            if items.is_empty() || now.shares_worker(&member.worker) {
                continue;
            }
            let starts = self.starts.entry(Arc::clone(&member.worker)).or_default();
            for item in &items {
                let start = Start {
                    generation: now.generation,
                    recorded: turn.step.recorded,
                    life: (turn.step.began, turn.step.incarnation),
                };
                starts.0.insert(*item, start);
            }
            for item in items {
                self.wrote(item, turn.statuses, turn.skews);
            }
        }
    }

    /// A status of the item was written.
    pub(super) fn wrote(&mut self, item: WorkItem, statuses: &StatusLog, skews: &Skews) {
        let mut done = None;
        for (worker, starts) in &mut self.starts {
            let Some(start) = starts.0.get(&item) else {
                continue;
            };
            let (began, incarnation) = start.life;
            let life = Life {
                began,
                ended: None,
                incarnation,
                skews,
            };
            let first = start.generation;
            let in_turn = statuses.started(item, worker, first..=self.newest, &life);
            let Some(written) = in_turn.and_then(|written| written.recorded) else {
                if statuses
                    .started(item, worker, first..=i32::MAX, &life)
                    .is_some()
                {
                    self.later.insert(item);
                }
                continue;
            };
            done = Some(Move {
                item,
                worker: Arc::clone(worker),
                written,
                told: start.recorded,
                at: skews.corrected(worker, written, start.recorded),
            });
            starts.0.remove(&item);
            break;
        }
        if let Some(done) = done {
            if self
                .starts
                .get(&done.worker)
                .is_some_and(|starts| starts.0.is_empty())
            {
                self.starts.remove(&done.worker);
            }
            let place = self.moves.partition_point(|other| other.at <= done.at);
            self.moves.insert(place, done);
        }
    }

    /// Dates all of it anew if more is known of clocks by now: whoever reads the history finds
    /// what was done before it knows the clock of who did it, or takes it for older than it is.
    pub(super) fn date(&mut self, statuses: &StatusLog, skews: &Skews) {
        if std::mem::replace(&mut self.dated, skews.version()) == skews.version() {
            return;
        }
        for done in &mut self.moves {
            done.at = skews.corrected(&done.worker, done.written, done.told);
        }
        self.moves.sort_by_key(|done| done.at);
        let starts = self.starts.values();
        let items: Vec<WorkItem> = starts.flat_map(|starts| starts.0.keys().copied()).collect();
        for item in items {
            self.wrote(item, statuses, skews);
        }
    }

    /// The config topic is another one: what it said of new connectors no longer holds.
    pub(super) fn config_anew(&mut self) {
        self.created.clear();
    }

    pub(super) fn is_done(&self) -> bool {
        self.starts.is_empty() && self.created.is_empty()
    }

    /// When the last of it was done.
    pub(super) fn last(&self) -> EventTime {
        let last = self.moves.last();
        last.map_or(EventTime(i64::MIN), |done| done.at)
    }

    /// When nothing had moved for too long, if nothing moves any more.
    pub(super) fn stuck(&self, scheduled: EventTime) -> EventTime {
        stuck_after(self.moves.iter().map(|done| done.at), scheduled)
    }
}

/// What a member starts in this round: what it was handed, and tasks that it has and that
/// were written anew.
pub(super) fn to_start(member: &Member, recommitted: &[ConnectorId]) -> Vec<WorkItem> {
    if recommitted.is_empty() {
        return member.assigned.clone();
    }
    let anew = member.told.iter().copied().filter(|item| {
        item.task != CONNECTOR_TASK && recommitted.binary_search(&item.connector).is_ok()
    });
    sets::union(&member.assigned, &anew.collect::<Vec<_>>())
}
