//! Real incidents as data: what an episode is, why it came about and what it cost (D5 to
//! D9), where configuration, the protocol or the leader is the reason. See `cases.rs`; the
//! cases in which a worker leaves are in `cases_left.rs`.

use std::fmt::Write as _;

use evenkeel_core::answers::{Answers, Cause, EpisodeOutcome, Outcome, TasksRoot};
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{InputKind, Topic};
use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::redact::redact_config;

use crate::cases_groups::answers;
use crate::dsl::{Step, check, inputs, run};

/// What the scenario's last `story`, and what stands after it, tells, without the episode in
/// which the group is met first, what only this agent saw, and the counters.
#[track_caller]
pub(crate) fn tells(scenario: &str, expected: &str) {
    let printed = run(scenario);
    let mut episodes = 0;
    let told: Vec<&str> = printed
        .lines()
        .filter(|line| {
            episodes += usize::from(line.starts_with("episode"));
            episodes != 1 || !(line.starts_with("episode") || line.starts_with(' '))
        })
        .map(str::trim)
        .filter(|line| !line.starts_with("seen here") && !line.starts_with("counted"))
        .collect();
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(
        told,
        expected,
        "\n--- the engine says:\n{}",
        told.join("\n")
    );
}

/// All causes of the newest episode, each with what says so.
pub(crate) fn evidence(answers: &Answers) -> Vec<(Cause, &str, &str)> {
    let episodes = answers.episodes.as_ref().unwrap();
    let newest = episodes.open.as_ref().or(episodes.closed.last()).unwrap();
    let causes = newest.contributing.iter();
    causes
        .map(|cause| {
            let subject = cause.subject.as_deref().unwrap_or("-");
            (cause.cause, subject, cause.evidence.as_str())
        })
        .collect()
}

/// The move of a task to a new worker is one rebalance in two rounds, and the second is the
/// consequence of the first.
#[test]
fn o_01_two_rounds_are_one_rebalance() {
    tells(
        "0.0 config connector redis
         0.0 config tasks redis 2
         0.1 ends
         1.0 group 1 sessioned w1 off=4 | w1: claim=none add=redis,redis-0,redis-1
         1.2 status redis RUNNING w1 1
         1.2 status redis-0 RUNNING w1 1
         1.2 status redis-1 RUNNING w1 1
         1.5 ends
         20.0 group 2 sessioned w1 off=4 join=19.9 | w1: claim=redis,redis-0,redis-1 rev=redis-0 | w2: claim=none
         20.2 status redis-0 UNASSIGNED w1 1
         20.5 group 3 sessioned w1 off=4 join=20.4 | w1: claim=redis,redis-1 | w2: claim=- add=redis-0
         20.9 status redis-0 RUNNING w2 3
         21.0 ends
         21.0 story",
        "episode 2-3 settled 19.9..20.9 active 1+ parked 0
         worker_joined w2 from 2
         revocation_followup - from 3
         gen 2 completed worker_joined w2 sync 0.1 stop 0.2[0,0.4] start -
         gen 3 completed revocation_followup - sync 0.1 stop - start -",
    );
}

