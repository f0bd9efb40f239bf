//! Real incidents as data: what decoding, D1 to D5 and D14 answer of them. The name of a
//! test is the number of its case.
//! What each case leaves to later is listed in `tests/it/cases.rs` of the agent.

use std::fmt::Write as _;

use evenkeel_core::answers::Outcome;
use evenkeel_core::engine::Engine;

use crate::dsl::{Step, check, inputs, run};

/// The assignment field is an increment, not the ownership.
#[test]
fn o_01_increment_is_not_ownership() {
    check(
        "0.0 config connector redis
         0.0 config tasks redis 2
         0.1 ends
         1.0 group 1 sessioned w1 off=4 | w1: claim=none add=redis,redis-0,redis-1
         1.1 ends
         1.1 show
         2.0 group 2 sessioned w1 off=4 | w1: claim=redis,redis-0,redis-1 rev=redis-0 | w2: claim=none
         2.1 ends
         2.1 show
         3.0 group 3 sessioned w1 off=4 | w1: claim=redis,redis-1 | w2: claim=- add=redis-0
         3.1 ends
         3.1 show",
        "incarnation 1 from generation 1
         stable 1 sessioned led by w1
         w1 owns redis,redis-0,redis-1
         counted
         gen 1 completed by rule 3
         stable 2 sessioned led by w1
         w1 owns redis,redis-1
         w2 owns
         unassigned redis-0 revoked since 2 of w1
         counted completed=1 assigned.connector=1 assigned.task=2
         gen 2 completed by rule 3
         stable 3 sessioned led by w1
         w1 owns redis,redis-1
         w2 owns redis-0
         counted completed=2 revoked.task.asked=1 assigned.connector=1 assigned.task=2",
    );
}

/// 2,000 mismatched rounds, 5 ms apart: each counted, memory bounded, nothing lost.
#[test]
fn o_02_mismatch_loop() {
    let mut scenario = String::from("0.0 ends\n");
    for round in 0..2000_u32 {
        let at = 1.0 + f64::from(round) * 0.005;
        let generation = 305_655_831 + round;
        writeln!(
            scenario,
            "{at:.3} group {generation} sessioned a off=12 err=1 | a: claim=- | b: claim=-"
        )
        .unwrap();
        // The agent asks where the topics end twice a second.
        if round % 100 == 99 {
            writeln!(scenario, "{:.3} ends", at + 0.001).unwrap();
        }
    }
    let mut engine = Engine::new();
    for step in inputs(&scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    let answers = engine.answers();
    assert_eq!(answers.counters.generations_of(Outcome::Mismatch), 2000);
    assert_eq!(
        answers.counters.assignment_errors.values().sum::<u64>(),
        2000
    );
    assert_eq!(answers.recent.in_2m, 2000);
    assert_eq!(
        answers.group.as_ref().unwrap().generation,
        Some(305_657_830)
    );
    assert!(answers.rounds.len() <= 64);
    assert!(answers.without_owner().is_empty());
    let state = serde_json::to_vec(engine.state()).unwrap();
    assert!(state.len() < 200_000, "{} bytes of state", state.len());
}

/// Generations that never reach the log are counted by their numbers.
#[test]
fn o_07_generations_without_records() {
    check(
        "0.0 ends
         10.0 group 75990 sessioned a | a: claim=- | b: claim=-
         12.0 ends
         22.0 ends
         32.0 ends
         35.5 group 76110 sessioned a | a: claim=- | b: claim=-
         35.6 ends
         35.7 show",
        "incarnation 1 from generation 75990
         gen 75990 completed by rule 3
         missing 119 from 75991: aborted
         stable 76110 sessioned led by a
         a owns 
         b owns 
         counted completed=1 aborted=119",
    );
}

/// A connector deleted while a worker is away: one of its tasks is unaccounted for until
/// it says that it stopped. The delay is the rest of an older one.
#[test]
fn o_09_deleted_while_a_worker_is_away() {
    check(
        "0.0 config connector snow
         0.0 config tasks snow 4
         0.1 status snow-2 RUNNING c 214
         0.2 ends
         1.0 group 214 sessioned a off=6 | a: claim=snow,snow-0,snow-1,snow-3 | c: claim=snow-2
         10.0 group 215 sessioned a off=6 delay=60000 | a: claim=snow,snow-0,snow-1,snow-3
         11.1 ends
         11.1 show
         60.0 config delete snow
         64.8 group 216 sessioned a off=7 delay=5179 | a: claim=snow,snow-0,snow-1,snow-3 rev=snow,snow-0,snow-1,snow-3
         64.9 ends
         64.9 show
         70.0 status snow-2 UNASSIGNED c 214
         70.1 ends
         70.1 show",
        "incarnation 1 from generation 214
         gen 214 completed by rule 3
         stable 215 sessioned led by a
         a owns snow,snow-0,snow-1,snow-3
         unassigned snow-2 lost since 10 of c
         deadline 70 lost
         counted completed=1
         gen 215 completed by rule 3
         stable 216 sessioned led by a
         a owns
         deadline 69.979 leftover
         counted completed=1
         finding deleted_work_unaccounted snow-2
         stable 216 sessioned led by a
         a owns
         deadline 69.979 leftover
         counted completed=1",
    );
}

/// Records that are not configuration move the config offset and nothing else.
#[test]
fn o_11_records_that_are_no_configuration() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         1.0 group 20 sessioned a off=3 | a: claim=foo,foo-0
         2.0 config key
         2.1 config target foo PAUSED
         2.2 ends
         6.0 group 21 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=none
         6.1 ends
         6.2 show",
        "incarnation 1 from generation 20
         gen 20 completed by rule 3
         stable 21 sessioned led by a
         a owns foo,foo-0
         b owns 
         counted completed=1",
    );
}

