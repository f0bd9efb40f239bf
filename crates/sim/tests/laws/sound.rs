//! That the simulator is right by itself: laws of Kafka that its truth must keep, whatever
//! any engine says.

use std::collections::BTreeMap;

use evenkeel_sim::item::{Work, minus};
use evenkeel_sim::truth::{LossEnd, Outcome, TrueRound, Truth};

use crate::drive::over_seeds;

#[test]
fn the_truth_keeps_kafkas_laws() {
    over_seeds(120, |world| {
        let truth = world.truth();
        numbers(truth)?;
        phases(truth)?;
        claims(truth)?;
        departures(truth)
    });
}

/// A number more for each join phase that ended. A coordinator that reads the log goes on
/// from the newest record, so numbers that left none come again.
fn numbers(truth: &Truth) -> Result<(), String> {
    let mut newest: BTreeMap<u32, (i32, i32)> = BTreeMap::new();
    for round in &truth.rounds {
        let (last, recorded) = newest.entry(round.incarnation).or_insert((0, 0));
        let goes_on = round.generation == *last + 1 || round.generation == *recorded + 1;
        if !goes_on {
            return Err(format!("{} after {last}", round.generation));
        }
        *last = round.generation;
        if round.recorded_ms.is_some() {
            *recorded = round.generation;
        }
    }
    Ok(())
}

/// Prepared, joined, written, in effect, in hand, applied: in this order.
fn phases(truth: &Truth) -> Result<(), String> {
    for round in &truth.rounds {
        let mut instants = vec![round.prepare_started_ms, round.join_ended_ms];
        instants.extend(round.recorded_ms);
        instants.extend(round.effective_ms);
        if round.causes().next().is_none() || !instants.is_sorted() {
            return Err(format!("{}: {instants:?}", round.generation));
        }
        for member in round.members.values() {
            let mut instants: Vec<i64> = round.recorded_ms.into_iter().collect();
            instants.extend(member.received_ms);
            instants.extend(member.applied_ms);
            if !instants.is_sorted() || (member.received_ms.is_some() && instants.len() < 2) {
                return Err(format!("{}: member {instants:?}", round.generation));
            }
        }
        let taken = round.members.values().any(|m| m.received_ms.is_some());
        if round.outcome == Outcome::Completed && !taken {
            return Err(format!("{} was completed by nobody", round.generation));
        }
    }
    Ok(())
}

/// A member that applied a round claims next what it owned after it, or nothing at all
/// after it lost the coordinator; one that did not claims what it claimed before.
fn claims(truth: &Truth) -> Result<(), String> {
    let mut owned: BTreeMap<&str, Option<Work>> = BTreeMap::new();
    for round in truth.rounds.iter().filter(|round| round.version > 0) {
        for (id, member) in &round.members {
            let before = owned.get(id.as_str()).cloned();
            let dropped = truth.drops.iter().any(|drop| drop.member == *id);
            let same = before.is_none_or(|before| before == member.claim);
            let null = dropped && member.claim.is_none();
            if !same && !null {
                return Err(format!(
                    "{}: {id} claims {:?}",
                    round.generation, member.claim
                ));
            }
            let after = after(round, id);
            owned.insert(id, after);
        }
    }
    Ok(())
}

fn after(round: &TrueRound, id: &str) -> Option<Work> {
    let member = &round.members[id];
    if member.applied_ms.is_none() {
        return member.claim.clone();
    }
    let claim = member.claim.clone().unwrap_or_default();
    let mut owned = minus(&claim, &member.revoked);
    owned.extend(member.assigned.iter().cloned());
    Some(owned)
}

/// Nobody is removed before it stopped working, and what it had is lost from then until
/// somebody has it.
fn departures(truth: &Truth) -> Result<(), String> {
    for gone in &truth.departures {
        if gone.died_ms > gone.removed_ms {
            return Err(format!("{} died after it was removed", gone.member));
        }
        for item in &gone.owned {
            let lost = truth.losses.iter().any(|loss| loss.item == *item);
            if !lost {
                return Err(format!("{item} of {} was never lost", gone.member));
            }
        }
    }
    for loss in &truth.losses {
        let open = loss.ended == LossEnd::Open;
        if open != loss.until_ms.is_none() || loss.until_ms.is_some_and(|at| at < loss.from_ms) {
            return Err(format!("{loss:?}"));
        }
    }
    Ok(())
}
