//! Rounds that failed, and until when each counts: until one that was completed, or may have been.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{forget, push};
use crate::facts::time::EventTime;
use crate::limits::PATTERN_FAILED_RUNS_MAX;

/// A round: incarnation and generation.
type Round = (u32, i32);

/// Rounds that failed. What ended their count stays beside them: rounds are settled as they are
/// read, which may be ahead of the instant that is asked for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Failed {
    runs: VecDeque<Run>,
    /// The newest round that was completed, or may have been, and when that was recorded.
    completed: Option<(Round, EventTime)>,
    /// When the newest record that was read was.
    read: Option<EventTime>,
}

/// Generations that failed one after the other within a second.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Run {
    second: i64,
    incarnation: u32,
    /// The last of them.
    last: i32,
    count: u64,
    /// When the first round after them was recorded that was completed, or may have been.
    ended: Option<EventTime>,
}

// === impl Failed ===

impl Failed {
    /// What was before it in the log was before it, whatever clock says otherwise; what is
    /// older than `window_ms` is forgotten.
    pub(super) fn read_to(&mut self, at: EventTime, window_ms: i64) {
        let second = at.0.div_euclid(1000);
        if self.read.replace(at) > Some(at) {
            for run in &mut self.runs {
                run.second = run.second.min(second);
                run.ended = run.ended.map(|ended| ended.min(at));
            }
        }
        let since = at.plus_ms(window_ms.saturating_neg()).0.div_euclid(1000);
        forget(&mut self.runs, |run| run.second < since);
    }

    /// Numbers that went back without the group being created anew come again.
    pub(super) fn begin(&mut self, round: Round) {
        if self.completed.is_some_and(|(known, _)| known >= round) {
            self.completed = None;
        }
    }

    /// What failed before that did not fail without a completed round in between, as far as
    /// anybody knows.
    pub(super) fn may_be_completed(&mut self, round: Round, at: EventTime) {
        if self.completed.is_none_or(|(known, _)| known < round) {
            self.completed = Some((round, at));
        }
        for run in self.runs.iter_mut().filter(|run| run.round() <= round) {
            run.ended = Some(run.ended.map_or(at, |ended| ended.min(at)));
        }
    }

    /// Generations up to `last` failed.
    pub(super) fn add(&mut self, incarnation: u32, last: i32, count: u64, at: EventTime) {
        let later = self
            .completed
            .filter(|(known, _)| *known >= (incarnation, last));
        let run = Run {
            second: at.0.div_euclid(1000),
            incarnation,
            last,
            count,
            ended: later.map(|(_, at)| at),
        };
        let first = i64::from(last).saturating_sub_unsigned(count.saturating_sub(1));
        // One run never reaches over a number of which it is not known how it ended.
        let goes_on = |before: &&mut Run| {
            before.second == run.second
                && before.incarnation == incarnation
                && before.ended == run.ended
                && i64::from(before.last).saturating_add(1) == first
        };
        match self.runs.back_mut().filter(goes_on) {
            Some(before) => {
                before.last = last;
                before.count = before.count.saturating_add(count);
            }
            None => push(&mut self.runs, run, PATTERN_FAILED_RUNS_MAX),
        }
    }

    /// How many failed after a second, up to an instant, and none since was completed by then.
    pub(super) fn count(&self, after: i64, now: EventTime) -> u64 {
        let second = now.0.div_euclid(1000);
        let counts = |run: &&Run| {
            let is_then = run.second > after && run.second <= second;
            is_then && run.ended.is_none_or(|ended| ended > now)
        };
        let counts = self.runs.iter().filter(counts).map(|run| run.count);
        counts.fold(0, u64::saturating_add)
    }
}

// === impl Run ===

impl Run {
    fn round(&self) -> Round {
        (self.incarnation, self.last)
    }
}
