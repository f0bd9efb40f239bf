//! Rounds: their outcome, what they told whom, and what is counted of them.

use std::collections::BTreeMap;

use evenkeel_core::answers::{self, ItemAnswer, RevocationHow};
use evenkeel_core::facts::ids::Kind;
use evenkeel_sim::item::{CONNECTOR, Item, Work, counts};
use evenkeel_sim::truth::{Outcome, TrueRound, Truth};

use crate::drive::Watched;

fn said(outcome: Outcome) -> Option<answers::Outcome> {
    match outcome {
        Outcome::Completed => Some(answers::Outcome::Completed),
        Outcome::Aborted => Some(answers::Outcome::Aborted),
        Outcome::Mismatch => Some(answers::Outcome::Mismatch),
        Outcome::Emptied => Some(answers::Outcome::Emptied),
        Outcome::Open => None,
    }
}

/// Rounds that left a record.
fn recorded(truth: &Truth) -> Vec<&TrueRound> {
    let recorded = |round: &&TrueRound| round.recorded_ms.is_some();
    truth.rounds.iter().filter(recorded).collect()
}

/// Every round that left a record is settled as it ended; `unknown` says nothing.
pub(super) fn outcomes(truth: &Truth, watched: &Watched) -> Result<(), String> {
    let real = recorded(truth);
    if real.len() != watched.settled.len() {
        let said: Vec<i32> = watched.settled.iter().map(|r| r.generation).collect();
        let real: Vec<i32> = real.iter().map(|r| r.generation).collect();
        return Err(format!("settled {said:?}, recorded {real:?}"));
    }
    for (real, told) in real.iter().zip(&watched.settled) {
        if real.generation != told.generation {
            return Err(format!(
                "{} is told as {}",
                real.generation, told.generation
            ));
        }
        let unknown = told.outcome == Some(answers::Outcome::Unknown);
        if said(real.outcome).is_some_and(|right| told.outcome != Some(right)) && !unknown {
            return Err(format!(
                "{}/{} ended {:?}, said {:?} by {:?}",
                real.incarnation, real.generation, real.outcome, told.outcome, told.settled_by
            ));
        }
    }
    Ok(())
}

fn work(items: &[ItemAnswer]) -> Work {
    items
        .iter()
        .map(|item| Item::new(&item.connector, item.task.unwrap_or(CONNECTOR)))
        .collect()
}

/// Members, what they were told, and the delay are those of the round.
pub(super) fn contents(truth: &Truth, watched: &Watched) -> Result<(), String> {
    for (real, told) in recorded(truth).iter().zip(&watched.settled) {
        let mut members: BTreeMap<&str, (Work, Work)> = BTreeMap::new();
        for member in &told.members {
            let entry = members.entry(&member.worker).or_default();
            entry.0.extend(work(&member.assigned));
            entry.1.extend(work(&member.revoked));
        }
        let mut right: BTreeMap<&str, (Work, Work)> = BTreeMap::new();
        for member in real.members.values() {
            // Two processes of one worker, old and new: its label carries both.
            let entry = right.entry(&member.worker).or_default();
            entry.0.extend(member.assigned.iter().cloned());
            entry.1.extend(member.revoked.iter().cloned());
        }
        let shared = right.len() != real.members.len();
        if !shared && members != right {
            return Err(format!(
                "{}: told {members:?}, not {right:?}",
                real.generation
            ));
        }
        if i64::from(told.delay_ms) != real.delay_ms {
            return Err(format!("{}: delay {}", real.generation, told.delay_ms));
        }
    }
    Ok(())
}

/// What was counted is what happened.
pub(super) fn counters(truth: &Truth, watched: &Watched) -> Result<(), String> {
    let counted = watched.engine.answers().counters;
    let mut generations: BTreeMap<answers::Outcome, u64> = BTreeMap::new();
    for round in &watched.settled {
        *generations.entry(round.outcome.unwrap()).or_default() += 1;
    }
    for (_, count, outcome) in &watched.missing {
        *generations.entry(*outcome).or_default() += count;
    }
    if counted.generations != generations {
        return Err(format!(
            "generations {:?}, settled {generations:?}",
            counted.generations
        ));
    }
    let mut assigned = (0, 0);
    let mut asked = (0, 0);
    for round in &truth.rounds {
        for member in round.members.values().filter(|m| m.applied_ms.is_some()) {
            add(&mut assigned, &member.assigned);
            add(&mut asked, &member.revoked);
        }
    }
    let of = |kind| counted.assignments.get(&kind).copied().unwrap_or(0);
    let told = (of(Kind::Connector), of(Kind::Task));
    if told != assigned {
        return Err(format!("assignments {told:?}, applied {assigned:?}"));
    }
    let of = |kind| {
        let key = (kind, RevocationHow::Asked);
        counted.revocations.get(&key).copied().unwrap_or(0)
    };
    let told = (of(Kind::Connector), of(Kind::Task));
    if told != asked {
        return Err(format!("revocations {told:?}, applied {asked:?}"));
    }
    Ok(())
}

fn add(sum: &mut (u64, u64), work: &Work) {
    let (connectors, tasks) = counts(work);
    sum.0 += u64::try_from(connectors).unwrap();
    sum.1 += u64::try_from(tasks).unwrap();
}
