//! Law: on the claims of every recorded real round, the simulated assignor tells each
//! member as much as the real leader did, and the same where no hash order decides.

mod capture;

use std::collections::BTreeMap;

use capture::{Capture, Recorded};
use evenkeel_sim::assignor::{Handed, Incremental, Round, Rules, eager};
use evenkeel_sim::item::{Work, counts, minus};

/// How far the leader's clock lies before the record: it computes, then sends.
const TRAVEL_MS_MAX: i64 = 1_500;

/// What is known of one member of a running group.
struct Known {
    assignor: Incremental,
    last_completed: i32,
}

/// Runs the assignor over a recording; returns what differs, and how many rounds it compared.
fn differences(capture: &Capture, rules: Rules) -> (Vec<String>, usize) {
    // Each leader has a delay of its own, and tells it whole before what is left of it.
    let most = |rounds: &mut dyn Iterator<Item = &Recorded>| rounds.map(|r| r.delay_ms).max();
    let of_all = most(&mut capture.rounds.iter()).unwrap_or(0);
    let of_leader = |member: &str| {
        let mut led = capture.rounds.iter().filter(|r| r.leader == *member);
        most(&mut led).filter(|ms| *ms > 0).unwrap_or(of_all)
    };
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    let mut before: Option<&Recorded> = None;
    let (mut out, mut compared) = (Vec::new(), 0);
    for round in &capture.rounds {
        // Who got the round before says so by its next claim.
        for (member, claim) in &round.claims {
            let entry = known.entry(member.clone()).or_insert_with(|| Known {
                assignor: Incremental::new(rules, of_leader(member)),
                last_completed: -1,
            });
            // One that lost the coordinator claims nothing, and had it before.
            let dropped = |b: &Recorded| claim.is_empty() && !b.claims[member].is_empty();
            if let Some(before) = before.filter(|b| b.deltas.contains_key(member))
                && (round.eager || before.owned(member) == *claim || dropped(before))
            {
                entry.last_completed = before.generation;
            }
        }
        let skipped = before.is_some_and(|b| round.generation > b.generation + 1);
        before = Some(round);
        let Some(leader) = known.get_mut(&round.leader) else {
            continue;
        };
        let configured = capture.configured(round.config_offset);
        let handed = if round.mismatch {
            continue;
        } else if round.eager {
            eager(&configured, &round.claims)
        } else {
            leader.assignor.assign(&Round {
                generation: round.generation,
                last_completed: leader.last_completed,
                now_ms: round.recorded_ms,
                configured: &configured,
                claims: &round.claims,
            })
        };
        compared += 1;
        if let Some(difference) = differs(round, &handed, &configured) {
            let skipped = if skipped {
                " (after a skipped number)"
            } else {
                ""
            };
            out.push(format!(
                "generation {}{skipped}: {difference}",
                round.generation
            ));
        }
    }
    (out, compared)
}

/// Loads, work that has one fate, and the delay; not which of equal pieces went where.
fn differs(round: &Recorded, handed: &Handed, configured: &Work) -> Option<String> {
    if (round.delay_ms - handed.delay_ms).abs() > TRAVEL_MS_MAX
        || (round.delay_ms == 0) != (handed.delay_ms == 0)
    {
        return Some(format!("delay {} and {}", round.delay_ms, handed.delay_ms));
    }
    let gone = |work: &Work| minus(work, configured);
    let mut sizes = (Vec::new(), Vec::new());
    for (member, real) in &round.deltas {
        let ours = handed.deltas.get(member).cloned().unwrap_or_default();
        sizes
            .0
            .push((counts(&real.assigned), counts(&real.revoked)));
        sizes
            .1
            .push((counts(&ours.assigned), counts(&ours.revoked)));
        if gone(&real.revoked) != gone(&ours.revoked) {
            return Some(format!("{member} is told to stop other deleted work"));
        }
    }
    // Which member keeps the odd piece is decided by hash order where work is taken away.
    sizes.0.sort_unstable();
    sizes.1.sort_unstable();
    if sizes.0 != sizes.1 {
        return Some(format!("loads {:?} and {:?}", sizes.0, sizes.1));
    }
    let all = |deltas: &BTreeMap<String, evenkeel_sim::assignor::Delta>| -> Work {
        deltas.values().flat_map(|d| d.assigned.clone()).collect()
    };
    (all(&round.deltas) != all(&handed.deltas)).then(|| "other work was handed out".to_owned())
}

#[test]
fn the_assignor_hands_out_what_real_leaders_did() {
    let mut total = 0;
    for capture in capture::all() {
        let rules = if capture.workers.starts_with("2.5") {
            Rules::Before262
        } else {
            Rules::Since34
        };
        let (differences, compared) = differences(&capture, rules);
        assert!(differences.is_empty(), "{}: {differences:#?}", capture.name);
        total += compared;
    }
    assert!(total > 100, "{total}");
}

/// Numbers that left no record by the broker's log: somebody joined before the leader had sent
/// its assignment.
fn without_record(capture: &str) -> Vec<i32> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let truth = folder.join(capture.replace(".evk.gz", ".truth.json"));
    let truth: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(truth).unwrap()).unwrap();
    let generations = truth["generations"].as_array().unwrap().iter();
    let without = generations.filter(|g| g["assignment_ms"].is_null() && g["member_count"] != 0);
    without
        .map(|g| i32::try_from(g["generation"].as_i64().unwrap()).unwrap())
        .collect()
}

#[test]
fn recorded_generations_follow_the_coordinators_arithmetic() {
    for capture in capture::all() {
        let mut last = 0;
        let mut skipped = Vec::new();
        for record in &capture.generations {
            match *record {
                // Deleted, or made anew: numbers start over.
                None | Some((0, 0)) => last = 0,
                Some((generation, _)) => {
                    assert!(generation > last, "{}: {generation}", capture.name);
                    skipped.extend(last + 1..generation);
                    last = generation;
                }
            }
        }
        let known = without_record(&capture.name);
        assert_eq!(skipped, known, "{}", capture.name);
    }
}
