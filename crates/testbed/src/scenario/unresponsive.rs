//! Workers that freeze, block, are cut short while they stop, or vanish between two rounds.

use std::time::Duration;

use anyhow::{Context, ensure};

use super::membership::last;
use super::opening::{
    DELAY_MS, NOTHING, PARKED, all_owned, follower, group_of, members, owned_by, put,
    two_connectors, until,
};
use super::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::{Cause, DelayReason, DepartureHow, ExpectedEpisode, LostEnd, Root, TruthLog};

/// After a worker is out, until it is let back in.
const OUT: Duration = Duration::from_secs(3);

/// A herder that may wait for slow stops, and is out of the group long before they are over.
pub(super) fn impatient_group() -> anyhow::Result<ClusterSpec> {
    let settings = [
        ("rebalance.timeout.ms", "8000"),
        ("task.shutdown.graceful.timeout.ms", "60000"),
    ];
    Ok(group_of(3, 40_000, &settings))
}

/// Workers that wait for tasks that stop slowly.
pub(super) fn patient_three() -> anyhow::Result<ClusterSpec> {
    let settings = [("task.shutdown.graceful.timeout.ms", "60000")];
    Ok(group_of(3, DELAY_MS, &settings))
}

pub(super) fn patient_two() -> anyhow::Result<ClusterSpec> {
    let settings = [("task.shutdown.graceful.timeout.ms", "60000")];
    Ok(group_of(2, DELAY_MS, &settings))
}

/// Frozen for longer than a session; thawed within the delay, it claims what it had.
pub(super) fn freeze(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let frozen = follower(&truth)?;
    let (owns, before) = (owned_by(&truth, &frozen)?, last(&truth)?.generation);
    let step = "a follower freezes and thaws";
    stage.begin(step)?;
    stage.cluster.freeze(&frozen)?;
    stage.await_truth("a follower freezes: parked", PARKED, |truth| {
        members(truth, 2, before)
    })?;
    stage.deadline(DelayReason::Lost)?;
    stage.pause(OUT);
    stage.cluster.thaw(&frozen)?;
    stage.await_truth("it thaws", NOTHING, |truth| all_owned(truth, 3, before))?;
    let episode = ExpectedEpisode::of(Cause::WorkerUnresponsive, Some(&frozen));
    stage.end(episode.perhaps(&[Cause::WorkerJoined]))?;
    stage.departed(&frozen, DepartureHow::Unresponsive, None);
    stage.lost((&frozen, &owns), LostEnd::Reclaimed, None)
}

/// Frozen for longer than the delay, too: it comes back with a claim on what others run by now.
/// When the first episode ends nobody can know that it is not dead.
pub(super) fn freeze_long(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let frozen = follower(&truth)?;
    let (owns, before) = (owned_by(&truth, &frozen)?, last(&truth)?.generation);
    let step = "a follower freezes, and its work is handed out";
    stage.begin(step)?;
    stage.cluster.freeze(&frozen)?;
    stage.await_truth("a follower freezes: parked", PARKED, |truth| {
        members(truth, 2, before)
    })?;
    stage.deadline(DelayReason::Lost)?;
    stage.await_truth(step, NOTHING, |truth| all_owned(truth, 2, before))?;
    let lost = ExpectedEpisode::of(Cause::WorkerLost, Some(&frozen));
    let lost = lost.with(&[Cause::DelayExpired]);
    let truth = stage.end(lost.perhaps(&[Cause::WorkerUnresponsive]))?;
    stage.departed(&frozen, DepartureHow::Unresponsive, None);
    stage.lost((&frozen, &owns), LostEnd::Reassigned, None)?;
    let before = last(&truth)?.generation;
    let step = "it thaws, and claims what it had";
    stage.begin(step)?;
    stage.cluster.thaw(&frozen)?;
    until(stage, step, |truth| {
        truth.is_settled() && all_owned(truth, 3, before)
    })?;
    let episode = ExpectedEpisode::of(Cause::WorkerUnresponsive, Some(&frozen));
    let episode = episode.with(&[Cause::RevocationFollowup]);
    stage.end(episode.perhaps(&[Cause::WorkerJoined]))?;
    Ok(())
}

