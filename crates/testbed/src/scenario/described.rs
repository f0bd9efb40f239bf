//! What evenkeel says while it may not read the group's records, compared with the truth:
//! what descriptions show must be right, what only records show must be absent.

use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::agent::Agent;
use super::compare::{
    Expected, by_worker, compare_members, compare_unassigned, number, protocol, text, worker_id,
};
use crate::truth::{Comparison, TruthGeneration, TruthLog};
use crate::wait::wait_until;

/// A round is seen at the next question (500 ms beside the leader), which a loaded machine
/// answers late.
const SEEN_MS_MAX: i64 = 2_000;

/// Families of which nothing may be shown: they need what lies between two descriptions, or
/// what only a record holds.
const ABSENT: [&str; 9] = [
    "evenkeel_generations_total",
    "evenkeel_revocations_total",
    "evenkeel_assignments_total",
    "evenkeel_assignment_errors_total",
    "evenkeel_leader_changes_total",
    "evenkeel_recent_generations",
    "evenkeel_worker_timeout_seconds",
    "evenkeel_last_rebalance_timestamp_seconds",
    "evenkeel_group_record_bytes",
];

/// Longest wait for a sidecar to say what the log already says: no budget, a busy machine is slow.
const TOLD_MAX: Duration = Duration::from_secs(40);
/// Two questions, and two more chances to change one's mind.
const STAYS: Duration = Duration::from_millis(1_200);

/// Waits until a sidecar without records says what is true of the newest generation, and
/// looks whether it stays with it; gives how much was compared.
///
/// # Errors
/// When it does not answer, or something differs.
pub(super) fn await_described(
    step: &str,
    agent: &Agent,
    judged: (&TruthLog, &Expected),
) -> anyhow::Result<usize> {
    let compare = || {
        let state = agent.state()?;
        ensure!(state["current"] == true, "{} is not current", agent.name());
        let mut comparison = Comparison::new();
        compare_described(&mut comparison, agent, &state, judged)?;
        comparison.finish()
    };
    let what = format!("{step}: {}", agent.name());
    let compared = wait_until(&what, TOLD_MAX, || compare().map(Some))?;
    thread::sleep(STAYS);
    Ok(compared + compare().with_context(|| format!("{what}, a moment later"))?)
}

/// Compares what is told of the newest generation.
fn compare_described(
    comparison: &mut Comparison,
    agent: &Agent,
    state: &Value,
    (truth, expected): (&TruthLog, &Expected),
) -> anyhow::Result<()> {
    let last = truth.last().context("the truth has no generation")?;
    let who = agent.name();
    let group = state
        .get("group")
        .filter(|group| !group.is_null())
        .context("no group told")?;
    let what = |name: &str| format!("{who}: described, generation {} {name}", last.generation);
    let told = text(&state["mode"]);
    comparison.equal(&what("mode"), &Some("no_offsets_topic".to_owned()), &told);
    comparison.equal(&what("trust"), &Some(false), &state["trusted"].as_bool());
    comparison.equal(
        &what("state"),
        &Some("stable".to_owned()),
        &text(&group["state"]),
    );
    // Statuses carry generations: it is at least this.
    let at_most = number(&group["generation"]).is_none_or(|told| told <= last.generation);
    comparison.equal(&what("at least"), &true, &at_most);
    comparison.equal(
        &what("protocol"),
        &protocol(last),
        &text(&group["protocol"]),
    );
    let leader = last.leader_url.as_deref().map(worker_id);
    comparison.equal(&what("leader"), &leader, &text(&group["leader"]));
    comparison.equal(
        &what("leader url"),
        &last.leader_url,
        &text(&group["leader_url"]),
    );
    compare_members(comparison, who, &group["members"], last);
    compare_unassigned(comparison, who, state, (last, expected));
    compare_deadline(comparison, who, state, (last, expected));
    for name in ["recorded", "join_ended", "record_bytes"] {
        comparison.equal(&what(name), &Value::Null, &group[name]);
    }
    for member in group["members"].as_array().into_iter().flatten() {
        for name in ["session_timeout_ms", "rebalance_timeout_ms"] {
            comparison.equal(&what(name), &Value::Null, &member[name]);
        }
    }
    compare_exposed(comparison, agent, last)
}

/// The latest instant at which a delay can end: the truth lies a question before it.
fn compare_deadline(
    comparison: &mut Comparison,
    who: &str,
    state: &Value,
    (last, expected): (&TruthGeneration, &Expected),
) {
    let what = format!("{who}: described, generation {} deadline", last.generation);
    let delays = last.members.iter().filter_map(|member| member.delay_ms);
    let delay_ms = delays.max().unwrap_or(0);
    let told = &state["deadline"];
    comparison.equal(&format!("{what} runs"), &(delay_ms > 0), &!told.is_null());
    let reason = expected.deadline.map(str::to_owned);
    comparison.equal(&format!("{what} reason"), &reason, &text(&told["reason"]));
    if let (Some(at), Some(recorded)) = (number(&told["at"]), last.assignment_ms) {
        let bounds = (at - SEEN_MS_MAX, at);
        comparison.inside(&what, recorded + delay_ms, bounds, SEEN_MS_MAX);
    }
}

/// What `/metrics` shows, and what it must not.
fn compare_exposed(
    comparison: &mut Comparison,
    agent: &Agent,
    last: &TruthGeneration,
) -> anyhow::Result<()> {
    let who = agent.name();
    let text = agent.metrics()?;
    for family in ABSENT {
        let shown = text
            .lines()
            .find(|line| line.starts_with(&format!("{family}{{")));
        comparison.equal(&format!("{who}: {family}"), &None, &shown);
    }
    let members = u32::try_from(last.member_count)?;
    for (series, truth) in [
        (r#"evenkeel_members{group="connect"}"#, f64::from(members)),
        (r#"evenkeel_trust{group="connect"}"#, 0.0),
        (
            r#"evenkeel_mode{group="connect",mode="no_offsets_topic"}"#,
            1.0,
        ),
        (r#"evenkeel_mode{group="connect",mode="full"}"#, 0.0),
        (
            r#"evenkeel_group_state{group="connect",state="stable"}"#,
            1.0,
        ),
    ] {
        let told = super::agent::value(&text, series)?;
        comparison.equal(&format!("{who}: {series}"), &Some(truth), &told);
    }
    let workers = by_worker(last);
    for (worker, member) in &workers {
        let Some(owned) = &member.owned else { continue };
        for (kind, truth) in [
            ("connector", owned.connectors.len()),
            ("task", owned.tasks.len()),
        ] {
            let series = format!(
                r#"evenkeel_worker_assignments{{group="connect",worker="{worker}",kind="{kind}"}}"#
            );
            let told = super::agent::value(&text, &series)?;
            let truth = f64::from(u32::try_from(truth)?);
            comparison.equal(&format!("{who}: {series}"), &Some(truth), &told);
        }
    }
    Ok(())
}
