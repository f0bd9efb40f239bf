//! Active and parked time of an episode: what was certainly unrest, and what may have been.

use serde::{Deserialize, Serialize};

use super::Sign;
use crate::answers::DurationAnswer;
use crate::facts::time::EventTime;

/// The stretches so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Stretches {
    /// The one that runs.
    active: Option<Sign>,
    sum: Sum,
    parked_ms: i64,
    /// Whether the end of a parked stretch was not dated.
    parked_open: bool,
}

/// Active time that is over.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Sum {
    /// Certainly.
    least_ms: i64,
    /// At most, unless a beginning was not dated.
    most_ms: i64,
    /// Whether a beginning was not dated.
    undated: bool,
    /// The same with what polls saw, where they saw the beginnings that nothing dates.
    polled: (i64, i64),
    unpolled: bool,
}

// === impl Stretches ===

impl Stretches {
    /// A round begins; `rested` says from when on only a delay was waited for.
    pub(super) fn resume(&mut self, sign: Sign, rested: Option<EventTime>) {
        let Some(rested) = rested else {
            self.active.get_or_insert(sign);
            return;
        };
        // The next round began while the work of this one was still starting.
        if rested >= sign.at {
            return;
        }
        if let Some(active) = self.active.take() {
            self.sum.add(active, rested);
        }
        self.parked_ms = self.parked_ms.saturating_add(sign.at.since_ms(rested));
        self.parked_open |= !sign.dated;
        self.active = Some(sign);
    }

    /// Active time up to `at`; `rested` as above.
    fn sum(&self, at: EventTime, rested: Option<EventTime>) -> Sum {
        let mut sum = self.sum;
        if let Some(active) = self.active {
            sum.add(active, rested.map_or(at, |rested| rested.min(at)));
        }
        sum
    }

    pub(super) fn active(&self, at: EventTime, rested: Option<EventTime>) -> DurationAnswer {
        let sum = self.sum(at, rested);
        if sum.undated {
            DurationAnswer::at_least(sum.least_ms)
        } else {
            DurationAnswer::within(sum.most_ms, sum.least_ms, sum.most_ms)
        }
    }

    pub(super) fn polled(
        &self,
        at: EventTime,
        rested: Option<EventTime>,
    ) -> Option<DurationAnswer> {
        let sum = self.sum(at, rested);
        let (least, most) = sum.polled;
        let middle = least.saturating_add(most.saturating_sub(least) / 2);
        (!sum.unpolled).then(|| DurationAnswer::within(middle, least, most))
    }

    pub(super) fn parked(&self, at: EventTime, rested: Option<EventTime>) -> DurationAnswer {
        let now_ms = rested.map_or(0, |rested| at.since_ms(rested).max(0));
        let ms = self.parked_ms.saturating_add(now_ms);
        if self.parked_open {
            // It ended at the next round's beginning, which lies before the end of its join
            // phase.
            DurationAnswer {
                bound: crate::answers::Bound::AtMost,
                ..DurationAnswer::exact(ms)
            }
        } else {
            DurationAnswer::exact(ms)
        }
    }

    /// Since when the stretch that runs is active.
    pub(super) fn since(&self) -> Option<EventTime> {
        self.active.map(|sign| sign.at)
    }
}

// === impl Sum ===

impl Sum {
    fn add(&mut self, from: Sign, to: EventTime) {
        let least = to.since_ms(from.join_ended).max(0);
        let most = to.since_ms(from.at).max(least);
        self.least_ms = self.least_ms.saturating_add(least);
        self.most_ms = self.most_ms.saturating_add(most);
        self.undated |= !from.dated;
        let polled = match from.polled {
            Some((early, late)) => (to.since_ms(late).max(least), to.since_ms(early).max(least)),
            None => (least, most),
        };
        self.unpolled |= from.polled.is_none() && !from.dated;
        self.polled.0 = self.polled.0.saturating_add(polled.0);
        self.polled.1 = self.polled.1.saturating_add(polled.1);
    }
}
