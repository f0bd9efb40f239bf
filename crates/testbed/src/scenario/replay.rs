//! A capture derived again, and the whole history in it compared with the truth.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use super::compare::{
    DATED_MS_MAX, FIRST_DATED_MS_MAX, by_worker, number, protocol, text, work, worker_id,
};
use crate::truth::{Comparison, TruthGeneration, TruthLog, Verb, What, Work};
use crate::version::Version;

const SCALA_STAMPED_MS_MAX: i64 = 100;

/// The lines that `evenkeel replay` prints; `settled` takes the capture's end for that of the
/// topics.
///
/// # Errors
/// When the program fails, or prints something else than JSON lines.
pub fn replay(program: &Path, capture: &Path, settled: bool) -> anyhow::Result<Vec<Value>> {
    let output = Command::new(program)
        .env_clear()
        .arg("replay")
        .args(settled.then_some("--settle"))
        .arg(capture)
        .output()?;
    if !output.status.success() {
        bail!("replay: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout).context("replay prints no utf-8")?;
    text.lines()
        .map(|line| serde_json::from_str(line).context("replay prints no json"))
        .collect()
}

/// Compares every generation that the brokers and workers tell of with what `lines` of a
/// replay say: none may be missing, none too many.
///
/// # Errors
/// When a line has not the form it should have.
pub fn compare_history(
    comparison: &mut Comparison,
    lines: &[Value],
    truth: &TruthLog,
) -> anyhow::Result<()> {
    compare_history_within(comparison, lines, truth, None)
}

/// As [`compare_history`], with another bound on how far instants may be off.
///
/// # Errors
/// When a line has not the form it should have.
pub(super) fn compare_history_within(
    comparison: &mut Comparison,
    lines: &[Value],
    truth: &TruthLog,
    dated_ms_max: Option<i64>,
) -> anyhow::Result<()> {
    let rounds: Vec<&Value> = lines
        .iter()
        .filter(|line| line["line"] == "settled")
        .map(|line| &line["round"])
        .collect();
    let missing: i64 = lines
        .iter()
        .filter(|line| line["line"] == "missing")
        .filter_map(|line| number(&line["count"]))
        .sum();
    let answers = lines
        .iter()
        .find(|line| line["line"] == "answers")
        .context("the replay ends without answers")?;
    let open: Vec<&Value> = answers
        .pointer("/answers/rounds")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|round| round["outcome"].is_null())
        .collect();
    let told: Vec<&Value> = rounds.into_iter().chain(open).collect();
    let with_record = |generation: &&TruthGeneration| {
        generation.assignment_ms.is_some() || generation.member_count == 0
    };
    let recorded: Vec<&TruthGeneration> = truth.generations.iter().filter(with_record).collect();
    comparison.equal("generations with a record", &recorded.len(), &told.len());
    let without = truth.generations.len() - recorded.len();
    comparison.equal(
        "generations without a record",
        &i64::try_from(without)?,
        &missing,
    );
    let recorded = paired(&recorded, &told);
    compare_counters(comparison, answers, &recorded);
    let stamped_ms_max = stamped_ms_max(lines);
    let first = truth.generations.first().map(|first| first.join_end_ms);
    for (generation, found) in recorded {
        let is_first = Some(generation.join_end_ms) == first;
        let stamped_ms_max = match dated_ms_max {
            Some(loose) => loose,
            None if is_first => FIRST_DATED_MS_MAX,
            None => stamped_ms_max,
        };
        let bounds = (dated_ms_max.unwrap_or(DATED_MS_MAX), stamped_ms_max);
        match found {
            Some(round) => {
                let outage = broker_came_back_after(truth, generation);
                compare_round(comparison, round, (generation, outage), bounds);
            }
            None => comparison.differs(format!("generation {} is not told", generation.generation)),
        }
    }
    Ok(())
}

/// Each generation with what is told of it. A number repeats when the group was created anew;
/// rounds are told in order.
fn paired<'a>(
    recorded: &[&'a TruthGeneration],
    told: &[&'a Value],
) -> Vec<(&'a TruthGeneration, Option<&'a Value>)> {
    let mut seen: BTreeMap<i64, usize> = BTreeMap::new();
    let pair = |generation: &&'a TruthGeneration| {
        let earlier = seen.entry(generation.generation).or_default();
        let found = told
            .iter()
            .filter(|round| number(&round["generation"]) == Some(generation.generation))
            .nth(*earlier);
        *earlier += 1;
        (*generation, found.copied())
    };
    recorded.iter().map(pair).collect()
}

/// The Scala coordinator (before 4.0) stamps a record when it appends it, after the line:
/// on a busy machine that was seen to take 47 ms.
pub(super) fn stamped_ms_max(lines: &[Value]) -> i64 {
    let broker = lines
        .iter()
        .find_map(|line| line.pointer("/header/kafka/broker"))
        .and_then(Value::as_str)
        .and_then(|release| release.parse::<Version>().ok());
    match broker {
        Some(release) if !release.at_least(4, 0) => SCALA_STAMPED_MS_MAX,
        _ => DATED_MS_MAX,
    }
}

/// Whether a broker came back between this generation and the next: members that lost their
/// coordinator say nothing of what they had.
fn broker_came_back_after(truth: &TruthLog, generation: &TruthGeneration) -> bool {
    let from = generation.join_end_ms;
    let later = truth.generations.iter().map(|later| later.join_end_ms);
    let until = later
        .filter(|at_ms| *at_ms > from)
        .min()
        .unwrap_or(i64::MAX);
    truth.events.iter().any(|event| {
        let started = matches!(
            event.what,
            What::Script {
                verb: Verb::Start,
                ..
            }
        );
        started && event.process.starts_with("broker") && (from..until).contains(&event.at_ms)
    })
}

fn compare_round(
    comparison: &mut Comparison,
    round: &Value,
    (truth, outage): (&TruthGeneration, bool),
    (joined_ms_max, stamped_ms_max): (i64, i64),
) {
    let what = |name: &str| format!("replay: generation {} {name}", truth.generation);
    if let Some(outcome) = text(&round["outcome"]) {
        let applied = truth
            .members
            .iter()
            .any(|member| member.applied_ms.is_some());
        let refused = truth.members.iter().any(|member| member.error > Some(0));
        let true_outcome = match (truth.member_count, refused, applied) {
            (0, ..) => "emptied",
            (_, true, _) => "mismatch",
            (.., true) => "completed",
            (.., false) => "aborted",
        };
        // Unknown is an answer: after an outage nobody may be left who can show anything.
        // A recording is chosen so that all is known.
        // An eager round is shown by statuses alone, and who goes on with what it had, or has
        // nothing, writes none. A round that hands out nothing is shown only where leader,
        // config offset or delay are others than before.
        let eager = truth.protocol.as_deref() == Some("default");
        let is_nothing = |work: &Option<Work>| work.as_ref().is_none_or(Work::is_empty);
        let nothing = truth
            .members
            .iter()
            .all(|member| is_nothing(&member.assigned) && is_nothing(&member.revoked));
        let known = joined_ms_max <= DATED_MS_MAX && !outage && !eager && !nothing;
        if known || outcome != "unknown" {
            comparison.equal(&what("outcome"), &true_outcome.to_owned(), &outcome);
        }
    }
    if let Some(joined) = number(&round["join_ended"]) {
        comparison.within(&what("join end"), truth.join_end_ms, joined, joined_ms_max);
    }
    if let (Some(recorded), Some(assigned)) = (number(&round["recorded"]), truth.assignment_ms) {
        comparison.within(&what("record"), assigned, recorded, stamped_ms_max);
    }
    comparison.equal(
        &what("protocol"),
        &protocol(truth),
        &text(&round["protocol"]),
    );
    // Of a round that reached nobody, only the leader's own log names it.
    let leading = || {
        let id = truth.leader.as_deref()?;
        let member = truth.members.iter().find(|member| member.member_id == id)?;
        member.worker_url.as_deref()
    };
    let leader = truth.leader_url.as_deref().or_else(leading).map(worker_id);
    comparison.equal(&what("leader"), &leader, &text(&round["leader"]));
    let delay_ms = truth
        .members
        .iter()
        .filter_map(|member| member.delay_ms)
        .max()
        .unwrap_or(0);
    comparison.equal(&what("delay"), &Some(delay_ms), &number(&round["delay_ms"]));
    let truth_members = by_worker(truth);
    for member in round["members"].as_array().into_iter().flatten() {
        let worker = text(&member["worker"]).unwrap_or_default();
        let Some(true_member) = truth_members.get(&worker) else {
            comparison.differs(what(&format!("has no member {worker}")));
            continue;
        };
        for (name, list, truth) in [
            ("assigned", &member["assigned"], &true_member.assigned),
            ("revoked", &member["revoked"], &true_member.revoked),
        ] {
            if let Some(truth) = truth {
                comparison.equal(&what(&format!("{worker} {name}")), truth, &work(list));
            }
        }
    }
}

/// What members were told and did is counted, each piece once. What a member was told to give up
/// that is not in the next generation may be counted or not: it never says again what it has.
fn compare_counters(
    comparison: &mut Comparison,
    answers: &Value,
    recorded: &[(&TruthGeneration, Option<&Value>)],
) {
    let is_open = |told: &Option<&Value>| told.is_some_and(|round| round["outcome"].is_null());
    let mut assigned = (0, 0);
    let mut asked = (0, 0);
    let mut certain = (0, 0);
    for (place, (generation, told)) in recorded.iter().enumerate() {
        if is_open(told) {
            continue;
        }
        let next = recorded.get(place + 1).map(|(next, _)| &next.members);
        let stays = |id: &str| {
            let mut members = next.into_iter().flatten();
            next.is_none() || members.any(|member| member.member_id == id)
        };
        for member in generation
            .members
            .iter()
            .filter(|member| member.applied_ms.is_some())
        {
            let proves = stays(&member.member_id);
            for (work, sum, counts) in [
                (&member.assigned, &mut assigned, true),
                (&member.revoked, &mut asked, true),
                (&member.revoked, &mut certain, proves),
            ] {
                if let Some(work) = work.as_ref().filter(|_| counts) {
                    sum.0 += i64::try_from(work.connectors.len()).unwrap_or(i64::MAX);
                    sum.1 += i64::try_from(work.tasks.len()).unwrap_or(i64::MAX);
                }
            }
        }
    }
    let pairs = |name: &str| {
        answers
            .pointer(&format!("/answers/counters/{name}"))
            .and_then(Value::as_array)
    };
    let count = |name: &str, key: &Value| {
        pairs(name)
            .into_iter()
            .flatten()
            .find(|pair| pair[0] == *key)
            .and_then(|pair| number(&pair[1]))
            .unwrap_or(0)
    };
    for (kind, assigned, certain, asked) in [
        ("connector", assigned.0, certain.0, asked.0),
        ("task", assigned.1, certain.1, asked.1),
    ] {
        let what = |name: &str| format!("replay: {kind}s {name}");
        let told = count("assignments", &kind.into());
        comparison.equal(&what("assigned"), &assigned, &told);
        let told = count("revocations", &serde_json::json!([kind, "asked"]));
        let nearest = told.clamp(certain, asked);
        comparison.equal(&what("revoked"), &nearest, &told);
    }
}
