//! Workers that stop or are killed, and those that come in their place: before the session
//! ends, within the delay, after it, elsewhere, or never.

use std::time::Duration;

use anyhow::bail;

use super::membership::{last, leader};
use super::opening::{
    DELAY_MS, NOTHING, PARKED, all_owned, follower, followers, group_of, members, owned_by,
    two_connectors,
};
use super::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::{Cause, DelayReason, DepartureHow, ExpectedEpisode, LostEnd, TruthLog, Work};

/// How long after an expiry a worker comes back: what is parked was seen by then.
const AWAY: Duration = Duration::from_secs(3);

/// A worker is to be back within the delay, on a busy machine, too.
pub(super) fn returning() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(3, 30_000, &[]))
}

/// The same, for one who comes back again and again.
pub(super) fn returning_soon() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(3, 20_000, &[]))
}

pub(super) fn eager() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(3, DELAY_MS, &[("connect.protocol", "eager")]))
}

pub(super) fn without_delay() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(3, 0, &[]))
}

/// A worker that is going to depart: its name, what it owns, and the generation it is last in.
struct Leaver {
    name: String,
    owns: Work,
    generation: i64,
}

impl Leaver {
    fn of(truth: &TruthLog, name: String) -> anyhow::Result<Leaver> {
        Ok(Leaver {
            owns: owned_by(truth, &name)?,
            generation: last(truth)?.generation,
            name,
        })
    }

    fn follower(truth: &TruthLog) -> anyhow::Result<Leaver> {
        Leaver::of(truth, follower(truth)?)
    }
}

fn handed_out(stage: &mut Stage, step: &str, (left, after): (usize, i64)) -> anyhow::Result<()> {
    stage.await_truth(&format!("{step}: handed out"), NOTHING, |truth| {
        all_owned(truth, left, after) && delay_ms(truth) == 0
    })?;
    Ok(())
}

fn parked(stage: &mut Stage, step: &str, (left, after): (usize, i64)) -> anyhow::Result<i64> {
    let truth = stage.await_truth(&format!("{step}: parked"), PARKED, |truth| {
        members(truth, left, after) && delay_ms(truth) > 0
    })?;
    stage.deadline(DelayReason::Lost)?;
    Ok(last(&truth)?.generation)
}

fn delay_ms(truth: &TruthLog) -> i64 {
    let members = truth.last().map(|last| last.members.as_slice());
    let delays = members.unwrap_or_default().iter();
    delays
        .filter_map(|member| member.delay_ms)
        .max()
        .unwrap_or(0)
}

pub(super) fn stop_follower(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let gone = Leaver::follower(&truth)?;
    let step = "a follower stops";
    stage.begin(step)?;
    stage.cluster.stop(&gone.name)?;
    parked(stage, step, (2, gone.generation))?;
    handed_out(stage, step, (2, gone.generation))?;
    let left = ExpectedEpisode::of(Cause::WorkerLeft, Some(&gone.name));
    stage.end(left.with(&[Cause::DelayExpired]))?;
    stage.departed(&gone.name, DepartureHow::Graceful, None);
    stage.lost((&gone.name, &gone.owns), LostEnd::Reassigned, None)
}

/// The leader's departure has no delay: the next leader does not know what was lost.
pub(super) fn stop_leader(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let gone = Leaver::of(&truth, leader(&truth)?)?;
    let step = "the leader stops";
    stage.begin(step)?;
    stage.cluster.stop(&gone.name)?;
    handed_out(stage, step, (2, gone.generation))?;
    stage.end(ExpectedEpisode::of(Cause::WorkerLeft, Some(&gone.name)))?;
    stage.departed(&gone.name, DepartureHow::Graceful, None);
    stage.lost((&gone.name, &gone.owns), LostEnd::Reassigned, None)
}

pub(super) fn kill_leader(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let gone = Leaver::of(&truth, leader(&truth)?)?;
    let step = "the leader is killed";
    stage.begin(step)?;
    stage.cluster.kill(&gone.name)?;
    handed_out(stage, step, (2, gone.generation))?;
    stage.end(ExpectedEpisode::of(Cause::WorkerLost, Some(&gone.name)))?;
    stage.departed(&gone.name, DepartureHow::Crashed, None);
    stage.lost((&gone.name, &gone.owns), LostEnd::Reassigned, None)
}

