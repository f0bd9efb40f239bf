//! Stretches in which a task ran nowhere.

use std::collections::{BTreeMap, BTreeSet};

use super::{Downtime, DowntimeEnd, Failure, Reason, Run, RunEnd};
use crate::truth::event::{ItemKind, TruthEvent, What};

/// What may open or close a stretch of one task; at the same instant the first is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Starts,
    Ends(Reason),
    FailsToStart,
    PauseAsked,
    /// No longer configured, as the leader of a round sees it.
    Removed,
    Configured,
}

pub(super) fn downtime(
    runs: &[Run],
    failures: &[Failure],
    events: &[TruthEvent],
    true_ms: &dyn Fn(&TruthEvent) -> i64,
) -> Vec<Downtime> {
    let mut turns: BTreeMap<&str, Vec<(i64, Turn)>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.item.kind == ItemKind::Task) {
        let turns = turns.entry(&run.item.name).or_default();
        turns.push((run.from_ms, Turn::Starts));
        let reason = match run.end {
            Some(RunEnd::Failed) => Reason::Failed,
            _ => run.reason.unwrap_or(Reason::Unknown),
        };
        turns.extend(run.to_ms.map(|to_ms| (to_ms, Turn::Ends(reason))));
    }
    for failure in failures.iter().filter(|failure| failure.starting) {
        if failure.item.kind == ItemKind::Task {
            let turns = turns.entry(&failure.item.name).or_default();
            turns.push((failure.at_ms, Turn::FailsToStart));
        }
    }
    configured(&mut turns, events, true_ms);
    let mut all: Vec<Downtime> = Vec::new();
    for (task, mut turns) in turns {
        // What ends at an instant ends before anything starts then.
        turns.sort_by_key(|(at_ms, turn)| (*at_ms, matches!(turn, Turn::Starts), *turn));
        all.extend(of_task(task, &turns));
    }
    all.sort_by(|a, b| (a.from_ms, &a.task).cmp(&(b.from_ms, &b.task)));
    all
}

/// When each task was and was no longer configured, and when its pause was asked for.
fn configured(
    turns: &mut BTreeMap<&str, Vec<(i64, Turn)>>,
    events: &[TruthEvent],
    true_ms: &dyn Fn(&TruthEvent) -> i64,
) {
    let mut paused: BTreeSet<&str> = BTreeSet::new();
    for event in events {
        let at_ms = true_ms(event);
        match &event.what {
            What::LeaderAssigned { view, .. } => {
                for (task, turns) in turns.iter_mut() {
                    let turn = match view.configured.tasks.contains(*task) {
                        true => Turn::Configured,
                        false => Turn::Removed,
                    };
                    turns.push((at_ms, turn));
                }
            }
            What::TargetState { connector, state } => {
                // Each worker says so; the first counts.
                let asked = match state.as_str() {
                    "PAUSED" => paused.insert(connector),
                    _ => {
                        paused.remove(connector.as_str());
                        false
                    }
                };
                let of = |task: &str| task.rsplit_once('-').map(|(name, _)| name == connector);
                let meant = turns
                    .iter_mut()
                    .filter(|(task, _)| asked && of(task) == Some(true));
                for (_, turns) in meant {
                    turns.push((at_ms, Turn::PauseAsked));
                }
            }
            _ => {}
        }
    }
}

fn of_task(task: &str, turns: &[(i64, Turn)]) -> Vec<Downtime> {
    let mut all: Vec<Downtime> = Vec::new();
    let (mut running, mut gone) = (0_u32, false);
    let open = |reason: Reason, from_ms: i64| Downtime {
        task: task.to_owned(),
        reason,
        from_ms,
        to_ms: None,
        end: None,
    };
    for (at_ms, turn) in turns {
        let last = all.last_mut().filter(|last| last.to_ms.is_none());
        match (turn, last) {
            (Turn::Starts, last) => {
                running += 1;
                gone = false;
                close(last, *at_ms, DowntimeEnd::Running);
            }
            (Turn::Ends(reason), _) => {
                running = running.saturating_sub(1);
                // Nobody misses what is no longer configured.
                if running == 0 && !gone {
                    all.push(open(*reason, *at_ms));
                }
            }
            (Turn::FailsToStart, last) => {
                close(last, *at_ms, DowntimeEnd::Failed);
                if running == 0 {
                    all.push(open(Reason::Failed, *at_ms));
                }
            }
            (Turn::PauseAsked, last) => close(last, *at_ms, DowntimeEnd::Paused),
            (Turn::Removed, last) => {
                gone = true;
                close(last, *at_ms, DowntimeEnd::Removed);
            }
            (Turn::Configured, _) => gone = false,
        }
    }
    all
}

fn close(open: Option<&mut Downtime>, at_ms: i64, end: DowntimeEnd) {
    if let Some(open) = open {
        open.to_ms = Some(at_ms);
        open.end = Some(end);
    }
}