/// A loop of mismatches is one episode, however long, with the count that the numbers of its
/// generations say, and as much as one screen of it is kept.
#[test]
fn o_02_one_episode_of_mismatches() {
    let mut scenario = String::from(
        "0.0 ends
         0.5 group 305655830 sessioned a off=11 | a: claim=- | b: claim=-
         0.6 ends\n",
    );
    for round in 0..500_u32 {
        let at = 1.0 + f64::from(round) * 0.015;
        let generation = 305_655_831 + 3 * round;
        writeln!(
            scenario,
            "{at:.3} group {generation} sessioned a off=12 err=1 | a: claim=- | b: claim=-"
        )
        .unwrap();
        if round % 50 == 49 {
            writeln!(scenario, "{:.3} ends", at + 0.001).unwrap();
        }
    }
    let told = answers(&scenario);
    let episodes = told.episodes.as_ref().unwrap();
    let open = episodes.open.as_ref().unwrap();
    assert_eq!(episodes.closed.len(), 1);
    assert_eq!(open.cause, Cause::ConfigMismatch);
    assert_eq!(open.generations, 3 * 499 + 1);
    assert_eq!(
        (open.first_generation, open.last_generation),
        (305_655_831, 305_655_831 + 3 * 499)
    );
    // Up to the last question where the log ends.
    assert_eq!(open.active.ms, 499 * 15 + 1);
    assert!(open.rounds.len() <= 32, "{} rounds", open.rounds.len());
    assert_eq!(open.lost.items, 0);
    assert!(open.departures.is_empty());
    assert_eq!(told.counters.generations_of(Outcome::Mismatch), 500);
    let told = answers(&format!("{scenario}\n80.0 ends"));
    let closed = told.episodes.as_ref().unwrap();
    let closed = closed.closed.last().unwrap();
    assert_eq!(closed.outcome, Some(EpisodeOutcome::Unresolved));
    assert_eq!(told.counters.rebalances.values().sum::<u64>(), 2);
}

/// A connector that writes its tasks at every start, with the same content: nobody came,
/// nobody left and nobody edited it. It asks for it itself.
#[test]
fn o_06_the_connector_itself_asks_for_it() {
    let mut scenario = String::from(
        "0.0 config connector foo content=1
         0.0 config tasks foo 1
         0.1 ends\n",
    );
    for cycle in 0..20_u32 {
        let at = 1.0 + 7.2 * f64::from(cycle);
        let (generation, offset) = (cycle + 5, 2 * cycle + 3);
        let mut line = |after: f64, line: &str| {
            writeln!(scenario, "{:.1} {line}", at + after).unwrap();
        };
        line(
            0.0,
            &format!("group {generation} default a off={offset} | a: add=foo | b: add=foo-0"),
        );
        line(0.2, &format!("status foo-0 RUNNING b {generation}"));
        line(0.3, &format!("status foo RUNNING a {generation}"));
        line(0.5, "ends");
        line(0.8, "config tasks foo 1");
        line(5.0, &format!("status foo-0 UNASSIGNED b {generation}"));
        line(5.1, &format!("status foo UNASSIGNED a {generation}"));
    }
    let told = answers(&scenario);
    let episodes = told.episodes.as_ref().unwrap();
    let cycles = &episodes.closed[1..];
    assert_eq!(cycles.len(), 19);
    for episode in cycles {
        assert_eq!(episode.cause, Cause::TasksChanged);
        assert_eq!(episode.subject.as_deref(), Some("foo"));
        let causes = &episode.contributing;
        assert_eq!(causes.len(), 1, "{causes:?}");
        assert_eq!(causes[0].root, Some(TasksRoot::Requested));
        assert_eq!(causes[0].changed, Some(false));
        assert!(causes[0].evidence.ends_with(": 1 tasks as before"));
        assert!(episode.departures.is_empty());
        assert_eq!(episode.lost.items, 0);
    }
    assert_eq!(told.counters.rebalances[&Cause::TasksChanged], 19);
    assert!(told.counters.departures.is_empty());
}

/// Generations without a record belong to the episode of the one that reached the log, and
/// are told with it.
#[test]
fn o_07_what_never_reached_the_log_is_told() {
    check(
        "0.0 ends
         10.0 group 75990 sessioned a | a: claim=- | b: claim=-
         12.0 ends
         22.0 ends
         32.0 ends
         35.5 group 76110 sessioned a | a: claim=- | b: claim=-
         35.6 ends
         35.7 story",
        "episode 75990-75990 settled 10..10 active 0+ parked 0 in part
           unknown - from 75990
           gen 75990 completed unknown - sync 0 stop - start -
         episode 75991-76110 settled 35.5..35.5 active 0+ parked 0
           unknown - from 76110
           gen 76110 open unknown - sync 0 stop - start - after 119 without a record
         counted unknown.completed=1 unknown.aborted=119 rebalances.unknown=2 sync=2 join.unmeasured=2",
    );
}

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

