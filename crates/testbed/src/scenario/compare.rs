//! What evenkeel says now, compared with the truth.

use std::collections::BTreeMap;

use anyhow::Context;
use serde_json::Value;

use crate::truth::{Comparison, TruthGeneration, TruthLog, TruthMember, Work};

/// Instants that a record dates may differ from the log line of the same event by this.
pub(super) const DATED_MS_MAX: i64 = 20;

/// The same in a pass that is not recorded: a machine that runs other things, too, stamps
/// and logs at its leisure, and names, counts and order are what it is judged by.
pub(super) const LIVE_DATED_MS_MAX: i64 = 2_000;

/// The first record of a broker may differ by more: it loads classes between writing the
/// line and stamping the record.
pub(super) const FIRST_DATED_MS_MAX: i64 = 250;

/// What the script knows beside what the logs tell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected {
    /// Why whatever is unassigned now is so; nothing may be unassigned without it.
    pub unassigned: Option<&'static str>,
    /// What a running delay is for; none may run without it.
    pub deadline: Option<&'static str>,
    /// How far a deadline may be off, in milliseconds; the strict bound without.
    pub dated_ms_max: Option<i64>,
    /// Whether the protocol must be said to have fallen, and by which process.
    pub downgraded_by: Option<&'static str>,
}

/// Compares the newest generation.
///
/// # Errors
/// When the state has not the form it should have.
pub fn compare_state(
    comparison: &mut Comparison,
    who: &str,
    state: &Value,
    (truth, expected): (&TruthLog, &Expected),
) -> anyhow::Result<()> {
    let last = truth.last().context("the truth has no generation")?;
    let group = state
        .get("group")
        .filter(|group| !group.is_null())
        .context("no group told")?;
    let what = |name: &str| format!("{who}: generation {} {name}", last.generation);
    comparison.equal(
        &what("number"),
        &Some(last.generation),
        &number(&group["generation"]),
    );
    comparison.equal(
        &what("protocol"),
        &protocol(last),
        &text(&group["protocol"]),
    );
    comparison.equal(
        &what("leader"),
        &last.leader_url.as_deref().map(worker_id),
        &text(&group["leader"]),
    );
    comparison.equal(
        &what("leader url"),
        &last.leader_url,
        &text(&group["leader_url"]),
    );
    compare_members(comparison, who, &group["members"], last);
    compare_unassigned(comparison, who, state, (last, expected));
    compare_deadline(comparison, who, state, (last, expected));
    let fallen: Option<Vec<String>> = expected.downgraded_by.map(|process| {
        truth
            .worker_urls
            .get(process)
            .map(|url| worker_id(url))
            .into_iter()
            .collect()
    });
    let told: Option<Vec<String>> = group["downgraded"]
        .as_array()
        .map(|workers| workers.iter().filter_map(text).collect());
    comparison.equal(&what("downgraded by"), &fallen, &told);
    Ok(())
}

/// Who is in, and what each was told.
pub(super) fn compare_members(
    comparison: &mut Comparison,
    who: &str,
    told: &Value,
    last: &TruthGeneration,
) {
    let told = members(told);
    let true_members: BTreeMap<String, &TruthMember> = by_worker(last);
    comparison.equal(
        &format!("{who}: generation {} members", last.generation),
        &true_members.keys().collect::<Vec<_>>(),
        &told.keys().collect::<Vec<_>>(),
    );
    for (worker, member) in &true_members {
        let Some(told) = told.get(worker) else {
            continue;
        };
        let what = |name: &str| format!("{who}: generation {} {worker} {name}", last.generation);
        for (name, truth) in [
            ("assigned", &member.assigned),
            ("revoked", &member.revoked),
            ("owned", &member.owned),
        ] {
            comparison.equal(&what(name), &work_or_none(truth), &work(&told[name]));
        }
    }
}

/// What nobody owns, and why.
pub(super) fn compare_unassigned(
    comparison: &mut Comparison,
    who: &str,
    state: &Value,
    (last, expected): (&TruthGeneration, &Expected),
) {
    let what = |name: &str| format!("{who}: generation {} unassigned {name}", last.generation);
    let empty = Vec::new();
    let told = state["unassigned"].as_array().unwrap_or(&empty);
    // An eager leader does not log what it took the group for; then nothing may be left.
    let truth = last.unassigned().unwrap_or_default();
    comparison.equal(&what("work"), &truth, &work(&state["unassigned"]));
    for item in told {
        let reason = text(&item["reason"]);
        comparison.equal(
            &what("reason"),
            &expected.unassigned.map(str::to_owned),
            &reason,
        );
    }
    comparison.equal(
        &what("expected"),
        &expected.unassigned.is_some(),
        &!told.is_empty(),
    );
}

fn compare_deadline(
    comparison: &mut Comparison,
    who: &str,
    state: &Value,
    (last, expected): (&TruthGeneration, &Expected),
) {
    let what = format!("{who}: generation {} deadline", last.generation);
    let delay_ms = last
        .members
        .iter()
        .filter_map(|member| member.delay_ms)
        .max()
        .unwrap_or(0);
    let told = &state["deadline"];
    comparison.equal(&format!("{what} runs"), &(delay_ms > 0), &!told.is_null());
    comparison.equal(
        &format!("{what} reason"),
        &expected.deadline.map(str::to_owned),
        &text(&told["reason"]),
    );
    if let (Some(at), Some(recorded)) = (number(&told["at"]), last.assignment_ms) {
        let dated_ms_max = expected.dated_ms_max.unwrap_or(DATED_MS_MAX);
        comparison.within(&what, recorded + delay_ms, at, dated_ms_max);
    }
}

/// `host:port` of a URL.
pub(super) fn worker_id(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.trim_end_matches('/').to_owned()
}

/// Members by worker id; one that no log names has none and is left out.
pub(super) fn by_worker(generation: &TruthGeneration) -> BTreeMap<String, &TruthMember> {
    let named = |member: &'_ TruthMember| member.worker_url.as_deref().map(worker_id);
    generation
        .members
        .iter()
        .filter_map(|member| Some((named(member)?, member)))
        .collect()
}

/// The protocol as evenkeel names it: by the worker setting, not by the wire.
pub(super) fn protocol(generation: &TruthGeneration) -> Option<String> {
    generation.protocol.as_deref().map(|name| match name {
        "default" => "eager".to_owned(),
        other => other.to_owned(),
    })
}

fn members(list: &Value) -> BTreeMap<String, &Value> {
    let members = list.as_array().into_iter().flatten();
    members
        .filter_map(|member| Some((text(&member["worker"])?, member)))
        .collect()
}

fn work_or_none(work: &Option<Work>) -> Work {
    work.clone().unwrap_or_default()
}

/// A list of items as evenkeel writes it.
pub(super) fn work(list: &Value) -> Work {
    let mut work = Work::default();
    for item in list.as_array().into_iter().flatten() {
        let name = text(&item["connector"]).unwrap_or_default();
        match number(&item["task"]) {
            Some(task) => work.tasks.insert(format!("{name}-{task}")),
            None => work.connectors.insert(name),
        };
    }
    work
}

pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

pub(super) fn number(value: &Value) -> Option<i64> {
    value.as_i64()
}
