//! Every recorded scenario, derived again and compared with its truth.

use std::fs;
use std::path::{Path, PathBuf};

use evenkeel::commands::replay::replay;
use evenkeel_testbed::scenario::{compare_episodes, compare_history};
use evenkeel_testbed::truth::{Comparison, TruthLog};
use serde_json::Value;

pub(crate) fn captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let mut captures: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".evk.gz"))
        .collect();
    captures.sort();
    assert!(!captures.is_empty(), "no captures");
    captures
}

/// The captures that tell the most for their length: what is heavy runs on these at every
/// input.
const TELLING: [&str; 6] = [
    "assignment_not_taken",
    "connector_changes-3.4.1-2.5.1",
    "coordinator_away_follower",
    "eager_departures",
    "freeze_long",
    "group_expired",
];

pub(crate) fn is_telling(capture: &Path) -> bool {
    TELLING.contains(&&*name(capture))
}

/// The name of its scenario and releases.
pub(crate) fn name(capture: &Path) -> String {
    let name = capture.file_name().unwrap().to_string_lossy();
    name.trim_end_matches(".evk.gz").to_owned()
}

/// A number for each capture, the same in every run: what is done to a part of the captures,
/// or at a part of their inputs, takes turns by it.
pub(crate) fn turn(capture: &Path) -> usize {
    let letters = name(capture).into_bytes();
    letters.iter().fold(7, |turn: usize, letter| {
        turn.wrapping_mul(31).wrapping_add(usize::from(*letter))
    })
}

pub(crate) fn replayed(capture: &Path, settle: bool) -> Vec<u8> {
    let mut out = Vec::new();
    replay(capture, settle, &mut out).unwrap();
    out
}

pub(crate) fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_capture_equals_its_truth() {
    for capture in captures() {
        let truth = capture.to_string_lossy().replace(".evk.gz", ".truth.json");
        let truth: TruthLog = serde_json::from_str(&fs::read_to_string(truth).unwrap()).unwrap();
        assert!(truth.void.is_empty());
        let mut comparison = Comparison::new();
        compare_history(&mut comparison, &lines(&replayed(&capture, true)), &truth).unwrap();
        let compared = comparison.finish().unwrap();
        println!("{}: {compared} compared", capture.display());
    }
}

/// Why each group rebalanced, who left and how, and what became of lost work, as the authors
/// of the scripts know it.
#[test]
fn every_capture_tells_why() {
    let mut wrong = Vec::new();
    let mut with_expectations = 0;
    for capture in captures() {
        let truth = capture.to_string_lossy().replace(".evk.gz", ".truth.json");
        let truth: TruthLog = serde_json::from_str(&fs::read_to_string(truth).unwrap()).unwrap();
        if truth.expected.episodes.is_empty() {
            continue;
        }
        with_expectations += 1;
        let mut comparison = Comparison::new();
        compare_episodes(&mut comparison, &lines(&replayed(&capture, true)), &truth).unwrap();
        if let Err(error) = comparison.finish() {
            wrong.push(format!("{}: {error:#}", capture.display()));
        }
    }
    assert!(
        with_expectations >= 30,
        "{with_expectations} captures say why"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_same_capture_gives_the_same_bytes() {
    for capture in captures() {
        assert_eq!(replayed(&capture, true), replayed(&capture, true));
    }
}

/// Fixture connectors carry a password: it must be nowhere in what is recorded.
#[test]
fn no_capture_holds_a_secret() {
    let mut with_connectors = 0;
    for capture in captures() {
        let file = fs::File::open(&capture).unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut text)
            .unwrap();
        with_connectors += usize::from(text.contains("t:connector-"));
        for secret in ["canary", "HmacSHA256", "creation-timestamp", "\\tat "] {
            assert!(!text.contains(secret), "{secret} in {}", capture.display());
        }
    }
    assert!(
        with_connectors >= 2,
        "captures without connectors prove nothing"
    );
}

#[test]
fn a_cut_capture_tells_what_was_read() {
    let capture = &captures()[0];
    let bytes = fs::read(capture).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.evk.gz");
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let mut out = Vec::new();
    let error = replay(&cut, false, &mut out).unwrap_err();
    let text = evenkeel::commands::exit::chain(&error);
    assert!(text.contains("cut.evk.gz"), "{text}");
    let lines = lines(&out);
    assert_eq!(
        lines.last().unwrap()["line"],
        "answers",
        "what came before the cut is derived"
    );
    fs::write(&cut, b"no capture at all").unwrap();
    let text = evenkeel::commands::exit::chain(&replay(&cut, false, Vec::new()).unwrap_err());
    assert!(text.contains("not an evenkeel capture"), "{text}");
}
