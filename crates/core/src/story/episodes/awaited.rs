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
    moves: Vec<EventTime>,
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
        self.moves.clear();
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
            let workers: BTreeMap<&str, &Member> = now
                .members
                .iter()
                .map(|member| (&*member.worker, &**member))
                .collect();
            self.starts.retain(|item, start| {
                let member = workers.get(&*start.worker);
                member.is_some_and(|member| sets::contains(&member.told, *item))
            });
        }
        let recommitted = recommitted(turn);
        for member in &now.members {
            let items = to_start(member, &recommitted);
            if items.is_empty() || now.shares_worker(&member.worker) {
                continue;
            }
            for item in items {
                let start = Start {
                    worker: Arc::clone(&member.worker),
                    generation: now.generation,
                    recorded: turn.step.recorded,
                    life: (turn.step.began, turn.step.incarnation),
                };
                self.starts.insert(item, start);
                self.wrote(item, turn.statuses, turn.skews);
            }
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
            self.moves
                .push(skews.corrected(&start.worker, at, start.recorded));
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
            .copied()
            .max()
            .unwrap_or(EventTime(i64::MIN))
    }

    /// When nothing had moved for too long; `None` while that cannot be said.
    pub(super) fn stuck(&self, scheduled: EventTime) -> Option<EventTime> {
        Some(stuck_after(self.moves.clone(), scheduled))
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
