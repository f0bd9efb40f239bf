//! Connectors come, change and go; the number of tasks changes; a connector is deleted while
//! a worker that runs its tasks is away.

use std::fs;

use serde_json::json;

use super::membership::{delay_ms, follower, last, nothing_unassigned, owned};
use super::stage::Stage;
use super::unrest::{
    DELAY_MS, NOTHING, PARKED, all_owned, all_owned_after, apart, ask, at_work, newest, put, seen,
    steps,
};
use crate::truth::{Step, TruthLog};

/// Created; changed with and without effect on its tasks, by a person and by itself; paused,
/// stopped, restarted; deleted.
pub(super) fn connector_changes(stage: &mut Stage) -> anyhow::Result<()> {
    at_work(stage)?;
    let release = stage.worker_spec(DELAY_MS).version;
    let file = stage.cluster.folder().join("tasks");
    fs::write(&file, "3")?;
    let config = |more: serde_json::Value| {
        let mut config = json!({"tasks.max": "5", "tasks.file": file});
        if let (Some(config), serde_json::Value::Object(more)) = (config.as_object_mut(), more) {
            config.extend(more);
        }
        config
    };
    put(stage, "gamma", config(json!({})))?;
    all_owned(stage, "a connector is created", 12)?;
    let before = apart(stage)?;

    put(stage, "gamma", config(json!({"poll.interval.ms": "300"})))?;
    all_owned_after(stage, "its tasks are configured anew", (12, &before))?;
    let before = apart(stage)?;

    // Since 3.7.1 tasks are written anew after any change of their connector (KAFKA-9228).
    let only_connector =
        config(json!({"poll.interval.ms": "300", "connector.start.delay.ms": "20"}));
    put(stage, "gamma", only_connector.clone())?;
    started_anew(stage, "a change that no task sees", ("gamma", &before))?;
    let before = apart(stage)?;

    put(stage, "gamma", only_connector)?;
    started_anew(stage, "the same configuration again", ("gamma", &before))?;
    let before = apart(stage)?;

    fs::write(&file, "4")?;
    all_owned_after(stage, "it asks for a task more by itself", (13, &before))?;
    let before = apart(stage)?;

    ask(stage, "PUT", "/connectors/beta/pause", None)?;
    seen(stage, "a pause", |truth| {
        steps(truth, "beta", Step::StopEnds) > steps(&before, "beta", Step::StopEnds)
    })?;
    let before = apart(stage)?;
    ask(stage, "PUT", "/connectors/beta/resume", None)?;
    started_anew(stage, "paused and resumed", ("beta", &before))?;
    let before = apart(stage)?;

    if release.at_least(3, 0) {
        let path = "/connectors/alpha/restart?includeTasks=true&onlyFailed=false";
        ask(stage, "POST", path, None)?;
        started_anew(stage, "restarted by a person", ("alpha", &before))?;
        apart(stage)?;
    }
    if release.at_least(3, 5) {
        // Its tasks are deconfigured, the connector stays.
        ask(stage, "PUT", "/connectors/beta/stop", None)?;
        all_owned(stage, "a connector is stopped", 10)?;
        apart(stage)?;
        ask(stage, "PUT", "/connectors/beta/resume", None)?;
        all_owned(stage, "a stopped connector is resumed", 13)?;
        apart(stage)?;
    }

    ask(stage, "DELETE", "/connectors/gamma", None)?;
    all_owned(stage, "a connector is deleted", 8)?;
    apart(stage)?;
    Ok(())
}

/// Waits until the connector was started again, and compares.
fn started_anew(
    stage: &mut Stage,
    step: &str,
    (name, before): (&str, &TruthLog),
) -> anyhow::Result<()> {
    let started = steps(before, name, Step::StartEnds);
    seen(stage, step, |truth| {
        steps(truth, name, Step::StartEnds) > started
    })?;
    apart(stage)?;
    stage.rest(step, NOTHING)?;
    Ok(())
}

/// A connector gets more tasks, fewer, and more again.
pub(super) fn task_count(stage: &mut Stage) -> anyhow::Result<()> {
    at_work(stage)?;
    for (tasks, step) in [
        (5, "more tasks"),
        (1, "fewer tasks"),
        (4, "more tasks again"),
        (3, "one task less"),
    ] {
        put(stage, "alpha", json!({"tasks.max": tasks.to_string()}))?;
        all_owned(stage, step, 5 + tasks)?;
        apart(stage)?;
    }
    Ok(())
}

/// A connector is deleted while a worker is dead, and another while one is frozen; each comes
/// back.
pub(super) fn deleted_while_away(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = at_work(stage)?;
    let victim = follower(&truth)?;
    stage.cluster.kill(&victim)?;
    parked(stage, "a worker is killed", &truth)?;
    ask(stage, "DELETE", "/connectors/beta", None)?;
    stage.await_truth("beta is deleted", PARKED, |truth| {
        deleted(truth, "beta") && delayed(truth)
    })?;
    stage.cluster.start_process(&victim)?;
    all_owned(stage, "the worker is back and the delay over", 4)?;
    let before = apart(stage)?;

    put(stage, "beta", json!({"tasks.max": "3"}))?;
    all_owned_after(stage, "beta is created again", (8, &before))?;
    let truth = apart(stage)?;
    let victim = follower(&truth)?;
    stage.cluster.freeze(&victim)?;
    parked(stage, "a worker is frozen", &truth)?;
    ask(stage, "DELETE", "/connectors/beta", None)?;
    stage.await_truth("beta is deleted again", PARKED, |truth| {
        deleted(truth, "beta") && delayed(truth)
    })?;
    stage.cluster.thaw(&victim)?;
    seen(stage, "the frozen worker to come back", |truth| {
        last(truth).is_ok_and(|last| last.member_count == 3)
    })?;
    let step = "the worker goes on and the delay is over";
    stage.await_truth(step, NOTHING, |truth| {
        last(truth).is_ok_and(|last| last.member_count == 3)
            && !delayed(truth)
            && owned(truth) == 4
            && nothing_unassigned(truth)
    })?;
    apart(stage)?;
    Ok(())
}

/// Waits for the generation without the one that went.
fn parked(stage: &mut Stage, step: &str, before: &TruthLog) -> anyhow::Result<()> {
    let departed = newest(before)?;
    stage.await_truth(step, PARKED, |truth| {
        last(truth).is_ok_and(|last| last.generation > departed && last.member_count == 2)
    })?;
    Ok(())
}

fn delayed(truth: &TruthLog) -> bool {
    last(truth).is_ok_and(|last| delay_ms(last) > 0)
}

/// Whether the leader took a connector for gone.
fn deleted(truth: &TruthLog, name: &str) -> bool {
    let view = truth.last().and_then(|last| last.leader_view.as_ref());
    view.is_some_and(|view| !view.configured.connectors.contains(name))
}
