//! Scripts about what no other recording has and an alert waits for: a restart that does not
//! end, tasks that are written anew without a pause, and rounds that come to nothing.

use std::fs;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::Scenario;
use super::membership::last;
use super::opening::{
    ITEMS, NOTHING, all_owned, cold_start, created, group_of, two_connectors, until,
};
use super::stage::Stage;
use super::unrest::{ask, owned_after, put, steps};
use crate::admin::{TopicSpec, TopicVerb};
use crate::proxy::Fault;
use crate::security::Listener;
use crate::spec::ClusterSpec;
use crate::truth::{Comparison, Step, TruthLog};
use crate::wait::wait_until;

/// In the order in which they are recorded.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::recorded(
        "restart_hangs",
        "a connector is restarted with its tasks, and for half a minute none of them starts",
        restart_hangs,
        three,
    ),
    Scenario::recorded(
        "task_configs_storm",
        "a connector changes its task configurations every two seconds",
        task_configs_storm,
        three,
    ),
    Scenario::recorded(
        "config_mismatch",
        "a worker whose config topic has more in it joins: no round ends, until it leaves",
        config_mismatch,
        proxied,
    ),
];

/// `scheduled.rebalance.max.delay.ms`: these scripts are not about it.
const DELAY_MS: u32 = 5_000;

fn three() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(3, DELAY_MS, &[]))
}

fn proxied() -> anyhow::Result<ClusterSpec> {
    let mut spec = group_of(2, DELAY_MS, &[]);
    spec.brokers.proxied = true;
    Ok(spec)
}

/// How long a start hangs.
const HANGS: Duration = Duration::from_secs(30);

/// Stops are over at once; what a restart waits for is the start.
fn restart_hangs(stage: &mut Stage) -> anyhow::Result<()> {
    cold_start(stage)?;
    let file = stage.cluster.folder().join("starts-hang");
    let path = file.display().to_string();
    created(stage, ("alpha", 3), &[("start.file", &path)])?;
    let before = created(stage, ("beta", 3), &[])?;
    let step = "alpha is restarted, and its tasks do not start";
    stage.begin(step)?;
    fs::write(&file, "")?;
    let request = "/connectors/alpha/restart?includeTasks=true&onlyFailed=false";
    ask(stage, "POST", request, None)?;
    stage.pause(HANGS);
    let restarting = restarting(stage)?;
    let mut comparison = Comparison::new();
    comparison.equal("tasks that are restarted", &tasks_of("alpha"), &restarting);
    stage.count(comparison)?;
    fs::remove_file(&file)?;
    until(stage, step, |now| {
        let started = |task: &String| {
            let [then, now] = [&before, now].map(|truth| steps(truth, task, Step::StartEnds));
            now > then
        };
        tasks_of("alpha").iter().all(started)
    })?;
    stage.end_quiet()?;
    stage.rest(step, NOTHING)?;
    Ok(())
}

fn tasks_of(connector: &str) -> Vec<String> {
    [0, 1, 2].map(|task| format!("{connector}-{task}")).to_vec()
}

/// What the sidecar says of restarts that go on.
fn restarting(stage: &Stage) -> anyhow::Result<Vec<String>> {
    let state = stage.agent("first")?.state()?;
    let states = state.pointer("/states/not_running");
    let states = states.and_then(Value::as_array).context("no states")?;
    let ours = states.iter().filter(|one| one["state"] == "restarting");
    let name = |one: &Value| Some(format!("{}-{}", one["connector"].as_str()?, one["task"]));
    let names: Option<Vec<String>> = ours.map(name).collect();
    names.context("a state without a connector")
}

/// A round fits between two changes; so many are a storm, and some more last.
const EVERY: Duration = Duration::from_secs(2);
const CHANGES: usize = 45;
const CHANGES_MAX: Duration = Duration::from_secs(240);

fn task_configs_storm(stage: &mut Stage) -> anyhow::Result<()> {
    let before = two_connectors(stage, &[])?;
    let step = "alpha changes its tasks without a pause";
    stage.begin(step)?;
    let timer = json!({
        "tasks.max": "3",
        "reconfigure.every.ms": EVERY.as_millis().to_string(),
        "reconfigure.content": "changing",
    });
    put(stage, "alpha", &timer)?;
    let many = before.generations.len() + CHANGES;
    let truth = await_generations(stage, step, (many, CHANGES_MAX))?;
    put(stage, "alpha", &json!({"tasks.max": "3"}))?;
    owned_after(stage, step, (ITEMS, &truth))?;
    stage.calm()?;
    stage.end_unexplained()
}

/// A topic full of what is no configuration.
const STRANGE: &str = "strange-config";

/// Until there is more in it than in the group's own config topic.
const FILLS: Duration = Duration::from_secs(15);

/// How much later bytes of the stranger arrive. Without that it is a hundred rounds a second.
const SLOW: Duration = Duration::from_millis(300);

/// Rounds that fail; five in a row are a loop, and some more last.
const FAILED: usize = 30;
const FAILED_MAX: Duration = Duration::from_secs(120);

const BROKER: &str = "broker-1";

fn config_mismatch(stage: &mut Stage) -> anyhow::Result<()> {
    let topic = TopicSpec::compacted(STRANGE, 1);
    stage.cluster.topics(&TopicVerb::Create(topic))?;
    let before = two_connectors(stage, &[("topic", STRANGE)])?;
    let count = last(&before)?.member_count;
    stage.pause(FILLS);
    let step = "a worker with another config topic joins";
    stage.begin(step)?;
    stage.cluster.proxy(BROKER)?.set(Fault::Delay(SLOW));
    let through = stage.cluster.bootstrap_of(Listener::Proxied)?;
    let spec = stage.worker_spec(DELAY_MS);
    let spec = spec
        .with("bootstrap.servers", through)
        .with("config.storage.topic", STRANGE);
    let stranger = stage.cluster.add_worker("connect", &spec)?;
    stage.cluster.spawn_worker(&stranger)?;
    let many = before.generations.len() + FAILED;
    let truth = await_generations(stage, step, (many, FAILED_MAX))?;
    let stops = |truth: &TruthLog| -> usize {
        let tasks = tasks_of("alpha").into_iter().chain(tasks_of("beta"));
        tasks.map(|task| steps(truth, &task, Step::StopAsked)).sum()
    };
    ensure!(stops(&truth) == stops(&before), "the loop stopped a task");
    stage.end_unexplained()?;

    // Work as before proves nothing of the round that ends the loop; a change does.
    let step = "it is stopped, and a connector changed";
    stage.begin(step)?;
    stage.cluster.stop(&stranger)?;
    put(stage, "beta", &json!({"tasks.max": "3", "round": "2"}))?;
    let generations = truth.generations.len();
    stage.await_truth(step, NOTHING, |truth| {
        truth.generations.len() > generations && all_owned(truth, count, 0)
    })?;
    stage.calm()?;
    stage.end_unexplained()
}

fn await_generations(
    stage: &Stage,
    step: &str,
    (many, longest): (usize, Duration),
) -> anyhow::Result<TruthLog> {
    wait_until(step, longest, || {
        let truth = stage.cluster.truth(stage.group_id())?;
        Ok((truth.generations.len() >= many).then_some(truth))
    })
}
