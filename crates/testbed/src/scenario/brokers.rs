//! Two brokers of which one goes, and brokers that hang: the sidecars follow the coordinator,
//! and one that hears nothing any more says so and comes back.

use std::time::Duration;

use anyhow::{Context, ensure};

use super::compare::Expected;
use super::membership::connector;
use super::stage::Stage;
use crate::proxy::Fault;
use crate::security::Listener;
use crate::spec::{BrokerSpec, ClusterSpec, GroupSpec, WorkerSpec};
use crate::truth::{Comparison, TruthLog};
use crate::wait::wait_until;

const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};

const BROKERS: [&str; 2] = ["broker-1", "broker-2"];
const MOVED_MAX: Duration = Duration::from_secs(60);
/// Answers are withdrawn 30 s after an input was last confirmed current.
const WITHDRAWN_MAX: Duration = Duration::from_secs(60);
const BACK_MAX: Duration = Duration::from_secs(60);

pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    Ok(ClusterSpec {
        brokers: BrokerSpec {
            proxied: true,
            ..BrokerSpec::pair()
        },
        groups: vec![GroupSpec::new("connect", vec![WorkerSpec::default(); 2])],
        jmx: false,
    })
}

pub(super) fn brokers(stage: &mut Stage) -> anyhow::Result<()> {
    stage.cluster.start_processes(&["worker-1", "worker-2"])?;
    create(stage, "alpha", 2)?;
    stage.await_truth("two workers and a connector", NOTHING, |truth| {
        owned(truth) == 2 && whole(truth)
    })?;
    let through = stage.cluster.bootstrap_of(Listener::Proxied)?;
    stage.add_agent_at("behind", &through)?;
    let truth = stage.rest("a sidecar comes through the proxies", NOTHING)?;

    let mut comparison = Comparison::new();
    hang(stage, &mut comparison)?;
    stage.count(comparison)?;
    stage.rest("what hung goes on", NOTHING)?;

    // The coordinator is gone; the other broker has its place and all that it stored.
    let group_id = stage.group_id().to_owned();
    let before = stage.cluster.coordinator(&group_id)?;
    stage.cluster.kill(&before)?;
    wait_until("the coordinator to move", MOVED_MAX, || {
        let now = stage.cluster.coordinator(&group_id)?;
        Ok((now != before).then_some(()))
    })?;
    create(stage, "beta", 1)?;
    let first = newest(&truth)?;
    let moved = stage.await_truth(
        "a connector under the other coordinator",
        NOTHING,
        |truth| newest(truth).is_ok_and(|now| now > first) && owned(truth) == 3 && whole(truth),
    )?;

    // It comes back, and the other one goes.
    stage.cluster.start_process(&before)?;
    stage.rest("the first broker is back", NOTHING)?;
    if !stage.whole {
        return Ok(());
    }
    let other = stage.cluster.coordinator(&group_id)?;
    stage.cluster.stop(&other)?;
    wait_until("the coordinator to move again", MOVED_MAX, || {
        let now = stage.cluster.coordinator(&group_id)?;
        Ok((now != other).then_some(()))
    })?;
    create(stage, "gamma", 1)?;
    let second = newest(&moved)?;
    stage.await_truth("a connector under the first again", NOTHING, |truth| {
        newest(truth).is_ok_and(|now| now > second) && owned(truth) == 4 && whole(truth)
    })?;
    stage.cluster.start_process(&other)?;
    stage.rest("both brokers are there", NOTHING)?;
    Ok(())
}

/// A worker refuses while its group has no coordinator.
fn create(stage: &mut Stage, name: &str, tasks: u32) -> anyhow::Result<()> {
    wait_until("a worker to take a connector", MOVED_MAX, || {
        connector(stage, name, tasks).map(Some)
    })
}

/// Both brokers hang for one sidecar alone.
fn hang(stage: &Stage, comparison: &mut Comparison) -> anyhow::Result<()> {
    for broker in BROKERS {
        stage.cluster.proxy(broker)?.set(Fault::Hang);
    }
    let behind = stage.agent("behind")?;
    let reasons = wait_until("its answers to be withdrawn", WITHDRAWN_MAX, || {
        ensure!(behind.state()?["current"] == false, "still current");
        behind.reasons().map(Some)
    })?;
    let named = |reason: &str| matches!(reason, "unreachable" | "unconfirmed");
    let all = !reasons.is_empty() && reasons.iter().all(|reason| named(&reason.reason));
    comparison.equal(&format!("hang: named in {reasons:?}"), &true, &all);
    comparison.equal("hang: lives", &200, &behind.status("/livez")?);
    let first = stage.agent("first")?.state()?;
    let seen = first["current"].as_bool();
    comparison.equal("hang: the other sidecar sees", &Some(true), &seen);
    for broker in BROKERS {
        stage.cluster.proxy(broker)?.set(Fault::None);
    }
    wait_until("its answers to come back", BACK_MAX, || {
        ensure!(
            behind.state()?["current"] == true,
            "{:?}",
            behind.reasons()?
        );
        Ok(Some(()))
    })
}

fn newest(truth: &TruthLog) -> anyhow::Result<i64> {
    let last = truth.last().context("no generation")?;
    Ok(last.generation)
}

fn owned(truth: &TruthLog) -> usize {
    let last = truth.last().into_iter();
    last.flat_map(|last| &last.members)
        .filter_map(|member| member.owned.as_ref())
        .map(|owned| owned.tasks.len())
        .sum()
}

/// Whether nothing waits to be handed out.
fn whole(truth: &TruthLog) -> bool {
    let last = truth.last();
    last.and_then(|last| last.unassigned())
        .is_some_and(|work| work.is_empty())
}
