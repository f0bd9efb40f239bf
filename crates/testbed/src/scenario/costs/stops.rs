//! Tasks that do not stop in time, tasks that do not start where they move to, and a worker
//! that goes on with what others run by now.

use std::fs;
use std::time::Duration;

use anyhow::Context;

use crate::scenario::membership::{last, nothing_unassigned, owned};
use crate::scenario::opening::{
    NOTHING, all_owned, cold_start, created, followers, group_of, members, owned_by, put,
    two_connectors, until,
};
use crate::scenario::stage::Stage;
use crate::scenario::unrest::{ask, steps};
use crate::spec::ClusterSpec;
use crate::truth::{
    Cause, DepartureHow, ExpectedEpisode, ItemKind, LostEnd, Root, Step, TruthLog, What,
};

/// `scheduled.rebalance.max.delay.ms`: these scripts are not about it.
const DELAY_MS: u32 = 5_000;

/// Tasks say so often that they run.
pub(super) const ALIVE: (&str, &str) = ("alive.every.ms", "500");

/// How long a task takes to stop, whatever its worker wants.
const STOP: Duration = Duration::from_secs(12);

/// How long an overlap is looked at.
const LOOK: Duration = Duration::from_secs(5);

/// Three workers, and a delay that is soon over.
pub(super) fn three() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(3, DELAY_MS, &[]))
}

/// Two workers that wait for the stop of a task for 2 s.
pub(super) fn two_impatient() -> anyhow::Result<ClusterSpec> {
    let settings = [("task.shutdown.graceful.timeout.ms", "2000")];
    Ok(group_of(2, DELAY_MS, &settings))
}

/// Tasks of a source are revoked by a newcomer, one of a sink is reconfigured in its `put`.
pub(super) fn task_ignores_stop(stage: &mut Stage) -> anyhow::Result<()> {
    cold_start(stage)?;
    let stop_ms = STOP.as_millis().to_string();
    let stop = [
        ("stop.delay.ms", stop_ms.as_str()),
        ("stop.ignore.interrupt", "true"),
        ALIVE,
    ];
    let truth = created(stage, ("alpha", 6), &stop)?;
    let before = last(&truth)?.generation;
    let step = "a worker joins, and tasks ignore that they are stopped";
    stage.begin(step)?;
    let spec = stage.worker_spec(DELAY_MS);
    let spec = spec.with("task.shutdown.graceful.timeout.ms", 2_000);
    let newcomer = stage.cluster.add_worker("connect", &spec)?;
    stage.cluster.start_process(&newcomer)?;
    stage.await_truth(step, NOTHING, |truth| {
        members(truth, 3, before)
            && owned(truth) == 7
            && nothing_unassigned(truth)
            && owned_by(truth, &newcomer).is_ok_and(|work| !work.tasks.is_empty())
    })?;
    stage.pause(STOP);
    let joined = ExpectedEpisode::of(Cause::WorkerJoined, Some(&newcomer));
    stage.end(joined.with(&[Cause::RevocationFollowup]))?;

    let sink = [
        ("connector.class", "evenkeel.testbed.FixtureSink"),
        ("topics", "numbers"),
        ("put.delay.ms", "9000"),
        ALIVE,
    ];
    created(stage, ("omega", 1), &sink)?;
    let truth = stage.calm()?;
    let before = last(&truth)?.generation;
    let step = "omega is reconfigured while its task is in put";
    stage.begin(step)?;
    put(
        stage,
        ("omega", 1),
        &[&sink[..], &[("round", "2")]].concat(),
    )?;
    stage.await_truth(step, NOTHING, |truth| {
        members(truth, 3, before) && owned(truth) == 9 && nothing_unassigned(truth)
    })?;
    stage.pause(STOP);
    let changed = ExpectedEpisode::tasks_changed("omega", Root::Reconfigured);
    stage.end(changed)?;
    Ok(())
}

