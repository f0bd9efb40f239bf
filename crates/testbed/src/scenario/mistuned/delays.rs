//! How long lost work waits: another time under another leader, and less than a restart takes.

use std::time::Duration;

use anyhow::{Context, ensure};

use super::{fired, found, id, mended, restarted, shows};
use crate::scenario::membership::leader;
use crate::scenario::opening::{created, group_of, two_connectors};
use crate::scenario::stage::Stage;
use crate::spec::ClusterSpec;

const DELAY: &str = "scheduled.rebalance.max.delay.ms";

/// Of the first worker, and of the others.
const FIRST_MS: u32 = 35_000;
const OTHERS_MS: u32 = 20_000;

/// Less than a restart takes that waits for so long; and more.
const SHORT_MS: u32 = 7_000;
const AWAY: Duration = Duration::from_secs(8);
const LONG: &str = "25000";

/// Four workers, so that one of them stays through two restarts and a change of leader.
pub(super) fn spec_of_leaders() -> anyhow::Result<ClusterSpec> {
    let mut spec = group_of(4, OTHERS_MS, &[]);
    let mut workers = spec.groups.iter_mut().flat_map(|group| &mut group.workers);
    let first = workers.next().context("there are four")?;
    first.scheduled_delay_ms = FIRST_MS;
    Ok(spec)
}

/// Sessions that are soon over: they are to be below the delay.
pub(super) fn spec_of_restarts() -> anyhow::Result<ClusterSpec> {
    let settings = [
        ("session.timeout.ms", "6000"),
        ("heartbeat.interval.ms", "2000"),
    ];
    Ok(group_of(3, SHORT_MS, &settings))
}

/// The leader of the four comes first. It loses a follower, then it is gone itself: the round of
/// its successor has no delay and shows nothing. Only when that one loses a follower, too, it is
/// known that theirs differ.
pub(super) fn differ(stage: &mut Stage) -> anyhow::Result<()> {
    const CHECK: &str = "delay_drifts";
    stage.begin("the first worker starts")?;
    stage.cluster.start_process("worker-1")?;
    stage.calm()?;
    stage.end_unexplained()?;
    stage.begin("three more")?;
    stage
        .cluster
        .start_processes(&["worker-2", "worker-3", "worker-4"])?;
    stage.calm()?;
    stage.end_unexplained()?;
    created(stage, ("alpha", 4), &[])?;
    created(stage, ("beta", 4), &[])?;

    let at_once = Duration::ZERO;
    restarted(stage, "worker-2", &[], at_once)?;
    restarted(stage, "worker-1", &[], at_once)?;
    let truth = stage.calm()?;
    let leads = leader(&truth)?;
    ensure!(leads != "worker-1", "worker-1 leads again");
    let early = fired(stage)?;
    ensure!(early.is_empty(), "found too early: {early:?}");

    let follower = ["worker-3", "worker-4"];
    let follower = follower.into_iter().find(|name| *name != leads);
    let follower = follower.context("one of two follows")?;
    restarted(stage, follower, &[], at_once)?;
    let group = [stage.group_id().to_owned()];
    let step = "the second leader lost a follower";
    let findings = found(stage, (step, CHECK), &group)?;
    for (worker, delay_ms) in [("worker-1", FIRST_MS), (leads.as_str(), OTHERS_MS)] {
        let (value, source) = (delay_ms.to_string(), id(stage, worker)?);
        let source = format!("record of {source}");
        let is_shown = findings.iter().any(|it| shows(it, DELAY, &value, &source));
        ensure!(is_shown, "{value} of {worker} is not shown: {findings:?}");
    }

    let mut workers = ["worker-1", "worker-2", "worker-3", "worker-4"];
    workers.sort_by_key(|name| *name == leads);
    for worker in workers {
        restarted(stage, worker, &[(DELAY, &OTHERS_MS.to_string())], at_once)?;
    }
    mended(stage, "all have the same delay, the leader last")
}

/// Three restarts, each longer than the delay; then all get a longer one, and the same restart
/// fits.
pub(super) fn restart_outlives(stage: &mut Stage) -> anyhow::Result<()> {
    const CHECK: &str = "delay_below_restart";
    let truth = two_connectors(stage, &[])?;
    let leads = leader(&truth)?;
    let mut workers = ["worker-1", "worker-2", "worker-3"];
    workers.sort_by_key(|name| *name == leads);
    let [first, second, _] = workers;
    for worker in [first, second, first] {
        restarted(stage, worker, &[], AWAY)?;
    }
    let subject = [id(stage, &leads)?];
    let step = "three restarts were longer than the delay";
    let findings = found(stage, (step, CHECK), &subject)?;
    let source = format!("record of {}", subject[0]);
    let delay_ms = SHORT_MS.to_string();
    let is_shown = findings
        .iter()
        .any(|it| shows(it, DELAY, &delay_ms, &source));
    ensure!(is_shown, "the delay is not shown: {findings:?}");

    for worker in workers {
        restarted(stage, worker, &[(DELAY, LONG)], Duration::ZERO)?;
    }
    let truth = stage.calm()?;
    let leads = leader(&truth)?;
    let follower = workers.into_iter().find(|name| *name != leads);
    restarted(stage, follower.context("two follow")?, &[], AWAY)?;
    mended(stage, "a restart fits into the delay")
}
