//! What the status topic says: the newest state of each item, and which worker is
//! proven to have completed which generation.
//!
//! A status carries the last generation its worker had *completed* when it wrote
//! (`WorkerCoordinator.generationId`), so one status is proof for a whole round: no
//! member gets an assignment that the others do not get.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::facts::ids::WorkItem;
use crate::facts::observation::{RunState, Status, StatusFact};
use crate::facts::time::EventTime;
use crate::limits::{
    GENERATION_PROOFS_MAX, PROOF_RUN_GAP_MS, PROOF_RUN_SEEN_MAX, PROOF_RUNS_MAX, STATUS_ITEMS_MAX,
};

/// Everything the status topic said so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Statuses {
    #[serde(with = "crate::facts::pairs")]
    items: BTreeMap<WorkItem, StatusNow>,
    /// When each worker wrote statuses with each generation, as runs without a long pause:
    /// the numbers come again when the group is created anew.
    #[serde(with = "crate::facts::pairs")]
    proofs: BTreeMap<(i32, Arc<str>), Runs>,
}

type Runs = Vec<Run>;

/// Statuses with one generation by one worker, without a long pause between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    /// When they were written: the earliest of them, in order.
    seen: Vec<EventTime>,
    /// The earliest and the latest of all.
    first: EventTime,
    last: EventTime,
}

/// The newest state of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusNow {
    /// The state.
    pub state: RunState,
    /// Who wrote it.
    pub worker: Arc<str>,
    /// The last generation that worker had completed.
    pub generation: i32,
    /// When it was written: that worker's clock.
    pub recorded: Option<EventTime>,
}

// === impl Statuses ===

impl Statuses {
    /// Takes one record.
    pub fn apply(&mut self, fact: &StatusFact, recorded: Option<EventTime>) {
        match fact {
            StatusFact::State(status) => self.state(status, recorded),
            StatusFact::Destroyed(item) => {
                self.items.remove(item);
            }
            StatusFact::NoState | StatusFact::Unknown => {}
        }
    }

    fn state(&mut self, status: &Status, recorded: Option<EventTime>) {
        if let Some(at) = recorded {
            let proof = (status.generation, Arc::clone(&status.worker));
            note(self.proofs.entry(proof).or_default(), at);
            if self.proofs.len() > GENERATION_PROOFS_MAX {
                self.forget_oldest_proof();
            }
        }
        // A reader ignores the old owner's late UNASSIGNED (KAFKA-12525).
        if let Some(now) = self.items.get(&status.item)
            && status.state == RunState::Unassigned
            && now.state == RunState::Running
            && (now.generation > status.generation
                || (now.generation == status.generation && now.worker != status.worker))
        {
            return;
        }
        if self.items.len() >= STATUS_ITEMS_MAX && !self.items.contains_key(&status.item) {
            return;
        }
        self.items.insert(
            status.item,
            StatusNow {
                state: status.state,
                worker: Arc::clone(&status.worker),
                generation: status.generation,
                recorded,
            },
        );
    }

    fn forget_oldest_proof(&mut self) {
        let newest = |runs: &Runs| runs.iter().map(|run| run.last).max();
        let oldest = self.proofs.iter().min_by_key(|(_, runs)| newest(runs));
        let oldest = oldest.map(|(proof, _)| proof.clone());
        if let Some(oldest) = oldest {
            self.proofs.remove(&oldest);
        }
    }

    /// Forgets everything: the topic is another one now.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The newest state of an item.
    #[must_use]
    pub fn get(&self, item: WorkItem) -> Option<&StatusNow> {
        self.items.get(&item)
    }

    /// Every item with a state.
    pub fn items(&self) -> impl Iterator<Item = (WorkItem, &StatusNow)> {
        self.items.iter().map(|(item, status)| (*item, status))
    }

    /// The newest generation that one of these workers is proven to have completed: the
    /// largest in the last run of statuses, since numbers start over when the group is
    /// created anew. At least: a round that stops and starts nothing writes no status.
    #[must_use]
    pub fn generation_at_least(&self, workers: &[&str]) -> Option<i32> {
        let last = |runs: &Runs| runs.iter().map(|run| run.last).max();
        let ours = || {
            self.proofs
                .iter()
                .filter(|((_, worker), _)| workers.contains(&&**worker))
                .filter_map(|((generation, _), runs)| Some((*generation, last(runs)?)))
        };
        let newest = ours().map(|(_, at)| at).max()?;
        ours()
            .filter(|(_, at)| newest.since_ms(*at) <= PROOF_RUN_GAP_MS)
            .map(|(generation, _)| generation)
            .max()
    }

    /// Whether `worker` wrote a status with exactly this generation, not before `since`
    /// and not after `until`.
    #[must_use]
    pub fn proves(
        &self,
        worker: &Arc<str>,
        generation: i32,
        since: Option<EventTime>,
        until: Option<EventTime>,
    ) -> bool {
        let inside = |at: EventTime| {
            since.is_none_or(|since| at >= since) && until.is_none_or(|until| at <= until)
        };
        let runs = self.proofs.get(&(generation, Arc::clone(worker)));
        runs.is_some_and(|runs| runs.iter().flat_map(|run| &run.seen).any(|at| inside(*at)))
    }
}

/// Adds an instant to the run it belongs to, or begins a new one.
fn note(runs: &mut Runs, at: EventTime) {
    let near = |run: &&mut Run| {
        at.since_ms(run.last) <= PROOF_RUN_GAP_MS && run.first.since_ms(at) <= PROOF_RUN_GAP_MS
    };
    if let Some(run) = runs.iter_mut().find(near) {
        run.first = run.first.min(at);
        run.last = run.last.max(at);
        // The earliest, whatever partition was read first.
        if let Err(place) = run.seen.binary_search(&at) {
            run.seen.insert(place, at);
            run.seen.truncate(PROOF_RUN_SEEN_MAX);
        }
        return;
    }
    if runs.len() >= PROOF_RUNS_MAX {
        runs.remove(0);
    }
    runs.push(Run {
        seen: vec![at],
        first: at,
        last: at,
    });
}
