//! The rounds of an episode and their phases (D7).
//!
//! 1. *join*: ends where the record says; begins where polls saw it, else it is unmeasured.
//! 2. *sync*: from the end of the join phase to the record, both on the coordinator's clock.
//! 3. *stop*: until the last stop of the slowest worker: from the record that revokes, or,
//!    where members stop before they join (eager, tasks written anew), from the first sign.
//! 4. *start*: from the record to the last start of the slowest worker.
//!
//! A worker that did not say all of it leaves the phase unmeasured.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::awaited::to_start;
use super::{Episode, Sign};
use crate::answers::{
    Bound, DurationAnswer, LossEnd, LostAnswer, Outcome, Phase, PolledRound, WorkerPhases,
};
use crate::facts::ids::{CONNECTOR_TASK, Protocol, WorkItem};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits::{EPISODE_DEPARTURES_SHOWN_MAX, EPISODE_ROUNDS_SHOWN_MAX};
use crate::story::causes::{Causes, recommitted};
use crate::story::skew::{Skew, Skews};
use crate::story::status_log::{Life, StatusLog};
use crate::story::steps::Turn;
use crate::story::switches::{StoryRule, Switches};

/// One round of an episode.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RoundEntry {
    /// Its number.
    pub generation: i32,
    /// Numbers before it that left no record.
    pub missing_before: u64,
    /// When its record was written.
    pub recorded: EventTime,
    /// How it ended, once that is settled.
    pub outcome: Option<Outcome>,
    /// Why it came about.
    pub causes: Causes,
    pub(super) join_ended: Option<EventTime>,
    pub(super) delay_ms: i32,
    pub(super) sync: Option<DurationAnswer>,
    pub(super) polled: PolledRound,
    pub(super) workers: Vec<WorkerPhases>,
    pub(super) stop: Option<DurationAnswer>,
    pub(super) start: Option<DurationAnswer>,
    /// What is to be measured once it has happened.
    measure: Option<Measure>,
    live: bool,
}

/// What the phases of a round are measured from.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Measure {
    /// The generation that stops carry: the one before.
    stops_carry: i32,
    /// When this life of the group began, and its number.
    life: (EventTime, u32),
    stops: Vec<Told>,
    starts: Vec<Told>,
}

/// What one worker stops, or starts, and from when on.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Told {
    worker: Arc<str>,
    items: Vec<WorkItem>,
    from: EventTime,
}

/// One phase of a round that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseSeen {
    /// Which.
    pub phase: Phase,
    /// How long it was; absent where it could not be measured.
    pub lasted: Option<DurationAnswer>,
    /// Whether its record was written while the agent watched.
    pub live: bool,
    /// When work was stopped or started; where that was not measured, the instant by which
    /// it had been. A join or a sync ends with the record.
    pub ended: Option<EventTime>,
}

// === impl RoundEntry ===

impl RoundEntry {
    pub(super) fn new(turn: &Turn<'_>, causes: &Causes, sign: Sign) -> Self {
        let step = turn.step;
        let now = step.now.as_deref();
        let join_ended = now.and_then(|now| now.join_ended);
        let on = |phase| turn.on(StoryRule::Phase(phase));
        let join = sign.polled.map(|(early, late)| {
            let (least, most) = (
                sign.join_ended.since_ms(late),
                sign.join_ended.since_ms(early),
            );
            let middle = least.saturating_add(most.saturating_sub(least) / 2);
            DurationAnswer::within(middle, least, most)
        });
        let sync = join_ended.map(|joined| DurationAnswer::exact(step.recorded.since_ms(joined)));
        Self {
            generation: turn.generation(),
            missing_before: step.missing.map_or(0, |missing| missing.count),
            recorded: step.recorded,
            outcome: None,
            causes: causes.clone(),
            join_ended,
            delay_ms: now.map_or(0, |now| now.delay_ms),
            sync: sync.filter(|_| on(2) && !turn.now().is_empty()),
            polled: PolledRound {
                generation: turn.generation(),
                join: join.filter(|_| on(1)),
                stop: None,
                start: None,
            },
            workers: Vec::new(),
            stop: None,
            start: None,
            measure: Measure::of(turn, sign),
            live: step.live,
        }
    }

