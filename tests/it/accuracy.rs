//! Every time that is told of a recorded scenario lies where the logs say; how well they are
//! known is kept in `docs/accuracy.md`.

use std::fs;
use std::path::Path;

use evenkeel::commands::replay::replay;
use evenkeel::read::capture::CaptureReader;
use evenkeel_core::facts::input::InputKind;
use evenkeel_core::facts::poll::PollAnswer;
use evenkeel_testbed::scenario::{Cell, Kind, Poll, accuracy, tables};
use evenkeel_testbed::truth::{Step, Stint, TruthGeneration, TruthLog, Verb, What};

use crate::replays::{captures, lines, name};

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

fn truth_of(capture: &Path) -> TruthLog {
    let truth = capture.to_string_lossy().replace(".evk.gz", ".truth.json");
    serde_json::from_str(&fs::read_to_string(truth).unwrap()).unwrap()
}

fn cells_of(capture: &Path, truth: &TruthLog) -> Vec<Cell> {
    let mut out = Vec::new();
    replay(capture, true, &mut out).unwrap();
    accuracy(&name(capture), &lines(&out), (truth, &polls(capture))).unwrap()
}

/// Of all recordings whose truth has stints, and how many have none.
fn cells() -> (Vec<Cell>, usize) {
    let mut cells = Vec::new();
    let mut without = 0;
    for capture in captures() {
        let truth = truth_of(&capture);
        if truth.stints.is_empty() {
            without += 1;
            continue;
        }
        cells.extend(cells_of(&capture, &truth));
    }
    (cells, without)
}

/// Where what is told is wrong, and why: `(kind, recording, what)` as in [`Cell`]. Another
/// wrong cell fails the test, and so does one of these that is right.
const KNOWN: [(Kind, &str, &str, &str); 7] = [
    (
        Kind::Join,
        "delay_zero",
        "generation 1",
        "Arrivals of polls are put on the coordinator's clock with the delay of the fastest \
         record so far, and the only one was read 0.2 s after it was written. The truth lies in \
         the interval of the polls as they arrived.",
    ),
    (
        Kind::Active,
        "clock_behind",
        "generations 7 to 8",
        "The end is the last start of the worker whose clock is behind, which is known to \
         seconds only (see the start phase of generation 8); the active time does not say so.",
    ),
    (
        Kind::Active,
        "clock_behind",
        "generations 11 to 12",
        "The same.",
    ),
    (
        Kind::Active,
        "group_expired",
        "generations 5 to 5",
        "A worker that had not read the whole config topic stopped a task by itself and started \
         it again after the round. No record told it to, so nobody waits for that start.",
    ),
    (
        Kind::Active,
        "eager_latecomer",
        "generations 7 to 15",
        "A connector was handed to a worker that runs it already, since an eager round had left it \
         there: that worker refuses to start it and writes no status, so its start is waited \
         for through the delays that follow (docs/kafka-facts.md).",
    ),
    (
        Kind::ActiveByLogs,
        "eager_latecomer",
        "generations 7 to 15",
        "The same.",
    ),
    (
        Kind::Parked,
        "eager_latecomer",
        "generations 7 to 15",
        "The same.",
    ),
];

const HEAD: &str = "# How well times are known

Every time that evenkeel tells of a recorded scenario (`tests/captures`), held against the truth beside it: what brokers, workers
and the script logged. `tests/it/accuracy.rs` makes this file; a wrong value that is not listed at the end fails the build.

The truth is an interval, too. A status is written between two lines of a worker's log, a configuration record somewhere
within the call that led to it; where no read-back was logged the interval has no end. A value is *wrong* if the interval that is told
and that of the truth do not meet, with 20 ms for what a broker's line and its record differ (100 ms before Kafka 4.0, 250 ms for the
first record of a group), or if the interval of a join is wider than from one poll to the answer of the next
(and those 20 ms, for the way of a record). So a wide truth
proves little: its width is the last column.

*Error*: how far the one number that is told (exact, or in an interval) is from the nearest that may be true. *Width*: of the
intervals that are told. Both in milliseconds: median / 95 % / largest. *At least* and *at most* are one-sided, and no error is
computed of them. *Unmeasured*: it happened, the logs show it, and evenkeel says that it does not know.

