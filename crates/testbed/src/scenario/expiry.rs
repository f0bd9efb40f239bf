//! A group without members is deleted after a while; workers that come later create it anew,
//! and statuses of its earlier life have the larger generations.

use anyhow::Context;

use super::growth::first_owned;
use super::membership::{last, leader};
use super::opening::{ITEMS, followers, members, owned_by, three, two_connectors, until};
use super::stage::Stage;
use super::unrest::{WORKERS, owned_after};
use crate::spec::ClusterSpec;
use crate::truth::{Cause, DepartureHow, EpisodeOutcome, ExpectedEpisode, LostEnd, TruthLog, What};

/// `offsets.retention.check.interval.ms`, after which an empty group without offsets is
/// deleted. Kafka's default is ten minutes.
const CHECK_EVERY_MS: u32 = 5_000;

pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = three()?;
    let name = "offsets.retention.check.interval.ms".to_owned();
    let settings = &mut spec.brokers.settings;
    settings.insert(name, CHECK_EVERY_MS.to_string());
    Ok(spec)
}

/// All workers stop, and later all are killed: the group ends each time and begins again.
pub(super) fn group_expired(stage: &mut Stage) -> anyhow::Result<()> {
    let before = two_connectors(stage, &[])?;
    let step = "all workers are stopped, the leader last";
    stage.begin(step)?;
    // The others' work is parked: a leader that goes earlier has it handed out at once.
    let mut names = followers(&before)?;
    names.push(leader(&before)?);
    for (stopped, worker) in names.iter().enumerate() {
        let generation = last(&stage.cluster.truth(stage.group_id())?)?.generation;
        stage.cluster.stop(worker)?;
        until(stage, step, |truth| {
            members(truth, names.len() - stopped - 1, generation) && truth.is_settled()
        })?;
    }
    ended(stage, &before, (Cause::WorkerLeft, DepartureHow::Graceful))?;
    let before = begin_again(stage, "all workers start in a new group", &before)?;

    stage.begin("all workers are killed")?;
    for worker in WORKERS {
        stage.cluster.kill(worker)?;
    }
    ended(stage, &before, (Cause::WorkerLost, DepartureHow::Crashed))?;
    begin_again(stage, "all workers start in a third group", &before)?;
    Ok(())
}

/// Waits until the group is deleted.
fn ended(
    stage: &mut Stage,
    before: &TruthLog,
    (cause, how): (Cause, DepartureHow),
) -> anyhow::Result<()> {
    let removals = |truth: &TruthLog| {
        let events = truth.events.iter();
        events
            .filter(|event| event.what == What::GroupRemoved)
            .count()
    };
    until(stage, "the group to be deleted", |truth| {
        removals(truth) > removals(before)
    })?;
    let mut episode = ExpectedEpisode::of(Cause::GroupEmptied, None).with(&[cause]);
    episode.outcome = EpisodeOutcome::GroupGone;
    if how == DepartureHow::Graceful {
        stage.end_parked(episode)?;
    } else {
        stage.end(episode)?;
    }
    for worker in WORKERS {
        stage.departed(worker, how, Some(worker));
    }
    Ok(())
}

/// All workers create the group anew. What was lost before is so until somebody gets it: only
/// the numbers of generations are of one life of the group.
fn begin_again(stage: &mut Stage, step: &str, lost: &TruthLog) -> anyhow::Result<TruthLog> {
    let before = stage.cluster.truth(stage.group_id())?;
    stage.begin(step)?;
    stage.cluster.start_processes(&WORKERS)?;
    owned_after(stage, step, (ITEMS, &before))?;
    let now = stage.end_arrivals()?;
    let new = now.generations.get(before.generations.len()..);
    let new = new.context("no generation")?;
    for worker in WORKERS {
        let owned = owned_by(lost, worker)?;
        let own = first_owned(new, &owned, |name| name == worker);
        let others = first_owned(new, &owned, |name| name != worker);
        for (items, ended) in [(own, LostEnd::Reclaimed), (others, LostEnd::Reassigned)] {
            if !items.is_empty() {
                stage.lost_by((worker, &items), ended);
            }
        }
    }
    Ok(now)
}
