//! The commands in the runbooks on a sidecar that watches a group: whoever copies one at night
//! gets an answer.
//!
//! Skipped, with a line that says so, where `bash`, `curl` or `jq` is missing.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use evenkeel_testbed::{request, wait_until};
use serde_json::Value;

use super::scraped::demo;

const WAIT_MAX: Duration = Duration::from_secs(60);

/// What stands for something in a command, and something.
const FILLED: [(&str, &str); 4] = [
    ("NAME", "alpha"),
    ("HOST:PORT", "a:1"),
    ("…", "a:1"),
    // Tables need it.
    ("\\|", "|"),
];

/// Quoted commands, and quoted addresses that are to be asked.
fn commands(page: &str) -> Vec<String> {
    let quoted = page
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let command = |text: &str| {
        let text = FILLED.iter().fold(text.to_owned(), |text, (sign, value)| {
            text.replace(sign, value)
        });
        if let Some(rest) = text.strip_prefix("curl -s ") {
            Some(format!("curl -sS --fail {rest}"))
        } else {
            let is_address = text.starts_with("/api/") || text.starts_with("/readyz");
            is_address.then(|| format!("curl -sS --fail \"SIDECAR{text}\""))
        }
    };
    quoted.filter_map(command).collect()
}

fn pages() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/runbooks");
    let pages = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    pages.collect()
}

#[test]
fn every_command_of_the_runbooks_is_answered() {
    for tool in ["bash", "curl", "jq"] {
        if Command::new(tool).arg("--version").output().is_err() {
            println!("skipped: there is no {tool}");
            return;
        }
    }
    let demo = demo();
    let (_, port) = demo.address.rsplit_once(':').unwrap();
    let port = port.parse().unwrap();
    let group = |path: &str| -> anyhow::Result<Value> {
        let answer = request(port, "GET", path, None, Duration::from_secs(5))?;
        let told: Value = serde_json::from_str(&answer.body)?;
        Ok(told["groups"][0].clone())
    };
    wait_until("a group with an episode", WAIT_MAX, || {
        let state = group("/api/v1/state")?;
        let is_known = state["group"]["members"].is_array() && state["pattern"].is_object();
        let told = group("/api/v1/episodes")?;
        let has_one = told["episodes"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        Ok((is_known && has_one && state["current"] == true).then_some(()))
    })
    .unwrap();
    let (mut asked, mut wrong) = (0, Vec::new());
    for (page, text) in pages() {
        for command in commands(&text) {
            asked += 1;
            let line = command
                .replace("THAT_SIDECAR", &demo.address)
                .replace("SIDECAR", &demo.address);
            let script = format!("set -o pipefail; {line}");
            let output = Command::new("bash").args(["-c", &script]).output().unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            let error = String::from_utf8_lossy(&output.stderr);
            // A field that is called otherwise is null to jq.
            if !output.status.success() || told.lines().any(|line| line == "null") {
                wrong.push(format!("{page}: {command}: {error}{told:.200}"));
            }
        }
    }
    assert!(asked > 40, "{asked}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn commands_are_what_is_quoted() {
    let page = "1. `curl -s \"SIDECAR/api/v1/episodes?since=1h&worker=HOST:PORT\"`, or `/readyz`; `up`.\n\
        | `curl -s SIDECAR/api/v1/state \\| jq '.groups'` |\n";
    assert_eq!(
        commands(page),
        [
            "curl -sS --fail \"SIDECAR/api/v1/episodes?since=1h&worker=a:1\"",
            "curl -sS --fail \"SIDECAR/readyz\"",
            "curl -sS --fail SIDECAR/api/v1/state | jq '.groups'",
        ]
    );
}
