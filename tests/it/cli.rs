//! The program as a person or a script meets it: what it refuses, how it ends, and that
//! its help is true.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn evenkeel(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn incident() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = folder.join("tests/captures/incident.evk.gz");
    file.to_str().unwrap().to_owned()
}

const GROUP: [&str; 8] = [
    "--bootstrap",
    "127.0.0.1:1",
    "--group",
    "g",
    "--config-topic",
    "c",
    "--status-topic",
    "s",
];

/// It may be the only recording of an incident.
#[test]
fn a_file_that_exists_is_not_recorded_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("before.evk.gz");
    fs::write(&file, "what was recorded before").unwrap();
    let output = evenkeel(&["capture", file.to_str().unwrap()])
        .args(GROUP)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let told = told(&output);
    assert!(told.contains("before.evk.gz"), "{told}");
    assert!(told.contains("exists"), "{told}");
    let kept = fs::read_to_string(&file).unwrap();
    assert_eq!(kept, "what was recorded before");
}

/// `evenkeel replay FILE | head`: whoever read it has seen enough.
#[test]
fn output_that_nobody_reads_is_no_failure() {
    let incident = incident();
    for args in [&["replay", incident.as_str()][..], &["metrics"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = evenkeel(args).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(told(&output), "", "{args:?}");
    }
}

/// The example asks for lines that there are, and every kind of line is told of.
#[test]
fn the_help_of_replay_is_true() {
    let help = evenkeel(&["replay", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let replayed = evenkeel(&["replay", &incident()]).output().unwrap();
    let text = String::from_utf8(replayed.stdout).unwrap();
    let mut kinds: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| line["line"].as_str().unwrap().to_owned())
        .collect();
    let (_, example) = help.split_once("select(.line == \"").unwrap();
    let (example, _) = example.split_once('"').unwrap();
    assert!(kinds.iter().any(|kind| kind == example), "{example}");
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        assert!(help.contains(&format!("`{kind}`")), "{kind}");
    }
}
