//! Every time that is told of a recorded scenario lies where the logs say; how well they are
//! known is kept in `docs/accuracy.md`.

use std::fs;
use std::path::Path;

use evenkeel::commands::replay::replay;
use evenkeel::read::capture::CaptureReader;
use evenkeel_core::facts::input::InputKind;
use evenkeel_core::facts::poll::PollAnswer;
use evenkeel_testbed::scenario::{Cell, Poll, accuracy, tables};
use evenkeel_testbed::truth::TruthLog;

use crate::replays::{captures, lines};

/// The polls of a recording that were answered.
fn polls(capture: &Path) -> Vec<Poll> {
    let inputs = CaptureReader::open(capture).unwrap().map(Result::unwrap);
    inputs
        .filter_map(|input| match input.kind {
            InputKind::Polled(polled) => match polled.answer {
                PollAnswer::Failed(_) => None,
                _ => Some((polled.asked.0, input.at.0)),
            },
            _ => None,
        })
        .collect()
}

fn cells() -> (Vec<Cell>, usize) {
    let mut cells = Vec::new();
    let mut without = 0;
    for capture in captures() {
        let name = capture.file_name().unwrap().to_string_lossy();
        let name = name.trim_end_matches(".evk.gz").to_owned();
        let truth = capture.to_string_lossy().replace(".evk.gz", ".truth.json");
        let truth: TruthLog = serde_json::from_str(&fs::read_to_string(truth).unwrap()).unwrap();
        if truth.stints.is_empty() {
            without += 1;
            continue;
        }
        let mut out = Vec::new();
        replay(&capture, true, &mut out).unwrap();
        let polls = polls(&capture);
        cells.extend(accuracy(&name, &lines(&out), (&truth, &polls)).unwrap());
    }
    (cells, without)
}

#[test]
fn every_time_is_where_the_logs_say() {
    let (cells, _) = cells();
    assert!(cells.len() > 1_000, "{}", cells.len());
    let wrong: Vec<String> = cells
        .iter()
        .filter(|cell| cell.is_wrong())
        .map(ToString::to_string)
        .collect();
    println!("{}", tables(&cells));
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
