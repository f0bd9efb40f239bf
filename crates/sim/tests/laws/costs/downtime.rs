//! How long tasks did not run.

use std::collections::BTreeMap;

use evenkeel_core::answers::DownReason;
use evenkeel_sim::plan::Deed;
use evenkeel_sim::truth::{RunEnd, TrueRun, Truth};
use evenkeel_sim::world::World;

use super::{Class, Line, class, classes, lines, missed};
use crate::drive::Watched;

/// The downtime that was counted of each connector is what its tasks had, to the millisecond
/// where all clocks agree. Returns how many stretches were compared.
pub(super) fn ended(world: &World, watched: &Watched) -> Result<usize, String> {
    let truth = world.truth();
    let lines = lines(truth);
    let mut compared = 0;
    for (place, connector) in world.plan().connectors.iter().enumerate() {
        // Pauses and deletions end a stretch without a run.
        let changed = world.plan().deeds.iter().any(|(_, deed)| {
            matches!(deed, Deed::Target(of, _) | Deed::Delete(of) | Deed::Retask(of, _) if *of == place)
        });
        let tasks: Vec<&Line<'_>> = lines
            .iter()
            .filter(|line| *line.item.connector == *connector.name && !line.item.is_connector())
            .collect();
        if changed || tasks.iter().any(|line| !line.plain) {
            continue;
        }
        let mut right: Option<BTreeMap<Class, i64>> = Some(BTreeMap::new());
        for line in tasks {
            let mut failed_ms = None;
            for pair in line.runs.windows(2) {
                let fails = |run: &TrueRun| run.end == RunEnd::Failed;
                // What fails again is down by its first failure until it runs.
                let since_ms = failed_ms.unwrap_or(pair[0].from_ms);
                failed_ms = fails(pair[0]).then_some(since_ms);
                if fails(pair[0]) && fails(pair[1]) {
                    continue;
                }
                compared += usize::from(right.is_some());
                right = right.and_then(|mut sums| {
                    let (class, ms) = match failed_ms {
                        Some(since_ms) => (Class::Failed, pair[1].from_ms - since_ms),
                        None => stretch(truth, pair[0], pair[1])?,
                    };
                    *sums.entry(class).or_default() += ms;
                    Some(sums)
                });
            }
        }
        let Some(right) = right else {
            continue;
        };
        let mut told: BTreeMap<Class, i64> = BTreeMap::new();
        for ((of, reason), ms) in &watched.engine.answers().counters.unavailable_ms {
            if **of == *connector.name {
                *told.entry(class(*reason)).or_default() += i64::try_from(*ms).unwrap();
            }
        }
        if told != right {
            return Err(format!("{}: {told:?} ms, not {right:?}", connector.name));
        }
    }
    Ok(compared)
}

/// A stretch between two runs; `None` where no log tells its reason.
fn stretch(truth: &Truth, one: &TrueRun, next: &TrueRun) -> Option<(Class, i64)> {
    let classes = classes(truth, one, Some(next));
    let [class] = classes[..] else {
        return None;
    };
    let until_ms = match one.end {
        RunEnd::Stopped => one.until_ms?,
        // Nobody said when: it is down since it was missed.
        RunEnd::Killed => missed(truth, one)?.join_ended_ms,
        _ => return None,
    };
    Some((class, next.from_ms - until_ms))
}

/// What lasts at the end is shown, by connector, of what is configured.
pub(super) fn lasting(world: &World, watched: &Watched) -> Result<(), String> {
    let truth = world.truth();
    let mut right: BTreeMap<&str, u64> = BTreeMap::new();
    let mut doubtful: Vec<&str> = Vec::new();
    for line in lines(truth) {
        let last = line.runs.last().filter(|_| !line.item.is_connector());
        let Some(last) = last.filter(|_| truth.end.configured.contains(line.item)) else {
            continue;
        };
        let classes = classes(truth, last, None);
        let down = match last.end {
            RunEnd::Open => false,
            RunEnd::Failed => true,
            _ if classes.contains(&Class::Wanted) || !line.plain => {
                doubtful.push(&line.item.connector);
                continue;
            }
            RunEnd::Killed if missed(truth, last).is_none() => {
                doubtful.push(&line.item.connector);
                continue;
            }
            _ => true,
        };
        *right.entry(&line.item.connector).or_default() += u64::from(down && line.plain);
        if !line.plain {
            doubtful.push(&line.item.connector);
        }
    }
    let mut told: BTreeMap<&str, u64> = BTreeMap::new();
    let answers = watched.engine.answers();
    for ((connector, reason), count) in &answers.unavailable {
        assert!(DownReason::ALL.contains(reason));
        *told.entry(connector).or_default() += count;
    }
    for connector in &world.plan().connectors {
        let name = connector.name.as_str();
        let (told, right) = (told.get(name).copied(), right.get(name).copied());
        if !doubtful.contains(&name) && told.unwrap_or(0) != right.unwrap_or(0) {
            return Err(format!("{name} has {told:?} tasks down, not {right:?}"));
        }
    }
    Ok(())
}