pub(super) fn kill_never(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let gone = Leaver::follower(&truth)?;
    killed_for_good(stage, &gone)?;
    stage.departed(&gone.name, DepartureHow::Crashed, None);
    stage.lost((&gone.name, &gone.owns), LostEnd::Reassigned, None)
}

/// Killed, parked, handed out.
fn killed_for_good(stage: &mut Stage, gone: &Leaver) -> anyhow::Result<()> {
    let step = "a follower is killed";
    stage.begin(step)?;
    stage.cluster.kill(&gone.name)?;
    parked(stage, step, (2, gone.generation))?;
    handed_out(stage, step, (2, gone.generation))?;
    let lost = ExpectedEpisode::of(Cause::WorkerLost, Some(&gone.name));
    stage.end(lost.with(&[Cause::DelayExpired]))?;
    Ok(())
}

/// Back before its session ends: the group waits with two ids of one worker.
pub(super) fn kill_back_early(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let gone = Leaver::follower(&truth)?;
    let step = "a follower is killed and started at once";
    stage.begin(step)?;
    stage.cluster.kill(&gone.name)?;
    stage.cluster.start_process(&gone.name)?;
    came_back(stage, step, &gone, &gone.name)
}

/// Back within the delay: the window goes on.
pub(super) fn kill_back_inside(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let gone = Leaver::follower(&truth)?;
    let step = "a follower is killed and comes back within the delay";
    stage.begin(step)?;
    stage.cluster.kill(&gone.name)?;
    parked(stage, step, (2, gone.generation))?;
    stage.pause(AWAY);
    stage.cluster.start_process(&gone.name)?;
    came_back(stage, step, &gone, &gone.name)
}

/// Killed and back within the delay again and again.
pub(super) fn flapping(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let name = follower(&truth)?;
    for time in 1..=4 {
        let gone = Leaver::of(&stage.calm()?, name.clone())?;
        let step = format!("{name} is killed and comes back, time {time}");
        stage.begin(&step)?;
        stage.cluster.kill(&gone.name)?;
        parked(stage, &step, (2, gone.generation))?;
        stage.cluster.start_process(&gone.name)?;
        came_back(stage, &step, &gone, &gone.name)?;
    }
    Ok(())
}

/// Back within the delay, under another address: what a container scheduler does.
pub(super) fn kill_new_address(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let gone = Leaver::follower(&truth)?;
    let step = "a follower is killed and another comes in its place within the delay";
    stage.begin(step)?;
    stage.cluster.kill(&gone.name)?;
    parked(stage, step, (2, gone.generation))?;
    stage.pause(AWAY);
    let spec = stage.worker_spec(DELAY_MS);
    let successor = stage.cluster.add_worker("connect", &spec)?;
    stage.cluster.start_process(&successor)?;
    came_back(stage, step, &gone, &successor)
}

/// The successor waits for the end of the delay, and gets all that was lost.
fn came_back(stage: &mut Stage, step: &str, gone: &Leaver, successor: &str) -> anyhow::Result<()> {
    parked(stage, &format!("{step}: back"), (3, gone.generation))?;
    handed_out(stage, step, (3, gone.generation))?;
    let lost = ExpectedEpisode::of(Cause::WorkerLost, Some(&gone.name));
    stage.end(lost.with(&[Cause::WorkerRestarted, Cause::DelayExpired]))?;
    stage.departed(&gone.name, DepartureHow::Crashed, Some(successor));
    let lost = (gone.name.as_str(), &gone.owns);
    stage.lost(lost, LostEnd::Reclaimed, Some(successor))
}

/// Back after the delay: what was handed out is balanced back.
pub(super) fn kill_back_after(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let gone = Leaver::follower(&truth)?;
    killed_for_good(stage, &gone)?;
    stage.departed(&gone.name, DepartureHow::Crashed, Some(&gone.name));
    stage.lost((&gone.name, &gone.owns), LostEnd::Reassigned, None)?;
    let before = last(&stage.calm()?)?.generation;
    comes_back(stage, "it comes back after the delay", (&gone.name, before))
}

/// It gets its share in two rounds, as any newcomer.
fn comes_back(stage: &mut Stage, step: &str, (name, before): (&str, i64)) -> anyhow::Result<()> {
    stage.begin(step)?;
    stage.cluster.start_process(name)?;
    stage.await_truth(step, NOTHING, |truth| {
        all_owned(truth, 3, before) && owned_by(truth, name).is_ok_and(|work| !work.is_empty())
    })?;
    let back = ExpectedEpisode::of(Cause::WorkerRestarted, Some(name));
    stage.end(back.with(&[Cause::RevocationFollowup]))?;
    Ok(())
}

