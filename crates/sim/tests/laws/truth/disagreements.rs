//! What work does, and where status topic and group disagree, against what really ran where.

use std::collections::BTreeMap;

use evenkeel_core::answers::{
    DisagreementAnswer, DisagreementType, EffectiveState, ItemAnswer, StatesAnswer,
};
use evenkeel_sim::item::{CONNECTOR, Item, Work};
use evenkeel_sim::truth::{TrueStart, Truth};
use evenkeel_sim::world::World;

use crate::drive::Watched;

fn item(item: &ItemAnswer) -> Item {
    Item::new(&item.connector, item.task.unwrap_or(CONNECTOR))
}

fn states(watched: &Watched) -> Result<StatesAnswer, String> {
    let answers = watched.engine.answers();
    answers.states.ok_or("states are not told".to_owned())
}

/// All that is configured is in one state, whatever happens.
pub(super) fn each_in_one_state(watched: &Watched) -> Result<(), String> {
    let answers = watched.engine.answers();
    let (Some(configured), Some(states)) = (answers.configured, answers.states) else {
        return Ok(());
    };
    let told: BTreeMap<String, u64> = states
        .connectors
        .iter()
        .map(|each| (each.connector.to_string(), each.tasks.values().sum()))
        .collect();
    let real = configured.connectors.iter();
    let real: BTreeMap<String, u64> = real
        .map(|each| {
            (
                each.connector.to_string(),
                u64::try_from(each.tasks).unwrap(),
            )
        })
        .collect();
    if told != real {
        return Err(format!("{told:?} are in a state, of {real:?}"));
    }
    let idle = states.connectors.iter().map(|each| {
        let others = each.tasks.iter();
        let others = others.filter(|(state, _)| **state != EffectiveState::Running);
        let others: u64 = others.map(|(_, count)| count).sum();
        others + u64::from(each.state != EffectiveState::Running)
    });
    let idle: u64 = idle.sum();
    let listed = u64::try_from(states.not_running.len()).unwrap() + states.not_running_left_out;
    if idle != listed {
        return Err(format!("{idle} do not run, and {listed} are listed"));
    }
    Ok(())
}

/// The last start of an item by a worker, if it was not stopped since, and its process lives.
fn runs<'a>(truth: &'a Truth, item: &Item, worker: &str) -> Option<&'a TrueStart> {
    let mut starts = truth.starts.iter().rev();
    let start = starts.find(|start| start.item == *item && start.worker == worker)?;
    let ended = truth
        .stops
        .iter()
        .any(|stop| stop.item == *item && stop.worker == worker && stop.from_ms >= start.from_ms);
    (!ended && lives(truth, worker, start.from_ms)).then_some(start)
}

/// Whether no process of a worker died, or was stopped, since an instant.
fn lives(truth: &Truth, worker: &str, since_ms: i64) -> bool {
    use evenkeel_sim::truth::How;
    !truth.departures.iter().any(|left| {
        left.worker == worker && left.died_ms >= since_ms && left.how != How::Unresponsive
    })
}

/// What is said to run was started by who has it, and not stopped since.
pub(super) fn what_runs_was_started(truth: &Truth, watched: &Watched) -> Result<(), String> {
    if !truth.end.rest {
        return Ok(());
    }
    let states = states(watched)?;
    let idle: Work = states
        .not_running
        .iter()
        .map(|each| item(&each.item))
        .collect();
    for (worker, owned) in truth.end.owned.values() {
        let mut said = owned
            .iter()
            .filter(|owned| truth.end.configured.contains(*owned) && !idle.contains(*owned));
        if let Some(wrong) = said.find(|owned| runs(truth, owned, worker).is_none()) {
            return Err(format!("{wrong} is said to run on {worker}, and does not"));
        }
    }
    Ok(())
}

/// When the world has been quiet for long, what is left of disagreements is so.
pub(super) fn what_is_left_is_so(truth: &Truth, watched: &Watched) -> Result<(), String> {
    if !truth.end.rest {
        return Ok(());
    }
    let answers = watched.engine.answers();
    let told = answers.disagreements.ok_or("disagreements are not told")?;
    for each in &told.now {
        is_so(truth, each).map_err(|why| format!("{why}: {each:?}"))?;
    }
    Ok(())
}