/// One eager worker: the protocol falls with it and rises again without it, and it is named
/// both times.
#[test]
fn o_14_one_eager_worker() {
    let log = "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 30 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
         1.1 ends
         40.0 group 31 default a off=5 join=39.9 | a: add=foo,foo-0 | b: add=foo-1 | c: add= | d: add=foo-2
         40.2 status foo RUNNING a 31
         40.2 status foo-0 RUNNING a 31
         40.3 status foo-1 RUNNING b 31
         40.4 status foo-2 RUNNING d 31
         40.5 ends";
    tells(
        &format!("{log}\n40.6 story\n40.6 show"),
        "episode 31-31 settled 39.9..40.4 active 0.5+ parked 0
         protocol_changed d from 31
         worker_joined d from 31
         gen 31 completed protocol_changed d sync 0.1 stop - start -
         stable 31 eager led by a
         downgraded by d
         a owns foo,foo-0
         b owns foo-1
         c owns
         d owns foo-2",
    );
    tells(
        &format!(
            "{log}
         90.0 status foo UNASSIGNED a 31
         90.0 status foo-0 UNASSIGNED a 31
         90.0 status foo-1 UNASSIGNED b 31
         90.1 status foo-2 UNASSIGNED d 31
         90.5 group 32 sessioned a off=5 join=90.4 | a: claim=none add=foo,foo-0 | b: claim=none add=foo-1 | c: claim=none add=foo-2
         90.8 status foo RUNNING a 32
         90.8 status foo-0 RUNNING a 32
         90.8 status foo-1 RUNNING b 32
         90.9 status foo-2 RUNNING c 32
         91.0 ends
         91.0 story
         91.0 show"
        ),
        "episode 31-31 settled 39.9..40.4 active 0.5+ parked 0
         protocol_changed d from 31
         worker_joined d from 31
         gen 31 completed protocol_changed d sync 0.1 stop - start -
         episode 32-32 settled 90..90.9 active 0.9[0.5,0.9] parked 0
         protocol_changed d from 32
         worker_left d from 32
         gen 32 completed protocol_changed d sync 0.1 stop - start -
         left d graceful with 0+1
         lost 1 open 0 reassigned=1 longest 0.4
         stable 32 sessioned led by a
         a owns foo,foo-0
         b owns foo-1
         c owns foo-2",
    );
}

/// The lesser fall, from signed requests between workers to unsigned ones.
#[test]
fn o_14_a_compatible_worker_among_sessioned_ones() {
    tells(
        "0.0 config connector foo
         0.1 ends
         1.0 group 30 sessioned a off=1 | a: claim=foo | b: claim=-
         1.1 ends
         40.0 group 31 compatible a off=1 join=39.9 | a: claim=foo | b: claim=- | d: claim=none
         40.1 ends
         40.1 story
         40.1 show",
        "episode 31-31 settled 39.9..40 active 0.1+ parked 0
         protocol_changed d from 31
         worker_joined d from 31
         gen 31 open protocol_changed d sync 0.1 stop - start -
         stable 31 compatible led by a
         downgraded by d
         a owns foo
         b owns
         d owns",
    );
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
         gen 7 completed revocation_followup - sync 0.1 stop - start -
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

/// The coordinator's broker restarts: members that go on leave no trace, members that join
/// again bring a generation in which nothing moved.
#[test]
fn o_55_the_coordinator_restarts() {
    tells(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 33 sessioned a off=3 epoch=4 | a: claim=foo | b: claim=foo-0
         1.1 ends
         300.0 group 34 sessioned a off=3 epoch=5 join=299.9 | a: claim=foo | b: claim=foo-0
         300.1 ends
         300.1 story
         300.1 show",
        "episode 34-34 settled 299.9..300 active 0.1+ parked 0
         coordinator_moved - from 34
         gen 34 open coordinator_moved - sync 0.1 stop - start -
         stable 34 sessioned led by a
         a owns foo
         b owns foo-0",
    );
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
