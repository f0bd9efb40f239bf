//! What the phases of a round are measured from: who was told to stop or to start what, and
//! when each of them wrote that it did.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Sign;
use super::awaited::to_start;
use crate::answers::{
    DurationAnswer, ItemAnswer, ItemPhase, Phase, PhaseWork, PolledWorker, WorkerPhases,
};
use crate::facts::ids::{CONNECTOR_TASK, Names, Protocol, WorkItem};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits::EPISODE_SLOWEST_SHOWN_MAX;
use crate::story::causes::recommitted;
use crate::story::losses::is_configured;
use crate::story::skew::{Skew, Skews};
use crate::story::steps::Turn;

/// What the phases of a round are measured from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Measure {
    /// The generation that stops carry: the one before.
    pub(super) stops_carry: i32,
    /// When this life of the group began, and its number.
    pub(super) life: (EventTime, u32),
    /// When the next one began, if that was read by then.
    pub(super) life_ended: Option<EventTime>,
    pub(super) stops: Vec<Told>,
    pub(super) starts: Vec<Told>,
}

/// What one worker stops, or starts, and from when on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Told {
    pub(super) worker: Arc<str>,
    pub(super) items: Vec<WorkItem>,
    pub(super) from: EventTime,
    /// Of what it stops, what is not configured any more: nobody misses it.
    pub(super) unmissed: Vec<WorkItem>,
}

/// What one worker wrote of what it was told.
#[derive(Debug)]
pub(super) struct Done<'a> {
    pub(super) told: &'a Told,
    /// When it did each, on its own clock.
    pub(super) at: Vec<(WorkItem, EventTime)>,
}

/// How long each worker took for one phase; absent where it did not say all of it.
pub(super) struct ByWorker(BTreeMap<Arc<str>, Option<DurationAnswer>>);

// === impl Measure ===

impl Measure {
    pub(super) fn of(turn: &Turn<'_>, sign: Sign) -> Option<Self> {
        let now = turn.step.now.as_deref()?;
        if now.members.is_empty() {
            return None;
        }
        let before = turn.step.before.as_deref();
        let eager = |record: Option<&crate::facts::observation::GroupSnapshot>| {
            record.is_some_and(|record| record.protocol == Some(Protocol::Eager))
        };
        let recommitted = recommitted(turn);
        let told = |worker: &Arc<str>, items: Vec<WorkItem>, from| Told {
            worker: Arc::clone(worker),
            items,
            from,
            unmissed: Vec::new(),
        };
        let apart = |worker: &Arc<str>| !now.shares_worker(worker);
        let mut stops: Vec<Told> = Vec::new();
        for (place, old) in turn.before().iter().enumerate() {
            // Who left stops for itself; its departure tells.
            let Some(new) = turn.present(&old.id).filter(|new| apart(&new.worker)) else {
                continue;
            };
            if !eager(before) && new.revoked.is_empty() && recommitted.is_empty() {
                continue;
            }
            let held = turn.held(place, old);
            if eager(before) {
                stops.push(told(&old.worker, held, sign.at));
                continue;
            }
            // Tasks written anew stop before the join, whatever is revoked after it.
            let is_anew = |item: &&WorkItem| {
                item.task != CONNECTOR_TASK && recommitted.binary_search(&item.connector).is_ok()
            };
            let (anew, others): (Vec<&WorkItem>, Vec<&WorkItem>) =
                held.iter().partition(|item| is_anew(item));
            let anew: Vec<WorkItem> = anew.into_iter().copied().collect();
            let revoked = others.into_iter().copied();
            let revoked = revoked.filter(|item| sets::contains(&new.revoked, *item));
            stops.push(told(&new.worker, revoked.collect(), now.recorded));
            stops.push(told(&old.worker, anew, sign.at));
        }
        let all = now.members.iter().filter(|member| apart(&member.worker));
        let starts = all.map(|member| {
            let items = to_start(member, &recommitted);
            told(&member.worker, items, now.recorded)
        });
        let mut starts: Vec<Told> = starts.collect();
        stops.retain(|told| !told.items.is_empty());
        starts.retain(|told| !told.items.is_empty());
        for told in &mut stops {
            let items = told.items.iter().copied();
            told.unmissed = items.filter(|item| !is_configured(turn, *item)).collect();
        }
        Some(Self {
            stops_carry: before.map_or(0, |before| before.generation),
            life: (turn.step.began, turn.step.incarnation),
            life_ended: turn.step.ended,
            stops,
            starts,
        })
    }
}

// === impl Done ===

impl<'a> Done<'a> {
    /// What all of these wrote; `at` says when an item was done.
    pub(super) fn all(
        told: impl Iterator<Item = &'a Told>,
        at: impl Fn(WorkItem, &Told) -> Option<EventTime>,
    ) -> Vec<Self> {
        let done = |told: &'a Told| {
            let items = told.items.iter().copied();
            let at = items.filter_map(|item| Some((item, at(item, told)?)));
            Self {
                told,
                at: at.collect(),
            }
        };
        told.map(done).collect()
    }

    /// When the last of it was done, if all of it was.
    fn last(&self) -> Option<EventTime> {
        let all = self.at.len() == self.told.items.len();
        self.at.iter().map(|(_, at)| *at).max().filter(|_| all)
    }

    fn work(&self, skews: &Skews) -> PhaseWork {
        let count = |length| u64::try_from(length).unwrap_or(u64::MAX);
        let from = self.told.from;
        let last = self.at.iter().map(|(_, at)| *at).max();
        PhaseWork {
            items: count(self.told.items.len()),
            done: count(self.at.len()),
            from,
            by: last.map_or(from, |at| skews.corrected(&self.told.worker, at, from)),
        }
    }
}

