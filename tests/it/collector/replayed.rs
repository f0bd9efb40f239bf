//! Recorded scenarios, sent by `evenkeel replay --otlp`: the tree, its order and its times;
//! the same again; and from what several sidecars saw.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use evenkeel_testbed::truth::TruthLog;
use evenkeel_testbed::{Collector, Span, Trace, wait_until};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::{
    PROTOCOLS, capture, generation, is_without_collector, send, sent, text, url, with_a_trace,
};

/// Each shows something else: who left and how, delays, revocations, storms of a rollout,
/// a lost coordinator, a group that dies and comes again, a clock that is off.
const SCENARIOS: [&str; 14] = [
    "clock_behind",
    "connector_changes",
    "consecutive_revocations",
    "coordinator_away_all",
    "eager_departures",
    "flapping_worker",
    "freeze_long",
    "group_expired",
    "incident",
    "kill_back_inside",
    "kill_leader",
    "membership",
    "rolling_upgrade",
    "rollout",
];

const ARRIVED_MAX: Duration = Duration::from_secs(20);

/// What instants that records date may be off from those of the logs: two clocks of one
/// machine, and a log line that is written a moment later.
const DATED_NS_MAX: u64 = 20_000_000;

/// All spans, once there are so many traces and no half of one.
fn arrived(collector: &Collector, traces: usize) -> Vec<Span> {
    wait_until("all traces", ARRIVED_MAX, || {
        let spans = collector.spans()?;
        let ids: BTreeSet<&str> = spans.iter().map(|span| span.trace_id.as_str()).collect();
        Ok((ids.len() >= traces).then_some(spans))
    })
    .unwrap()
}

#[test]
fn recorded_scenarios_are_whole_trees_over_both_protocols() {
    if is_without_collector() {
        return;
    }
    let collectors = PROTOCOLS.map(|protocol| (protocol, Collector::start().unwrap()));
    let mut before = 0;
    for name in SCENARIOS {
        let file = capture(name);
        let mut both = Vec::new();
        for (protocol, collector) in &collectors {
            let lines = sent(&file, &url(collector, protocol), protocol);
            let expected = with_a_trace(&lines).len();
            assert!(expected > 0, "{name} has no trace");
            let mut spans = arrived(collector, before + expected);
            // Traces of one group and another time have other ids.
            let known = both.len();
            assert!(known < 2);
            let of_it = mine(&mut spans, &lines);
            let traces = Trace::all(&of_it).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            equal_to_what_is_told(name, &traces, &lines);
            equal_to_the_truth(name, &traces, &file);
            both.push((traces, expected));
        }
        let (by_http, by_grpc) = (&both[0], &both[1]);
        assert_eq!(by_http.0, by_grpc.0, "{name}: http and grpc differ");
        before += by_http.1;
    }
    for (_, collector) in &collectors {
        // Nothing came but what was looked at.
        let spans = collector.spans().unwrap();
        assert_eq!(Trace::all(&spans).unwrap().len(), before);
        holds_no_secret(&collector.text().unwrap());
    }
    println!("{before} traces of {} scenarios", SCENARIOS.len());
}

/// Those of the episodes of this replay.
fn mine(spans: &mut Vec<Span>, lines: &[Value]) -> Vec<Span> {
    let episodes = with_a_trace(lines);
    let episodes: BTreeSet<&str> = episodes.iter().filter_map(|e| e["id"].as_str()).collect();
    let traces: BTreeSet<String> = spans
        .iter()
        .filter(|span| span.parent.is_none() && episodes.contains(text(span, "evenkeel.episode")))
        .map(|span| span.trace_id.clone())
        .collect();
    spans.retain(|span| traces.contains(&span.trace_id));
    std::mem::take(spans)
}

