//! What was written before the agent came is history, however its first answers arrive;
//! and an answer that says too little, or what never comes, proves nothing and blocks nothing.

use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Ends, Input, InputKind, Reached, Start, Topic};
use evenkeel_core::facts::time::ArrivalTime;

use crate::dsl::{BASE_MS, Step, check, inputs};

fn input(at_ms: i64, kind: InputKind) -> Input {
    let at = ArrivalTime(BASE_MS + at_ms);
    Input { at, kind }
}

fn ends(topic: Topic, asked_ms: i64, ends: &[(i32, i64)]) -> Input {
    let ends = Ends {
        topic,
        asked: ArrivalTime(BASE_MS + asked_ms),
        ends: ends.to_vec(),
    };
    input(asked_ms + 5, InputKind::Ends(ends))
}

fn confirmed_ms(engine: &Engine, topic: Topic) -> Option<i64> {
    let answers = engine.answers();
    let input = answers.inputs.iter().find(|input| input.topic == topic);
    input.unwrap().confirmed.map(|at| at.0 - BASE_MS)
}

/// The reader asks for ends while it still searches: an answer before the start is no sign
/// that the records below it are new.
#[test]
fn an_end_told_before_reading_began_makes_no_history_live() {
    let scenario = "1.0 group 1 sessioned a | a: claim=none add=foo
        2.0 group 2 sessioned a | a: claim=foo
        2.5 live
        3.0 group 3 sessioned a | a: claim=foo
        3.1 ends";
    let mut engine = Engine::new();
    engine.apply(&ends(Topic::Offsets, 0, &[(0, 2)]));
    for step in inputs(scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    let counters = engine.answers().counters;
    assert_eq!(counters.assignments.values().sum::<u64>(), 0);
    assert_eq!(counters.generations.values().sum::<u64>(), 0);
}

/// A broker of a partition is away: the records of that partition may be unread.
#[test]
fn an_answer_without_a_partition_confirms_nothing() {
    let mut engine = Engine::new();
    for partition in 0..2 {
        let start = Start {
            topic: Topic::Status,
            partition,
            offset: 0,
            end: 0,
            anew: false,
        };
        engine.apply(&input(0, InputKind::Start(start)));
    }
    engine.apply(&ends(Topic::Status, 10, &[(0, 0), (1, 0)]));
    engine.apply(&ends(Topic::Status, 500, &[(0, 0)]));
    assert_eq!(confirmed_ms(&engine, Topic::Status), Some(10));
    engine.apply(&ends(Topic::Status, 900, &[(0, 0), (1, 0)]));
    assert_eq!(confirmed_ms(&engine, Topic::Status), Some(900));
}

/// A log that was cut, or an answer of the topic that was there before: an end that is
/// never reached does not keep later answers from counting.
#[test]
fn an_end_that_never_comes_blocks_nothing() {
    let mut engine = Engine::new();
    let start = Start {
        topic: Topic::Config,
        partition: 0,
        offset: 0,
        end: 0,
        anew: false,
    };
    engine.apply(&input(0, InputKind::Start(start)));
    engine.apply(&ends(Topic::Config, 10, &[(0, 50)]));
    let reached = Reached {
        topic: Topic::Config,
        partition: 0,
        offset: 11,
    };
    engine.apply(&input(20, InputKind::Reached(reached)));
    assert_eq!(confirmed_ms(&engine, Topic::Config), None);
    engine.apply(&ends(Topic::Config, 100, &[(0, 11)]));
    assert_eq!(confirmed_ms(&engine, Topic::Config), Some(100));
    // Nor may the old one confirm less once it is met after all.
    let late = Reached {
        offset: 60,
        ..reached
    };
    engine.apply(&input(120, InputKind::Reached(late)));
    assert_eq!(confirmed_ms(&engine, Topic::Config), Some(100));
}

/// An agent that comes later says the same of the last minutes as one that was there: the
/// age of the newest record is no delay.
#[test]
fn the_last_minutes_end_now() {
    let scenario = "1.0 group 1 sessioned a | a: claim=-
        2.0 group 2 sessioned a | a: claim=-
        2.5 live";
    let mut engine = Engine::new();
    for step in inputs(scenario) {
        if let Step::Input(mut read) = step {
            // Read three minutes after they were written.
            read.at = read.at.plus_ms(180_000);
            engine.apply(&read);
        }
    }
    let answers = engine.answers();
    assert_eq!((answers.recent.in_2m, answers.recent.in_10m), (0, 2));
    assert_eq!(answers.now.unwrap().0 - BASE_MS, 182_000);
}

/// A status that proves that a member obeyed may be read after the record that seems to
/// say that it did not.
#[test]
fn a_member_is_not_said_to_have_ignored_before_the_barrier() {
    check(
        "0.1 ends
         0.2 live
         1.0 group 1 sessioned a | a: claim=none add=foo | b: claim=none add=bar
         2.0 group 2 sessioned a | a: claim=foo | b: claim=-
         1.5 status bar RUNNING b 1
         2.2 ends
         2.2 show",
        "incarnation 1 from generation 1
         gen 1 completed by rule 3
         stable 2 sessioned led by a
         a owns foo
         b owns
         counted completed=1 assigned.connector=2",
    );
}

/// The offsets topic is another one: what was open can never be proven, and is said.
#[test]
fn open_rounds_of_a_topic_that_is_gone_are_unknown() {
    let mut engine = Engine::new();
    for step in inputs("0.0 ends\n0.1 live\n1.0 group 1 sessioned a | a: claim=none add=foo") {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    let start = Start {
        topic: Topic::Offsets,
        partition: 0,
        offset: 0,
        end: 0,
        anew: true,
    };
    let changes = engine.apply(&input(2_000, InputKind::Start(start)));
    assert_eq!(changes.len(), 1, "{changes:?}");
    let counted: Vec<u64> = engine
        .answers()
        .counters
        .generations
        .into_values()
        .collect();
    assert_eq!(counted, [1]);
    // And the finding goes by itself, though no record of the group came.
    engine.apply(&input(1_900_000, InputKind::Tick));
    let findings = engine.answers().findings;
    assert!(
        findings.iter().all(|found| found.finding != "topic_anew"),
        "{findings:?}"
    );
}

/// The agent's clock is a minute behind the broker's: what is over in the history it reads was
/// over before it came, although its clock says that it is yet to be.
#[test]
fn a_clock_that_is_behind_makes_no_history_live() {
    let scenario = "20.0 config connector foo
        20.0 config tasks foo 1
        20.1 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
        20.5 status foo RUNNING a 1
        20.5 status foo-0 RUNNING a 1
        20.6 live
        20.7 ends";
    let written = |topic| {
        let steps = inputs(scenario);
        let of_topic = steps.iter().filter(|step| {
            matches!(step, Step::Input(Input { kind: InputKind::Record(record), .. }) if record.topic == topic)
        });
        i64::try_from(of_topic.count()).unwrap()
    };
    let mut engine = Engine::new();
    let mut closed = 0;
    let mut run = |engine: &mut Engine, at_ms: i64| {
        for step in inputs(scenario) {
            let Step::Input(mut input) = step else {
                continue;
            };
            input.at = ArrivalTime(BASE_MS + at_ms);
            match &mut input.kind {
                InputKind::Ends(ends) => ends.asked = input.at,
                _ if at_ms > 1_000 => continue,
                InputKind::Start(start) => start.end = written(start.topic),
                _ => {}
            }
            let changes = engine.apply(&input);
            closed += changes
                .iter()
                .filter(|change| matches!(change, Change::Closed(..)))
                .count();
        }
    };
    run(&mut engine, 1_000);
    run(&mut engine, 3_000);
    assert_eq!(closed, 1);
    let counters = engine.answers().counters;
    assert_eq!(counters.rebalances.values().sum::<u64>(), 0);
}
