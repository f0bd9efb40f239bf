//! Traces against an OpenTelemetry Collector, and exemplars against a Prometheus, neither
//! written here: what arrives is read back and held against what the same program says of
//! the same capture, and against the truth of the scenario.

mod beside;
mod faults;
mod replayed;
mod restarted;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use evenkeel_testbed::{Collector, Span};
use serde_json::Value;

/// The protocols of OTLP, as the environment names them.
const PROTOCOLS: [&str; 2] = ["http/protobuf", "grpc"];

/// Whether there is no collector here; tells why.
fn is_without_collector() -> bool {
    let obstacle = Collector::obstacle().unwrap();
    if let Some(obstacle) = &obstacle {
        println!("skipped: no collector: {obstacle}");
    }
    obstacle.is_some()
}

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_evenkeel"))
}

fn capture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    folder.join(format!("{name}.evk.gz"))
}

/// Where a collector takes this protocol.
fn url(collector: &Collector, protocol: &str) -> String {
    match protocol {
        "grpc" => collector.grpc_url(),
        _ => collector.http_url(),
    }
}

/// `evenkeel replay --otlp`.
fn send(capture: &Path, url: &str, protocol: &str, variables: &[(&str, &str)]) -> Output {
    Command::new(program())
        .env_clear()
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
        .envs(variables.iter().copied())
        .args(["replay", "--settle", "--otlp", url])
        .arg(capture)
        .output()
        .unwrap()
}

/// What it printed, if it ended well.
fn sent(capture: &Path, url: &str, protocol: &str) -> Vec<Value> {
    let output = send(capture, url, protocol, &[]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {told}", capture.display());
    crate::replays::lines(&output.stdout)
}

/// The episodes that have a trace: they are over, were read from their first record on, and
/// are not the rest of one that was not.
fn with_a_trace(lines: &[Value]) -> Vec<&Value> {
    let closed = lines.iter().filter(|line| line["line"] == "closed");
    let episodes = closed.map(|line| &line["episode"]);
    episodes
        .filter(|episode| episode["whole"] == true)
        .collect()
}

fn text<'a>(span: &'a Span, name: &str) -> &'a str {
    span.attributes
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or("")
}

fn generation(span: &Span) -> i64 {
    let generation = span.attributes.get("evenkeel.generation");
    generation.and_then(Value::as_i64).unwrap()
}
