//! Two clusters whose workers were given the same `group.id` by mistake.

use std::time::Duration;

use crate::scenario::membership::owned;
use crate::scenario::opening::{ITEMS, group_of, members, two_connectors, until};
use crate::scenario::stage::Stage;
use crate::spec::ClusterSpec;

use super::stops::ALIVE;

const DELAY_MS: u32 = 5_000;

/// How long the two are left together.
const TOGETHER: Duration = Duration::from_secs(8);

/// The cluster that was there first.
pub(super) fn two() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(2, DELAY_MS, &[]))
}

/// A worker with topics of its own comes and, later, goes.
pub(super) fn shared_group(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[ALIVE])?;
    let before = truth.generations.len();
    let step = "a worker of another cluster joins";
    stage.begin(step)?;
    let mut spec = stage.worker_spec(DELAY_MS);
    for topic in ["config", "offset", "status"] {
        let name = format!("{topic}.storage.topic");
        spec = spec.with(&name, format!("other-{topic}"));
    }
    let stranger = stage.cluster.add_worker("connect", &spec)?;
    stage.cluster.spawn_worker(&stranger)?;
    until(stage, step, |truth| {
        truth.generations.len() > before && members(truth, 3, 0)
    })?;
    stage.pause(TOGETHER);
    stage.end_unexplained()?;

    let step = "it leaves";
    stage.begin(step)?;
    stage.cluster.stop(&stranger)?;
    until(stage, step, |truth| {
        members(truth, 2, 0) && truth.is_settled() && owned(truth) == ITEMS
    })?;
    stage.calm()?;
    stage.end_unexplained()
}
