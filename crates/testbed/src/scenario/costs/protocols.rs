//! Workers whose `connect.protocol` is not that of the others.

use std::time::Duration;

use crate::properties::Properties;
use crate::scenario::membership::owned;
use crate::scenario::opening::{ITEMS, group_of, members, put, two_connectors, until};
use crate::scenario::stage::Stage;
use crate::scenario::unrest::WORKERS;
use crate::spec::ClusterSpec;
use crate::truth::{TruthGeneration, TruthLog};

use super::stops::ALIVE;

const DELAY_MS: u32 = 5_000;

/// How long it is watched who runs what.
const LOOK: Duration = Duration::from_secs(8);

/// Three workers that begin with the oldest protocol.
pub(super) fn eager() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(3, DELAY_MS, &[("connect.protocol", "eager")]))
}

/// Each worker is restarted with the next protocol when the one before has settled.
pub(super) fn rolling(stage: &mut Stage) -> anyhow::Result<()> {
    two_connectors(stage, &[ALIVE])?;
    for protocol in ["compatible", "sessioned"] {
        let setting = ("connect.protocol".to_owned(), protocol.to_owned());
        let setting = Properties::from([setting]);
        for worker in WORKERS {
            let step = format!("{worker} is restarted, and {protocol} now");
            let before = stage.cluster.truth(stage.group_id())?.generations.len();
            stage.begin(&step)?;
            stage.cluster.restart(worker, &setting)?;
            until(stage, &step, |truth| {
                truth.generations.len() > before && whole(truth, 3)
            })?;
            stage.calm()?;
            stage.end_unexplained()?;
        }
    }
    Ok(())
}

/// An eager worker joins three that cooperate; it leaves; then alpha is reconfigured, which
/// stops what its owners know of; in the end the three are restarted.
pub(super) fn eager_latecomer(stage: &mut Stage) -> anyhow::Result<()> {
    two_connectors(stage, &[ALIVE])?;
    let spec = stage.worker_spec(DELAY_MS);
    let spec = spec.with("connect.protocol", "eager");
    let eager = stage.cluster.add_worker("connect", &spec)?;
    let step = "an eager worker joins";
    stage.begin(step)?;
    stage.cluster.start_process(&eager)?;
    until(stage, step, |truth| {
        let last = truth.last().and_then(|last| last.protocol.as_deref());
        last == Some("default") && whole(truth, 4)
    })?;
    stage.calm()?;
    stage.pause(LOOK);
    stage.end_unexplained()?;

    let step = "it leaves";
    stage.begin(step)?;
    stage.cluster.stop(&eager)?;
    until(stage, step, |truth| {
        let last = truth.last().and_then(|last| last.protocol.as_deref());
        last == Some("sessioned") && whole(truth, 3)
    })?;
    stage.calm()?;
    stage.pause(LOOK);
    stage.end_unexplained()?;

    let step = "alpha is reconfigured";
    let before = stage.cluster.truth(stage.group_id())?.generations.len();
    stage.begin(step)?;
    put(stage, ("alpha", 3), &[ALIVE, ("round", "2")])?;
    until(stage, step, |truth| {
        truth.generations.len() > before && whole(truth, 3)
    })?;
    stage.calm()?;
    stage.pause(LOOK);
    stage.end_unexplained()?;

    for worker in WORKERS {
        let step = format!("{worker} is restarted");
        let before = stage.cluster.truth(stage.group_id())?.generations.len();
        stage.begin(&step)?;
        stage.cluster.restart(worker, &Properties::new())?;
        until(stage, &step, |truth| {
            truth.generations.len() > before && whole(truth, 3)
        })?;
        stage.calm()?;
        stage.end_unexplained()?;
    }
    Ok(())
}

/// Whether so many workers are in, and everything is owned.
fn whole(truth: &TruthLog, workers: usize) -> bool {
    let left = truth.last().and_then(TruthGeneration::unassigned);
    members(truth, workers, 0)
        && truth.is_settled()
        && owned(truth) == ITEMS
        && left.is_none_or(|work| work.is_empty())
}