/// The root is the episode, its rounds are rounds in their order, and instants are those that
/// the same program prints.
fn equal_to_what_is_told(name: &str, traces: &[Trace], lines: &[Value]) {
    let episodes = with_a_trace(lines);
    assert_eq!(traces.len(), episodes.len(), "{name}");
    for (trace, episode) in traces.iter().zip(episodes) {
        let root = &trace.root;
        let told = format!("{name} {}:\n{}", episode["id"], trace.show());
        assert_eq!(root.name, "rebalance", "{told}");
        assert_eq!(text(root, "evenkeel.episode"), episode["id"], "{told}");
        assert_eq!(text(root, "evenkeel.cause"), episode["cause"], "{told}");
        assert_eq!(text(root, "evenkeel.outcome"), episode["outcome"], "{told}");
        assert_eq!(text(root, "messaging.system"), "kafka", "{told}");
        assert_eq!(text(root, "messaging.consumer.group.name"), "connect");
        assert_eq!(root.resource["service.name"], "evenkeel", "{told}");
        assert_eq!(ns(&episode["closed"]), root.end_ns, "{told}");
        assert!(root.start_ns <= ns(&episode["began"]), "{told}");
        // Each round once, in the order of the log; below it its join, then its sync.
        let rounds: Vec<&Span> = trace.named("round").collect();
        let of_episode = episode["rounds"].as_array().unwrap();
        assert_eq!(rounds.len(), of_episode.len(), "{told}");
        for (span, round) in rounds.iter().zip(of_episode) {
            assert_eq!(span.parent.as_deref(), Some(root.span_id.as_str()));
            assert_eq!(round["generation"], generation(span), "{told}");
            assert_eq!(text(span, "evenkeel.cause"), round["cause"], "{told}");
            let inner: BTreeMap<&str, &Span> = trace
                .children(span)
                .map(|inner| (inner.name.as_str(), inner))
                .collect();
            let join = inner.get("join").unwrap_or_else(|| panic!("{told}"));
            assert_eq!(join.end_ns, ns(&round["join_ended"]), "{told}");
            if !round["sync"].is_null() {
                let sync = inner.get("sync").unwrap_or_else(|| panic!("{told}"));
                assert_eq!(
                    (sync.start_ns, sync.end_ns),
                    (join.end_ns, ns(&round["recorded"]))
                );
            }
            for kind in ["stop", "start"] {
                let spans = trace.children(span).filter(|inner| inner.name == kind);
                let workers = round["workers"].as_array().into_iter().flatten();
                let told_by = workers.filter(|worker| !worker[format!("{kind}s")].is_null());
                assert_eq!(spans.count(), told_by.count(), "{kind} {told}");
            }
        }
        let known = ["round", "join", "sync", "stop", "start", "task", "parked"];
        for span in &trace.below {
            assert!(
                known.contains(&span.name.as_str()),
                "{} in {told}",
                span.name
            );
        }
        let left = episode["departures"].as_array().map_or(0, Vec::len);
        let events = root
            .events
            .iter()
            .filter(|event| event.name == "member left");
        assert_eq!(events.count(), left, "{told}");
        let follows = episode["follows"].as_str();
        let links: Vec<&str> = traces
            .iter()
            .filter(|other| root.links.iter().any(|link| link.trace_id == other.id))
            .map(|other| text(&other.root, "evenkeel.episode"))
            .collect();
        assert_eq!(links.first().copied(), follows, "{told}");
    }
}

/// Every generation that the broker's log tells of is in one round, its join ends when the
/// broker says, and its record is the leader's assignment.
fn equal_to_the_truth(name: &str, traces: &[Trace], capture: &Path) {
    let truth = capture.to_string_lossy().replace(".evk.gz", ".truth.json");
    let truth: TruthLog = serde_json::from_str(&fs::read_to_string(truth).unwrap()).unwrap();
    let joins: Vec<&Span> = traces
        .iter()
        .flat_map(|trace| trace.named("join"))
        .collect();
    let mut compared = 0;
    for generation_of in truth.generations.iter().filter(|of| of.generation > 0) {
        let end_ns = u64::try_from(generation_of.join_end_ms).unwrap() * 1_000_000;
        let same = joins.iter().filter(|join| {
            generation(join) == generation_of.generation
                && join.end_ns.abs_diff(end_ns) <= DATED_NS_MAX
        });
        let count = same.count();
        let is_numbered = joins
            .iter()
            .any(|join| generation(join) == generation_of.generation);
        assert!(
            count <= 1,
            "{name}: generation {} twice",
            generation_of.generation
        );
        // A generation without a record has no span; and one of an episode without a trace.
        if is_numbered && truth.skews_ms.is_empty() {
            assert_eq!(
                count, 1,
                "{name}: generation {} joined at {}",
                generation_of.generation, generation_of.join_end_ms
            );
            compared += 1;
        }
    }
    assert!(
        compared > 1 || !truth.skews_ms.is_empty(),
        "{name}: {compared} compared"
    );
}

/// Milliseconds of a line of the replay as nanoseconds.
fn ns(ms: &Value) -> u64 {
    ms.as_u64().unwrap() * 1_000_000
}

fn holds_no_secret(text: &str) {
    assert!(text.contains("evenkeel.episode"), "nothing came");
    // What fixture connectors and the workers' session keys hold, and a line of a stack trace.
    for secret in [
        "canary",
        "HmacSHA256",
        "creation-timestamp",
        "\\tat ",
        "\\n\\tat",
    ] {
        assert!(!text.contains(secret), "{secret} reached the collector");
    }
}

#[test]
fn sent_twice_a_span_is_the_same_span() {
    if is_without_collector() {
        return;
    }
    let collector = Collector::start().unwrap();
    let file = capture("rollout");
    let mut traces = 0;
    for protocol in PROTOCOLS {
        traces = with_a_trace(&sent(&file, &url(&collector, protocol), protocol)).len();
    }
    let all = wait_until("both copies", ARRIVED_MAX, || {
        let spans = collector.spans()?;
        let roots = spans.iter().filter(|span| span.parent.is_none()).count();
        Ok((roots == 2 * traces).then_some(spans))
    })
    .unwrap();
    let once = Trace::once(&all).unwrap();
    assert_eq!(once.len() * 2, all.len());
    assert_eq!(Trace::all(&once).unwrap().len(), traces);
}

