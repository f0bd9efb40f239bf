//! Real incidents as data: rebalances that a connector is the reason of, and records of the
//! config topic that are none (D9). See `cases.rs` and `cases_why.rs`.

use std::fmt::Write as _;

use evenkeel_core::answers::{Answers, Cause};
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{InputKind, Topic};
use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::redact::redact_config;

use crate::cases_groups::answers;
use crate::cases_why::{evidence, tells};
use crate::dsl::{Step, inputs};

/// Puts real records of the config topic in the place of the connectors named `@0`, `@1`...
fn with_records(scenario: &str, records: &[(&str, &str)]) -> Answers {
    let mut contents = Contents::new([0; 16], 0);
    let mut engine = Engine::new();
    for step in inputs(scenario) {
        let Step::Input(mut input) = step else {
            continue;
        };
        if let InputKind::Record(record) = &mut input.kind
            && record.topic == Topic::Config
            && let Some(key) = record.key.as_mut()
            && let Some(place) = key.strip_prefix(b"connector-@")
        {
            let place: usize = std::str::from_utf8(place).unwrap().parse().unwrap();
            let (new, value) = records[place];
            *key = new.as_bytes().to_vec();
            record.value = redact_config(key, Some(value.as_bytes()), &mut contents).into_value();
        }
        engine.apply(&input);
    }
    engine.answers()
}

