//! Stops of running work, and who ran it next.

use std::collections::BTreeMap;

use evenkeel_core::answers::HandoverHow;
use evenkeel_core::facts::ids::Kind;
use evenkeel_sim::truth::{RunEnd, TrueRun, Truth};

use super::{Bounds, Class, classes, is_changed, kind, lines, missed, record_after};
use crate::drive::Watched;

/// All classes.
const CLASSES: [Class; 5] = [
    Class::Handover,
    Class::Lost,
    Class::Dropped,
    Class::Again,
    Class::Wanted,
];

/// Every run that ended was interrupted, once, and for its reason.
pub(super) fn interruptions(truth: &Truth, watched: &Watched) -> Result<(), String> {
    let mut told: BTreeMap<(Kind, Class), u64> = BTreeMap::new();
    for ((kind, reason), count) in &watched.engine.answers().counters.interruptions {
        *told.entry((*kind, super::class(*reason))).or_default() += count;
    }
    let mut right: BTreeMap<(Kind, Class), Bounds> = BTreeMap::new();
    let mut all: BTreeMap<Kind, Bounds> = BTreeMap::new();
    for line in lines(truth) {
        for (place, run) in line.runs.iter().enumerate() {
            let kind = kind(line.item);
            // Of whoever is missed and comes back nobody knows that it ran all the while.
            let missed = missed_meanwhile(truth, run);
            all.entry(kind).or_default().1 += missed;
            right.entry((kind, Class::Lost)).or_default().1 += missed;
            let next = line.runs.get(place + 1).copied();
            let classes = classes(truth, run, next);
            if classes.is_empty() && line.plain {
                continue;
            }
            let sure = line.plain && is_seen(truth, run, next);
            let sum = all.entry(kind).or_default();
            sum.0 += u64::from(sure);
            sum.1 += 1;
            let one = classes.len() == 1;
            for class in if line.plain {
                classes
            } else {
                CLASSES.to_vec()
            } {
                let bounds = right.entry((kind, class)).or_default();
                bounds.0 += u64::from(sure && one);
                bounds.1 += 1;
            }
        }
    }
    for kind in Kind::ALL {
        let mut sum = 0;
        for class in CLASSES {
            let count = told.get(&(kind, class)).copied().unwrap_or(0);
            let (least, most) = right.get(&(kind, class)).copied().unwrap_or_default();
            if !(least..=most).contains(&count) {
                return Err(format!("{count} {kind:?} {class:?}, not {least} to {most}"));
            }
            sum += count;
        }
        let (least, most) = all.get(&kind).copied().unwrap_or_default();
        if !(least..=most).contains(&sum) {
            return Err(format!(
                "{sum} {kind:?} were interrupted, not {least} to {most}"
            ));
        }
    }
    Ok(())
}

/// How often a record missed the worker while it ran on.
fn missed_meanwhile(truth: &Truth, run: &TrueRun) -> u64 {
    let until_ms = run.until_ms.unwrap_or(i64::MAX);
    let recorded = truth.rounds.iter().filter(|round| {
        let at_ms = round.join_ended_ms;
        round.recorded_ms.is_some() && run.from_ms < at_ms && at_ms < until_ms
    });
    let mut was_there = true;
    let gone = recorded.filter(|round| {
        let is_there = round.members.values().any(|of| of.worker == run.worker);
        let left = was_there && !is_there;
        was_there = is_there;
        left
    });
    gone.count() as u64
}

/// Whether the log shows that it ended, and why.
fn is_seen(truth: &Truth, run: &TrueRun, next: Option<&TrueRun>) -> bool {
    let Some(until_ms) = run.until_ms else {
        return false;
    };
    match run.end {
        RunEnd::Paused => true,
        RunEnd::Killed => {
            let stop = run.stop.and_then(|number| truth.stops.get(number));
            stop.is_none() && missed(truth, run).is_some()
        }
        RunEnd::Stopped => {
            let runs_again = next.is_some_and(|next| !next.resumed);
            runs_again || record_after(truth, until_ms).is_some()
        }
        _ => false,
    }
}

/// Every run on another worker than the one before was handed over, and cleanly where that
/// one had said that it stopped.
pub(super) fn handovers(truth: &Truth, watched: &Watched) -> Result<(), String> {
    let told = watched.engine.answers().counters.handovers;
    let mut right: BTreeMap<(Kind, HandoverHow), Bounds> = BTreeMap::new();
    for line in lines(truth) {
        for pair in line.runs.windows(2) {
            let (one, next) = (pair[0], pair[1]);
            let ended = classes(truth, one, Some(next));
            // What was removed meanwhile is new when it comes again.
            let until_ms = one.until_ms.unwrap_or(i64::MAX);
            let wanted = ended.contains(&Class::Wanted)
                || is_changed(truth, line.item, until_ms, next.from_ms);
            // Whether what fails as it starts was handed over is a matter of words.
            let failed = [one.end, next.end].contains(&RunEnd::Failed);
            if line.plain && (one.worker == next.worker || next.resumed || ended == [Class::Wanted])
            {
                continue;
            }
            let how = match one.end {
                RunEnd::Killed => HandoverHow::Unclean,
                _ => HandoverHow::Clean,
            };
            for each in HandoverHow::ALL {
                if each == how || wanted || !line.plain {
                    let bounds = right.entry((kind(line.item), each)).or_default();
                    bounds.0 += u64::from(line.plain && !wanted && !failed);
                    bounds.1 += 1;
                }
            }
        }
    }
    for kind in Kind::ALL {
        for how in HandoverHow::ALL {
            let count = told.get(&(kind, how)).copied().unwrap_or(0);
            let (least, most) = right.get(&(kind, how)).copied().unwrap_or_default();
            if !(least..=most).contains(&count) {
                return Err(format!("{count} {kind:?} {how:?}, not {least} to {most}"));
            }
        }
    }
    Ok(())
}
