//! A sidecar beside each worker of a recorded group, played by the embedded broker: one of
//! them sends each trace, also when the leader and its sidecar die.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use evenkeel_testbed::scenario::{Agent, Demo, Told};
use evenkeel_testbed::{
    Collector, Prometheus, PrometheusSpec, Span, Target, Trace, now_ms, port_locks, wait_until,
};
use serde_json::{Value, json};

use super::{capture, is_without_collector, program, text};

/// The ports of the workers of `kill_leader`: who leads until it is killed, who leads then,
/// and the third.
pub(super) const LEADER: u16 = 23_914;
pub(super) const NEXT: u16 = 22_487;
const THIRD: u16 = 20_006;

/// Generations and episodes of `kill_leader`, and of each until the leader is killed.
pub(super) const GENERATIONS: i64 = 8;
pub(super) const TRACES: usize = 6;

pub(super) const PLAYED_MAX: Duration = Duration::from_secs(90);
pub(super) const ARRIVED_MAX: Duration = Duration::from_secs(20);

/// Starts a sidecar beside a worker that sends its traces as `traces` says.
pub(super) fn sidecar(demo: &Demo, folder: &Path, beside: (&str, u16), traces: &Value) -> Agent {
    sidecar_with(demo, folder, beside, &json!({ "traces": traces }))
}

/// Starts one with these sections in its configuration, `traces` among them.
pub(super) fn sidecar_with(
    demo: &Demo,
    folder: &Path,
    (name, worker_port): (&str, u16),
    sections: &Value,
) -> Agent {
    let properties = folder.join(format!("{name}.properties"));
    fs::write(&properties, demo.worker_properties(worker_port)).unwrap();
    let mut config = sections.clone();
    config["traces"]["service_name"] = json!(name);
    config["groups"] = json!([{ "worker_properties": properties }]);
    let file = folder.join(format!("{name}.yaml"));
    // JSON is YAML, too.
    fs::write(&file, config.to_string()).unwrap();
    let locks = port_locks().unwrap();
    let agent = Agent::start(&program(), name, Told::File(&file), (folder, &locks), None);
    let agent = agent.unwrap();
    wait_until(&format!("{name} to listen"), ARRIVED_MAX, || {
        Ok((agent.status("/livez")? == 200).then_some(()))
    })
    .unwrap();
    agent
}

/// Waits until so many traces are there; all spans of a trace come in one request.
pub(super) fn await_traces(collector: &Collector, count: usize) -> Vec<Trace> {
    wait_until(&format!("{count} traces"), ARRIVED_MAX, || {
        let traces = Trace::all(&collector.spans()?)?;
        Ok((traces.len() >= count).then_some(traces))
    })
    .unwrap()
}

#[test]
fn each_episode_is_sent_once_also_when_the_leader_and_its_sidecar_die() {
    if is_without_collector() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start().unwrap();
    let mut demo = Demo::prepare().unwrap();
    let by_http = json!({ "endpoint": collector.http_url() });
    let by_grpc = json!({ "endpoint": collector.grpc_url(), "protocol": "grpc" });
    let start = |name: &str, port, traces| sidecar(&demo, folder.path(), (name, port), traces);
    let leader = start("leader", LEADER, &by_http);
    let next = start("next", NEXT, &by_grpc);
    let third = start("third", THIRD, &by_http);
    // Others that are told to send two copies, to a collector of their own.
    let pair = Collector::start().unwrap();
    let twice = json!({ "endpoint": pair.http_url(), "copies": "2" });
    let in_twos = [("twice-1", LEADER), ("twice-2", NEXT), ("twice-3", THIRD)]
        .map(|(name, port)| start(name, port, &twice));
    let scraped = [&leader, &next, &third].map(|agent| Target::local("evenkeel", agent.port()));
    let began = seconds_now();
    let prometheus = scraping(&scraped);

    let file = capture("kill_leader");
    demo.play(&program(), &file, folder.path()).unwrap();
    demo.await_generation(GENERATIONS - 1, PLAYED_MAX).unwrap();
    await_traces(&collector, TRACES - 1);
    // The leader is dead by now; its session has not ended.
    leader.kill().unwrap();
    demo.await_generation(GENERATIONS, PLAYED_MAX).unwrap();
    let traces = await_traces(&collector, TRACES);

    // Every episode once, and no span twice: `Trace::all` refuses them.
    let episodes = episodes(&next);
    assert_eq!(episodes.len(), TRACES);
    let told: Vec<&str> = traces
        .iter()
        .map(|trace| text(&trace.root, "evenkeel.episode"))
        .collect();
    assert_eq!(told, episodes);
    let last = traces.last().unwrap();
    assert_eq!(text(&last.root, "evenkeel.cause"), "worker_lost");
    // The leader's sidecar sent until both died, then that of the next leader.
    let senders: Vec<&Value> = traces
        .iter()
        .map(|trace| &trace.root.resource["service.name"])
        .collect();
    assert_eq!(
        senders,
        ["leader", "leader", "leader", "leader", "leader", "next"]
    );

    if let Some(prometheus) = prometheus {
        exemplars_lead_to_traces(&prometheus, &traces, began);
        prometheus.stop().unwrap();
    }
    two_copies_of_each(&pair);
    for agent in [next, third].into_iter().chain(in_twos) {
        let asked = Instant::now();
        agent.stop().unwrap();
        assert!(asked.elapsed() < Duration::from_secs(5));
    }
    // What was sent at the end, if anything was.
    assert_eq!(
        Trace::all(&collector.spans().unwrap()).unwrap().len(),
        TRACES
    );
}

