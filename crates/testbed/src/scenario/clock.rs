//! A worker whose wall clock is behind that of everybody else.

use anyhow::ensure;

use super::membership::{delay_ms, last, leader};
use super::opening::{ITEMS, NOTHING, PARKED, all_owned, created, owned_by, three};
use super::stage::Stage;
use super::unrest::{WORKERS, owned_after};
use crate::spec::ClusterSpec;
use crate::truth::{Cause, DepartureHow, ExpectedEpisode, LostEnd, TruthLog};

const SKEW_MS: i64 = -90_000;
const BEHIND: &str = WORKERS[2];

/// The third of three workers is 90 s behind.
pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = three()?;
    let workers = spec.groups.iter_mut().flat_map(|group| &mut group.workers);
    if let Some(worker) = workers.last() {
        worker.skew_ms = SKEW_MS;
    }
    Ok(spec)
}

/// It joins, is killed, comes back when its work was handed out, and is stopped.
pub(super) fn clock_behind(stage: &mut Stage) -> anyhow::Result<()> {
    let step = "two workers start";
    stage.begin(step)?;
    stage.cluster.start_processes(&WORKERS[..2])?;
    stage.rest(step, NOTHING)?;
    stage.end_arrivals()?;
    created(stage, ("alpha", 3), &[])?;
    let before = created(stage, ("beta", 3), &[])?;

    let step = "the worker with another clock joins";
    let before = joins(stage, step, (&before, Cause::WorkerJoined))?;
    stage.begin("it is killed")?;
    stage.cluster.kill(BEHIND)?;
    let before = gone(stage, &before, (Cause::WorkerLost, DepartureHow::Crashed))?;
    let before = joins(stage, "it comes back", (&before, Cause::WorkerRestarted))?;
    stage.begin("it is stopped")?;
    stage.cluster.stop(BEHIND)?;
    gone(stage, &before, (Cause::WorkerLeft, DepartureHow::Graceful))?;
    Ok(())
}

fn joins(
    stage: &mut Stage,
    step: &str,
    (before, cause): (&TruthLog, Cause),
) -> anyhow::Result<TruthLog> {
    let before = last(before)?.generation;
    stage.begin(step)?;
    stage.cluster.start_process(BEHIND)?;
    stage.await_truth(step, NOTHING, |truth| {
        all_owned(truth, WORKERS.len(), before)
            && owned_by(truth, BEHIND).is_ok_and(|work| !work.is_empty())
    })?;
    let episode = ExpectedEpisode::of(cause, Some(BEHIND));
    let truth = stage.end(episode.with(&[Cause::RevocationFollowup]))?;
    ensure!(leader(&truth)? != BEHIND, "{BEHIND} leads");
    Ok(truth)
}

fn gone(
    stage: &mut Stage,
    before: &TruthLog,
    (cause, how): (Cause, DepartureHow),
) -> anyhow::Result<TruthLog> {
    let owns = owned_by(before, BEHIND)?;
    stage.await_truth("its work is parked", PARKED, |truth| {
        last(truth).is_ok_and(|last| last.member_count == 2 && delay_ms(last) > 0)
    })?;
    owned_after(stage, "its work is handed out", (ITEMS, before))?;
    let episode = ExpectedEpisode::of(cause, Some(BEHIND));
    let truth = stage.end_parked(episode.with(&[Cause::DelayExpired]))?;
    // The one that was killed comes back after its work was handed out, and still in time to
    // be its successor.
    let successor = (how == DepartureHow::Crashed).then_some(BEHIND);
    stage.departed(BEHIND, how, successor);
    stage.lost((BEHIND, &owns), LostEnd::Reassigned, None)?;
    Ok(truth)
}
