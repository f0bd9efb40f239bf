//! Rounds: their outcome, what they told whom, and what is counted of them.

use std::collections::BTreeMap;

use evenkeel_core::answers::{self, ItemAnswer, RevocationHow};
use evenkeel_core::facts::ids::Kind;
use evenkeel_sim::item::{CONNECTOR, Item, Work, counts};
use evenkeel_sim::truth::{Outcome, TrueMember, TrueRound, Truth};

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
    let lives = |of: &dyn Fn(usize) -> u32| -> Vec<bool> {
        (1..real.len()).map(|at| of(at) != of(at - 1)).collect()
    };
    if lives(&|at| real[at].incarnation) != lives(&|at| watched.settled[at].incarnation) {
        return Err("the group was made anew at another generation".to_owned());
    }
    for (real, told) in real.iter().zip(&watched.settled) {
        if real.generation != told.generation {
            return Err(format!(
                "{} is told as {}",
                real.generation, told.generation
            ));
        }
        let unknown = told.outcome == Some(answers::Outcome::Unknown)
            || is_rule_7_fault(real, told)
            || is_rule_6_fault(real, told);
        if said(real.outcome).is_some_and(|right| told.outcome != Some(right)) && !unknown {
            return Err(format!(
                "{}/{} ended {:?}, said {:?} by {:?}",
                real.incarnation, real.generation, real.outcome, told.outcome, told.settled_by
            ));
        }
    }
    Ok(())
}

/// Wrong, and known to be: rule 7 takes a round that told nobody anything for completed
/// because members stayed with the claims they had. If nobody got it, their next claims show
/// that by the leader, offset and delay of the round before, which nobody looks at.
fn is_rule_7_fault(real: &TrueRound, told: &answers::RoundAnswer) -> bool {
    let nothing = |m: &TrueMember| m.assigned.is_empty() && m.revoked.is_empty();
    real.outcome == Outcome::Aborted
        && real.members.values().all(nothing)
        && real.members.values().any(|member| member.claim.is_some())
        && told.settled_by == Some("generation rule 7")
}

/// Wrong, and known to be: rule 6 takes a round for aborted when members come back without
/// what they were told. One that was told nothing may have got it; its claim then carries
/// what is left over of it.
fn is_rule_6_fault(real: &TrueRound, told: &answers::RoundAnswer) -> bool {
    let mut got = real.members.values().filter(|m| m.received_ms.is_some());
    got.all(|m| m.assigned.is_empty() && m.revoked.is_empty())
        && told.settled_by == Some("generation rule 6")
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
    for (outcome, count) in &generations {
        if counted.generations_of(*outcome) != *count {
            return Err(format!(
                "generations {:?}, settled {generations:?}",
                counted.generations
            ));
        }
    }
    let (mut assigned, mut asked) = (Bounds::default(), Bounds::default());
    let completed = |round: &TrueRound| {
        let same = |told: &&answers::RoundAnswer| told.generation == round.generation;
        let mut told = watched.settled.iter().filter(same);
        told.any(|told| told.outcome == Some(answers::Outcome::Completed))
    };
    for (at, round) in truth.rounds.iter().enumerate() {
        let mut later = truth.rounds[at + 1..].iter();
        let next = later.find(|next| next.recorded_ms.is_some());
        let next = next.filter(|next| next.incarnation == round.incarnation);
        for (id, member) in &round.members {
            // An eager member that stayed is counted though it got nothing: no claim tells.
            let eager = round.version == 0 && member.applied_ms.is_none();
            if eager || is_phantom(member, next, id) {
                assigned.add(&member.assigned, false);
            }
            if member.applied_ms.is_none() {
                continue;
            }
            let stayed = next.is_none_or(|next| next.members.contains_key(id));
            let proven = round.version > 0 || is_told(truth, round, next, member);
            let seen = stayed && completed(round) && proven;
            assigned.add(&member.assigned, seen);
            asked.add(&member.revoked, seen);
        }
    }
    let of = |kind| counted.assignments.get(&kind).copied().unwrap_or(0);
    assigned.hold("assignments", (of(Kind::Connector), of(Kind::Task)))?;
    let of = |kind, how| counted.revocations.get(&(kind, how)).copied().unwrap_or(0);
    let both = |how| (of(Kind::Connector, how), of(Kind::Task, how));
    asked.hold("revocations", both(RevocationHow::Asked))?;
    dropped(truth).hold("drops", both(RevocationHow::Dropped))?;
    implied(truth).hold("stops of eager members", both(RevocationHow::Implied))
}