/// What took longest, the slowest first, by the clocks as they are known.
pub(super) fn slowest(
    done: &[Done<'_>],
    phase: Phase,
    skews: &Skews,
    names: &Names,
) -> Vec<ItemPhase> {
    let mut slowest: Vec<(Reverse<i64>, WorkItem, EventTime, &Told)> = Vec::new();
    for done in done {
        let (told, ahead_ms) = (done.told, skews.of(&done.told.worker).ms());
        for (item, at) in &done.at {
            let by = at.minus_ms(ahead_ms).max(told.from);
            slowest.push((Reverse(by.since_ms(told.from)), *item, by, told));
        }
    }
    // Numbers of connectors are given in the order in which their names were read, which may
    // be another one elsewhere.
    let rank = |(took, item, _, told): &(Reverse<i64>, WorkItem, EventTime, &Told)| {
        let (name, worker) = (names.name(item.connector), Arc::clone(&told.worker));
        (*took, name, item.task, worker)
    };
    let most = EPISODE_SLOWEST_SHOWN_MAX;
    if slowest.len() > most {
        slowest.select_nth_unstable_by_key(most, |one| one.0);
        // Those as slow as the last of them belong to the choice.
        let least = slowest.iter().take(most).map(|one| one.0).max();
        slowest.retain(|one| least.is_none_or(|least| one.0 <= least));
    }
    slowest.sort_by_cached_key(rank);
    slowest.truncate(most);
    let shown = |(_, item, by, told): (Reverse<i64>, WorkItem, EventTime, &Told)| ItemPhase {
        item: ItemAnswer {
            connector: names.name(item.connector),
            task: (item.task != CONNECTOR_TASK).then_some(item.task),
        },
        worker: Arc::clone(&told.worker),
        phase,
        from: told.from,
        by,
    };
    slowest.into_iter().map(shown).collect()
}

// === impl ByWorker ===

impl ByWorker {
    pub(super) fn of(all: &[Done<'_>], skew: &dyn Fn(&str) -> Skew) -> Self {
        let lasted = |done: &Done<'_>| measured(done.last()?, done.told, skew(&done.told.worker));
        let mut workers: BTreeMap<Arc<str>, Option<DurationAnswer>> = BTreeMap::new();
        for done in all {
            let lasted = lasted(done);
            // A worker that stops before it joins and after it takes as long as the longer.
            workers
                .entry(Arc::clone(&done.told.worker))
                .and_modify(|known| {
                    *known = known
                        .zip(lasted)
                        .map(|(one, other)| if other.ms > one.ms { other } else { one });
                })
                .or_insert(lasted);
        }
        Self(workers)
    }

    /// The slowest of them, if all said all of it.
    pub(super) fn slowest(&self) -> Option<DurationAnswer> {
        let all: Option<Vec<DurationAnswer>> = self.0.values().copied().collect();
        all?.into_iter().max_by_key(|lasted| lasted.ms)
    }

    /// Those that are known otherwise than by `logs`.
    pub(super) fn beyond<'a>(
        &'a self,
        logs: &'a Self,
        generation: i32,
        phase: Phase,
    ) -> impl Iterator<Item = PolledWorker> + 'a {
        let known = move |(worker, lasted): (&'a Arc<str>, &Option<DurationAnswer>)| {
            let is_news = logs.0.get(worker) != Some(lasted);
            lasted.filter(|_| is_news).map(|lasted| PolledWorker {
                generation,
                worker: Arc::clone(worker),
                phase,
                lasted,
            })
        };
        self.0.iter().filter_map(known)
    }

    pub(super) fn beside(
        &self,
        starts: &Self,
        stopped: &[Done<'_>],
        started: &[Done<'_>],
        skews: &Skews,
    ) -> Vec<WorkerPhases> {
        let (stopped, started) = (works(stopped, skews), works(started, skews));
        let mut workers: Vec<&Arc<str>> = self.0.keys().chain(starts.0.keys()).collect();
        workers.sort_unstable();
        workers.dedup();
        let of = |worker: &Arc<str>| WorkerPhases {
            worker: Arc::clone(worker),
            stop: self.0.get(worker).copied().flatten(),
            start: starts.0.get(worker).copied().flatten(),
            stops: stopped.get(worker).copied(),
            starts: started.get(worker).copied(),
        };
        workers.into_iter().map(of).collect()
    }
}

/// What each worker did in all; who stops before it joins and after it does it twice.
fn works(done: &[Done<'_>], skews: &Skews) -> BTreeMap<Arc<str>, PhaseWork> {
    let mut works: BTreeMap<Arc<str>, PhaseWork> = BTreeMap::new();
    for done in done {
        let work = done.work(skews);
        works
            .entry(Arc::clone(&done.told.worker))
            .and_modify(|known| {
                known.items = known.items.saturating_add(work.items);
                known.done = known.done.saturating_add(work.done);
                known.from = known.from.min(work.from);
                known.by = known.by.max(work.by);
            })
            .or_insert(work);
    }
    works
}

/// From an instant of the coordinator's clock to one of the worker's.
fn measured(last: EventTime, told: &Told, skew: Skew) -> Option<DurationAnswer> {
    let raw_ms = last.since_ms(told.from);
    let (least, most) = skew.widen(raw_ms);
    // Without a bound from above, a clock far behind would hide any length.
    let most = most?;
    Some(DurationAnswer::within(
        raw_ms.saturating_sub(skew.ms()),
        least,
        most,
    ))
}
