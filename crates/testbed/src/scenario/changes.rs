//! Connectors come, change and go; the number of tasks changes; a connector is deleted while
//! a worker that runs its tasks is away.

use std::fs;

use anyhow::bail;
use serde_json::{Value, json};

use super::membership::{delay_ms, last, nothing_unassigned, owned};
use super::opening::{
    DELAY_MS, ITEMS, NOTHING, PARKED, follower, members, owned_by, two_connectors, until,
};
use super::stage::Stage;
use super::unrest::{ask, divided, extend, owned_after, put, steps};
use crate::truth::{
    Cause, DepartureHow, ExpectedEpisode, LostEnd, Root, Step, TruthGeneration, TruthLog, Work,
};

/// Created; changed with and without effect on its tasks, by a person and by itself; paused,
/// restarted, stopped; deleted.
pub(super) fn connector_changes(stage: &mut Stage) -> anyhow::Result<()> {
    two_connectors(stage, &[])?;
    reconfigured(stage)?;
    states(stage)?;
    let before = stage.calm()?;
    let step = "gamma is deleted";
    stage.begin(step)?;
    ask(stage, "DELETE", "/connectors/gamma", None)?;
    owned_after(stage, step, (ITEMS, &before))?;
    stage.end(ExpectedEpisode::of(Cause::ConnectorDeleted, Some("gamma")))?;
    Ok(())
}

fn reconfigured(stage: &mut Stage) -> anyhow::Result<()> {
    let file = stage.cluster.folder().join("tasks");
    fs::write(&file, "3")?;
    let config = |more: Value| {
        let mut config = json!({"tasks.max": "5", "tasks.file": file});
        extend(&mut config, &more);
        config
    };
    let before = stage.calm()?;
    let step = "gamma is created";
    stage.begin(step)?;
    put(stage, "gamma", &config(json!({})))?;
    owned_after(stage, step, (ITEMS + 4, &before))?;
    let before = stage.end(ExpectedEpisode::of(Cause::ConnectorCreated, Some("gamma")))?;

    let step = "gamma is changed, and its tasks with it";
    stage.begin(step)?;
    put(stage, "gamma", &config(json!({"poll.interval.ms": "300"})))?;
    owned_after(stage, step, (ITEMS + 4, &before))?;
    let before = stage.end(ExpectedEpisode::tasks_changed("gamma", Root::Reconfigured))?;

    // Tasks are written anew after any change of their connector since 3.7.1 (KAFKA-9228).
    let only = json!({"poll.interval.ms": "300", "connector.start.delay.ms": "20"});
    let step = "gamma is changed, and no task sees it";
    stage.begin(step)?;
    put(stage, "gamma", &config(only.clone()))?;
    if stage.worker_spec(DELAY_MS).version.at_least(3, 7) {
        owned_after(stage, step, (ITEMS + 4, &before))?;
        let root = Root::ReconfiguredUnchanged;
        stage.end(ExpectedEpisode::tasks_changed("gamma", root))?;
    } else {
        started_anew(stage, step, ("gamma", &before))?;
    }

    let before = stage.calm()?;
    let step = "gamma gets the configuration that it has";
    stage.begin(step)?;
    put(stage, "gamma", &config(only))?;
    started_anew(stage, step, ("gamma", &before))?;

    let before = stage.calm()?;
    let step = "gamma asks for one task more";
    stage.begin(step)?;
    fs::write(&file, "4")?;
    owned_after(stage, step, (ITEMS + 5, &before))?;
    stage.end(ExpectedEpisode::tasks_changed("gamma", Root::Itself))?;
    Ok(())
}

/// A pause and its end: no round, and nothing moves.
pub(super) fn paused_and_resumed(stage: &mut Stage) -> anyhow::Result<()> {
    let before = stage.calm()?;
    let step = "beta is paused";
    stage.begin(step)?;
    ask(stage, "PUT", "/connectors/beta/pause", None)?;
    until(stage, step, |truth| {
        steps(truth, "beta", Step::StopEnds) > steps(&before, "beta", Step::StopEnds)
    })?;
    let before = stage.end_quiet()?;

    let step = "beta is resumed";
    stage.begin(step)?;
    ask(stage, "PUT", "/connectors/beta/resume", None)?;
    started_anew(stage, step, ("beta", &before))?;
    Ok(())
}

