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
    #[serde(with = "crate::facts::pairs")]
    starts: BTreeMap<WorkItem, Start>,
    /// Connectors that are new and have no tasks yet.
    created: BTreeSet<ConnectorId>,
    /// When what was waited for was done.
    moves: Vec<Move>,
}

/// Something that was waited for was done.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Move {
    item: WorkItem,
    worker: Arc<str>,
    at: EventTime,
}

/// An item that a worker was told to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Start {
    worker: Arc<str>,
    generation: i32,
    recorded: EventTime,
    /// When this life of the group began, and its number.
    life: (EventTime, u32),
}

// === impl Awaited ===

impl Awaited {
    pub(super) fn take(&mut self, turn: &Turn<'_>) {
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
        // What was to start before and is still with the same worker.
        let older = std::mem::take(&mut self.starts);
        if !older.is_empty() {
            for member in &now.members {
                let still = member.told.iter().filter_map(|item| {
                    let start = older.get(item)?;
                    (start.worker == member.worker).then(|| (*item, start.clone()))
                });
                self.starts.extend(still);
            }
        }
        let recommitted = recommitted(turn);
        for member in &now.members {
            if now.shares_worker(&member.worker) {
                continue;
            }
            for item in to_start(member, &recommitted) {
                let start = Start {
                    worker: Arc::clone(&member.worker),
                    generation: now.generation,
                    recorded: turn.step.recorded,
                    life: (turn.step.began, turn.step.incarnation),
                };
                self.starts.insert(item, start);
            }
        }
        let waiting: Vec<WorkItem> = self.starts.keys().copied().collect();
        for item in waiting {
            self.wrote(item, turn.statuses, turn.skews);
        }
    }

    /// A status of the item was written.
    pub(super) fn wrote(&mut self, item: WorkItem, statuses: &StatusLog, skews: &Skews) {
        // A connector whose start failed will not write its tasks.
        let Some(start) = self.starts.get(&item) else {
            return;
        };
        let (began, incarnation) = start.life;
        let life = Life {
            began,
            incarnation,
            skews,
        };
        let started = statuses.started(item, &start.worker, start.generation, &life);
        if let Some(at) = started {
            let at = skews.corrected(&start.worker, at, start.recorded);
            let worker = Arc::clone(&start.worker);
            self.moves.push(Move { item, worker, at });
            self.starts.remove(&item);
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.starts.is_empty() && self.created.is_empty()
    }

    /// When the last of it was done.
    pub(super) fn last(&self) -> EventTime {
        self.moves
            .iter()
            .map(|done| done.at)
            .max()
            .unwrap_or(EventTime(i64::MIN))
    }

    /// When nothing had moved for too long; `None` while that cannot be said.
    pub(super) fn stuck(&self, scheduled: EventTime) -> Option<EventTime> {
        let moves = self.moves.iter().map(|done| done.at);
        Some(stuck_after(moves.collect(), scheduled))
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