/// Each span came twice, the same but for who sent it: from beside the leader and from beside
/// its deputy. The first of the group had none.
fn two_copies_of_each(pair: &Collector) {
    let spans = wait_until("both copies of the last trace", ARRIVED_MAX, || {
        let spans = pair.spans()?;
        let roots = spans.iter().filter(|span| span.parent.is_none()).count();
        Ok((roots >= 2 * TRACES - 1).then_some(spans))
    })
    .unwrap();
    let mut copies: BTreeMap<(&str, &str), Vec<&Span>> = BTreeMap::new();
    for span in &spans {
        let of_it = copies.entry((&span.trace_id, &span.span_id)).or_default();
        of_it.push(span);
    }
    let alone = &spans
        .iter()
        .find(|span| span.parent.is_none())
        .unwrap()
        .trace_id;
    for of_it in copies.values() {
        if of_it[0].trace_id == *alone {
            assert_eq!(of_it.len(), 1, "{:?}", of_it[0]);
            continue;
        }
        let [one, other] = of_it.as_slice() else {
            panic!("{} copies of {:?}", of_it.len(), of_it[0]);
        };
        assert_ne!(one.resource["service.name"], other.resource["service.name"]);
        let place = |span: &Span| (span.parent.clone(), span.name.clone());
        assert_eq!(place(one), place(other));
    }
}

/// Closed episodes that have a trace, oldest first.
fn episodes(agent: &Agent) -> Vec<String> {
    let answer = agent.get("/api/v1/episodes").unwrap().json().unwrap();
    let episodes = answer.pointer("/groups/0/episodes").unwrap();
    let mut ids: Vec<String> = episodes
        .as_array()
        .unwrap()
        .iter()
        .filter(|episode| episode["trace_id"].is_string() && episode["state"] == "closed")
        .map(|episode| episode["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort_by_key(|id| id.split('@').next().unwrap().parse::<i64>().unwrap());
    ids
}

fn seconds_now() -> f64 {
    now_ms() as f64 / 1_000.0
}

fn scraping(targets: &[Target]) -> Option<Prometheus> {
    if let Some(obstacle) = Prometheus::obstacle() {
        println!("exemplars skipped: {obstacle}");
        return None;
    }
    let spec = PrometheusSpec {
        targets: targets.to_vec(),
        ..PrometheusSpec::default()
    };
    Some(Prometheus::start(&spec).unwrap())
}

/// What Prometheus kept leads to roots that the collector has; the newest episode is there.
fn exemplars_lead_to_traces(prometheus: &Prometheus, traces: &[Trace], began: f64) {
    let roots: BTreeSet<(&str, &str)> = traces
        .iter()
        .map(|trace| (trace.id.as_str(), trace.root.span_id.as_str()))
        .collect();
    let newest = traces.last().unwrap();
    let families = [
        "evenkeel_rebalance_duration_seconds_bucket",
        "evenkeel_rebalance_phase_duration_seconds_bucket",
    ];
    for family in families {
        let series = wait_until(&format!("the exemplar of {family}"), ARRIVED_MAX, || {
            let time = (began - 60.0, seconds_now() + 60.0);
            let series = prometheus.query_exemplars(family, time)?;
            let has_newest = exemplars(&series).any(|of| of["labels"]["trace_id"] == newest.id);
            Ok(has_newest.then_some(series))
        })
        .unwrap();
        for exemplar in exemplars(&series) {
            let label = |name: &str| exemplar["labels"][name].as_str().unwrap();
            let ids = (label("trace_id"), label("span_id"));
            assert!(roots.contains(&ids), "{ids:?} is no root that was sent");
        }
        // At the instant at which the episode closed, not that of a scrape.
        let closed = newest.root.end_ns as f64 / 1e9;
        let of_newest = exemplars(&series).filter(|of| of["labels"]["trace_id"] == newest.id);
        for exemplar in of_newest {
            assert!((exemplar["timestamp"].as_f64().unwrap() - closed).abs() < 0.002);
        }
    }
}

fn exemplars(series: &[Value]) -> impl Iterator<Item = &Value> {
    let lists = series.iter().filter_map(|one| one["exemplars"].as_array());
    lists.flatten()
}
