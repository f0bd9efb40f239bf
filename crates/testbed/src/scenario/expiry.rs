//! A group without members is deleted after a while; workers that come later create it anew,
//! and statuses of its earlier life have the larger generations.

use super::opening::{ITEMS, owned_by, three, two_connectors, until};
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
    stage.begin("all workers are stopped")?;
    for worker in WORKERS {
        stage.cluster.stop(worker)?;
    }
    ended(stage, &before, (Cause::WorkerLeft, DepartureHow::Graceful))?;
    let before = begin_again(stage, "all workers start in a new group")?;

    stage.begin("all workers are killed")?;
    for worker in WORKERS {
        stage.cluster.kill(worker)?;
    }
    ended(stage, &before, (Cause::WorkerLost, DepartureHow::Crashed))?;
    begin_again(stage, "all workers start in a third group")?;
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
    stage.end(episode)?;
    for worker in WORKERS {
        stage.departed(worker, how, Some(worker));
        stage.lost(
            (worker, &owned_by(before, worker)?),
            LostEnd::GroupGone,
            None,
        )?;
    }
    Ok(())
}

fn begin_again(stage: &mut Stage, step: &str) -> anyhow::Result<TruthLog> {
    let before = stage.cluster.truth(stage.group_id())?;
    stage.begin(step)?;
    stage.cluster.start_processes(&WORKERS)?;
    owned_after(stage, step, (ITEMS, &before))?;
    stage.end_arrivals()
}
