//! A sidecar beside each worker, and a collector: each rebalance becomes one trace, also when
//! the leader and its sidecar die together, and exemplars lead to it.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::Scenario;
use super::membership::{self, connector};
use super::opening::{self, NOTHING, all_owned};
use super::stage::Stage;
use crate::clock::now_ms;
use crate::collector::{Collector, Span, Trace};
use crate::prometheus::{Prometheus, PrometheusSpec, Target};
use crate::truth::{Comparison, TruthLog};
use crate::wait::wait_until;

pub(super) const SCENARIOS: &[Scenario] = &[Scenario {
    name: "traced",
    shows: "each rebalance is one trace in a collector, also when the leader and its sidecar die",
    recorded: false,
    script: traced,
    spec: opening::three,
}];

const WORKERS: [&str; 3] = ["worker-1", "worker-2", "worker-3"];
const ARRIVES_MAX: Duration = Duration::from_secs(30);

/// What a join's end may be off from the broker's log on a busy machine.
const DATED_NS_MAX: u64 = 200_000_000;

/// What the configuration of every connector holds, and no trace may.
const SECRET: &str = "canary";

fn traced(stage: &mut Stage) -> anyhow::Result<()> {
    let collector = Collector::start()?;
    for (worker, protocol) in WORKERS.into_iter().zip(["grpc", "http/protobuf", "grpc"]) {
        let file = config(stage, worker, (&collector, protocol))?;
        let agent = stage.agent_with_file(&beside(worker), &file)?;
        stage.adopt(agent);
    }
    // What was over before they watch is sent by nobody.
    stage.await_watching(&WORKERS.map(beside))?;
    let began = seconds_now();
    let prometheus = scraped(stage)?;
    stage.cluster.start_processes(&WORKERS)?;
    connector(stage, "alpha", 3)?;
    connector(stage, "beta", 3)?;
    let truth = stage.await_truth("three workers, each with a sidecar", NOTHING, |truth| {
        all_owned(truth, WORKERS.len(), 0)
    })?;
    let mut comparison = Comparison::new();
    once_each(stage, &collector, ("worker-1", &truth), &mut comparison)?;

    let leader = membership::leader(&truth)?;
    let before = truth.last().context("no generation")?.generation;
    stage.cluster.kill(&leader)?;
    stage.kill_agent(&beside(&leader))?;
    let truth = stage.await_truth("the leader and its sidecar are killed", NOTHING, |truth| {
        all_owned(truth, 2, before)
    })?;
    let survivor = WORKERS.into_iter().find(|worker| *worker != leader);
    let survivor = survivor.context("one survives")?;
    let traces = once_each(stage, &collector, (survivor, &truth), &mut comparison)?;
    let truth = stage.cluster.truth(stage.group_id())?;
    joined_when_the_broker_says(&truth, &traces, &mut comparison)?;
    if let Some(prometheus) = prometheus {
        exemplars(&prometheus, (&traces, began), &mut comparison)?;
        prometheus.stop()?;
    }
    let sent = collector.text()?;
    comparison.equal("the collector has a secret", &false, &sent.contains(SECRET));
    stage.count(comparison)
}

fn beside(worker: &str) -> String {
    format!("beside-{worker}")
}

fn config(
    stage: &Stage,
    worker: &str,
    (collector, protocol): (&Collector, &str),
) -> anyhow::Result<std::path::PathBuf> {
    let endpoint = match protocol {
        "grpc" => collector.grpc_url(),
        _ => collector.http_url(),
    };
    let config = json!({
        "groups": [{ "worker_properties": stage.cluster.worker(worker)?.properties_file() }],
        "traces": { "endpoint": endpoint, "protocol": protocol },
    });
    let file = stage.cluster.folder().join(format!("{worker}.yaml"));
    // JSON is YAML, too.
    fs::write(&file, config.to_string()).with_context(|| format!("write {}", file.display()))?;
    Ok(file)
}

fn scraped(stage: &Stage) -> anyhow::Result<Option<Prometheus>> {
    if let Some(obstacle) = Prometheus::obstacle() {
        eprintln!("  exemplars skipped: {obstacle}");
        return Ok(None);
    }
    let targets = WORKERS.iter().map(|worker| {
        let agent = stage.agent(&beside(worker))?;
        Ok(Target::local("evenkeel", agent.port()))
    });
    let spec = PrometheusSpec {
        targets: targets.collect::<anyhow::Result<_>>()?,
        ..PrometheusSpec::default()
    };
    Prometheus::start(&spec).map(Some)
}

