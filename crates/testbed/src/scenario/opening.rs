//! How scripts about causes open: workers start, connectors are created, each in a step of
//! its own; and what such scripts ask of the truth.

use std::time::Duration;

use anyhow::Context;
use serde_json::{Map, Value};

use super::compare::Expected;
use super::membership::{last, leader, owned};
use super::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::{Cause, ExpectedEpisode, TruthGeneration, TruthLog, Work};
use crate::wait::wait_until;

/// `scheduled.rebalance.max.delay.ms` of these scripts: longer than a worker's restart.
pub(super) const DELAY_MS: u32 = 18_000;

/// Two connectors of three tasks.
pub(super) const ITEMS: usize = 8;

pub(super) const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};

pub(super) const PARKED: Expected = Expected {
    unassigned: Some("lost"),
    deadline: Some("lost"),
    ..NOTHING
};

/// What the script waits for at most: an expiry, a delay, a start on a loaded machine.
const AWAITED_MAX: Duration = Duration::from_secs(120);

/// A group of that many workers, each with these settings.
pub(super) fn group_of(workers: usize, delay_ms: u32, settings: &[(&str, &str)]) -> ClusterSpec {
    let mut spec = ClusterSpec::of(workers);
    for worker in spec.groups.iter_mut().flat_map(|group| &mut group.workers) {
        worker.scheduled_delay_ms = delay_ms;
        for (name, value) in settings {
            let settings = &mut worker.settings;
            settings.insert((*name).to_owned(), (*value).to_owned());
        }
    }
    spec
}

/// Three workers with the usual delay.
pub(super) fn three() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(3, DELAY_MS, &[]))
}

/// Starts all workers of the group at once.
pub(super) fn cold_start(stage: &mut Stage) -> anyhow::Result<TruthLog> {
    let workers = stage.cluster.workers().iter();
    let names: Vec<String> = workers.map(|worker| worker.name().to_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    stage.begin("all workers start at once")?;
    stage.cluster.start_processes(&names)?;
    stage.rest("all workers start at once", NOTHING)?;
    stage.end_arrivals()
}

/// All workers, then alpha and beta with three tasks each; every worker owns something.
pub(super) fn two_connectors(
    stage: &mut Stage,
    settings: &[(&str, &str)],
) -> anyhow::Result<TruthLog> {
    cold_start(stage)?;
    created(stage, ("alpha", 3), settings)?;
    created(stage, ("beta", 3), settings)
}

/// Creates a connector: its record is a round, the commit of its tasks another.
pub(super) fn created(
    stage: &mut Stage,
    (name, tasks): (&str, usize),
    settings: &[(&str, &str)],
) -> anyhow::Result<TruthLog> {
    let step = format!("{name} is created");
    let before = owned(&stage.cluster.truth(stage.group_id())?);
    stage.begin(&step)?;
    put(stage, (name, tasks), settings)?;
    stage.await_truth(&step, NOTHING, |truth| {
        owned(truth) == before + 1 + tasks && nothing_left(truth)
    })?;
    // The first commit may be told as a change of the tasks, or as part of the creation.
    let created = ExpectedEpisode::of(Cause::ConnectorCreated, Some(name));
    stage.end(created.perhaps(&[Cause::TasksChanged]))
}

/// Writes the configuration of a connector, through a worker that runs.
pub(super) fn put(
    stage: &Stage,
    (name, tasks): (&str, usize),
    settings: &[(&str, &str)],
) -> anyhow::Result<()> {
    let tasks = tasks.to_string();
    let base = [
        ("connector.class", "evenkeel.testbed.FixtureSource"),
        ("tasks.max", tasks.as_str()),
        ("topic", "numbers"),
        ("password", "canary-in-a-connector"),
    ];
    let all = base.iter().chain(settings);
    let config: Map<String, Value> = all
        .map(|(name, value)| ((*name).to_owned(), Value::from(*value)))
        .collect();
    let mut workers = stage.cluster.workers().iter();
    let worker = workers
        .find(|worker| worker.process().is_some_and(|process| !process.is_frozen()))
        .context("no worker runs")?
        .name();
    let path = format!("/connectors/{name}/config");
    let config = Value::Object(config);
    stage
        .cluster
        .request(worker, "PUT", &path, Some(&config))?
        .ok()
}

/// What a worker owns.
pub(super) fn owned_by(truth: &TruthLog, worker: &str) -> anyhow::Result<Work> {
    let member = last(truth)?.member(worker);
    let member = member.with_context(|| format!("{worker} is no member"))?;
    member.owned.clone().context("nothing was applied")
}

/// Workers that follow and own something.
pub(super) fn followers(truth: &TruthLog) -> anyhow::Result<Vec<String>> {
    let leader = leader(truth)?;
    let members = last(truth)?.members.iter();
    let owning = members.filter(|m| m.owned.as_ref().is_some_and(|work| !work.is_empty()));
    let workers = owning.filter_map(|member| member.worker.clone());
    Ok(workers.filter(|worker| *worker != leader).collect())
}

/// One of them.
pub(super) fn follower(truth: &TruthLog) -> anyhow::Result<String> {
    followers(truth)?.pop().context("no follower owns anything")
}

/// Whether so many members are in, after that generation.
pub(super) fn members(truth: &TruthLog, count: usize, after: i64) -> bool {
    truth
        .last()
        .is_some_and(|last| last.member_count == count && last.generation > after)
}

/// Whether everything is owned by so many members, after that generation.
pub(super) fn all_owned(truth: &TruthLog, count: usize, after: i64) -> bool {
    members(truth, count, after) && owned(truth) == ITEMS && nothing_left(truth)
}

/// Whether nothing waits to be handed out, as far as a leader says what there is: an eager one
/// does not.
fn nothing_left(truth: &TruthLog) -> bool {
    let left = truth.last().and_then(TruthGeneration::unassigned);
    left.is_none_or(|work| work.is_empty())
}

/// Waits for something the logs say, without comparing anything.
pub(super) fn until(
    stage: &Stage,
    what: &str,
    holds: impl Fn(&TruthLog) -> bool,
) -> anyhow::Result<TruthLog> {
    wait_until(what, AWAITED_MAX, || {
        let truth = stage.cluster.truth(stage.group_id())?;
        Ok(holds(&truth).then_some(truth))
    })
}