/// A deleted connector's task records come back to life when it is created again; what
/// is configured is what the new commit says.
#[test]
fn o_22_recreated_connector() {
    let log = "0.0 config connector foo
         0.0 config task foo-0
         0.0 config task foo-1
         0.0 config commit foo 2
         1.0 config delete foo
         1.5 ends
         1.6 group 5 sessioned a off=5 | a: claim=none
         1.7 ends
         1.7 show
         2.0 config connector foo
         2.0 config task foo-0
         2.0 config commit foo 1
         2.1 ends
         2.1 show";
    check(
        log,
        "incarnation 1 from generation 5
         stable 5 sessioned led by a
         a owns
         counted
         stable 5 sessioned led by a
         a owns
         unassigned foo new since 2 of -
         unassigned foo-0 new since 2 of -
         counted",
    );
    // The same after compaction took the tombstone and the older records.
    let compacted = run("0.0 config task foo-1
         2.0 config connector foo
         2.0 config task foo-0
         2.0 config commit foo 1
         2.1 ends
         2.2 group 6 sessioned a off=4 | a: claim=foo,foo-0
         2.3 ends
         2.3 show");
    assert!(compacted.contains("a owns foo,foo-0"), "{compacted}");
    assert!(!compacted.contains("finding"), "{compacted}");
    assert!(!compacted.contains("unassigned"), "{compacted}");
}

/// KAFKA-17719: compaction left tasks before their connector. By key they are
/// configured; a worker that starts now would not see them.
#[test]
fn o_04_order_hazard() {
    check(
        "0.0 config task foo-0
         0.0 config task foo-1
         0.0 config commit foo 2
         0.1 config connector foo
         0.2 ends
         1.0 group 9 sessioned a off=4 | a: claim=foo
         1.1 ends
         1.1 show",
        "incarnation 1 from generation 9
         stable 9 sessioned led by a
         a owns foo
         unassigned foo-0 config_hazard since 0.1 of -
         unassigned foo-1 config_hazard since 0.1 of -
         counted
         finding config_hazard foo",
    );
}

/// Statuses and a leader URL of workers that no longer exist.
#[test]
fn o_23_statuses_of_gone_workers() {
    check(
        "0.0 config connector c1
         0.0 config tasks c1 1
         0.1 status c1 RUNNING old 3
         0.1 status c1-0 RUNNING a 5
         0.2 ends
         1.0 group 5 sessioned old off=3 | a: claim=c1,c1-0
         1.1 ends
         1.1 show",
        "incarnation 1 from generation 5
         gen 5 completed by rule 4
         stable 5 sessioned led by -
         a owns c1,c1-0
         counted completed=1
         finding leader_url_unknown http://old:8083/",
    );
}

/// Fewer tasks: the removed ones are neither lost nor unassigned.
#[test]
fn o_24_fewer_tasks() {
    check(
        "0.0 config connector c
         0.0 config tasks c 5
         0.1 ends
         1.0 group 8 sessioned a off=7 | a: claim=c,c-0,c-1,c-2,c-3,c-4
         2.0 config tasks c 2
         2.1 ends
         2.5 group 9 sessioned a off=10 | a: claim=c,c-0,c-1,c-2,c-3,c-4 rev=c-2,c-3,c-4
         2.6 ends
         2.6 show
         3.0 group 10 sessioned a off=10 | a: claim=c,c-0,c-1
         3.1 ends
         3.1 show",
        "incarnation 1 from generation 8
         gen 8 completed by rule 3
         stable 9 sessioned led by a
         a owns c,c-0,c-1
         counted completed=1
         gen 9 completed by rule 3
         stable 10 sessioned led by a
         a owns c,c-0,c-1
         counted completed=2 revoked.task.asked=3",
    );
}
