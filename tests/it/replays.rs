//! Every recorded scenario, derived again and compared with its truth.

use std::fs;
use std::path::{Path, PathBuf};

use evenkeel::commands::replay::replay;
use evenkeel_testbed::scenario::compare_history;
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

fn replayed(capture: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    replay(capture, &mut out).unwrap();
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
        compare_history(&mut comparison, &lines(&replayed(&capture)), &truth).unwrap();
        let compared = comparison.finish().unwrap();
        println!("{}: {compared} compared", capture.display());
    }
}

#[test]
fn the_same_capture_gives_the_same_bytes() {
    for capture in captures() {
        assert_eq!(replayed(&capture), replayed(&capture));
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
    let error = replay(&cut, &mut out).unwrap_err();
    let text = evenkeel::commands::exit::chain(&error);
    assert!(text.contains("cut.evk.gz"), "{text}");
    let lines = lines(&out);
    assert_eq!(
        lines.last().unwrap()["line"],
        "answers",
        "what came before the cut is derived"
    );
    fs::write(&cut, b"no capture at all").unwrap();
    let text = evenkeel::commands::exit::chain(&replay(&cut, Vec::new()).unwrap_err());
    assert!(text.contains("not an evenkeel capture"), "{text}");
}
