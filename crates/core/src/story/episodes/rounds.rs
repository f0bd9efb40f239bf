//! The rounds of an episode and their phases (D7).
//!
//! 1. *join*: ends where the record says; begins where polls saw it, else it is unmeasured.
//! 2. *sync*: from the end of the join phase to the record, both on the coordinator's clock.
//! 3. *stop*: until the last stop of the slowest worker: from the record that revokes, or,
//!    where members stop before they join (eager, tasks written anew), from the first sign.
//! 4. *start*: from the record to the last start of the slowest worker.
//!
//! A worker that did not say all of it leaves the phase unmeasured.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::measure::{self, ByWorker, Done, Measure, Told};
use super::{Episode, Shown, Sign};
use crate::answers::{
    Bound, DurationAnswer, ItemPhase, LossEnd, LostAnswer, Outcome, Phase, PolledRound,
    PolledWorker, WorkerPhases,
};
use crate::facts::ids::WorkItem;
use crate::facts::time::EventTime;
use crate::limits::{
    EPISODE_DEPARTURES_SHOWN_MAX, EPISODE_JOINED_SHOWN_MAX, EPISODE_ROUNDS_SHOWN_MAX,
};
use crate::story::causes::Causes;
use crate::story::status_log::Life;
use crate::story::steps::Turn;
use crate::story::switches::StoryRule;
use crate::view::own;

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
    pub(super) polled_workers: Vec<PolledWorker>,
    pub(super) workers: Vec<WorkerPhases>,
    pub(super) stop: Option<DurationAnswer>,
    pub(super) start: Option<DurationAnswer>,
    pub(super) slowest: Vec<ItemPhase>,
    /// By when it had begun, where something in the logs dates that.
    pub(super) began: Option<EventTime>,
    pub(super) leader: Option<Arc<str>>,
    pub(super) deputy: Option<Arc<str>>,
    /// What is to be measured once it has happened.
    measure: Option<Measure>,
    live: bool,
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
            polled_workers: Vec::new(),
            workers: Vec::new(),
            stop: None,
            start: None,
            slowest: Vec::new(),
            began: sign.dated.then_some(sign.at),
            leader: now.and_then(|now| Some(now.label(now.leader_member()?))),
            deputy: now.and_then(|now| Some(now.label(own::deputy(now)?))),
            measure: Measure::of(turn, sign),
            live: step.live,
        }
    }

    fn finish(&mut self, show: &Shown<'_>, cost: &mut Cost, until: EventTime) -> Vec<PhaseSeen> {
        // A round without members has nobody who joins, computes, stops or starts.
        let Some(measure) = self.measure.take() else {
            return Vec::new();
        };
        let Shown {
            statuses,
            skews,
            switches,
            names,
        } = *show;
        let on = |phase| switches.on(StoryRule::Phase(phase));
        let (began, incarnation) = measure.life;
        let life = Life {
            began,
            ended: measure.life_ended,
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
        let stops = Done::all(measure.stops.iter().filter(|_| on(3)), stopped);
        let starts = Done::all(measure.starts.iter().filter(|_| on(4)), started);
        let by_logs = |worker: &str| skews.of(worker);
        let (by_log_stops, by_log_starts) = (
            ByWorker::of(&stops, &by_logs),
            ByWorker::of(&starts, &by_logs),
        );
        self.stop = by_log_stops.slowest();
        self.start = by_log_starts.slowest();
        self.workers = by_log_stops.beside(&by_log_starts, &stops, &starts, skews);
        self.slowest = measure::slowest(&stops, Phase::Stop, skews, names);
        let slow_starts = measure::slowest(&starts, Phase::Start, skews, names);
        self.slowest.extend(slow_starts);
        cost.stopped(&stops, skews, until);
        cost.started(&starts, skews, until);
        let seen_here = |worker: &str| skews.seen(worker);
        let (seen_stops, seen_starts) = (
            ByWorker::of(&stops, &seen_here),
            ByWorker::of(&starts, &seen_here),
        );
        self.polled.stop = seen_stops.slowest();
        self.polled.start = seen_starts.slowest();
        let number = self.generation;
        let stops_seen = seen_stops.beyond(&by_log_stops, number, Phase::Stop);
        let starts_seen = seen_starts.beyond(&by_log_starts, number, Phase::Start);
        self.polled_workers = stops_seen.chain(starts_seen).collect();
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
    pub(super) fn finish_round(&mut self, show: &Shown<'_>, until: EventTime) -> Vec<PhaseSeen> {
        match self.rounds.back_mut() {
            Some(newest) => newest.finish(show, &mut self.cost, until),
            None => Vec::new(),
        }
    }

    pub(super) fn bound_rounds(&mut self) {
        while self.rounds.len() > EPISODE_ROUNDS_SHOWN_MAX {
            self.rounds.pop_front();
            self.left_out.rounds = self.left_out.rounds.saturating_add(1);
        }
    }

    pub(super) fn bound_members(&mut self) {
        let left_out = &mut self.left_out;
        let bound = |length: usize, most: usize, left_out: &mut u64| {
            let over = length.saturating_sub(most);
            let count = u64::try_from(over).unwrap_or(u64::MAX);
            *left_out = left_out.saturating_add(count);
            ..over
        };
        let departures = self.departures.len();
        let most = EPISODE_DEPARTURES_SHOWN_MAX;
        let over = bound(departures, most, &mut left_out.departures);
        self.departures.drain(over);
        let most = EPISODE_JOINED_SHOWN_MAX;
        let over = bound(self.joined.len(), most, &mut left_out.joined);
        self.joined.drain(over);
    }
}