/// What changes no configuration: only the stop of a connector deconfigures its tasks.
fn states(stage: &mut Stage) -> anyhow::Result<()> {
    paused_and_resumed(stage)?;
    let before = stage.calm()?;

    let release = stage.worker_spec(DELAY_MS).version;
    if release.at_least(3, 0) {
        let step = "alpha and its tasks are restarted";
        stage.begin(step)?;
        let path = "/connectors/alpha/restart?includeTasks=true&onlyFailed=false";
        ask(stage, "POST", path, None)?;
        started_anew(stage, step, ("alpha", &before))?;
    }
    if release.at_least(3, 5) {
        let before = stage.calm()?;
        let step = "beta is stopped";
        stage.begin(step)?;
        ask(stage, "PUT", "/connectors/beta/stop", None)?;
        owned_after(stage, step, (ITEMS + 2, &before))?;
        let before = stage.end(ExpectedEpisode::tasks_changed("beta", Root::Stopped))?;
        let step = "beta is resumed after its stop";
        stage.begin(step)?;
        ask(stage, "PUT", "/connectors/beta/resume", None)?;
        owned_after(stage, step, (ITEMS + 5, &before))?;
        stage.end(ExpectedEpisode::tasks_changed("beta", Root::Resumed))?;
    }
    Ok(())
}

/// Ends a step in which a connector is started again and the group does not rebalance.
pub(super) fn started_anew(
    stage: &mut Stage,
    step: &str,
    (name, before): (&str, &TruthLog),
) -> anyhow::Result<()> {
    let started = steps(before, name, Step::StartEnds);
    until(stage, step, |truth| {
        steps(truth, name, Step::StartEnds) > started
    })?;
    stage.end_quiet()?;
    stage.rest(step, NOTHING)?;
    Ok(())
}

/// A connector gets more tasks, fewer, and more again.
pub(super) fn task_count(stage: &mut Stage) -> anyhow::Result<()> {
    let mut before = two_connectors(stage, &[])?;
    for tasks in [5, 1, 4, 3] {
        let step = format!("alpha gets {tasks} tasks");
        stage.begin(&step)?;
        put(stage, "alpha", &json!({"tasks.max": tasks.to_string()}))?;
        owned_after(stage, &step, (5 + tasks, &before))?;
        before = stage.end(ExpectedEpisode::tasks_changed("alpha", Root::Reconfigured))?;
    }
    Ok(())
}

/// A connector is deleted while a worker is dead, and again while one is frozen; each comes
/// back.
pub(super) fn deleted_while_away(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    dead_meanwhile(stage, &truth)?;

    let before = stage.calm()?;
    let step = "beta is created again";
    stage.begin(step)?;
    put(stage, "beta", &json!({"tasks.max": "6"}))?;
    owned_after(stage, step, (ITEMS + 3, &before))?;
    let truth = stage.end(ExpectedEpisode::of(Cause::ConnectorCreated, Some("beta")))?;
    frozen_meanwhile(stage, &truth)
}

fn dead_meanwhile(stage: &mut Stage, before: &TruthLog) -> anyhow::Result<()> {
    let victim = follower(before)?;
    let owns = owned_by(before, &victim)?;
    stage.begin("beta is deleted while a worker is dead")?;
    stage.cluster.kill(&victim)?;
    deleted_while_parked(stage, "a worker is killed", before)?;
    stage.cluster.start_process(&victim)?;
    let step = "the worker is back and the delay over";
    stage.await_truth(step, NOTHING, back_at_work)?;
    let lost = ExpectedEpisode::of(Cause::WorkerLost, Some(&victim));
    let contributing = [
        Cause::WorkerRestarted,
        Cause::DelayExpired,
        Cause::ConnectorDeleted,
        Cause::RevocationFollowup,
    ];
    stage.end_parked(lost.with(&contributing))?;
    stage.departed(&victim, DepartureHow::Crashed, Some(&victim));
    removed_and_reclaimed(stage, &victim, &owns)
}