/// Another follower is killed while the work of the first is parked: it inherits the window.
pub(super) fn kill_two(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let mut gone = Vec::new();
    for name in followers(&truth)? {
        gone.push(Leaver::of(&truth, name)?);
    }
    let [first, second] = gone.as_slice() else {
        bail!("not two followers");
    };
    let step = "two followers are killed, one within the delay of the other";
    stage.begin(step)?;
    stage.cluster.kill(&first.name)?;
    let before = parked(stage, step, (2, first.generation))?;
    stage.cluster.kill(&second.name)?;
    parked(stage, step, (1, before))?;
    handed_out(stage, step, (1, before))?;
    let mut lost = ExpectedEpisode::of(Cause::WorkerLost, Some(&first.name));
    lost.others.push(second.name.clone());
    stage.end(lost.with(&[Cause::DelayExpired]))?;
    for gone in [first, second] {
        stage.departed(&gone.name, DepartureHow::Crashed, None);
        stage.lost((&gone.name, &gone.owns), LostEnd::Reassigned, None)?;
    }
    Ok(())
}

/// Each worker stops and starts again within the delay, the leader last.
pub(super) fn rollout(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    for name in followers(&truth)? {
        let gone = Leaver::of(&stage.calm()?, name)?;
        let step = format!("{} is restarted", gone.name);
        stage.begin(&step)?;
        stage.cluster.stop(&gone.name)?;
        parked(stage, &step, (2, gone.generation))?;
        stage.cluster.start_process(&gone.name)?;
        parked(stage, &format!("{step}: back"), (3, gone.generation))?;
        handed_out(stage, &step, (3, gone.generation))?;
        let left = ExpectedEpisode::of(Cause::WorkerLeft, Some(&gone.name));
        stage.end(left.with(&[Cause::WorkerRestarted, Cause::DelayExpired]))?;
        stage.departed(&gone.name, DepartureHow::Graceful, Some(&gone.name));
        let lost = (gone.name.as_str(), &gone.owns);
        stage.lost(lost, LostEnd::Reclaimed, Some(&gone.name))?;
    }
    let truth = stage.calm()?;
    let gone = Leaver::of(&truth, leader(&truth)?)?;
    let step = "the leader stops";
    stage.begin(step)?;
    stage.cluster.stop(&gone.name)?;
    handed_out(stage, step, (2, gone.generation))?;
    stage.end(ExpectedEpisode::of(Cause::WorkerLeft, Some(&gone.name)))?;
    stage.departed(&gone.name, DepartureHow::Graceful, Some(&gone.name));
    stage.lost((&gone.name, &gone.owns), LostEnd::Reassigned, None)?;
    let before = last(&stage.calm()?)?.generation;
    comes_back(stage, "it comes back", (&gone.name, before))
}

/// Without cooperation everybody stops everything before each round, and nothing is parked.
pub(super) fn eager_departures(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    one_killed_one_stopped(stage, &truth)
}

/// Without a delay what is lost is handed out by the record that shows the loss.
pub(super) fn delay_zero(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    one_killed_one_stopped(stage, &truth)
}

fn one_killed_one_stopped(stage: &mut Stage, truth: &TruthLog) -> anyhow::Result<()> {
    let killed = Leaver::follower(truth)?;
    let step = "a follower is killed";
    stage.begin(step)?;
    stage.cluster.kill(&killed.name)?;
    handed_out(stage, step, (2, killed.generation))?;
    let truth = stage.end(ExpectedEpisode::of(Cause::WorkerLost, Some(&killed.name)))?;
    stage.departed(&killed.name, DepartureHow::Crashed, None);
    stage.lost((&killed.name, &killed.owns), LostEnd::Reassigned, None)?;
    let stopped = Leaver::follower(&truth)?;
    let step = "the other follower stops";
    stage.begin(step)?;
    stage.cluster.stop(&stopped.name)?;
    handed_out(stage, step, (1, stopped.generation))?;
    stage.end(ExpectedEpisode::of(Cause::WorkerLeft, Some(&stopped.name)))?;
    stage.departed(&stopped.name, DepartureHow::Graceful, None);
    stage.lost((&stopped.name, &stopped.owns), LostEnd::Reassigned, None)
}