    fn finish(
        &mut self,
        statuses: &StatusLog,
        skews: &Skews,
        switches: Switches,
        until: EventTime,
    ) -> Vec<PhaseSeen> {
        // A round without members has nobody who joins, computes, stops or starts.
        let Some(measure) = self.measure.take() else {
            return Vec::new();
        };
        let on = |phase| switches.on(StoryRule::Phase(phase));
        let (began, incarnation) = measure.life;
        let life = Life {
            began,
            incarnation,
            skews,
        };
        // What was written later, some have read by now and others have not.
        let in_time = |at: &EventTime, told: &Told| skews.is_by(&told.worker, *at, until);
        let stopped = |item: WorkItem, told: &Told| {
            let at = statuses.stopped(item, &told.worker, measure.stops_carry, &life);
            at.filter(|at| in_time(at, told))
        };
        let started = |item: WorkItem, told: &Told| {
            let number = self.generation;
            let written = statuses.started(item, &told.worker, number..=number, &life);
            written?.recorded.filter(|at| in_time(at, told))
        };
        let stops = |skew: &dyn Fn(&str) -> Skew| {
            ByWorker::of(measure.stops.iter().filter(|_| on(3)), stopped, skew)
        };
        let starts = |skew: &dyn Fn(&str) -> Skew| {
            ByWorker::of(measure.starts.iter().filter(|_| on(4)), started, skew)
        };
        let by_logs = |worker: &str| skews.of(worker);
        let (by_log_stops, by_log_starts) = (stops(&by_logs), starts(&by_logs));
        self.stop = by_log_stops.slowest();
        self.start = by_log_starts.slowest();
        self.workers = by_log_stops.beside(&by_log_starts);
        let seen_here = |worker: &str| skews.seen(worker);
        self.polled.stop = stops(&seen_here).slowest();
        self.polled.start = starts(&seen_here).slowest();
        let seen = |phase, lasted, ended| PhaseSeen {
            phase,
            lasted,
            live: self.live,
            ended,
        };
        let polled = &self.polled;
        let mut phases = vec![
            seen(Phase::Join, polled.join, None),
            seen(Phase::Sync, self.sync, None),
        ];
        // From the last of them on: it ended no later.
        let ended = |told: &[Told], lasted: Option<DurationAnswer>| {
            let from = told.iter().map(|told| told.from).max();
            let ended = from.zip(lasted);
            Some(ended.map_or(until, |(from, lasted)| from.plus_ms(lasted.ms)))
        };
        if !measure.stops.is_empty() {
            let stop = polled.stop;
            phases.push(seen(Phase::Stop, stop, ended(&measure.stops, stop)));
        }
        if !measure.starts.is_empty() {
            let start = polled.start;
            phases.push(seen(Phase::Start, start, ended(&measure.starts, start)));
        }
        phases
    }
}

/// How long each worker took for one phase; absent where it did not say all of it.
struct ByWorker(BTreeMap<Arc<str>, Option<DurationAnswer>>);

// === impl ByWorker ===

impl ByWorker {
    fn of<'a>(
        all: impl Iterator<Item = &'a Told>,
        at: impl Fn(WorkItem, &Told) -> Option<EventTime>,
        skew: &dyn Fn(&str) -> Skew,
    ) -> Self {
        let lasted = |told: &Told| {
            let instants: Option<Vec<EventTime>> =
                told.items.iter().map(|item| at(*item, told)).collect();
            measured(instants?.into_iter().max()?, told, skew(&told.worker))
        };
        let mut workers: BTreeMap<Arc<str>, Option<DurationAnswer>> = BTreeMap::new();
        for told in all {
            let lasted = lasted(told);
            // A worker that stops before it joins and after it takes as long as the longer.
            workers
                .entry(Arc::clone(&told.worker))
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
    fn slowest(&self) -> Option<DurationAnswer> {
        let all: Option<Vec<DurationAnswer>> = self.0.values().copied().collect();
        all?.into_iter().max_by_key(|lasted| lasted.ms)
    }

    fn beside(&self, starts: &Self) -> Vec<WorkerPhases> {
        let mut workers: Vec<&Arc<str>> = self.0.keys().chain(starts.0.keys()).collect();
        workers.sort_unstable();
        workers.dedup();
        let of = |worker: &Arc<str>| WorkerPhases {
            worker: Arc::clone(worker),
            stop: self.0.get(worker).copied().flatten(),
            start: starts.0.get(worker).copied().flatten(),
        };
        workers.into_iter().map(of).collect()
    }
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

// === impl Measure ===

impl Measure {
    fn of(turn: &Turn<'_>, sign: Sign) -> Option<Self> {
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
        Some(Self {
            stops_carry: before.map_or(0, |before| before.generation),
            life: (turn.step.began, turn.step.incarnation),
            stops,
            starts,
        })
    }
}

// === impl LostAnswer ===

impl LostAnswer {
    /// So much more was lost.
    pub(super) fn begin(&mut self, lost: usize) {
        let lost = u64::try_from(lost).unwrap_or(u64::MAX);
        self.items = self.items.saturating_add(lost);
        self.open = self.open.saturating_add(lost);
    }

    /// One piece of it has an owner again, or needs none.
    pub(super) fn end(&mut self, end: LossEnd, lasted: DurationAnswer) {
        self.open = self.open.saturating_sub(1);
        match self.ended.binary_search_by_key(&end, |(end, _)| *end) {
            Ok(place) => {
                if let Some((_, count)) = self.ended.get_mut(place) {
                    *count = count.saturating_add(1);
                }
            }
            Err(place) => self.ended.insert(place, (end, 1)),
        }
        self.longest = Some(match self.longest {
            None => lasted,
            Some(known) => {
                let ms = known.ms.max(lasted.ms);
                // One that may have lasted longer than it is known to may be the longest.
                if [known.bound, lasted.bound] == [Bound::Exact; 2] {
                    DurationAnswer::exact(ms)
                } else {
                    DurationAnswer::at_least(ms)
                }
            }
        });
    }
}

// === impl Episode ===

impl Episode {
    /// Measures the phases of the newest round by what was written until then: something
    /// followed it, or all is done.
    pub(super) fn finish_round(
        &mut self,
        statuses: &StatusLog,
        skews: &Skews,
        switches: Switches,
        until: EventTime,
    ) -> Vec<PhaseSeen> {
        match self.rounds.back_mut() {
            Some(newest) => newest.finish(statuses, skews, switches, until),
            None => Vec::new(),
        }
    }

    pub(super) fn bound_rounds(&mut self) {
        while self.rounds.len() > EPISODE_ROUNDS_SHOWN_MAX {
            self.rounds.pop_front();
        }
    }

    pub(super) fn bound_departures(&mut self) {
        let over = self
            .departures
            .len()
            .saturating_sub(EPISODE_DEPARTURES_SHOWN_MAX);
        self.departures.drain(..over);
    }
}