/// A worker stops, and what moves fails when it is started elsewhere, until it is repaired.
pub(super) fn task_fails_after_move(stage: &mut Stage) -> anyhow::Result<()> {
    cold_start(stage)?;
    created(stage, ("alpha", 3), &[ALIVE])?;
    let file = stage.cluster.folder().join("fails");
    let path = file.display().to_string();
    let truth = created(stage, ("beta", 3), &[("fail.on.start.file", &path), ALIVE])?;
    let gone = followers(&truth)?
        .into_iter()
        .find(|worker| {
            let owned = owned_by(&truth, worker).unwrap_or_default();
            owned.tasks.iter().any(|task| task.starts_with("beta-"))
        })
        .context("no follower owns a task of beta")?;
    let (owns, before) = (owned_by(&truth, &gone)?, last(&truth)?.generation);
    fs::write(&file, "")?;

    let step = "a worker stops, and tasks fail where they move to";
    stage.begin(step)?;
    stage.cluster.stop(&gone)?;
    until(stage, step, |truth| {
        all_owned(truth, 2, before) && failures(truth) > 0
    })?;
    let left = ExpectedEpisode::of(Cause::WorkerLeft, Some(&gone));
    let truth = stage.end(left.with(&[Cause::DelayExpired]))?;
    stage.departed(&gone, DepartureHow::Graceful, None);
    stage.lost((&gone, &owns), LostEnd::Reassigned, None)?;

    fs::remove_file(&file)?;
    let step = "the failed tasks are restarted";
    stage.begin(step)?;
    let tasks: Vec<&str> = owns.tasks.iter().map(String::as_str).collect();
    let failed: Vec<&str> = tasks
        .into_iter()
        .filter(|task| task.starts_with("beta-"))
        .collect();
    let path = "/connectors/beta/restart?includeTasks=true&onlyFailed=true";
    ask(stage, "POST", path, None)?;
    until(stage, step, |now| {
        let started =
            |task: &str| steps(now, task, Step::Started) > steps(&truth, task, Step::Started);
        failed.iter().all(|task| started(task))
    })?;
    stage.end_quiet()?;
    stage.rest(step, NOTHING)?;
    Ok(())
}

/// How often a task failed.
fn failures(truth: &TruthLog) -> usize {
    let failed = |what: &What| matches!(what, What::Item { item, step: Step::Failed } if item.kind == ItemKind::Task);
    let mut events = truth.events.iter();
    events.by_ref().filter(|event| failed(&event.what)).count()
}

/// Frozen for longer than session and delay; when it thaws its tasks run twice, until a round
/// revokes them everywhere.
pub(super) fn zombie_returns(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[ALIVE])?;
    let frozen = followers(&truth)?.pop().context("no follower")?;
    let (owns, before) = (owned_by(&truth, &frozen)?, last(&truth)?.generation);
    let step = "a follower freezes, and its work is handed out";
    stage.begin(step)?;
    stage.cluster.freeze(&frozen)?;
    until(stage, step, |truth| {
        members(truth, 2, before) && owned(truth) < 8
    })?;
    stage.deadline(crate::truth::DelayReason::Lost)?;
    stage.await_truth(step, NOTHING, |truth| all_owned(truth, 2, before))?;
    stage.pause(LOOK);
    let lost = ExpectedEpisode::of(Cause::WorkerLost, Some(&frozen));
    let lost = lost.with(&[Cause::DelayExpired]);
    let truth = stage.end(lost.perhaps(&[Cause::WorkerUnresponsive]))?;
    stage.departed(&frozen, DepartureHow::Unresponsive, None);
    stage.lost((&frozen, &owns), LostEnd::Reassigned, None)?;
    let before = last(&truth)?.generation;
    let step = "it thaws, and claims what others run";
    stage.begin(step)?;
    stage.cluster.thaw(&frozen)?;
    until(stage, step, |truth| {
        truth.is_settled() && all_owned(truth, 3, before)
    })?;
    stage.pause(LOOK);
    let episode = ExpectedEpisode::of(Cause::WorkerUnresponsive, Some(&frozen));
    let episode = episode.with(&[Cause::RevocationFollowup]);
    stage.end(episode.perhaps(&[Cause::WorkerJoined]))?;
    Ok(())
}