/// New task configurations make every owner stop its tasks before it joins; one of them takes
/// longer than the rebalance timeout, and its worker is out until it is done.
pub(super) fn herder_blocked(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let blocked = follower(&truth)?;
    let slow = task_of(&truth, &blocked, "beta")?;
    let stop = [
        ("stop.tasks", slow.as_str()),
        ("stop.delay.ms", "22000"),
        ("stop.ignore.interrupt", "true"),
    ];

    let step = "beta is reconfigured";
    let before = last(&truth)?.generation;
    stage.begin(step)?;
    put(stage, ("beta", 3), &stop)?;
    stage.await_truth(step, NOTHING, |truth| all_owned(truth, 3, before))?;
    let truth = stage.end(ExpectedEpisode::tasks_changed("beta", Root::Reconfigured))?;

    let (owns, before) = (owned_by(&truth, &blocked)?, last(&truth)?.generation);
    let step = "beta is reconfigured, and one of its tasks stops slowly";
    stage.begin(step)?;
    put(stage, ("beta", 3), &[&stop[..], &[("round", "2")]].concat())?;
    stage.await_truth("its worker is out", PARKED, |truth| {
        members(truth, 2, before)
    })?;
    stage.deadline(DelayReason::Lost)?;
    stage.await_truth("its worker is back", NOTHING, |truth| {
        all_owned(truth, 3, before)
    })?;
    let episode = ExpectedEpisode::of(Cause::WorkerUnresponsive, Some(&blocked));
    let episode = episode.with(&[Cause::TasksChanged]);
    stage.end(episode.perhaps(&[Cause::WorkerJoined]))?;
    stage.departed(&blocked, DepartureHow::Unresponsive, None);
    stage.lost((&blocked, &owns), LostEnd::Reclaimed, None)
}

/// The index of a task of the connector that the worker owns.
fn task_of(truth: &TruthLog, worker: &str, connector: &str) -> anyhow::Result<String> {
    let owned = owned_by(truth, worker)?;
    let mut tasks = owned.tasks.iter();
    let index = tasks.find_map(|task| task.strip_prefix(connector)?.strip_prefix('-'));
    index
        .map(str::to_owned)
        .with_context(|| format!("{worker} owns no task of {connector}"))
}

/// Killed in the middle of an orderly stop: some of its work said that it stopped.
pub(super) fn grace_ends(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let cut = follower(&truth)?;
    let slow = task_of(&truth, &cut, "beta")?;
    let before = last(&truth)?.generation;
    let step = "beta is reconfigured";
    stage.begin(step)?;
    let stop = [
        ("stop.tasks", slow.as_str()),
        ("stop.delay.ms", "30000"),
        ("stop.ignore.interrupt", "true"),
    ];
    put(stage, ("beta", 3), &stop)?;
    stage.await_truth(step, NOTHING, |truth| all_owned(truth, 3, before))?;
    let truth = stage.end(ExpectedEpisode::tasks_changed("beta", Root::Reconfigured))?;

    let (owns, before) = (owned_by(&truth, &cut)?, last(&truth)?.generation);
    let step = "a follower stops and is killed before it is done";
    stage.begin(step)?;
    stage.cluster.begin_stop(&cut)?;
    stage.pause(OUT);
    stage.cluster.kill(&cut)?;
    stage.await_truth("a follower is cut short: parked", PARKED, |truth| {
        members(truth, 2, before)
    })?;
    stage.deadline(DelayReason::Lost)?;
    stage.await_truth("a follower is cut short: handed out", NOTHING, |truth| {
        all_owned(truth, 2, before)
    })?;
    let episode = ExpectedEpisode::of(Cause::WorkerLost, Some(&cut));
    let truth = stage.end(episode.with(&[Cause::DelayExpired]))?;
    let said = truth.stints.iter().filter(|stint| {
        stint.worker == cut && stint.killed_ms.is_none() && stint.stopped_ms.is_some()
    });
    ensure!(said.count() > 0, "nothing said that it stopped");
    stage.departed(&cut, DepartureHow::CutShort, None);
    stage.lost((&cut, &owns), LostEnd::Reassigned, None)
}

/// A newcomer is killed while others stop what it is going to get: it owned nothing, so nothing
/// is lost, and yet the leader waits for the whole delay.
pub(super) fn vanish_between(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[("stop.delay.ms", "5000")])?;
    let before = last(&truth)?.generation;
    let step = "a worker joins and is killed before it gets anything";
    stage.begin(step)?;
    let spec = stage.worker_spec(DELAY_MS);
    let newcomer = stage.cluster.add_worker("connect", &spec)?;
    stage.cluster.spawn_worker(&newcomer)?;
    until(stage, "the round that revokes", |truth| {
        truth.last().is_some_and(|last| {
            last.generation > before && last.member_count == 3 && last.assignment_ms.is_some()
        })
    })?;
    stage.cluster.kill(&newcomer)?;
    // What nobody lost is handed out at once; the delay is for nothing.
    until(stage, "a delay with nothing lost", |truth| {
        truth.is_settled() && all_owned(truth, 2, before)
    })?;
    stage.deadline(DelayReason::Leftover)?;
    stage.await_truth("the delay ends", NOTHING, |truth| {
        all_owned(truth, 2, before)
            && truth
                .last()
                .is_some_and(|last| last.members.iter().all(|member| member.delay_ms == Some(0)))
    })?;
    let episode = ExpectedEpisode::of(Cause::WorkerGone, Some(&newcomer));
    let contributing = [
        Cause::WorkerJoined,
        Cause::DelayExpired,
        Cause::RevocationFollowup,
    ];
    stage.end(episode.with(&contributing))?;
    stage.departed(&newcomer, DepartureHow::Unknown, None);
    Ok(())
}
