//! Records that the reader left out since there were too many: what lies between is not
//! known, and nothing is made of it.

use evenkeel_core::answers::{Answers, Mode, Outcome};
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{Ends, Input, InputKind, Reached, Sampled, Topic};
use evenkeel_core::facts::time::ArrivalTime;

use crate::dsl::{BASE_MS, Step, inputs};

/// A worker that is told to stop something, and claims it still in what is read next.
const REVOKED: &str = "0.0 poll stable sessioned a
     0.1 ends
     1.0 group 1 sessioned a | a: claim=none add=foo,bar
     1.1 status foo RUNNING a 1
     2.0 ends
     3.0 group 2 sessioned a | a: claim=foo,bar rev=foo";

const LATER: &str = "3.6 group 43 sessioned a | a: claim=foo,bar add=baz
     4.0 ends";

fn answers(scenario: &str) -> Answers {
    let mut engine = Engine::new();
    for step in inputs(scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    engine.answers()
}

/// How many ended completed, aborted, and nobody knows how.
fn ended(answers: &Answers) -> [u64; 3] {
    let of = |outcome| answers.counters.generations_of(outcome);
    [Outcome::Completed, Outcome::Aborted, Outcome::Unknown].map(of)
}

#[test]
fn what_was_left_out_is_unknown_and_so_is_the_round_before_it() {
    let sampled = answers(&format!("{REVOKED}\n3.5 sampled 40\n{LATER}"));
    assert_eq!(sampled.mode, Mode::Sampled);
    assert_eq!(ended(&sampled), [1, 0, 41]);
    let newest = sampled.group.and_then(|group| group.generation);
    assert_eq!(newest, Some(43));
    // The same where the log is whole: those numbers left no record.
    let whole = answers(&format!("{REVOKED}\n{LATER}"));
    assert_eq!(whole.mode, Mode::Full);
    assert_eq!(ended(&whole), [1, 41, 0]);
}

/// The history that is whole begins after the newest hole.
#[test]
fn history_begins_after_it() {
    let sampled = answers(&format!("{REVOKED}\n3.5 sampled 40\n{LATER}"));
    let newest = sampled.group.and_then(|group| group.recorded);
    assert_eq!(sampled.whole_since, newest);
    let whole = answers(&format!("{REVOKED}\n{LATER}"));
    assert!(whole.whole_since < newest);
}

/// A group record that follows its predecessor at once says of it what it always does,
/// whatever else was left out between: records of the same generation.
#[test]
fn next_number_follows_as_ever() {
    let sampled = answers(&format!(
        "{REVOKED}
         3.5 sampled 2
         3.6 group 3 sessioned a | a: claim=bar add=
         4.0 ends"
    ));
    assert_eq!(ended(&sampled), [2, 0, 0]);
}

/// Once all is read again, a number without a record is aborted again.
#[test]
fn all_is_read_again() {
    let again = answers(&format!(
        "{REVOKED}
         3.5 sampled 40
         {LATER}
         5.0 sampled off
         6.0 group 44 sessioned a | a: claim=foo,bar,baz rev=foo
         7.0 group 46 sessioned a | a: claim=bar,baz add=
         8.0 ends"
    ));
    assert_eq!(again.mode, Mode::Full);
    let [completed, aborted, unknown] = ended(&again);
    assert_eq!((aborted, unknown), (1, 41));
    assert!(completed >= 2, "{completed}");
}

/// Silence is proven by what was read. An answer whose end lies among what was left out says
/// nothing until the record behind it is there: else minutes in which nothing seemed to come
/// would complete a round.
#[test]
fn skip_proves_no_silence() {
    let mut engine = Engine::new();
    let mut feed = |at_ms: i64, kind: InputKind| {
        let at = ArrivalTime(BASE_MS + at_ms);
        engine.apply(&Input { at, kind });
        engine
            .answers()
            .rounds
            .first()
            .and_then(|round| round.outcome)
    };
    for step in inputs("0.0 ends\n1.0 group 1 sessioned a | a: claim=none add=foo") {
        if let Step::Input(input) = step {
            feed(input.at.0 - BASE_MS, input.kind);
        }
    }
    for (topic, end) in [(Topic::Offsets, 41), (Topic::Config, 0), (Topic::Status, 0)] {
        let ends = Ends {
            topic,
            asked: ArrivalTime(BASE_MS + 300_000),
            ends: vec![(0, end)],
        };
        feed(300_010, InputKind::Ends(ends));
    }
    let skipped = Sampled {
        partition: 0,
        offset: 41,
        on: true,
    };
    assert_eq!(feed(300_020, InputKind::Sampled(skipped)), None);
    // Were all of it read, and nothing found, it would be silence.
    let reached = Reached {
        topic: Topic::Offsets,
        partition: 0,
        offset: 41,
    };
    let completed = Some(Outcome::Completed);
    assert_eq!(feed(300_030, InputKind::Reached(reached)), completed);
}
