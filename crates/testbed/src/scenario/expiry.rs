//! A group without members is deleted after a while; workers that come later create it anew,
//! and statuses of its earlier life have the larger generations.

use super::stage::Stage;
use super::unrest::{WORKERS, all_owned_after, apart, at_work, seen, spec as three_workers};
use crate::spec::ClusterSpec;
use crate::truth::{TruthLog, What};

/// `offsets.retention.check.interval.ms`, after which an empty group without offsets is
/// deleted. Kafka's default is ten minutes.
const CHECK_EVERY_MS: u32 = 5_000;

pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = three_workers()?;
    let name = "offsets.retention.check.interval.ms".to_owned();
    let settings = &mut spec.brokers.settings;
    settings.insert(name, CHECK_EVERY_MS.to_string());
    Ok(spec)
}

/// All workers stop, and later all are killed: the group ends each time and begins again.
pub(super) fn group_expired(stage: &mut Stage) -> anyhow::Result<()> {
    at_work(stage)?;
    let before = apart(stage)?;
    for worker in WORKERS {
        stage.cluster.stop(worker)?;
    }
    begin_again(stage, "all workers were stopped", &before)?;
    let before = apart(stage)?;
    for worker in WORKERS {
        stage.cluster.kill(worker)?;
    }
    begin_again(stage, "all workers were killed", &before)
}

fn begin_again(stage: &mut Stage, step: &str, before: &TruthLog) -> anyhow::Result<()> {
    let removals = |truth: &TruthLog| {
        let removed = |what: &What| *what == What::GroupRemoved;
        truth
            .events
            .iter()
            .filter(|event| removed(&event.what))
            .count()
    };
    seen(stage, "the group to be deleted", |truth| {
        removals(truth) > removals(before)
    })?;
    stage.cluster.start_processes(&WORKERS)?;
    all_owned_after(stage, step, (8, before))?;
    Ok(())
}
