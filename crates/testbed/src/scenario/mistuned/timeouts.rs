//! Workers of one group with different timeouts: their records say so.

use std::time::Duration;

use anyhow::ensure;

use super::{found, id, mended, restarted, shows};
use crate::scenario::opening::{cold_start, created, group_of};
use crate::scenario::stage::Stage;
use crate::spec::ClusterSpec;

const SESSION: (&str, &str) = ("session.timeout.ms", "25000");
const REBALANCE: (&str, &str) = ("rebalance.timeout.ms", "90000");

/// Three workers, two of which differ from the others, each in its own way.
pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = group_of(3, 30_000, &[]);
    let workers = spec.groups.iter_mut().flat_map(|group| &mut group.workers);
    for (worker, (name, value)) in workers.skip(1).zip([SESSION, REBALANCE]) {
        let settings = &mut worker.settings;
        settings.insert(name.to_owned(), value.to_owned());
    }
    Ok(spec)
}

/// Found as soon as all are in; one mended worker is not enough, two are.
pub(super) fn differ(stage: &mut Stage) -> anyhow::Result<()> {
    const CHECK: &str = "timeouts_differ";
    cold_start(stage)?;
    created(stage, ("alpha", 3), &[])?;
    let group = [stage.group_id().to_owned()];
    let step = "three workers, three files";
    let findings = found(stage, (step, CHECK), &group)?;
    for (worker, (name, value)) in [("worker-2", SESSION), ("worker-3", REBALANCE)] {
        let source = format!("record of {}", id(stage, worker)?);
        let is_shown = findings.iter().any(|it| shows(it, name, value, &source));
        ensure!(is_shown, "{name} of {worker} is not shown: {findings:?}");
    }
    let at_once = Duration::ZERO;
    restarted(stage, "worker-2", &[(SESSION.0, "10000")], at_once)?;
    found(stage, ("the session is mended", CHECK), &group)?;
    restarted(stage, "worker-3", &[(REBALANCE.0, "60000")], at_once)?;
    mended(stage, "both are mended")
}
