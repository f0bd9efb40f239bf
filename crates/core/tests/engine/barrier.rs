//! The barrier: what proves that nothing is unread, and each way an offset never comes.

use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{Access, Ends, Input, InputKind, Reached, Start, Topic, Trouble};
use evenkeel_core::facts::time::ArrivalTime;

use crate::dsl::{BASE_MS, Step, inputs};

pub(crate) fn input(at_ms: i64, kind: InputKind) -> Input {
    Input {
        at: ArrivalTime(BASE_MS + at_ms),
        kind,
    }
}

pub(crate) fn feed(engine: &mut Engine, scenario: &str) {
    for step in inputs(scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
}

pub(crate) fn ends(topic: Topic, asked_ms: i64, at_ms: i64, ends: &[(i32, i64)]) -> Input {
    let asked = ArrivalTime(BASE_MS + asked_ms);
    input(
        at_ms,
        InputKind::Ends(Ends {
            topic,
            asked,
            ends: ends.to_vec(),
        }),
    )
}

/// Two eager rounds: the verdict on the first needs the status topic.
const OPEN: &str = "0.0 ends
     1.0 group 1 default a | a: add=foo
     3.0 group 2 default a | a: add=foo";

#[test]
fn a_verdict_waits_until_every_topic_is_read_to_an_end_asked_after_its_record() {
    let mut engine = Engine::new();
    feed(&mut engine, OPEN);
    assert!(engine.wants_ends());
    engine.apply(&ends(Topic::Offsets, 3100, 3110, &[(0, 2)]));
    engine.apply(&ends(Topic::Config, 3100, 3110, &[(0, 0)]));
    // Asked before the record: proves nothing.
    engine.apply(&ends(Topic::Status, 2900, 3110, &[(0, 0)]));
    assert!(engine.wants_ends());
    // Asked after it, but not yet read so far.
    engine.apply(&ends(Topic::Status, 3200, 3210, &[(0, 1)]));
    assert!(engine.answers().rounds[0].outcome.is_none());
    // A compacted hole at the end counts as read once the reader proves it.
    let hole = Reached {
        topic: Topic::Status,
        partition: 0,
        offset: 1,
    };
    engine.apply(&input(3300, InputKind::Reached(hole)));
    assert!(engine.answers().rounds[0].outcome.is_some());
    assert!(!engine.wants_ends());
}

#[test]
fn every_partition_of_the_status_topic_must_be_read() {
    let mut engine = Engine::new();
    feed(&mut engine, OPEN);
    for topic in [Topic::Offsets, Topic::Config] {
        let end = if topic == Topic::Offsets { 2 } else { 0 };
        engine.apply(&ends(topic, 3100, 3110, &[(0, end)]));
    }
    engine.apply(&ends(Topic::Status, 3100, 3110, &[(0, 0), (1, 4)]));
    assert!(engine.answers().rounds[0].outcome.is_none());
    let reached = Reached {
        topic: Topic::Status,
        partition: 1,
        offset: 4,
    };
    engine.apply(&input(3300, InputKind::Reached(reached)));
    assert!(engine.answers().rounds[0].outcome.is_some());
}

/// An unreadable status topic is not waited for; the verdict says what is not known.
#[test]
fn unreadable_status_topic() {
    for trouble in [Trouble::Denied, Trouble::Missing] {
        let mut engine = Engine::new();
        feed(&mut engine, OPEN);
        let access = Access {
            topic: Topic::Status,
            trouble: Some(trouble),
            asked: Some(ArrivalTime(BASE_MS + 3_040)),
        };
        engine.apply(&input(3050, InputKind::Access(access)));
        engine.apply(&ends(Topic::Offsets, 3100, 3110, &[(0, 2)]));
        engine.apply(&ends(Topic::Config, 3100, 3110, &[(0, 0)]));
        let answers = engine.answers();
        assert_eq!(answers.rounds[0].settled_by, Some("generation rule 7"));
        assert!(answers.fresh, "the group is still shown");
    }
    // No broker answers: that passes, so it is waited for.
    let mut engine = Engine::new();
    feed(&mut engine, OPEN);
    let access = Access {
        topic: Topic::Status,
        trouble: Some(Trouble::Unreachable),
        asked: None,
    };
    engine.apply(&input(3050, InputKind::Access(access)));
    engine.apply(&ends(Topic::Offsets, 3100, 3110, &[(0, 2)]));
    engine.apply(&ends(Topic::Config, 3100, 3110, &[(0, 0)]));
    assert!(engine.answers().rounds[0].outcome.is_none());
}

/// A topic that was found missing before the record was written may be there by now: the
/// verdict waits for the next question, and for the topic's records if it is.
#[test]
fn topic_found_missing_before() {
    let missing = |at, asked| {
        let access = Access {
            topic: Topic::Status,
            trouble: Some(Trouble::Missing),
            asked: Some(ArrivalTime(BASE_MS + asked)),
        };
        input(at, InputKind::Access(access))
    };
    for is_there in [false, true] {
        let mut engine = Engine::new();
        engine.apply(&missing(50, 40));
        feed(&mut engine, OPEN);
        engine.apply(&ends(Topic::Offsets, 3100, 3110, &[(0, 2)]));
        engine.apply(&ends(Topic::Config, 3100, 3110, &[(0, 0)]));
        assert!(engine.answers().rounds[0].outcome.is_none());
        assert!(engine.wants_ends());
        if is_there {
            let access = Access {
                topic: Topic::Status,
                trouble: None,
                asked: None,
            };
            engine.apply(&input(3200, InputKind::Access(access)));
            assert!(engine.answers().rounds[0].outcome.is_none());
            engine.apply(&ends(Topic::Status, 3210, 3220, &[(0, 0)]));
        } else {
            engine.apply(&missing(3200, 3190));
        }
        let rounds = &engine.answers().rounds;
        assert_eq!(rounds[0].settled_by, Some("generation rule 7"));
        assert!(!engine.wants_ends());
    }
}

/// A topic that was deleted and created again: what was read of it no longer holds.
#[test]
fn config_topic_created_anew() {
    let mut engine = Engine::new();
    feed(&mut engine, "0.0 config connector foo\n0.1 ends");
    assert_eq!(engine.answers().configured.unwrap().connectors.len(), 1);
    let start = Start {
        topic: Topic::Config,
        partition: 0,
        offset: 0,
        end: 0,
        anew: true,
    };
    engine.apply(&input(500, InputKind::Start(start)));
    assert!(
        engine.answers().configured.is_none(),
        "not known until it is read again"
    );
    engine.apply(&ends(Topic::Config, 600, 610, &[(0, 0)]));
    let answers = engine.answers();
    assert!(answers.configured.unwrap().connectors.is_empty());
    assert!(answers.findings.iter().any(|f| f.finding == "topic_anew"));
}

/// A connector that was new when the config topic was found to be another one is waited for
/// no longer: what said that it is new is gone.
#[test]
fn nobody_waits_for_a_connector_of_a_topic_that_is_gone() {
    let mut engine = Engine::new();
    feed(
        &mut engine,
        "0.1 ends
         0.5 group 1 sessioned a off=0 | a: claim=none
         0.6 ends
         1.0 config connector foo
         1.1 group 2 sessioned a off=1 | a: claim=- add=foo
         1.2 status foo RUNNING a 2
         1.3 ends",
    );
    let open = |engine: &Engine| engine.answers().episodes.unwrap().open.is_some();
    assert!(open(&engine), "its tasks are waited for");
    let start = Start {
        topic: Topic::Config,
        partition: 0,
        offset: 0,
        end: 0,
        anew: true,
    };
    engine.apply(&input(1_500, InputKind::Start(start)));
    for topic in Topic::ALL {
        let end = match topic {
            Topic::Offsets => 2,
            Topic::Config => 0,
            Topic::Status => 1,
        };
        engine.apply(&ends(topic, 2_000, 2_010, &[(0, end)]));
    }
    assert!(!open(&engine));
}

/// An answer says that it was asked after it was had: it proves nothing of what came between.
#[test]
fn no_question_is_sent_after_its_answer() {
    let mut engine = Engine::new();
    feed(&mut engine, OPEN);
    for topic in Topic::ALL {
        let end = if topic == Topic::Offsets { 2 } else { 0 };
        engine.apply(&ends(topic, 3_600_000, 3_110, &[(0, end)]));
    }
    feed_at(&mut engine, 5_000);
    assert!(
        engine.wants_ends(),
        "the third record is not proven to be all"
    );
}

/// A third record, read later.
fn feed_at(engine: &mut Engine, at_ms: i64) {
    let scenario = format!("{OPEN}\n{} group 3 default a | a: add=foo", at_ms / 1_000);
    let third = inputs(&scenario).into_iter().last();
    if let Some(Step::Input(input)) = third {
        engine.apply(&input);
    }
}

/// Group answers are withdrawn 30 s after an input stops being confirmed current, and
/// come back; nothing is counted twice although all is delivered again.
#[test]
fn blind_for_a_minute() {
    let mut engine = Engine::new();
    let scenario = "0.0 ends
         1.0 group 1 sessioned a | a: claim=none add=foo
         1.5 status foo RUNNING a 1
         2.0 group 2 sessioned a | a: claim=foo
         2.5 ends";
    feed(&mut engine, scenario);
    assert!(engine.answers().fresh);
    let counted = engine.answers().counters;
    engine.apply(&input(32_501, InputKind::Tick));
    assert!(!engine.answers().fresh);
    for step in inputs(scenario) {
        if let Step::Input(mut input) = step {
            input.at = ArrivalTime(BASE_MS + 62_000);
            engine.apply(&input);
        }
    }
    for (topic, end) in [(Topic::Offsets, 2), (Topic::Config, 0), (Topic::Status, 1)] {
        engine.apply(&ends(topic, 62_100, 62_110, &[(0, end)]));
    }
    assert!(engine.answers().fresh);
    assert_eq!(engine.answers().counters, counted);
}

/// The names of config and status topic were swapped: each says so, nothing is derived
/// from the wrong one.
#[test]
fn swapped_topics() {
    let mut engine = Engine::new();
    for step in inputs(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 status foo-0 RUNNING a 1
         0.2 ends",
    ) {
        let Step::Input(mut input) = step else {
            continue;
        };
        let swap = |topic: &mut Topic| {
            *topic = match *topic {
                Topic::Config => Topic::Status,
                Topic::Status => Topic::Config,
                Topic::Offsets => Topic::Offsets,
            };
        };
        match &mut input.kind {
            InputKind::Record(record) => swap(&mut record.topic),
            InputKind::Ends(ends) => swap(&mut ends.topic),
            InputKind::Reached(reached) => swap(&mut reached.topic),
            _ => {}
        }
        engine.apply(&input);
    }
    let answers = engine.answers();
    let swapped: Vec<&str> = answers
        .findings
        .iter()
        .filter(|found| found.finding == "topic_swapped")
        .map(|found| found.subject.as_str())
        .collect();
    assert_eq!(swapped, ["configs", "statuses"]);
    assert!(answers.configured.unwrap().connectors.is_empty());
}

/// A topic created anew with fewer partitions, then grown: nothing of the old partitions
/// counts as read.
#[test]
fn partitions_of_an_older_topic_are_forgotten() {
    let mut engine = Engine::new();
    feed(&mut engine, "0.0 ends");
    let start = |partition, anew| {
        let start = Start {
            topic: Topic::Status,
            partition,
            offset: 0,
            end: 0,
            anew,
        };
        InputKind::Start(start)
    };
    engine.apply(&input(10, start(1, false)));
    let old = Reached {
        topic: Topic::Status,
        partition: 1,
        offset: 7,
    };
    engine.apply(&input(20, InputKind::Reached(old)));
    engine.apply(&input(30, start(0, true)));
    engine.apply(&input(40, start(1, false)));
    engine.apply(&ends(Topic::Status, 50, 60, &[(0, 0), (1, 2)]));
    let lag = |engine: &Engine| engine.answers().inputs[2].lag_records;
    assert_eq!(
        lag(&engine),
        2,
        "two records of the new partition are unread"
    );
    assert!(!engine.answers().inputs[2].caught_up);
}