/// Wrong, and known to be: a member that had no claim, was handed work, did not get it and
/// comes back without a claim is counted as one that took the work and dropped it
/// (`a_late_newcomer_is_counted_once`).
fn is_phantom(member: &TrueMember, next: Option<&TrueRound>, id: &str) -> bool {
    let back = next.and_then(|next| next.members.get(id));
    let cooperative = next.is_some_and(|next| next.version > 0);
    cooperative
        && member.applied_ms.is_none()
        && member.claim.is_none()
        && back.is_some_and(|back| back.claim.is_none())
}

/// Whether an eager member, whose claims say nothing, wrote that it runs something of a round
/// before the next one, by a clock that is right.
fn is_told(truth: &Truth, round: &TrueRound, next: Option<&TrueRound>, who: &TrueMember) -> bool {
    let mut clocks = truth.clocks.values();
    let right = clocks.all(|clock| clock.skew_ms == 0 && clock.steps.is_empty());
    let until_ms = next.map_or(i64::MAX, |next| next.join_ended_ms);
    let mut starts = truth.starts.iter();
    let wrote = starts.any(|start| {
        start.worker == who.worker
            && start.generation == round.generation
            && start.from_ms >= round.join_ended_ms
            && start.until_ms.is_some_and(|at| at < until_ms)
    });
    right && wrote
}

/// What members stopped because they lost the coordinator. One that does not come back
/// leaves no record of it.
fn dropped(truth: &Truth) -> Bounds {
    let mut bounds = Bounds::default();
    let rounds = recorded(truth);
    for drop in &truth.drops {
        let next = rounds
            .iter()
            .position(|round| round.join_ended_ms >= drop.at_ms);
        let back = next.and_then(|at| rounds[at].members.get(&drop.member));
        let cooperative = next.is_some_and(|at| rounds[at].version > 0);
        let seen = cooperative && back.is_some_and(|member| member.claim.is_none());
        // What the round before wanted stopped may have been stopped for it.
        let before = next.and_then(|at| rounds.get(at.checked_sub(1)?));
        let before = before.and_then(|round| round.members.get(&drop.member));
        let wanted = before
            .map(|member| member.revoked.clone())
            .unwrap_or_default();
        // What it handed out counts only if it is proven to have been completed.
        let handed = before
            .map(|member| member.assigned.clone())
            .unwrap_or_default();
        let doubtful = |item: &Item| wanted.contains(item) || handed.contains(item);
        let (unsure, sure) = drop.items.iter().cloned().partition(doubtful);
        bounds.add(&sure, seen);
        bounds.add(&unsure, false);
    }
    for (round, next) in rounds.iter().zip(rounds.iter().skip(1)) {
        for (id, member) in &round.members {
            if is_phantom(member, Some(next), id) {
                bounds.add(&member.assigned, false);
            }
        }
    }
    bounds
}

/// What eager members had and stopped before they joined again: no more than they were
/// ever handed.
fn implied(truth: &Truth) -> Bounds {
    let mut bounds = Bounds::default();
    for round in truth.rounds.iter().filter(|round| round.version == 0) {
        for member in round.members.values() {
            bounds.add(&member.assigned, false);
        }
    }
    bounds
}

/// How much may be counted: never more than was applied, and all that was applied in
/// completed rounds by members that are in the next record. One that is gone by then may
/// have left no proof.
#[derive(Debug, Default)]
struct Bounds {
    least: (u64, u64),
    most: (u64, u64),
}

impl Bounds {
    fn add(&mut self, work: &Work, seen: bool) {
        let (connectors, tasks) = counts(work);
        let count = |count: usize| u64::try_from(count).unwrap();
        let (connectors, tasks) = (count(connectors), count(tasks));
        self.most = (self.most.0 + connectors, self.most.1 + tasks);
        if seen {
            self.least = (self.least.0 + connectors, self.least.1 + tasks);
        }
    }

    fn hold(&self, what: &str, told: (u64, u64)) -> Result<(), String> {
        let holds = |least, told, most| least <= told && told <= most;
        let right =
            holds(self.least.0, told.0, self.most.0) && holds(self.least.1, told.1, self.most.1);
        right
            .then_some(())
            .ok_or_else(|| format!("{what} {told:?}, not within {self:?}"))
    }
}