/// A new session key, a restart, a log level, a pause and a fencing record come before a
/// worker joins: it is the worker, and none of them is named.
#[test]
fn o_11_the_worker_and_not_the_config_records() {
    let told = with_records(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 20 sessioned a off=3 | a: claim=foo,foo-0
         2.0 config connector @0
         2.1 config connector @1
         2.2 config connector @2
         2.3 config connector @3
         2.4 config connector @4
         2.5 ends
         6.4 group 21 sessioned a off=8 join=6.3 | a: claim=foo,foo-0 | b: claim=none
         6.5 ends",
        &[
            (
                "session-key",
                r#"{"key":"c2VjcmV0","algorithm":"HmacSHA256","creation-timestamp":1700000000000}"#,
            ),
            (
                "restart-connector-foo",
                r#"{"include-tasks":true,"only-failed":false}"#,
            ),
            (
                "logger-cluster-org.apache.kafka.connect",
                r#"{"level":"DEBUG"}"#,
            ),
            (
                "target-state-foo",
                r#"{"state":"PAUSED","state.v2":"PAUSED"}"#,
            ),
            ("tasks-fencing-foo", r#"{"tasks":3}"#),
        ],
    );
    assert_eq!(
        evidence(&told),
        [(
            Cause::WorkerJoined,
            "b:8083",
            "a member that was not there before"
        )]
    );
    assert_eq!(told.episodes.unwrap().closed.len(), 2);
}

/// Deleted, and created again with fewer tasks: each rebalance says what made it.
#[test]
fn o_22_deleted_and_created_again() {
    tells(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 5 sessioned a off=4 | a: claim=foo,foo-0,foo-1
         1.1 ends
         20.0 config delete foo
         20.5 group 6 sessioned a off=5 join=20.4 | a: claim=foo,foo-0,foo-1 rev=foo,foo-0,foo-1
         20.7 status foo gone
         20.7 status foo-0 gone
         20.7 status foo-1 gone
         20.9 group 7 sessioned a off=5 join=20.8 | a: claim=-
         21.0 ends
         40.0 config connector foo content=2
         40.5 group 8 sessioned a off=6 join=40.4 | a: claim=- add=foo
         40.9 status foo RUNNING a 8
         41.0 config task foo-0
         41.0 config commit foo 1
         41.5 group 9 sessioned a off=8 join=41.4 | a: claim=foo add=foo-0
         41.9 status foo-0 RUNNING a 9
         42.0 ends
         42.0 story
         42.0 show",
        "episode 6-7 settled 20..20.9 active 0.9[0.5,0.9] parked 0
         connector_deleted foo from 6
         revocation_followup - from 7
         gen 6 completed connector_deleted foo sync 0.1 stop - start -
         gen 7 unknown revocation_followup - sync 0.1 stop - start -
         episode 8-9 settled 40..41.9 active 1.9[1.5,1.9] parked 0
         connector_created foo from 8
         tasks_changed foo from 9 Created changed
         gen 8 completed connector_created foo sync 0.1 stop - start -
         gen 9 completed tasks_changed foo sync 0.1 stop - start -
         stable 9 sessioned led by a
         a owns foo,foo-0",
    );
}

/// Fewer tasks: nothing is lost, nobody left, and what made it is the connector.
#[test]
fn o_24_fewer_tasks_are_no_loss() {
    tells(
        "0.0 config connector c content=1
         0.0 config tasks c 5
         0.1 status c RUNNING a 8
         0.1 status c-0 RUNNING a 8
         0.1 status c-1 RUNNING a 8
         0.1 status c-2 RUNNING b 8
         0.1 status c-3 RUNNING b 8
         0.1 status c-4 RUNNING b 8
         0.2 ends
         1.0 group 8 sessioned a off=7 | a: claim=c,c-0,c-1 | b: claim=c-2,c-3,c-4
         1.1 ends
         20.0 config connector c content=2
         20.3 config tasks c 3
         20.5 status c-0 UNASSIGNED a 8
         20.5 status c-1 UNASSIGNED a 8
         20.6 status c-2 UNASSIGNED b 8
         20.7 status c-3 UNASSIGNED b 8
         20.7 status c-4 UNASSIGNED b 8
         21.0 group 9 sessioned a off=12 join=20.9 | a: claim=c,c-0,c-1 | b: claim=c-2,c-3,c-4 rev=c-3,c-4
         21.3 status c-0 RUNNING a 9
         21.3 status c-1 RUNNING a 9
         21.4 status c-2 RUNNING b 9
         21.5 status c-3 gone
         21.5 status c-4 gone
         21.8 group 10 sessioned a off=12 join=21.7 | a: claim=c,c-0,c-1 | b: claim=c-2
         22.0 ends
         22.0 story
         22.0 show",
        "episode 9-10 settled 20.3..21.8 active 1.5[0.9,1.5] parked 0
         tasks_changed c from 9 Reconfigured changed
         revocation_followup - from 10
         gen 9 completed tasks_changed c sync 0.1 stop - start -
         gen 10 open revocation_followup - sync 0.1 stop - start -
         stable 10 sessioned led by a
         a owns c,c-0,c-1
         b owns c-2",
    );
}

/// A connector that never gets tasks: what was begun with it does not end.
#[test]
fn o_25_no_task_is_ever_committed() {
    tells(
        "0.1 ends
         1.0 group 2 sessioned a off=0 | a: claim=-
         1.1 ends
         10.0 config connector c
         10.5 group 3 sessioned a off=1 join=10.4 | a: claim=- add=c
         10.9 status c RUNNING a 3
         30.0 ends
         75.0 ends
         75.0 story
         75.0 show",
        "episode 3-3 unresolved 10..70.9 active 60.9[60.5,60.9] parked 0
         connector_created c from 3
         gen 3 completed connector_created c sync 0.1 stop - start -
         stable 3 sessioned led by a
         a owns c",
    );
}

/// Stopped and resumed by somebody: the tasks are not lost, and both are named.
#[test]
fn o_29_stopped_and_resumed() {
    let log = "0.0 config connector c
         0.0 config tasks c 3
         0.1 status c RUNNING a 14
         0.1 status c-0 RUNNING a 14
         0.1 status c-1 RUNNING b 14
         0.1 status c-2 RUNNING b 14
         0.2 ends
         1.0 group 14 sessioned a off=5 | a: claim=c,c-0 | b: claim=c-1,c-2
         1.1 ends
         20.0 config commit c 0
         20.1 config target c STOPPED
         20.2 status c STOPPED a 14
         20.6 group 15 sessioned a off=7 join=20.5 | a: claim=c,c-0 rev=c-0 | b: claim=c-1,c-2 rev=c-1,c-2
         20.8 status c-0 gone
         20.8 status c-1 gone
         20.8 status c-2 gone
         21.0 group 16 sessioned a off=7 join=20.9 | a: claim=c | b: claim=-
         21.1 ends";
    tells(
        &format!("{log}\n21.2 story\n21.2 show"),
        "episode 15-16 settled 20..21 active 1[0.5,1] parked 0
         tasks_changed c from 15 Stopped changed
         revocation_followup - from 16
         gen 15 completed tasks_changed c sync 0.1 stop - start -
         gen 16 open revocation_followup - sync 0.1 stop - start -
         stable 16 sessioned led by a
         a owns c
         b owns",
    );
    tells(
        &format!(
            "{log}
         50.0 config target c STARTED
         50.2 status c RUNNING a 16
         50.3 config tasks c 3
         50.8 group 17 sessioned a off=12 join=50.7 | a: claim=c add=c-0 | b: claim=- add=c-1,c-2
         51.1 status c-0 RUNNING a 17
         51.2 status c-1 RUNNING b 17
         51.2 status c-2 RUNNING b 17
         51.5 ends
         51.5 story"
        ),
        "episode 15-16 settled 20..21 active 1[0.5,1] parked 0
         tasks_changed c from 15 Stopped changed
         revocation_followup - from 16
         gen 15 completed tasks_changed c sync 0.1 stop - start -
         gen 16 completed revocation_followup - sync 0.1 stop - start -
         episode 17-17 settled 50.3..51.2 active 0.9[0.5,0.9] parked 0
         tasks_changed c from 17 Resumed changed
         gen 17 completed tasks_changed c sync 0.1 stop - start -",
    );
}

/// Connectors created by a script: many rebalances with many names, and no more of them is
/// kept than can be read.
#[test]
fn o_54_created_by_a_script() {
    let mut scenario = String::from(
        "0.1 ends
         0.5 group 1 sessioned a off=0 | a: claim=none
         0.6 ends\n",
    );
    let mut lines: Vec<(f64, String)> = Vec::new();
    let mut claimed = Vec::new();
    for number in 0..30_u32 {
        let (at, name) = (1.0 + 2.0 * f64::from(number), format!("c{number:02}"));
        let (first, offset) = (2 * number + 2, 3 * number + 1);
        let second = first + 1;
        let claim = |claimed: &[String]| format!("claim=-,{}", claimed.join(","));
        let of_first = claim(&claimed);
        claimed.push(name.clone());
        let of_second = claim(&claimed);
        claimed.push(format!("{name}-0"));
        let next = offset + 2;
        lines.extend([
            (at, format!("config connector {name}")),
            (
                at + 0.3,
                format!("group {first} sessioned a off={offset} | a: {of_first} add={name}"),
            ),
            (at + 0.4, "ends".to_owned()),
            (at + 0.5, format!("status {name} RUNNING a {first}")),
            (at + 0.6, format!("config tasks {name} 1")),
            (
                at + 1.0,
                format!("group {second} sessioned a off={next} | a: {of_second} add={name}-0"),
            ),
            // The next connector is there before this one's task runs.
            (at + 2.4, format!("status {name}-0 RUNNING a {second}")),
            (at + 2.45, "ends".to_owned()),
        ]);
    }
    lines.sort_by(|left, right| left.0.total_cmp(&right.0));
    for (at, line) in lines {
        writeln!(scenario, "{at:.2} {line}").unwrap();
    }
    let told = answers(&scenario);
    let episodes = told.episodes.as_ref().unwrap();
    assert!(episodes.open.is_none());
    let [_, burst] = episodes.closed.as_slice() else {
        panic!("{} episodes", episodes.closed.len());
    };
    assert_eq!(burst.cause, Cause::ConnectorCreated);
    assert_eq!(burst.subject.as_deref(), Some("c00"));
    assert_eq!(burst.generations, 60);
    assert_eq!(burst.contributing.len(), 20);
    assert_eq!(burst.causes_left_out, 40);
    assert!(burst.departures.is_empty());
    let of = |cause| {
        let all = told.counters.generations.iter();
        all.filter(|((of, _), _)| *of == cause)
            .map(|(_, count)| count)
            .sum::<u64>()
    };
    // The last round is not settled: nothing followed it.
    assert_eq!(of(Cause::ConnectorCreated) + of(Cause::TasksChanged), 60);
}

/// A new connector has no status at first: until it says that it runs its creation goes on.
#[test]
fn o_61_no_status_right_after_creation() {
    let log = "0.1 ends
         0.2 group 2 sessioned a off=0 | a: claim=- | b: claim=-
         0.3 ends
         10.0 config connector t1
         10.5 group 3 sessioned a off=1 join=10.4 | a: claim=- add=t1 | b: claim=-
         11.9 ends";
    tells(
        &format!("{log}\n11.9 story\n11.9 show"),
        "episode 3-3 active 10.. active 1.9[1.5,1.9] parked 0
         connector_created t1 from 3
         gen 3 open connector_created t1 sync 0.1 stop - start -
         stable 3 sessioned led by a
         a owns t1
         b owns",
    );
    tells(
        &format!(
            "{log}
         12.4 status t1 RUNNING a 3
         12.6 config tasks t1 1
         13.0 group 4 sessioned a off=3 join=12.9 | a: claim=t1 | b: claim=- add=t1-0
         13.4 status t1-0 RUNNING b 4
         13.5 ends
         13.5 story"
        ),
        "episode 3-4 settled 10..13.4 active 3.4[3,3.4] parked 0
         connector_created t1 from 3
         tasks_changed t1 from 4 Created changed
         gen 3 completed connector_created t1 sync 0.1 stop - start -
         gen 4 completed tasks_changed t1 sync 0.1 stop - start -",
    );
}
