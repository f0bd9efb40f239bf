//! That the worlds hold what they are there for: each kind of event happens in some of them.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_sim::plan::Plan;
use evenkeel_sim::truth::Trigger;

/// Every kind of thing, as the counts name it.
const KINDS: &[&str] = &[
    "Crashed Expired",
    "Crashed Kicked",
    "CutShort Expired",
    "Graceful Expired",
    "Graceful Left",
    "Unresponsive Expired",
    "Unresponsive Kicked",
    "Unresponsive Left",
    "drop",
    "duplicate claim",
    "loss GroupGone",
    "loss Open",
    "loss Reassigned",
    "loss Reclaimed",
    "loss Removed",
    "made anew",
    "at rest",
    "record without effect",
    "round without a record",
    "round Aborted",
    "round Completed",
    "round Emptied",
    "round Mismatch",
    "stop Dropped, stuck false",
    "stop Eager, stuck false",
    "stop Reconfigured, stuck true",
    "stop Revoked, stuck false",
    "stop Revoked, stuck true",
    "stop Shutdown, stuck true",
    "trigger Asked",
    "trigger ConfigAhead",
    "trigger ConnectorCreated",
    "trigger ConnectorDeleted",
    "trigger CoordinatorLost",
    "trigger DelayExpired",
    "trigger FollowUp",
    "trigger Mismatch",
    "trigger Retry",
    "trigger TasksChanged",
    "trigger expired",
    "trigger formed",
    "trigger joined, successor false",
    "trigger joined, successor true",
    "trigger kicked",
    "trigger left",
];

/// How many worlds are looked at.
const SEEDS: u64 = 200;

#[test]
fn everything_happens_somewhere() {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 1..=SEEDS {
        let world = Plan::of(seed).run();
        let truth = world.truth();
        let mut note = |kind: String| *counts.entry(kind).or_default() += 1;
        let mut numbers = BTreeSet::new();
        for round in &truth.rounds {
            note(format!("round {:?}", round.outcome));
            if round.recorded_ms.is_none() {
                note("round without a record".to_owned());
            } else if round.effective_ms.is_none() && !round.members.is_empty() {
                note("record without effect".to_owned());
            }
            if !numbers.insert((round.incarnation, round.generation)) {
                note("number used twice".to_owned());
            }
            let mut claimed = BTreeSet::new();
            let claims = round.members.values().filter_map(|m| m.claim.as_ref());
            if claims.flatten().any(|item| !claimed.insert(item)) {
                note("duplicate claim".to_owned());
            }
            for trigger in &round.triggers {
                note(match trigger {
                    Trigger::GroupFormed => "trigger formed".to_owned(),
                    Trigger::Joined { successor_of, .. } => {
                        format!("trigger joined, successor {}", successor_of.is_some())
                    }
                    Trigger::Left { .. } => "trigger left".to_owned(),
                    Trigger::Expired { .. } => "trigger expired".to_owned(),
                    Trigger::Kicked { .. } => "trigger kicked".to_owned(),
                    Trigger::Rejoined { why, .. } => {
                        let why = format!("{why:?}");
                        let why = why.split('(').next().unwrap_or_default();
                        format!("trigger {why}")
                    }
                });
            }
        }
        for departure in &truth.departures {
            note(format!("{:?} {:?}", departure.how, departure.seen));
        }
        for loss in &truth.losses {
            note(format!("loss {:?}", loss.ended));
        }
        for stop in &truth.stops {
            note(format!("stop {:?}, stuck {}", stop.why, stop.stuck));
        }
        for _ in &truth.drops {
            note("drop".to_owned());
        }
        if truth.lives.len() > 1 {
            note("made anew".to_owned());
        }
        if truth.end.rest {
            note("at rest".to_owned());
        }
    }
    let missing: Vec<_> = KINDS
        .iter()
        .filter(|kind| !counts.contains_key(**kind))
        .collect();
    assert!(missing.is_empty(), "never: {missing:?}");
}