What this says nothing of: networks (all is loopback), machines with more than two cores or less load (clusters ran on two, with
tools beside them, so joins and starts are longer here than elsewhere), brokers whose clocks differ (all have the machine's), groups
of more than six workers, and phases of single workers, of which only the slowest is compared. Polls were made twice a second, as
beside a leader. Recordings without stints in their truth are left out, and so are phases that the logs themselves do not tell:
a member that applied nothing, a stop that the worker gave up waiting for.

";

fn list_of_known(cells: &[Cell]) -> String {
    let mut text = String::from("## Values that are wrong\n\n");
    for (kind, recording, what, why) in KNOWN {
        let found = cells.iter().find(|cell| is(cell, kind, recording, what));
        text.push_str(&format!("- {}. {why}\n", found.unwrap()));
    }
    text
}

fn is(cell: &Cell, kind: Kind, recording: &str, what: &str) -> bool {
    cell.is_wrong() && cell.kind == kind && cell.recording == recording && cell.what == what
}

/// As the other files that the code writes and the repository holds.
#[track_caller]
fn committed(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let mut lines = found.lines().zip(text.lines());
    let first = lines.find(|(found, made)| found != made);
    assert!(
        found == text,
        "{} is out of date: run the tests with UPDATE_GOLDEN=1; first difference: {first:?}",
        path.display()
    );
}

#[test]
fn every_time_is_where_the_logs_say() {
    let (cells, without) = cells();
    assert!(cells.len() > 2_000, "{}", cells.len());
    assert!(without <= 7, "{without} recordings prove nothing");
    let is_known = |cell: &&Cell| {
        let mut known = KNOWN.iter();
        known.any(|(kind, recording, what, _)| is(cell, *kind, recording, what))
    };
    let wrong: Vec<&Cell> = cells.iter().filter(|cell| cell.is_wrong()).collect();
    let new: Vec<String> = wrong
        .iter()
        .filter(|cell| !is_known(cell))
        .map(ToString::to_string)
        .collect();
    assert!(new.is_empty(), "{} wrong:\n{}", new.len(), new.join("\n"));
    assert_eq!(wrong.len(), KNOWN.len(), "right, and still listed as wrong");
    let text = format!("{HEAD}{}{}", tables(&cells), list_of_known(&cells));
    committed("docs/accuracy.md", &text);
}

/// A comparison that cannot fail proves nothing: with a truth that is changed, it does.
#[test]
fn a_wrong_time_is_found() {
    let wrong = |name: &str, kind: Kind, change: &dyn Fn(&mut TruthLog)| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
        let capture = folder.join(format!("{name}.evk.gz"));
        let count = |truth: &TruthLog| {
            let cells = cells_of(&capture, truth);
            let wrong = cells.iter().filter(|c| c.kind == kind && c.is_wrong());
            wrong.count()
        };
        let mut truth = truth_of(&capture);
        let before = count(&truth);
        change(&mut truth);
        assert!(count(&truth) > before, "{kind:?} of {name}");
    };
    let all = |truth: &mut TruthLog, change: fn(&mut TruthGeneration)| {
        truth.generations.iter_mut().for_each(change);
    };
    let stints = |truth: &mut TruthLog, change: fn(&mut Stint)| {
        truth.stints.iter_mut().for_each(change);
    };
    let later = |ms: Option<i64>| ms.map(|ms| ms + 20_000);
    wrong("kill_never", Kind::Sync, &|truth| {
        all(truth, |one| {
            one.assignment_ms = one.assignment_ms.map(|ms| ms + 300)
        });
    });
    wrong("kill_never", Kind::Join, &|truth| {
        all(truth, |one| {
            one.prepared_ms = one.prepared_ms.map(|ms| ms - 1_500)
        });
    });
    for kind in [Kind::Start, Kind::Active] {
        wrong("kill_never", kind, &|truth| {
            for event in &mut truth.events {
                if matches!(
                    event.what,
                    What::Item {
                        step: Step::StartEnds,
                        ..
                    }
                ) {
                    event.at_ms += 20_000;
                }
            }
            truth
                .stints
                .iter_mut()
                .for_each(|one| one.running_read_ms = later(one.running_read_ms));
        });
    }
    wrong("grace_ends", Kind::Stop, &|truth| {
        stints(truth, |one| {
            for at in [
                &mut one.stop_ended_ms,
                &mut one.stopped_ms,
                &mut one.unassigned_read_ms,
            ] {
                *at = at.map(|ms| ms + 20_000);
            }
        });
    });
    wrong("clock_behind", Kind::Skew, &|truth| truth.skews_ms.clear());
    wrong("kill_never", Kind::Died, &|truth| {
        for event in &mut truth.events {
            if matches!(
                event.what,
                What::Script {
                    verb: Verb::Kill,
                    ..
                }
            ) {
                event.at_ms -= 100_000;
                let What::Script { ended_ms, .. } = &mut event.what else {
                    continue;
                };
                *ended_ms -= 100_000;
            }
        }
    });
    wrong("kill_never", Kind::Parked, &|truth| {
        all(truth, |one| {
            one.prepared_ms = one.prepared_ms.map(|ms| ms - 1_500)
        });
    });
    wrong("kill_never", Kind::Lost, &|truth| {
        stints(truth, |one| {
            one.killed_ms = one.killed_ms.map(|ms| ms + 15_000)
        });
    });
}
