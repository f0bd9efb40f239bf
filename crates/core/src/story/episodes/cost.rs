//! Tasks that stood still because of an episode: from their stop, or the loss of their
//! worker, until somebody said what became of them, or until the episode closed.
//!
//! Only by what the logs say: clocks are known as well as pairs of records show (`skew`), so a
//! sum has an interval. What nobody misses, since it is not configured any more, is none of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::measure::Done;
use crate::answers::{CostAnswer, DurationAnswer};
use crate::facts::ids::{Kind, WorkItem};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits::UNOWNED_MEMORY_MAX;
use crate::story::losses::is_configured;
use crate::story::skew::Skews;
use crate::story::steps::Turn;

/// What stands still, and what stood still until somebody said that it does no more.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Cost {
    #[serde(with = "crate::facts::pairs")]
    down: BTreeMap<WorkItem, Instant>,
    stopped: u64,
    ms: i64,
    least_ms: i64,
    /// Absent where the start of one of them is known from one side only.
    most_ms: Option<i64>,
    ended: u64,
}

/// An instant on the coordinator's clock.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Instant {
    /// As well as the clock of who wrote it is known.
    at: EventTime,
    /// No earlier; absent where nobody knows.
    early: Option<EventTime>,
    /// No later.
    late: EventTime,
}

// === impl Cost ===

impl Cost {
    /// A record was judged: what it takes for removed is not missed any more.
    pub(super) fn take(&mut self, turn: &Turn<'_>) {
        self.down.retain(|item, _| is_configured(turn, *item));
    }

    /// Tasks lost their worker, from an instant on at the latest.
    pub(super) fn lost(&mut self, lost: &[(WorkItem, EventTime, bool)]) {
        for (item, since, exact) in lost {
            let since = Instant {
                at: *since,
                early: exact.then_some(*since),
                late: *since,
            };
            self.begin(*item, since);
        }
    }

    pub(super) fn stopped(&mut self, stops: &[Done<'_>], skews: &Skews, until: EventTime) {
        for done in stops {
            for (item, at) in &done.at {
                if !sets::contains(&done.told.unmissed, *item) {
                    self.begin(*item, placed(done, *at, skews, until));
                }
            }
        }
    }

    pub(super) fn started(&mut self, starts: &[Done<'_>], skews: &Skews, until: EventTime) {
        if self.down.is_empty() {
            return;
        }
        for done in starts {
            for (item, at) in &done.at {
                if let Some(since) = self.down.remove(item) {
                    self.end(since, placed(done, *at, skews, until));
                }
            }
        }
    }

    fn begin(&mut self, item: WorkItem, since: Instant) {
        let full = self.down.len() >= UNOWNED_MEMORY_MAX;
        if item.kind() != Kind::Task || full || self.down.contains_key(&item) {
            return;
        }
        self.stopped = self.stopped.saturating_add(1);
        self.down.insert(item, since);
    }

    fn end(&mut self, since: Instant, until: Instant) {
        let ms = until.at.since_ms(since.at).max(0);
        let early = until.early.unwrap_or(since.late);
        let least_ms = early.since_ms(since.late).max(0);
        let most_ms = since.early.map(|early| until.late.since_ms(early).max(ms));
        self.ms = self.ms.saturating_add(ms);
        self.least_ms = self.least_ms.saturating_add(least_ms.min(ms));
        let so_far = self.most_ms.or((self.ended == 0).then_some(0));
        self.most_ms = so_far
            .zip(most_ms)
            .map(|(all, one)| all.saturating_add(one));
        self.ended = self.ended.saturating_add(1);
    }

    /// As it is shown at an instant: that of closing, or now.
    pub(super) fn answer(&self, at: EventTime) -> CostAnswer {
        let mut all = self.clone();
        let down = std::mem::take(&mut all.down);
        let still = u64::try_from(down.len()).unwrap_or(u64::MAX);
        let now = Instant {
            at,
            early: Some(at),
            late: at,
        };
        for since in down.into_values() {
            all.end(since, now);
        }
        let lasted = match all.most_ms {
            _ if all.ended == 0 => None,
            Some(most_ms) if most_ms == all.least_ms => Some(DurationAnswer::exact(all.ms)),
            Some(most_ms) => Some(DurationAnswer::within(all.ms, all.least_ms, most_ms)),
            None => Some(DurationAnswer::at_least(all.least_ms)),
        };
        CostAnswer {
            stopped: all.stopped,
            still,
            still_ms: lasted,
        }
    }
}

/// When a worker did something, by its clock: no earlier than it was told to, and no later than
/// what was read of it.
fn placed(done: &Done<'_>, at: EventTime, skews: &Skews, until: EventTime) -> Instant {
    let (from, skew) = (done.told.from, skews.of(&done.told.worker));
    let late = skew.least_ms.map_or(until, |ms| at.minus_ms(ms).min(until));
    let early = skew.most_ms.map_or(from, |ms| at.minus_ms(ms).max(from));
    let at = skews.corrected(&done.told.worker, at, from);
    Instant {
        at,
        early: Some(early.min(at)),
        late: late.max(at),
    }
}
