//! The right setting at the wrong place: only the worker's file shows it.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::{TOLD_MAX, id, restarted};
use crate::properties::Properties;
use crate::scenario::agent::Agent;
use crate::scenario::checking::check_live;
use crate::scenario::opening::{cold_start, created, group_of};
use crate::scenario::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::Comparison;
use crate::wait::wait_until;

const CHECK: &str = "wrong_scope";

/// Of the clients of tasks, and of topics: as people wrote them into a worker's file.
const MISPLACED: [(&str, &str); 2] = [
    ("max.poll.records", "10"),
    ("errors.retry.timeout", "300000"),
];

/// Two workers; one has settings at the wrong place.
pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = group_of(2, 20_000, &[]);
    let mut workers = spec.groups.iter_mut().flat_map(|group| &mut group.workers);
    let first = workers.next().context("there are two")?;
    first.settings = properties(&MISPLACED);
    Ok(spec)
}

fn properties(pairs: &[(&str, &str)]) -> Properties {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Found by the sidecar beside the worker and by `check --live`, for that worker, at the lines
/// of its file; the file of the other is sound. When it is mended both say so.
pub(super) fn wrong_scope(stage: &mut Stage) -> anyhow::Result<()> {
    cold_start(stage)?;
    created(stage, ("alpha", 2), &[])?;
    let file = stage.cluster.worker("worker-1")?.properties_file();
    let subject = id(stage, "worker-1")?;
    let beside = stage.agent_beside("beside", &file)?;
    let found = found_by(stage, &beside, (CHECK, &subject))?;
    let mut comparison = Comparison::new();
    for (name, _) in MISPLACED {
        let is_told = found.to_string().contains(name);
        comparison.equal(&format!("{name} is told"), &true, &is_told);
    }
    for (worker, wanted) in [("worker-1", MISPLACED.len()), ("worker-2", 0)] {
        let told = checked(stage, worker)?;
        comparison.equal(&format!("check --live beside {worker}"), &wanted, &told);
    }
    stage.count(comparison)?;

    for (name, _) in MISPLACED {
        stage.cluster.unset("worker-1", name)?;
    }
    restarted(stage, "worker-1", &[], Duration::ZERO)?;
    wait_until("nothing is misplaced", TOLD_MAX, || {
        let fired = fired_by(&beside, (CHECK, &subject))?;
        Ok(fired.is_none().then_some(()))
    })?;
    let mut comparison = Comparison::new();
    let told = checked(stage, "worker-1")?;
    comparison.equal("check --live of what is mended", &0, &told);
    stage.count(comparison)?;
    beside.stop()
}

/// Waits until this sidecar says it of this worker, by its own file.
pub(super) fn found_by(
    stage: &mut Stage,
    agent: &Agent,
    finding: (&str, &str),
) -> anyhow::Result<Value> {
    let (check, subject) = finding;
    let what = format!("{} finds {check} of {subject}", agent.name());
    let found = wait_until(&what, TOLD_MAX, || fired_by(agent, finding))?;
    let mut comparison = Comparison::new();
    comparison.equal(&format!("{what}: own"), &Value::Bool(true), &found["own"]);
    stage.count(comparison)?;
    Ok(found)
}

fn fired_by(agent: &Agent, (check, subject): (&str, &str)) -> anyhow::Result<Option<Value>> {
    let answer = agent.get("/api/v1/checks")?.json()?;
    let fired = answer.pointer("/groups/0/checks/fired");
    let fired = fired.and_then(Value::as_array).context("no checks yet")?;
    let mut fired = fired.iter();
    let found = fired.find(|it| it["check"] == check && it["subject"] == subject);
    Ok(found.cloned())
}

/// How many misplaced settings `check --live` finds in the file of a worker, each with its line.
fn checked(stage: &Stage, worker: &str) -> anyhow::Result<usize> {
    let file = stage.cluster.worker(worker)?.properties_file();
    let (report, _) = check_live(stage, [&file])?;
    let findings = report["findings"].as_array().context("no findings")?;
    let ours = findings
        .iter()
        .filter(|finding| finding["check"] == CHECK && finding["outcome"] == "fired");
    let ours: Vec<&Value> = ours.collect();
    for finding in &ours {
        let line = finding.pointer("/values/0/source/line");
        ensure!(line.is_some_and(Value::is_u64), "no line: {finding}");
    }
    Ok(ours.len())
}
