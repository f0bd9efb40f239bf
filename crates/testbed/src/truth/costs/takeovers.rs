//! Stops of running work, and who took over from whom.

use std::collections::BTreeMap;

use super::{Handover, Interruption, Reason, Run, RunBegin, RunEnd};
use crate::truth::event::Item;

/// Each run that was asked to stop, or ended.
pub(super) fn interruptions(runs: &[Run]) -> Vec<Interruption> {
    let of = |run: &Run| {
        Some(Interruption {
            item: run.item.clone(),
            worker: run.worker.clone(),
            at_ms: run.stop_asked_ms.or(run.to_ms)?,
            stopped_ms: run.to_ms,
            reason: run.reason.unwrap_or(Reason::Unknown),
            end: run.end,
        })
    };
    let mut all: Vec<Interruption> = runs.iter().filter_map(of).collect();
    all.sort_by_key(|interruption| interruption.at_ms);
    all
}

/// Each start of what had run before, anywhere. What goes on, after a pause or a freeze, takes
/// over from nobody.
pub(super) fn handovers(runs: &[Run]) -> Vec<Handover> {
    let mut last: BTreeMap<&Item, &Run> = BTreeMap::new();
    let mut all = Vec::new();
    for run in runs {
        let before = last.insert(&run.item, run);
        if let (Some(before), RunBegin::Started) = (before, run.began) {
            all.push(handover(before, run, runs));
        }
    }
    all
}

fn handover(before: &Run, run: &Run, runs: &[Run]) -> Handover {
    let until_ms = run.to_ms.unwrap_or(i64::MAX);
    // One that goes on without an end ran at least until it last said so.
    let known_end_ms = |other: &Run| other.to_ms.or(other.last_alive_ms).unwrap_or(other.from_ms);
    let overlap_ms = runs
        .iter()
        .filter(|other| other.item == run.item && other.from_ms < until_ms && *other != run)
        // A later run that overlaps with this one is that one's matter, unless it only goes on.
        .filter(|other| other.from_ms <= run.from_ms || other.began == RunBegin::Thawed)
        .map(|other| known_end_ms(other).min(until_ms) - other.from_ms.max(run.from_ms))
        .filter(|ms| *ms > 0)
        .sum();
    let crash = matches!(before.end, Some(RunEnd::Killed | RunEnd::Frozen));
    let abandoned = before.gave_up_ms.is_some();
    Handover {
        item: run.item.clone(),
        from: before.worker.clone(),
        to: run.worker.clone(),
        // What stops it later has nothing to do with this.
        reason: before.reason.filter(|_| {
            let ended_ms = before.stop_asked_ms.or(before.to_ms);
            ended_ms.is_some_and(|at_ms| at_ms <= run.from_ms)
        }),
        stopped_ms: before.to_ms,
        started_ms: run.from_ms,
        clean: !crash && !abandoned && overlap_ms == 0,
        crash,
        abandoned,
        overlap_ms,
    }
}
