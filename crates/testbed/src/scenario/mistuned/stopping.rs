//! Tasks that stop slowly: longer than their worker waits for each, and longer than the group
//! waits for their worker.

use std::time::Duration;

use anyhow::ensure;

use super::{found, id, mended, restarted, shows, whole};
use crate::scenario::opening::{cold_start, created, group_of, until};
use crate::scenario::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::{TruthGeneration, TruthLog, Work};

const GRACEFUL: &str = "task.shutdown.graceful.timeout.ms";
const REBALANCE: &str = "rebalance.timeout.ms";
const DELAY_MS: u32 = 20_000;

/// How long each task takes to stop.
const STOP: Duration = Duration::from_secs(6);
const STOPS: [(&str, &str); 2] = [("stop.delay.ms", "6000"), ("stop.ignore.interrupt", "true")];

/// Two workers that wait for the stop of a task for 2 s.
pub(super) fn spec_of_graceful() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(2, DELAY_MS, &[(GRACEFUL, "2000")]))
}

/// One worker whose tasks may take their time, and that is out of its group before two batches of
/// them have stopped.
pub(super) fn spec_of_rebalance() -> anyhow::Result<ClusterSpec> {
    let settings = [
        ("session.timeout.ms", "6000"),
        ("heartbeat.interval.ms", "2000"),
        (REBALANCE, "10000"),
        (GRACEFUL, "20000"),
    ];
    Ok(group_of(1, DELAY_MS, &settings))
}

/// A newcomer gets tasks that others give up; with more time they stop before the next one
/// gets them.
pub(super) fn given_up(stage: &mut Stage) -> anyhow::Result<()> {
    const CHECK: &str = "graceful_below_stop";
    cold_start(stage)?;
    created(stage, ("alpha", 6), &STOPS)?;
    let truth = joined(stage, "2000", 7)?;
    let owners: Vec<String> = revoking(&truth);
    ensure!(!owners.is_empty(), "nothing was revoked");
    let subjects: Vec<String> = owners
        .iter()
        .map(|worker| id(stage, worker))
        .collect::<anyhow::Result<_>>()?;
    found(stage, ("a newcomer gets tasks", CHECK), &subjects)?;

    for worker in ["worker-1", "worker-2", "worker-3"] {
        restarted(stage, worker, &[(GRACEFUL, "20000")], Duration::ZERO)?;
    }
    mended(stage, "all give tasks more time")?;
    joined(stage, "20000", 7)?;
    mended(stage, "another newcomer gets tasks")
}

/// One more worker, that gives tasks so long to stop.
fn joined(stage: &mut Stage, graceful_ms: &str, items: usize) -> anyhow::Result<TruthLog> {
    let before = stage.cluster.truth(stage.group_id())?;
    let count = before.last().map_or(0, |last| last.member_count);
    let spec = stage.worker_spec(DELAY_MS);
    let spec = spec.with(GRACEFUL, graceful_ms);
    let newcomer = stage.cluster.add_worker("connect", &spec)?;
    let step = format!("{newcomer} joins");
    stage.begin(&step)?;
    stage.cluster.start_process(&newcomer)?;
    until(stage, &step, |truth| whole(truth, (count + 1, items)))?;
    let truth = stage.calm()?;
    stage.pause(STOP);
    stage.end_unexplained()?;
    Ok(truth)
}

/// Who was told to give something up.
fn revoking(truth: &TruthLog) -> Vec<String> {
    let members = truth.generations.iter().flat_map(|round| &round.members);
    let revoking = members.filter(|member| {
        let revoked = member.revoked.as_ref();
        revoked.is_some_and(|work: &Work| !work.tasks.is_empty())
    });
    let mut names: Vec<String> = revoking.filter_map(|it| it.worker.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The worker with all the work gives up a dozen tasks at once, eight at a time.
pub(super) fn overrun(stage: &mut Stage) -> anyhow::Result<()> {
    const CHECK: &str = "stop_exceeds_rebalance";
    cold_start(stage)?;
    created(stage, ("alpha", 24), &STOPS)?;
    let file = stage.cluster.worker("worker-1")?.properties_file();
    let spec = stage.worker_spec(DELAY_MS);
    // Of the two only the first is out too soon: else nobody is left in the group.
    let spec = spec
        .with("session.timeout.ms", "6000")
        .with("heartbeat.interval.ms", "2000")
        .with(GRACEFUL, "20000");
    let newcomer = stage.cluster.add_worker("connect", &spec)?;
    let step = "a second worker gets half of it";
    stage.begin(step)?;
    stage.cluster.start_process(&newcomer)?;
    until(stage, step, |truth| whole(truth, (2, 25)))?;
    let truth = stage.calm()?;
    let is_out = |round: &TruthGeneration| round.member("worker-1").is_none();
    let is_out = truth.generations.iter().any(is_out);
    ensure!(is_out, "worker-1 did not leave");
    stage.end_unexplained()?;
    let subjects = [id(stage, "worker-1")?];
    let findings = found(stage, (step, CHECK), &subjects)?;
    let source = format!("record of {}", subjects[0]);
    let is_shown = findings
        .iter()
        .any(|it| shows(it, REBALANCE, "10000", &source));
    ensure!(is_shown, "the timeout is not shown: {findings:?}");

    // The file beside it says how long a stop may take: then nothing has to happen first.
    let beside = stage.agent_beside("beside", &file)?;
    super::scopes::found_by(stage, &beside, ("stops_exceed_rebalance", &subjects[0]))?;
    beside.stop()?;

    restarted(stage, "worker-1", &[(REBALANCE, "60000")], Duration::ZERO)?;
    mended(stage, "the group waits longer")
}
