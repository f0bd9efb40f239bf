//! Writes down what runs where.

use super::super::Truth;
use super::Scribe;
use crate::item::Item;
use crate::truth::{Doer, RunEnd, TrueRun};

// === impl Scribe ===

impl Scribe {
    /// A piece of work runs; returns the number of that run.
    pub fn runs(&mut self, now: i64, item: &Item, by: &Doer, resumed: bool) -> usize {
        self.truth.runs.push(TrueRun {
            item: item.clone(),
            worker: by.worker.clone(),
            member: by.member.clone(),
            from_ms: now,
            resumed,
            until_ms: None,
            end: RunEnd::Open,
            stop: None,
        });
        self.truth.runs.len() - 1
    }

    /// It failed as it started.
    pub fn failed(&mut self, now: i64, item: &Item, by: &Doer) {
        let number = self.runs(now, item, by, false);
        self.ran(now, number, RunEnd::Failed, None);
    }

    /// It runs no more.
    pub fn ran(&mut self, now: i64, number: usize, end: RunEnd, stop: Option<usize>) {
        let Truth { runs, .. } = &mut self.truth;
        if let Some(run) = runs.get_mut(number).filter(|run| run.end == RunEnd::Open) {
            run.until_ms = Some(now);
            run.end = end;
            run.stop = stop;
        }
    }
}