/// The episodes that are over have one trace each, and there is no other.
fn once_each(
    stage: &Stage,
    collector: &Collector,
    (beside_worker, truth): (&str, &TruthLog),
    comparison: &mut Comparison,
) -> anyhow::Result<Vec<Trace>> {
    let newest = truth.last().context("no generation")?.generation;
    let (episodes, traces) = wait_until("a trace of each episode", ARRIVES_MAX, || {
        let episodes = closed(stage, beside_worker, newest)?;
        let traces = Trace::all(&collector.spans()?)?;
        ensure!(
            traces.len() == episodes.len(),
            "{} traces of {} episodes",
            traces.len(),
            episodes.len()
        );
        Ok(Some((episodes, traces)))
    })?;
    let told: BTreeSet<String> = traces
        .iter()
        .map(|trace| text(&trace.root, "evenkeel.episode").to_owned())
        .collect();
    comparison.equal("episodes with a trace", &episodes, &told);
    comparison.equal("traces", &episodes.len(), &traces.len());
    eprintln!("  {} traces, each episode once", traces.len());
    Ok(traces)
}

/// The ids of the episodes that are over, once that with this generation is.
fn closed(stage: &Stage, worker: &str, newest: i64) -> anyhow::Result<BTreeSet<String>> {
    let answer = stage.agent(&beside(worker))?.get("/api/v1/episodes")?;
    let answer = answer.json()?;
    let episodes = answer.pointer("/groups/0/episodes");
    let episodes = episodes.and_then(Value::as_array).context("no episodes")?;
    let open = episodes.iter().find(|one| one["state"] != "closed");
    ensure!(open.is_none(), "an episode is open");
    // The group may have gone on since.
    let is_there = episodes.iter().any(|one| {
        let end = |name: &str| one[name].as_i64().unwrap_or_default();
        (end("first_generation")..=end("last_generation")).contains(&newest)
    });
    ensure!(is_there, "generation {newest} is in none");
    let ids = episodes.iter().filter_map(|one| one["id"].as_str());
    Ok(ids.map(str::to_owned).collect())
}

/// Every generation with a record is in one trace, and its join ended when the broker's log
/// says. One without may be in none: of the first, nothing tells that it was.
fn joined_when_the_broker_says(
    truth: &TruthLog,
    traces: &[Trace],
    comparison: &mut Comparison,
) -> anyhow::Result<()> {
    let joins: Vec<&Span> = traces
        .iter()
        .flat_map(|trace| trace.named("join"))
        .collect();
    let told = |join: &&Span| join.attributes["evenkeel.generation"].as_i64();
    let newest = joins.iter().filter_map(told).max();
    // What came since is in no trace yet.
    let until_then = truth.generations.iter();
    let until_then = until_then.filter(|one| Some(one.generation) <= newest);
    let (recorded, aborted): (Vec<_>, Vec<_>) =
        until_then.partition(|one| one.assignment_ms.is_some());
    let others = joins.len().saturating_sub(recorded.len());
    comparison.equal(
        "joins of nothing",
        &0,
        &others.saturating_sub(aborted.len()),
    );
    for of_it in recorded {
        let ended_ns = u64::try_from(of_it.join_end_ms)? * 1_000_000;
        let same = joins.iter().filter(|join| {
            join.attributes["evenkeel.generation"] == of_it.generation
                && join.end_ns.abs_diff(ended_ns) <= DATED_NS_MAX
        });
        let what = format!("joins of generation {}", of_it.generation);
        comparison.equal(&what, &1, &same.count());
    }
    Ok(())
}

/// Prometheus has an exemplar of the newest episode, and none that leads nowhere.
fn exemplars(
    prometheus: &Prometheus,
    (traces, began): (&[Trace], f64),
    comparison: &mut Comparison,
) -> anyhow::Result<()> {
    let newest = &traces.last().context("no trace")?.id;
    let family = "evenkeel_rebalance_duration_seconds_bucket";
    let ids = wait_until("the newest exemplar", ARRIVES_MAX, || {
        let time = (began - 60.0, seconds_now() + 60.0);
        let series = prometheus.query_exemplars(family, time)?;
        let exemplars = series.iter().filter_map(|one| one["exemplars"].as_array());
        let ids: BTreeSet<String> = exemplars
            .flatten()
            .filter_map(|one| one["labels"]["trace_id"].as_str())
            .map(str::to_owned)
            .collect();
        Ok(ids.contains(newest).then_some(ids))
    })?;
    let known: BTreeSet<&String> = traces.iter().map(|trace| &trace.id).collect();
    let lost = ids.iter().filter(|id| !known.contains(id)).count();
    comparison.equal("exemplars that lead nowhere", &0, &lost);
    Ok(())
}

#[allow(clippy::cast_precision_loss)]
fn seconds_now() -> f64 {
    // Exact to the millisecond for 285,000 years.
    now_ms() as f64 / 1_000.0
}

fn text<'a>(span: &'a Span, name: &str) -> &'a str {
    let value = span.attributes.get(name).and_then(Value::as_str);
    value.unwrap_or_default()
}
