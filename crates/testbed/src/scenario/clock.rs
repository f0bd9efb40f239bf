//! A worker whose wall clock is behind that of everybody else.

use super::membership::{delay_ms, last, leader, nothing_unassigned, owned};
use super::stage::Stage;
use super::unrest::{
    NOTHING, PARKED, WORKERS, all_owned, apart, spec as three_workers, two_connectors,
};
use crate::spec::ClusterSpec;
use crate::truth::Comparison;

const SKEW_MS: i64 = -90_000;
const BEHIND: &str = WORKERS[2];

/// The third of three workers is 90 s behind.
pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = three_workers()?;
    let workers = spec.groups.iter_mut().flat_map(|group| &mut group.workers);
    if let Some(worker) = workers.last() {
        worker.skew_ms = SKEW_MS;
    }
    Ok(spec)
}

/// It joins, is killed, comes back when its work was handed out, and is stopped.
pub(super) fn clock_behind(stage: &mut Stage) -> anyhow::Result<()> {
    stage.cluster.start_processes(&WORKERS[..2])?;
    stage.rest("two workers start", NOTHING)?;
    apart(stage)?;
    two_connectors(stage)?;
    joins(stage, "the worker with another clock joins")?;
    stage.cluster.kill(BEHIND)?;
    gone(stage, "it is killed")?;
    joins(stage, "it comes back")?;
    stage.cluster.stop(BEHIND)?;
    gone(stage, "it is stopped")
}

fn joins(stage: &mut Stage, step: &str) -> anyhow::Result<()> {
    stage.cluster.start_process(BEHIND)?;
    stage.await_truth(step, NOTHING, |truth| {
        last(truth).is_ok_and(|last| last.member_count == 3)
            && owned(truth) == 8
            && nothing_unassigned(truth)
    })?;
    let truth = apart(stage)?;
    let mut comparison = Comparison::new();
    let leads = leader(&truth)? == BEHIND;
    comparison.equal(&format!("{step}: it leads"), &false, &leads);
    stage.count(comparison)
}

fn gone(stage: &mut Stage, step: &str) -> anyhow::Result<()> {
    stage.await_truth(&format!("{step}: parked"), PARKED, |truth| {
        last(truth).is_ok_and(|last| last.member_count == 2 && delay_ms(last) > 0)
    })?;
    all_owned(stage, &format!("{step}: handed out"), 8)?;
    apart(stage)?;
    Ok(())
}
