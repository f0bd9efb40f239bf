//! What the scripts about unrest share: a group at work, steps that are apart, waiting for
//! what the logs tell.

use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::compare::Expected;
use super::membership::{last, nothing_unassigned, owned};
use super::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::{Step, TruthLog, What};
use crate::wait::wait_until;

pub(super) const DELAY_MS: u32 = 15_000;
pub(super) const WORKERS: [&str; 3] = ["worker-1", "worker-2", "worker-3"];

/// What belongs to one stretch of unrest follows within this.
const APART: Duration = Duration::from_secs(3);
const SEEN_MAX: Duration = Duration::from_secs(90);

pub(super) const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};
pub(super) const PARKED: Expected = Expected {
    unassigned: Some("lost"),
    deadline: Some("lost"),
    ..NOTHING
};

/// Three workers, a delay of 15 s.
pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = ClusterSpec::of(WORKERS.len());
    for worker in spec.groups.iter_mut().flat_map(|group| &mut group.workers) {
        worker.scheduled_delay_ms = DELAY_MS;
    }
    Ok(spec)
}

/// Three workers start, then two connectors of three tasks each are created.
pub(super) fn at_work(stage: &mut Stage) -> anyhow::Result<TruthLog> {
    stage.cluster.start_processes(&WORKERS)?;
    stage.rest("three workers start", NOTHING)?;
    apart(stage)?;
    two_connectors(stage)
}

/// Two connectors of three tasks each are created.
pub(super) fn two_connectors(stage: &mut Stage) -> anyhow::Result<TruthLog> {
    let mut truth = None;
    for (name, items) in [("alpha", 4), ("beta", 8)] {
        put(stage, name, json!({"tasks.max": "3"}))?;
        let step = format!("connector {name} is created");
        truth = Some(all_owned(stage, &step, items)?);
        apart(stage)?;
    }
    truth.context("no connector")
}

/// Waits until so much is owned, nothing waits to be handed out, and compares.
pub(super) fn all_owned(stage: &mut Stage, step: &str, items: usize) -> anyhow::Result<TruthLog> {
    stage.await_truth(step, NOTHING, |truth| {
        owned(truth) == items && nothing_unassigned(truth)
    })
}

/// As [`all_owned`], in a generation after the newest of `before`.
pub(super) fn all_owned_after(
    stage: &mut Stage,
    step: &str,
    (items, before): (usize, &TruthLog),
) -> anyhow::Result<TruthLog> {
    let before = before.generations.len();
    stage.await_truth(step, NOTHING, |truth| {
        truth.generations.len() > before && owned(truth) == items && nothing_unassigned(truth)
    })
}

/// Waits until nothing has happened for a while; gives the truth by then.
pub(super) fn apart(stage: &Stage) -> anyhow::Result<TruthLog> {
    wait_until("the group to stay at rest", SEEN_MAX, || {
        let before = stage.cluster.truth(stage.group_id())?;
        thread::sleep(APART);
        let after = stage.cluster.truth(stage.group_id())?;
        let quiet = before.generations.len() == after.generations.len() && after.is_settled();
        ensure!(quiet, "the group goes on");
        Ok(Some(after))
    })
}

/// Waits until the logs tell something, without asking any sidecar.
pub(super) fn seen(
    stage: &Stage,
    what: &str,
    holds: impl Fn(&TruthLog) -> bool,
) -> anyhow::Result<TruthLog> {
    wait_until(what, SEEN_MAX, || {
        let truth = stage.cluster.truth(stage.group_id())?;
        Ok(holds(&truth).then_some(truth))
    })
}

/// Creates or changes a connector of the fixture; `changes` win over what all have.
pub(super) fn put(stage: &mut Stage, name: &str, changes: Value) -> anyhow::Result<()> {
    let mut config = json!({
        "connector.class": "evenkeel.testbed.FixtureSource",
        "topic": "numbers",
        "password": "canary-in-a-connector",
    });
    if let (Some(config), Value::Object(changes)) = (config.as_object_mut(), changes) {
        config.extend(changes);
    }
    ask(
        stage,
        "PUT",
        &format!("/connectors/{name}/config"),
        Some(&config),
    )
}

/// A change through any running worker; it is refused while the group rebalances.
pub(super) fn ask(
    stage: &mut Stage,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> anyhow::Result<()> {
    let running = |worker: &&crate::worker::Worker| {
        worker.process().is_some_and(|process| !process.is_frozen())
    };
    let worker = stage.cluster.workers().iter().find(running);
    let worker = worker.context("no worker runs")?.name().to_owned();
    wait_until(&format!("{method} {path}"), SEEN_MAX, || {
        stage.cluster.change(&worker, method, path, body).map(Some)
    })
}

/// How often a connector or task has taken this step so far.
pub(super) fn steps(truth: &TruthLog, name: &str, taken: Step) -> usize {
    let this = |what: &What| matches!(what, What::Item { item, step } if item.name == name && *step == taken);
    truth
        .events
        .iter()
        .filter(|event| this(&event.what))
        .count()
}

/// The number of the newest generation.
pub(super) fn newest(truth: &TruthLog) -> anyhow::Result<i64> {
    Ok(last(truth)?.generation)
}
