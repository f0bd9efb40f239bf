//! What the scripts about connectors and coordinators share beside how they open.

use anyhow::Context;
use serde_json::{Value, json};
use std::time::Duration;

use super::membership::{last, nothing_unassigned, owned};
use super::opening::{NOTHING, owned_by};
use super::stage::Stage;
use crate::truth::{LostEnd, Step, TruthLog, What, Work};
use crate::wait::wait_until;
use crate::worker::Worker;

pub(super) const WORKERS: [&str; 3] = ["worker-1", "worker-2", "worker-3"];

/// A change is refused while the group rebalances.
const TAKEN_MAX: Duration = Duration::from_secs(60);

/// Waits until so much is owned in a generation after the newest of `before`, nothing waits to
/// be handed out, and compares.
pub(super) fn owned_after(
    stage: &mut Stage,
    step: &str,
    (items, before): (usize, &TruthLog),
) -> anyhow::Result<TruthLog> {
    let before = before.generations.len();
    stage.await_truth(step, NOTHING, |truth| {
        truth.generations.len() > before && owned(truth) == items && nothing_unassigned(truth)
    })
}

/// Creates or changes a connector of the fixture; `changes` win over what all have.
pub(super) fn put(stage: &mut Stage, name: &str, changes: &Value) -> anyhow::Result<()> {
    let mut config = json!({
        "connector.class": "evenkeel.testbed.FixtureSource",
        "topic": "numbers",
        "password": "canary-in-a-connector",
    });
    extend(&mut config, changes);
    let path = format!("/connectors/{name}/config");
    ask(stage, "PUT", &path, Some(&config))
}

/// Adds the entries of one JSON object to another.
pub(super) fn extend(config: &mut Value, more: &Value) {
    if let (Some(config), Some(more)) = (config.as_object_mut(), more.as_object()) {
        config.extend(more.clone());
    }
}

/// A change through any worker that runs.
pub(super) fn ask(
    stage: &mut Stage,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> anyhow::Result<()> {
    let running = |worker: &&Worker| {
        let process = worker.process();
        process.is_some_and(|process| !process.is_frozen())
    };
    let worker = stage.cluster.workers().iter().find(running);
    let worker = worker.context("no worker runs")?.name().to_owned();
    wait_until(&format!("{method} {path}"), TAKEN_MAX, || {
        stage.cluster.change(&worker, method, path, body).map(Some)
    })
}

/// How often a connector or task has taken this step so far.
pub(super) fn steps(truth: &TruthLog, name: &str, taken: Step) -> usize {
    let this = |what: &What| matches!(what, What::Item { item, step } if item.name == name && *step == taken);
    let mut events = truth.events.iter();
    events.by_ref().filter(|event| this(&event.what)).count()
}

/// What a worker dropped or lost has an owner again: the same one or another, item by item.
pub(super) fn handed_out_again(
    stage: &mut Stage,
    worker: &str,
    items: &Work,
) -> anyhow::Result<()> {
    let truth = stage.calm()?;
    let is_in = last(&truth)?.member(worker).is_some();
    let own = if is_in {
        owned_by(&truth, worker)?
    } else {
        Work::default()
    };
    let reassigned = items.without(&own);
    let reclaimed = items.without(&reassigned);
    for (items, ended) in [
        (reclaimed, LostEnd::Reclaimed),
        (reassigned, LostEnd::Reassigned),
    ] {
        if !items.is_empty() {
            stage.lost((worker, &items), ended, None)?;
        }
    }
    Ok(())
}

/// What of this work belongs to a connector, and what to others.
pub(super) fn divided(work: &Work, connector: &str) -> (Work, Work) {
    let task_of = |task: &str| {
        task.rsplit_once('-')
            .is_some_and(|(name, _)| name == connector)
    };
    let others = Work {
        connectors: work
            .connectors
            .iter()
            .filter(|name| *name != connector)
            .cloned()
            .collect(),
        tasks: work
            .tasks
            .iter()
            .filter(|task| !task_of(task))
            .cloned()
            .collect(),
    };
    (work.without(&others), others)
}
