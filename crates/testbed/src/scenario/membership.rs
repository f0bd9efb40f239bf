//! The first script: everything that changes a group's membership and work, one step
//! after the other, and the truth after each.

use anyhow::Context;
use serde_json::json;

use super::compare::Expected;
use super::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::{TruthGeneration, TruthLog};

const DELAY_MS: u32 = 20_000;

const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};
const PARKED: Expected = Expected {
    unassigned: Some("lost"),
    deadline: Some("lost"),
    downgraded_by: None,
    dated_ms_max: None,
};

/// Three workers, a delay of 20 s.
pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = ClusterSpec::of(3);
    for group in &mut spec.groups {
        for worker in &mut group.workers {
            worker.scheduled_delay_ms = DELAY_MS;
        }
    }
    Ok(spec)
}

/// Start from nothing; add, stop, kill; create, reconfigure, delete; an eager visitor.
pub(super) fn membership(stage: &mut Stage) -> anyhow::Result<()> {
    comings_and_goings(stage)?;
    if !stage.whole {
        return Ok(());
    }
    eager_visitor(stage)
}

/// Start from nothing; add, stop, kill; create, reconfigure, delete.
pub(super) fn comings_and_goings(stage: &mut Stage) -> anyhow::Result<()> {
    stage
        .cluster
        .start_processes(&["worker-1", "worker-2", "worker-3"])?;
    stage.rest("three workers start", NOTHING)?;
    connector(stage, "alpha", 3)?;
    connector(stage, "beta", 3)?;
    let truth = owned_by_all(stage, "two connectors", 8)?;

    // A fourth worker takes its share in two rounds.
    let before = last(&truth)?.generation;
    let fourth = stage
        .cluster
        .add_worker("connect", &stage.worker_spec(DELAY_MS))?;
    stage.cluster.start_process(&fourth)?;
    stage.await_truth("a worker joins", NOTHING, |truth| {
        truth
            .last()
            .is_some_and(|last| last.generation > before && last.member_count == 4)
            && nothing_unassigned(truth)
    })?;
    stage.add_agent("late")?;

    // A clean stop: its work is parked for the delay, then handed out.
    stage.cluster.stop(&fourth)?;
    parked_then_handed_out(stage, "a worker stops", 3)?;
    if !stage.whole {
        return Ok(());
    }
    stage.add_agent("restarted")?;

    // Killed, and back inside the delay: the window goes on, the work stays parked.
    let truth = stage.rest("before the kill", NOTHING)?;
    let victim = follower(&truth)?;
    stage.cluster.kill(&victim)?;
    let departed = last(&truth)?.generation;
    stage.await_truth("a worker is killed", PARKED, |truth| {
        truth
            .last()
            .is_some_and(|last| last.generation > departed && last.member_count == 2)
    })?;
    stage.cluster.start_process(&victim)?;
    stage.await_truth("it comes back inside the delay", PARKED, |truth| {
        truth.last().is_some_and(|last| last.member_count == 3)
    })?;
    stage.restart_agent("restarted")?;
    owned_by_all(stage, "the delay ends", 8)?;

    // Killed, and never back.
    let truth = stage.rest("before the second kill", NOTHING)?;
    let victim = follower(&truth)?;
    stage.cluster.kill(&victim)?;
    parked_then_handed_out(stage, "a worker is killed for good", 2)?;

    // Work changes.
    let truth = stage.rest("before the work changes", NOTHING)?;
    let before = last(&truth)?.generation;
    connector(stage, "alpha", 1)?;
    stage.await_truth("fewer tasks", NOTHING, |truth| {
        truth.last().is_some_and(|last| last.generation > before)
            && owned(truth) == 6
            && nothing_unassigned(truth)
    })?;
    stage
        .cluster
        .request("worker-1", "DELETE", "/connectors/beta", None)
        .or_else(|_| {
            stage
                .cluster
                .request("worker-2", "DELETE", "/connectors/beta", None)
        })?;
    stage.await_truth("a connector is deleted", NOTHING, |truth| {
        owned(truth) == 2 && nothing_unassigned(truth)
    })?;
    Ok(())
}

