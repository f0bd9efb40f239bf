//! Clocks of workers against the coordinator's, from pairs of records whose order is known.
//!
//! 1. A worker starts work only after the record that assigns it: the status is later, so
//!    the worker's clock is ahead by no more than the difference.
//! 2. A worker stops work before it joins again: the status is earlier than the end of that
//!    join phase, so its clock is ahead by no less than the difference. A worker that is gone
//!    may have stopped later, when it thawed: only a stop that no clock near the coordinator's
//!    can have stamped counts, if the worker's starts allow a clock so far ahead.
//! 3. Evidence that contradicts newer evidence is of a clock that was set since.
//!
//! What this agent itself sees bounds a clock, too: a status was written before it arrived.
//! That is another instant on every sidecar, so it bounds durations beside the polls, and no
//! verdict.
//!
//! Within these bounds the smallest skew is taken: clocks that agree are the rule.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::facts::time::EventTime;
use crate::limits::{ARRIVAL_SLACK_MS, SKEW_PAIRS_MAX, SKEW_WORKERS_MAX};

/// What is known of each worker's clock.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Skews {
    workers: Known,
    /// By no less, as arrivals here show.
    arrived: Known,
    /// Whether more is known than when it was last asked.
    #[serde(skip)]
    learnt: bool,
    /// How often more was known than before.
    version: u64,
}

/// The pairs of each worker, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Known {
    workers: BTreeMap<Arc<str>, Pairs>,
    /// How much was told so far.
    told: u64,
}

/// The pairs of one worker, and when it was last told of.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Pairs {
    pairs: VecDeque<Pair>,
    last: u64,
}

/// One pair: the clock is ahead by no more, or no less, than `ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Pair {
    NoMore(i64),
    NoLess(i64),
}

/// What the pairs of one worker say together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skew {
    /// Ahead by no less.
    pub least_ms: Option<i64>,
    /// Ahead by no more.
    pub most_ms: Option<i64>,
}

// === impl Skews ===

impl Skews {
    /// A status was written after a record of the coordinator.
    pub fn started(&mut self, worker: &Arc<str>, written: EventTime, after: EventTime) {
        self.add(worker, Pair::NoMore(written.since_ms(after)));
    }

    /// A status was written before an instant of the coordinator.
    pub fn stopped(&mut self, worker: &Arc<str>, written: EventTime, before: EventTime) {
        self.add(worker, Pair::NoLess(written.since_ms(before)));
    }

    fn add(&mut self, worker: &Arc<str>, pair: Pair) {
        if self.workers.add(worker, pair) {
            self.learnt = true;
            self.version = self.version.saturating_add(1);
        }
    }

    /// Another number whenever more is known.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether more is known of some clock since this was last asked.
    pub fn take_learnt(&mut self) -> bool {
        std::mem::take(&mut self.learnt)
    }

    /// A status was written before this agent had it.
    pub fn arrived(&mut self, worker: &Arc<str>, written: EventTime, at: EventTime) {
        let ms = written.since_ms(at).saturating_sub(ARRIVAL_SLACK_MS);
        self.arrived.add(worker, Pair::NoLess(ms));
    }

    /// What is known of one worker's clock with what arrived here.
    #[must_use]
    pub fn seen(&self, worker: &str) -> Skew {
        let by_logs = self.of(worker);
        let least = self.arrived.of(worker).least_ms;
        let least_ms = by_logs.least_ms.max(least);
        if matches!((least_ms, by_logs.most_ms), (Some(least), Some(most)) if least > most) {
            return by_logs;
        }
        Skew {
            least_ms,
            ..by_logs
        }
    }

    /// What is known of one worker's clock.
    #[must_use]
    pub fn of(&self, worker: &str) -> Skew {
        self.workers.of(worker)
    }

    /// All workers of which anything is known.
    pub fn all(&self) -> impl Iterator<Item = (&Arc<str>, Skew)> {
        let workers = self.workers.workers.iter();
        workers.map(|(worker, known)| (worker, Skew::of(known.pairs.iter().rev())))
    }

    /// Whether a status was written by an instant of the coordinator, as far as is known.
    #[must_use]
    pub fn is_by(&self, worker: &str, written: EventTime, until: EventTime) -> bool {
        self.corrected(worker, written, EventTime(i64::MIN)) <= until
    }

    /// An instant of a worker's clock on the coordinator's, no earlier than `at_least`.
    #[must_use]
    pub fn corrected(&self, worker: &str, written: EventTime, at_least: EventTime) -> EventTime {
        written.minus_ms(self.of(worker).ms()).max(at_least)
    }
}

// === impl Known ===

impl Known {
    fn of(&self, worker: &str) -> Skew {
        let known = self.workers.get(worker);
        let pairs = known.into_iter().flat_map(|known| known.pairs.iter().rev());
        Skew::of(pairs)
    }

    /// Adds a pair, if it says more than is known. Of too many workers the one goes that was
    /// not told of for longest.
    fn add(&mut self, worker: &Arc<str>, pair: Pair) -> bool {
        self.told = self.told.saturating_add(1);
        if !self.workers.contains_key(worker) && self.workers.len() >= SKEW_WORKERS_MAX {
            let oldest = self.workers.iter().min_by_key(|(_, known)| known.last);
            if let Some(oldest) = oldest.map(|(worker, _)| Arc::clone(worker)) {
                self.workers.remove(&oldest);
            }
        }
        let entry = self.workers.entry(Arc::clone(worker)).or_default();
        entry.last = self.told;
        // What is known already would only push out what is not.
        let known = Skew::of(entry.pairs.iter().rev());
        let says_more = match pair {
            Pair::NoMore(ms) => known.most_ms.is_none_or(|most| ms < most),
            Pair::NoLess(ms) => known.least_ms.is_none_or(|least| ms > least),
        };
        if !says_more {
            return false;
        }
        if entry.pairs.len() >= SKEW_PAIRS_MAX {
            entry.pairs.pop_front();
        }
        entry.pairs.push_back(pair);
        true
    }
}

// === impl Skew ===

impl Skew {
    /// Newest first; the first pair that contradicts ends the evidence (rule 3).
    fn of<'a>(newest_first: impl Iterator<Item = &'a Pair>) -> Self {
        let mut skew = Self::default();
        for pair in newest_first {
            let mut next = skew;
            match pair {
                Pair::NoMore(ms) => next.most_ms = Some(skew.most_ms.map_or(*ms, |m| m.min(*ms))),
                Pair::NoLess(ms) => next.least_ms = Some(skew.least_ms.map_or(*ms, |l| l.max(*ms))),
            }
            if matches!((next.least_ms, next.most_ms), (Some(least), Some(most)) if least > most) {
                break;
            }
            skew = next;
        }
        skew
    }

    /// How far the clock is ahead: nothing where that is possible, else the near end of what
    /// is. The far end says only how long nothing was written, and may lie minutes away.
    #[must_use]
    pub fn ms(&self) -> i64 {
        let nothing = 0_i64;
        let no_less = nothing.max(self.least_ms.unwrap_or(nothing));
        self.most_ms.map_or(no_less, |most| no_less.min(most))
    }

    /// The same duration, measured from the coordinator's clock to this one, as an interval.
    #[must_use]
    pub fn widen(&self, measured_ms: i64) -> (i64, Option<i64>) {
        let least = self
            .most_ms
            .map_or(0, |most| measured_ms.saturating_sub(most));
        let most = self.least_ms.map(|least| measured_ms.saturating_sub(least));
        (least.max(0), most)
    }
}