/// It comes back with a claim to work of the connector, which the leader has forgotten: what
/// is not revoked for balance stays for one round. Which items are, nobody can choose. Before
/// 3.4 nothing of it is revoked until something else makes the group rebalance.
fn frozen_meanwhile(stage: &mut Stage, before: &TruthLog) -> anyhow::Result<()> {
    let victim = follower(before)?;
    let owns = owned_by(before, &victim)?;
    stage.begin("beta is deleted while a worker is frozen")?;
    stage.cluster.freeze(&victim)?;
    deleted_while_parked(stage, "a worker is frozen", before)?;
    stage.cluster.thaw(&victim)?;
    until(stage, "the frozen worker to come back", |truth| {
        last(truth).is_ok_and(|last| last.member_count == 3)
    })?;
    let forgets = !stage.worker_spec(DELAY_MS).version.at_least(3, 4);
    stage.await_truth("the worker goes on", NOTHING, |truth| {
        back_at_work(truth) || (forgets && all_back(truth))
    })?;
    let frozen = ExpectedEpisode::of(Cause::WorkerUnresponsive, Some(&victim));
    let contributing = [Cause::ConnectorDeleted, Cause::RevocationFollowup];
    let frozen = frozen.with(&contributing);
    let truth = stage.end_parked(frozen.perhaps(&[Cause::WorkerJoined]))?;
    let kept = |generation: &TruthGeneration| {
        let member = generation
            .member(&victim)
            .filter(|_| is_without_beta(generation));
        let owned = member.and_then(|member| member.owned.as_ref());
        owned.is_some_and(|work| !divided(work, "beta").0.is_empty())
    };
    if !truth.generations.iter().any(kept) {
        bail!("the run proves nothing: all deleted work was revoked for balance");
    }
    stage.departed(&victim, DepartureHow::Unresponsive, None);
    let (beta, others) = divided(&owns, "beta");
    stage.lost_by((&victim, &beta), LostEnd::Removed);
    stage.lost((&victim, &others), LostEnd::Reclaimed, None)?;
    if forgets {
        let step = "alpha is changed, and what is left of beta goes";
        stage.begin(step)?;
        put(
            stage,
            "alpha",
            &json!({"tasks.max": "3", "poll.interval.ms": "300"}),
        )?;
        owned_after(stage, step, (4, &truth))?;
        let changed = ExpectedEpisode::tasks_changed("alpha", Root::Reconfigured);
        stage.end(changed.with(&[Cause::RevocationFollowup]))?;
    }
    Ok(())
}

/// Waits for the generation without the one that went, deletes beta, and waits for the one
/// without that.
fn deleted_while_parked(stage: &mut Stage, step: &str, before: &TruthLog) -> anyhow::Result<()> {
    let departed = last(before)?.generation;
    stage.await_truth(&format!("{step}: parked"), PARKED, |truth| {
        members(truth, 2, departed)
    })?;
    ask(stage, "DELETE", "/connectors/beta", None)?;
    stage.await_truth(&format!("{step}: beta is deleted"), PARKED, |truth| {
        truth.last().is_some_and(is_without_beta)
            && last(truth).is_ok_and(|last| delay_ms(last) > 0)
    })?;
    Ok(())
}

/// Whether the leader knew that the connector is deleted.
fn is_without_beta(generation: &TruthGeneration) -> bool {
    let view = generation.leader_view.as_ref();
    view.is_some_and(|view| divided(&view.configured, "beta").0.is_empty())
}

fn back_at_work(truth: &TruthLog) -> bool {
    all_back(truth) && owned(truth) == 4
}

/// Whether all workers are in and nothing waits.
fn all_back(truth: &TruthLog) -> bool {
    last(truth).is_ok_and(|last| last.member_count == 3 && delay_ms(last) == 0)
        && nothing_unassigned(truth)
}

fn removed_and_reclaimed(stage: &mut Stage, worker: &str, owned: &Work) -> anyhow::Result<()> {
    let (beta, others) = divided(owned, "beta");
    for (items, ended) in [(beta, LostEnd::Removed), (others, LostEnd::Reclaimed)] {
        if !items.is_empty() {
            stage.lost((worker, &items), ended, Some(worker))?;
        }
    }
    Ok(())
}