/// What one sidecar sees differs from what another does in polls and arrivals alone.
#[test]
fn what_three_sidecars_saw_is_one_trace_of_each_episode() {
    if is_without_collector() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start().unwrap();
    for name in ["kill_back_inside", "consecutive_revocations"] {
        let before = collector.spans().unwrap();
        let without_polls = |line: &mut Value| line["kind"] != "polled";
        let late = |line: &mut Value| {
            for arrival in ["at", "asked"] {
                if let Some(at) = line[arrival].as_i64() {
                    line[arrival] = (at + 40).into();
                }
            }
            true
        };
        let views = [
            capture(name),
            seen_otherwise(name, folder.path().join("polls.evk.gz"), &without_polls),
            seen_otherwise(name, folder.path().join("late.evk.gz"), &late),
        ];
        let mut traces = 0;
        for view in &views {
            let lines = sent(view, &collector.http_url(), "http/protobuf");
            traces = with_a_trace(&lines).len();
        }
        let known: BTreeSet<&str> = before.iter().map(|span| span.span_id.as_str()).collect();
        let spans = wait_until("three copies", ARRIVED_MAX, || {
            let mut spans = collector.spans()?;
            spans.retain(|span| !known.contains(span.span_id.as_str()));
            let roots = spans.iter().filter(|span| span.parent.is_none()).count();
            Ok((roots == 3 * traces).then_some(spans))
        })
        .unwrap();
        // The same spans, in the same places, ending at the same instants; polls alone say
        // when a join began.
        let mut by_id: BTreeMap<&str, Vec<&Span>> = BTreeMap::new();
        for span in &spans {
            by_id.entry(&span.span_id).or_default().push(span);
        }
        for (id, copies) in by_id {
            assert_eq!(copies.len(), 3, "{name}: {} {id}", copies[0].name);
            for copy in &copies {
                let place = |span: &Span| {
                    let begins = matches!(span.name.as_str(), "rebalance" | "round" | "join");
                    // A delay is over when the next join begins.
                    let ends = span.name == "parked";
                    (
                        span.trace_id.clone(),
                        span.parent.clone(),
                        span.name.clone(),
                        (!begins).then_some(span.start_ns),
                        (!ends).then_some(span.end_ns),
                    )
                };
                assert_eq!(place(copy), place(copies[0]), "{name}");
            }
        }
    }
}

/// The capture as another sidecar would have recorded it.
fn seen_otherwise(name: &str, to: PathBuf, seen: &dyn Fn(&mut Value) -> bool) -> PathBuf {
    let mut text = String::new();
    let file = fs::File::open(capture(name)).unwrap();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    let mut out = GzEncoder::new(fs::File::create(&to).unwrap(), Compression::fast());
    let mut inputs = 0;
    for (place, line) in text.lines().enumerate() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        // The first line is the header, the last says how many there are between.
        if value["kind"] == "end" {
            value["inputs"] = inputs.into();
        } else if place > 0 && !seen(&mut value) {
            continue;
        }
        writeln!(out, "{value}").unwrap();
        inputs += i64::from(place > 0);
    }
    out.finish().unwrap();
    to
}

#[test]
fn over_tls_it_is_sent_to_nobody_but_who_is_trusted() {
    if is_without_collector() {
        return;
    }
    let collector = Collector::start_with_tls().unwrap();
    let stranger = Collector::start_with_tls().unwrap();
    let file = capture("kill_leader");
    let authority = collector.authority();
    let wrong = stranger.authority();
    for protocol in PROTOCOLS {
        let url = url(&collector, protocol);
        let (wrong, right) = (wrong.to_string_lossy(), authority.to_string_lossy());
        // OpenSSL's own variable adds nothing to whom a configuration trusts.
        let asked = [
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", &*wrong),
            ("SSL_CERT_FILE", &*right),
        ];
        let output = send(&file, &url, protocol, &asked);
        assert!(
            !output.status.success(),
            "{protocol}: an authority that is not trusted"
        );
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("certificate"), "{protocol}: {told}");
    }
    assert!(collector.spans().unwrap().is_empty());
    // Where nobody is named it is whom the system trusts, and that variable.
    for (protocol, variable) in [
        ("http/protobuf", "OTEL_EXPORTER_OTLP_CERTIFICATE"),
        ("grpc", "OTEL_EXPORTER_OTLP_CERTIFICATE"),
        ("http/protobuf", "SSL_CERT_FILE"),
    ] {
        let file_of = authority.to_string_lossy().into_owned();
        let asked = [(variable, file_of.as_str())];
        let output = send(&file, &url(&collector, protocol), protocol, &asked);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let traces = with_a_trace(&crate::replays::lines(&output.stdout)).len();
        arrived(&collector, traces);
    }
    assert!(!Trace::once(&collector.spans().unwrap()).unwrap().is_empty());
}
