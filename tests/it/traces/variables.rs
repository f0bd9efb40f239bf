//! OpenTelemetry's variables before the program: what cannot be used is told, quotes no secret, and
//! keeps the agent from nothing.

use std::process::{Command, Output};

const WATCHED: [&str; 8] = [
    "--bootstrap",
    "127.0.0.1:1",
    "--group",
    "g",
    "--config-topic",
    "c",
    "--status-topic",
    "s",
];

fn checked(variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .env_clear()
        .envs(variables.iter().copied())
        .args(["config", "--check"])
        .args(WATCHED)
        .output()
        .unwrap()
}

fn warnings(output: &Output) -> Vec<String> {
    let told = String::from_utf8_lossy(&output.stderr);
    let lines = told.lines().filter(|line| line.starts_with("warning: "));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_variable_that_cannot_be_used_is_a_warning() {
    let here = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://127.0.0.1:1");
    let all = [
        here,
        ("OTEL_SDK_DISABLED", "no"),
        ("OTEL_TRACES_EXPORTER", "otpl"),
        ("OTEL_RESOURCE_ATTRIBUTES", "canary"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=canary%0A"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/no/such/key.pem"),
    ];
    let output = checked(&all);
    let told = warnings(&output);
    assert!(output.status.success(), "{told:?}");
    for (name, _) in &all[1..] {
        let of_it = told
            .iter()
            .filter(|line| line.contains(&format!("{name}: ")));
        assert_eq!(of_it.count(), 1, "{name} in {told:?}");
    }
    assert_eq!(told.len(), all.len() - 1);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("canary"), "{text}");
    // A file may still come.
    let file = ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/no/such/ca.pem");
    let output = checked(&[here, file]);
    assert!(output.status.success());
    let [told] = &warnings(&output)[..] else {
        panic!("{output:?}");
    };
    assert!(
        told.contains("OTEL_EXPORTER_OTLP_CERTIFICATE: found /no/such/ca.pem"),
        "{told}"
    );
    assert!(
        told.ends_with("no trace is sent until it is there"),
        "{told}"
    );
    assert!(warnings(&checked(&[here])).is_empty());
}

#[test]
fn the_same_in_the_configuration_is_a_mistake() {
    for (name, value, path) in [
        ("EVENKEEL_TRACES_TIMEOUT_MS", "3", "traces.timeout_ms"),
        (
            "EVENKEEL_TRACES_ENDPOINT",
            "collector:4318",
            "traces.endpoint",
        ),
        ("EVENKEEL_TRACES_PROTOCOL", "http/json", "traces.protocol"),
        (
            "EVENKEEL_TRACES_CA_FILE",
            "/no/such/ca.pem",
            "traces.ca_file",
        ),
    ] {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://127.0.0.1:1");
        let output = checked(&[endpoint, (name, value)]);
        assert_eq!(output.status.code(), Some(78), "{name}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(&format!("{path}: found ")), "{told}");
    }
}
