//! Many workers with much work: restarted one after the other, and joining one after the other.

use std::time::Duration;

use serde_json::json;

use crate::scenario::membership::{leader, owned};
use crate::scenario::opening::{cold_start, created, group_of, members, until};
use crate::scenario::stage::Stage;
use crate::scenario::unrest::put;
use crate::spec::ClusterSpec;
use crate::truth::{TruthGeneration, TruthLog};

/// `scheduled.rebalance.max.delay.ms` of the upgrades: longer than a restart, shorter than
/// three.
const DELAY_MS: u32 = 30_000;

/// How long a worker is away beside its own stop and start. A worker that is back within
/// `heartbeat.interval.ms` (3 s) meets the round that its leaving began.
const AWAY: Duration = Duration::from_secs(6);

/// `scheduled.rebalance.max.delay.ms` where it is not the point; also the longest back-off between revocations.
const SHORT_DELAY_MS: u32 = 5_000;

const WORKERS: usize = 6;
const CONNECTORS: usize = 30;
const TASKS: usize = 3;
const ITEMS: usize = CONNECTORS * (1 + TASKS);

/// How long tasks take to stop in a group that more and more workers join, and a little more
/// than what a round takes then.
const STOP_MS: &str = "4000";
const APART: Duration = Duration::from_millis(6_500);

/// Six workers. One of them is started first, so that thirty connectors are soon created.
pub(super) fn six() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(WORKERS, DELAY_MS, &[]))
}

/// One worker, which more are going to join.
pub(super) fn one() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(1, SHORT_DELAY_MS, &[]))
}

/// Each worker is restarted as soon as the one before answers again, by name, whoever leads.
pub(super) fn back_to_back(stage: &mut Stage) -> anyhow::Result<()> {
    let names = filled(stage)?;
    one_after_the_other(stage, &names)
}

/// The same, the leader last: until then everybody shares its windows.
pub(super) fn leader_last(stage: &mut Stage) -> anyhow::Result<()> {
    filled(stage)?;
    let names = followers_first(stage)?;
    one_after_the_other(stage, &names)
}

fn one_after_the_other(stage: &mut Stage, names: &[String]) -> anyhow::Result<()> {
    for name in names {
        stage.begin(&format!("{name} is restarted"))?;
        stage.cluster.stop(name)?;
        stage.pause(AWAY);
        stage.cluster.start_process(name)?;
        stage.end_unexplained()?;
    }
    stage.begin("the group comes to rest")?;
    until(stage, "the group comes to rest", whole)?;
    stage.calm()?;
    stage.end_unexplained()?;
    Ok(())
}

/// Each worker is restarted when all is owned again and nothing waits; the leader last.
pub(super) fn patient(stage: &mut Stage) -> anyhow::Result<()> {
    filled(stage)?;
    for name in &followers_first(stage)? {
        let before = stage.cluster.truth(stage.group_id())?.generations.len();
        stage.begin(&format!("{name} is restarted"))?;
        stage.cluster.stop(name)?;
        stage.pause(AWAY);
        stage.cluster.start_process(name)?;
        until(stage, "all to be owned again", |truth| {
            truth.generations.len() > before && whole(truth)
        })?;
        stage.calm()?;
        stage.end_unexplained()?;
    }
    Ok(())
}

fn followers_first(stage: &Stage) -> anyhow::Result<Vec<String>> {
    let leads = leader(&stage.cluster.truth(stage.group_id())?)?;
    let workers = stage.cluster.workers().iter();
    let mut names: Vec<String> = workers.map(|worker| worker.name().to_owned()).collect();
    names.sort_by_key(|name| *name == leads);
    Ok(names)
}

/// All workers, and all the work, shared; the names of the workers.
fn filled(stage: &mut Stage) -> anyhow::Result<Vec<String>> {
    let workers = stage.cluster.workers().iter();
    let names: Vec<String> = workers.map(|worker| worker.name().to_owned()).collect();
    let names_ref: Vec<&str> = names.iter().map(String::as_str).collect();
    let Some((first, others)) = names_ref.split_first() else {
        anyhow::bail!("a group has workers");
    };
    stage.begin("one worker gets all the work")?;
    stage.cluster.start_process(first)?;
    for number in 1..=CONNECTORS {
        let config = json!({"tasks.max": TASKS.to_string(), "poll.interval.ms": "1000"});
        put(stage, &format!("stream{number:02}"), &config)?;
    }
    until(stage, "one worker to own everything", |truth| {
        owned(truth) == ITEMS && truth.is_settled()
    })?;
    stage.calm()?;
    stage.end_unexplained()?;
    stage.begin("five more workers")?;
    stage.cluster.start_processes(others)?;
    until(stage, "six workers to share everything", |truth| {
        whole(truth) && even(truth)
    })?;
    stage.calm()?;
    stage.end_unexplained()?;
    Ok(names)
}

/// Whether all workers are in and own everything, and nothing waits.
fn whole(truth: &TruthLog) -> bool {
    let left = truth.last().and_then(TruthGeneration::unassigned);
    members(truth, WORKERS, 0)
        && truth.is_settled()
        && owned(truth) == ITEMS
        && left.is_some_and(|work| work.is_empty())
}

/// Whether nobody has two tasks more than another.
fn even(truth: &TruthLog) -> bool {
    let members = truth.last().map(|last| last.members.as_slice());
    let owned = members.unwrap_or_default().iter();
    let tasks: Vec<usize> = owned
        .filter_map(|member| Some(member.owned.as_ref()?.tasks.len()))
        .collect();
    tasks.iter().max() <= tasks.iter().min().map(|least| least + 1).as_ref()
}

/// Three workers join, each while the round that revokes for the one before is not over: the
/// leader waits longer each time before it revokes again.
pub(super) fn consecutive_revocations(stage: &mut Stage) -> anyhow::Result<()> {
    cold_start(stage)?;
    created(stage, ("alpha", 6), &[("stop.delay.ms", STOP_MS)])?;
    created(stage, ("beta", 6), &[("stop.delay.ms", STOP_MS)])?;
    stage.begin("three workers join, one after the other")?;
    for _ in 0..3 {
        let spec = stage.worker_spec(SHORT_DELAY_MS);
        let name = stage.cluster.add_worker("connect", &spec)?;
        stage.cluster.spawn_worker(&name)?;
        stage.pause(APART);
    }
    until(stage, "four workers to share everything", |truth| {
        members(truth, 4, 0) && truth.is_settled() && owned(truth) == 14 && even(truth)
    })?;
    stage.end_arrivals()?;
    Ok(())
}
