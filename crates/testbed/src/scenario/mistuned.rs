//! Scripts about settings that contradict each other, or what workers really do: evenkeel finds
//! each of them, names its subject, and says nothing of it any more when it is mended.

use std::time::Duration;

use anyhow::ensure;
use serde_json::Value;

use super::Scenario;
use super::membership::owned;
use super::opening::{members, until};
use super::stage::Stage;
use crate::properties::Properties;
use crate::truth::{Comparison, TruthGeneration, TruthLog};
use crate::wait::wait_until;

mod calls;
mod delays;
mod scopes;
mod stopping;
mod timeouts;

/// In the order in which they are recorded.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::recorded(
        "timeouts_differ",
        "one worker with another session, one with another rebalance timeout, until mended",
        timeouts::differ,
        timeouts::spec,
    ),
    Scenario::recorded(
        "delays_differ",
        "the delay changes with the leader; all workers are restarted with the same one",
        delays::differ,
        delays::spec_of_leaders,
    ),
    Scenario::recorded(
        "restart_outlives_delay",
        "workers take longer to restart than their work waits for them, until it waits longer",
        delays::restart_outlives,
        delays::spec_of_restarts,
    ),
    Scenario::recorded(
        "stops_given_up",
        "tasks need longer to stop than they are given, until they are given more",
        stopping::given_up,
        stopping::spec_of_graceful,
    ),
    Scenario::recorded(
        "stops_overrun",
        "a dozen slow stops on eight threads take longer than a worker may be away from its group",
        stopping::overrun,
        stopping::spec_of_rebalance,
    ),
    Scenario::recorded(
        "connector_holds_up",
        "a connector waits for what does not answer for longer than its worker may be away, again and again",
        calls::held_up,
        calls::spec,
    ),
    Scenario {
        name: "wrong_scope",
        shows: "settings that do nothing where they stand, in the file beside a sidecar and to `check --live`",
        recorded: false,
        script: scopes::wrong_scope,
        spec: scopes::spec,
    },
];

/// Longest wait for a sidecar to say it, or to say it no more: the logs have settled before.
const TOLD_MAX: Duration = Duration::from_secs(30);

/// What the sidecar says that checks find.
fn fired(stage: &Stage) -> anyhow::Result<Vec<Value>> {
    let answer = stage.agent("first")?.get("/api/v1/checks")?.json()?;
    ensure!(
        answer.pointer("/groups/0/current") == Some(&Value::Bool(true)),
        "not current"
    );
    let fired = answer.pointer("/groups/0/checks/fired");
    Ok(fired.and_then(Value::as_array).cloned().unwrap_or_default())
}

/// Waits until the check fires; gives what it says of these subjects, and compares that it
/// says something of each of them and of nobody else.
fn found(
    stage: &mut Stage,
    (step, check): (&str, &str),
    subjects: &[String],
) -> anyhow::Result<Vec<Value>> {
    let findings = wait_until(&format!("{step}: {check}"), TOLD_MAX, || {
        let mut fired = fired(stage)?;
        fired.retain(|finding| finding["check"] == check);
        Ok((!fired.is_empty()).then_some(fired))
    })?;
    let mut wanted: Vec<&str> = subjects.iter().map(String::as_str).collect();
    wanted.sort_unstable();
    let mut told: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding["subject"].as_str())
        .collect();
    told.sort_unstable();
    let mut comparison = Comparison::new();
    comparison.equal(&format!("{step}: subjects of {check}"), &wanted, &told);
    stage.count(comparison)?;
    Ok(findings)
}

/// Whether a finding shows a value that was read there, in words of the source.
fn shows(finding: &Value, name: &str, value: &str, source: &str) -> bool {
    let values = finding["values"].as_array();
    values.into_iter().flatten().any(|shown| {
        shown["name"] == name
            && shown["value"] == value
            && shown["source"]
                .as_str()
                .is_some_and(|told| told.contains(source))
    })
}

/// Waits until nothing fires any more, and looks whether it stays so.
fn mended(stage: &mut Stage, step: &str) -> anyhow::Result<()> {
    wait_until(&format!("{step}: nothing is found"), TOLD_MAX, || {
        let fired = fired(stage)?;
        ensure!(fired.is_empty(), "{fired:?}");
        Ok(Some(()))
    })?;
    stage.pause(Duration::from_secs(3));
    let mut comparison = Comparison::new();
    let none: Vec<Value> = Vec::new();
    comparison.equal(&format!("{step}: nothing is found"), &none, &fired(stage)?);
    stage.count(comparison)
}

/// Restarts a worker with these settings, away for so long, and waits until all is as before.
fn restarted(
    stage: &mut Stage,
    worker: &str,
    settings: &[(&str, &str)],
    away: Duration,
) -> anyhow::Result<()> {
    let step = format!("{worker} is restarted");
    let before = stage.cluster.truth(stage.group_id())?;
    let (items, generations) = (owned(&before), before.generations.len());
    let count = before.last().map_or(0, |last| last.member_count);
    stage.begin(&step)?;
    stage.cluster.stop(worker)?;
    stage.pause(away);
    let settings = settings.iter();
    let settings: Properties = settings
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    stage.cluster.set(worker, &settings)?;
    stage.cluster.start_process(worker)?;
    until(stage, &step, |truth| {
        truth.generations.len() > generations && whole(truth, (count, items))
    })?;
    stage.calm()?;
    stage.end_unexplained()
}

/// Whether so many workers own so much, and nothing waits.
fn whole(truth: &TruthLog, (count, items): (usize, usize)) -> bool {
    let left = truth.last().and_then(TruthGeneration::unassigned);
    members(truth, count, 0)
        && truth.is_settled()
        && owned(truth) == items
        && left.is_some_and(|work| work.is_empty())
}

/// As evenkeel calls a worker.
fn id(stage: &Stage, worker: &str) -> anyhow::Result<String> {
    Ok(stage.cluster.worker(worker)?.worker_id())
}