/// An eager worker drags the whole group down, and up again when it leaves.
fn eager_visitor(stage: &mut Stage) -> anyhow::Result<()> {
    let eager = stage
        .worker_spec(DELAY_MS)
        .with("connect.protocol", "eager");
    let eager = stage.cluster.add_worker("connect", &eager)?;
    stage.cluster.start_process(&eager)?;
    let fallen = Expected {
        downgraded_by: Some("worker-5"),
        ..NOTHING
    };
    stage.await_truth("an eager worker joins", fallen, |truth| {
        truth
            .last()
            .is_some_and(|last| last.protocol.as_deref() == Some("default"))
    })?;
    stage.cluster.stop(&eager)?;
    stage.await_truth("it leaves", NOTHING, |truth| {
        truth
            .last()
            .is_some_and(|last| last.protocol.as_deref() == Some("sessioned"))
            && owned(truth) == 2
    })?;
    Ok(())
}

/// What the demo shows: a worker is killed, its tasks are parked and handed out, and a
/// connector changes.
pub(super) fn incident(stage: &mut Stage) -> anyhow::Result<()> {
    stage
        .cluster
        .start_processes(&["worker-1", "worker-2", "worker-3"])?;
    stage.rest("three workers start", NOTHING)?;
    connector(stage, "orders", 3)?;
    connector(stage, "payments", 3)?;
    let truth = owned_by_all(stage, "two connectors", 8)?;
    let victim = follower(&truth)?;
    stage.cluster.kill(&victim)?;
    parked_then_handed_out(stage, "a worker is killed", 2)?;
    connector(stage, "payments", 5)?;
    owned_by_all(stage, "a connector gets more tasks", 10)?;
    Ok(())
}

/// Creates or changes a connector of the fixture, through a worker that runs.
pub(super) fn connector(stage: &mut Stage, name: &str, tasks: u32) -> anyhow::Result<()> {
    let config = json!({
        "connector.class": "evenkeel.testbed.FixtureSource",
        "tasks.max": tasks.to_string(),
        "topic": "numbers",
        "password": "canary-in-a-connector",
    });
    let worker = stage
        .cluster
        .workers()
        .iter()
        .find(|worker| worker.process().is_some())
        .context("no worker runs")?
        .name()
        .to_owned();
    let path = format!("/connectors/{name}/config");
    stage
        .cluster
        .request(&worker, "PUT", &path, Some(&config))?
        .ok()
}

pub(super) fn owned_by_all(
    stage: &mut Stage,
    step: &str,
    items: usize,
) -> anyhow::Result<TruthLog> {
    stage.await_truth(step, NOTHING, |truth| {
        owned(truth) == items && nothing_unassigned(truth)
    })
}

fn parked_then_handed_out(stage: &mut Stage, step: &str, left: usize) -> anyhow::Result<()> {
    stage.await_truth(&format!("{step}: parked"), PARKED, |truth| {
        truth
            .last()
            .is_some_and(|last| last.member_count == left && delay_ms(last) > 0)
    })?;
    stage.await_truth(&format!("{step}: handed out"), NOTHING, |truth| {
        truth
            .last()
            .is_some_and(|last| last.member_count == left && delay_ms(last) == 0)
            && nothing_unassigned(truth)
    })?;
    Ok(())
}

/// The newest generation.
pub(super) fn last(truth: &TruthLog) -> anyhow::Result<&TruthGeneration> {
    truth.last().context("no generation")
}

/// The process that leads.
pub(super) fn leader(truth: &TruthLog) -> anyhow::Result<String> {
    let last = last(truth)?;
    let mut members = last.members.iter();
    let leader = members.find(|member| Some(&member.member_id) == last.leader.as_ref());
    leader
        .and_then(|leader| leader.worker.clone())
        .context("nobody leads")
}

/// A member that does not lead and owns something: a leader's departure has no delay.
pub(super) fn follower(truth: &TruthLog) -> anyhow::Result<String> {
    let last = last(truth)?;
    last.members
        .iter()
        .filter(|member| Some(&member.member_id) != last.leader.as_ref())
        .filter(|member| member.owned.as_ref().is_some_and(|work| !work.is_empty()))
        .find_map(|member| member.worker.clone())
        .context("no follower that owns anything")
}

/// How much is owned.
pub(super) fn owned(truth: &TruthLog) -> usize {
    let members = truth
        .last()
        .map(|last| last.members.as_slice())
        .unwrap_or_default();
    members
        .iter()
        .filter_map(|member| member.owned.as_ref())
        .map(|work| work.len())
        .sum()
}

/// Whether nothing waits to be handed out.
pub(super) fn nothing_unassigned(truth: &TruthLog) -> bool {
    truth
        .last()
        .and_then(TruthGeneration::unassigned)
        .is_some_and(|work| work.is_empty())
}

pub(super) fn delay_ms(generation: &TruthGeneration) -> i64 {
    generation
        .members
        .iter()
        .filter_map(|member| member.delay_ms)
        .max()
        .unwrap_or(0)
}
