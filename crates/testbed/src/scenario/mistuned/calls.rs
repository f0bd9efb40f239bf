//! A connector that holds up its worker: it asks something that does not answer, fails, and is
//! asked again, each time for longer than the worker may be away from its group.

use std::fs;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::{fired, found, id, mended, shows};
use crate::scenario::membership::last;
use crate::scenario::opening::{created, group_of, put, until};
use crate::scenario::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::{TruthGeneration, TruthLog};
use crate::wait::wait_until;

const CHECK: &str = "connector_call_exceeds_rebalance";
const REBALANCE: &str = "rebalance.timeout.ms";
const REBALANCE_MS: &str = "8000";

/// How long one call takes: as long as the two calls of a client with a timeout of 7 s.
const CALL_MS: &str = "14000";

/// Longer than a call, so that the work waits for its worker each time.
const DELAY_MS: u32 = 25_000;

/// Until Kafka's patience with the next try is surely over: a minute, the rebalance timeout and
/// the session, and some more.
const FORGOTTEN_MAX: Duration = Duration::from_secs(150);

/// Two workers that are soon missed.
pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let settings = [
        ("session.timeout.ms", "6000"),
        ("heartbeat.interval.ms", "2000"),
        (REBALANCE, REBALANCE_MS),
    ];
    Ok(group_of(2, DELAY_MS, &settings))
}

/// The follower gets a connector that cannot reach its source. It is out of the group when its
/// rebalance timeout is over, comes back when the call has failed, and makes it again. Once the
/// source answers, the worker stays, and nothing is said any more when that is certain.
pub(super) fn held_up(stage: &mut Stage) -> anyhow::Result<()> {
    stage.begin("the first worker starts")?;
    stage.cluster.start_process("worker-1")?;
    stage.calm()?;
    stage.end_unexplained()?;
    // So that what comes next goes to the other one.
    created(stage, ("alpha", 1), &[])?;
    stage.begin("the second worker starts")?;
    stage.cluster.start_process("worker-2")?;
    stage.calm()?;
    stage.end_unexplained()?;

    let silent = stage.cluster.folder().join("source-is-silent");
    fs::write(&silent, "").context("the source falls silent")?;
    let path = silent.to_string_lossy().into_owned();
    let settings = [
        ("connector.configs.delay.ms", CALL_MS),
        ("connector.configs.fail.file", path.as_str()),
    ];
    let before = last(&stage.cluster.truth(stage.group_id())?)?.generation;
    let step = "beta cannot reach its source";
    stage.begin(step)?;
    put(stage, ("beta", 1), &settings)?;
    until(stage, "its worker is back for the first time", |truth| {
        absences(truth, before) == 1 && is_in(truth)
    })?;
    let early = fired(stage)?;
    ensure!(early.is_empty(), "found too early: {early:?}");
    until(stage, "its worker is back for the second time", |truth| {
        absences(truth, before) >= 2 && is_in(truth)
    })?;
    let subjects = [id(stage, "worker-2")?];
    let findings = found(stage, (step, CHECK), &subjects)?;
    let source = format!("record of {}", subjects[0]);
    let is_shown = findings
        .iter()
        .any(|it| shows(it, REBALANCE, REBALANCE_MS, &source));
    ensure!(is_shown, "the timeout is not shown: {findings:?}");

    fs::remove_file(&silent).context("the source answers")?;
    until(stage, "beta has its task", |truth| {
        is_in(truth) && super::whole(truth, (2, 4))
    })?;
    stage.calm()?;
    stage.end_unexplained()?;
    wait_until("the worker stays", FORGOTTEN_MAX, || {
        Ok(fired(stage)?.is_empty().then_some(()))
    })?;
    mended(stage, "the source answers")
}

/// How often the second worker was out, after that generation.
fn absences(truth: &TruthLog, after: i64) -> usize {
    let rounds = truth.generations.iter();
    let later = rounds.filter(|round| round.generation >= after);
    let there: Vec<bool> = later.map(with_second).collect();
    there.windows(2).filter(|pair| pair[0] && !pair[1]).count()
}

fn is_in(truth: &TruthLog) -> bool {
    truth.last().is_some_and(with_second)
}

fn with_second(round: &TruthGeneration) -> bool {
    round.member("worker-2").is_some()
}