fn is_so(truth: &Truth, told: &DisagreementAnswer) -> Result<(), &'static str> {
    let item = item(&told.item);
    let worker = &*told.worker;
    let owner = truth
        .end
        .owned
        .values()
        .find(|(_, owned)| owned.contains(&item));
    let owned = owner.is_some_and(|(owner, _)| owner == worker);
    let stuck = truth.stops.iter().rev().any(|stop| {
        stop.item == item
            && stop.worker == worker
            && stop.stuck
            && lives(truth, worker, stop.from_ms)
    });
    let so = match told.kind {
        // Ten minutes are over, so its status is all that is left of it.
        DisagreementType::RunningOnDepartedWorker => owner.is_none(),
        DisagreementType::RunningElsewhere => !owned,
        DisagreementType::AssignedNotRunning | DisagreementType::StatusFrozen => {
            owned && runs(truth, &item, worker).is_none_or(|start| start.until_ms.is_none())
        }
        // It may run: then it is its status that is wrong.
        DisagreementType::UnassignedButOwned => owned,
        DisagreementType::DuplicateClaim => false,
        DisagreementType::TwoWriters => runs(truth, &item, worker).is_some() && !owned,
        DisagreementType::PossibleOrphan => runs(truth, &item, worker).is_some(),
        DisagreementType::AbandonedStop => stuck,
    };
    if so { Ok(()) } else { Err("it is not so") }
}

/// A stop that was given up is told, if its worker is still there, has not written of it since,
/// and a record shows that it has it no more.
pub(super) fn stops_that_were_given_up(world: &World, watched: &Watched) -> Result<u64, String> {
    let truth = world.truth();
    let connectors = &world.plan().connectors;
    // What failed writes nothing when it stops.
    let may_fail = |name: &str| {
        let mut all = connectors.iter();
        all.any(|connector| connector.name == name && connector.fails > 0)
    };
    use evenkeel_sim::truth::StopWhy;
    if !truth.end.rest {
        return Ok(0);
    }
    let answers = watched.engine.answers();
    let told = answers.disagreements.ok_or("disagreements are not told")?;
    let mut seen = 0;
    let stuck = truth
        .stops
        .iter()
        .filter(|stop| stop.stuck && stop.why == StopWhy::Revoked)
        // A connector's worker writes that it stopped, whether it did or not.
        .filter(|stop| !stop.item.is_connector());
    for stop in stuck {
        let Some(until_ms) = stop.until_ms else {
            continue;
        };
        let again = truth.starts.iter().any(|start| {
            start.item == stop.item && start.worker == stop.worker && start.from_ms >= stop.from_ms
        });
        let stopped_again = truth.stops.iter().any(|other| {
            other.item == stop.item && other.worker == stop.worker && other.from_ms > stop.from_ms
        });
        // What was not started yet has said nothing.
        let mut starts = truth.starts.iter().rev();
        let start = starts.find(|start| {
            let it = start.item == stop.item && start.worker == stop.worker;
            it && start.from_ms <= stop.from_ms
        });
        let ran = start.and_then(|start| start.until_ms);
        let ran = ran.is_some_and(|until| until <= stop.from_ms);
        // Beside what another wrote it may not write that it stopped.
        let alone = !truth.starts.iter().any(|other| {
            let since = start.map_or(i64::MIN, |start| start.from_ms);
            other.item == stop.item
                && other.worker != stop.worker
                && (since..stop.from_ms).contains(&other.from_ms)
        });
        if !alone || may_fail(&stop.item.connector) {
            continue;
        }
        // Who missed the round after it said so by no claim.
        let left = truth
            .departures
            .iter()
            .any(|left| left.worker == stop.worker && left.removed_ms >= stop.from_ms);
        let dropped = truth
            .drops
            .iter()
            .any(|drop| Some(&drop.member) == stop.member.as_ref() && drop.at_ms >= stop.from_ms);
        let recorded = truth
            .rounds
            .iter()
            .any(|round| round.join_ended_ms >= until_ms && round.recorded_ms.is_some());
        if again
            || stopped_again
            || left
            || dropped
            || !recorded
            || !ran
            || !lives(truth, &stop.worker, stop.from_ms)
        {
            continue;
        }
        let is_it = |each: &&DisagreementAnswer| {
            each.kind == DisagreementType::AbandonedStop
                && item(&each.item) == stop.item
                && *each.worker == *stop.worker
        };
        if !told.now.iter().any(|each| is_it(&each)) {
            return Err(format!("not told: {stop:?}"));
        }
        seen += 1;
    }
    Ok(seen)
}

/// What stands is the same for who reads it all later.
pub(super) fn agree(live: &Watched, late: &Watched) -> Result<(), String> {
    let standing = |watched: &Watched| {
        let told = watched
            .engine
            .answers()
            .disagreements
            .unwrap_or_default()
            .now;
        let key = |each: DisagreementAnswer| (each.kind, each.item, each.worker, each.since);
        told.into_iter().map(key).collect::<Vec<_>>()
    };
    let (live, late) = (standing(live), standing(late));
    if live != late {
        return Err(format!("{late:?}, not {live:?}"));
    }
    Ok(())
}
