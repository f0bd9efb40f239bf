//! D13: what the last half hour looks like, each rule at its boundary.

use crate::dsl::{run, told};

#[track_caller]
fn check(scenario: &str, expected: &str) {
    let told = told(&run(scenario), "pattern");
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(told, expected, "\n--- told:\n{}", told.join("\n"));
}

/// Pattern rule 1: the fifth round that fails makes it a loop; two minutes after the first of
/// five there are only four of them.
#[test]
fn five_mismatches_in_two_minutes() {
    check(
        "0.0 ends
         1.0 group 7 sessioned a off=3 | a: claim=- | b: claim=-
         10.0 group 8 sessioned a off=3 err=1 | a: claim=- | b: claim=-
         11.0 group 9 sessioned a off=3 err=1 | a: claim=- | b: claim=-
         12.0 group 10 sessioned a off=3 err=1 | a: claim=- | b: claim=-
         13.0 group 11 sessioned a off=3 err=1 | a: claim=- | b: claim=-
         13.1 ends
         13.1 pattern
         14.0 group 12 sessioned a off=3 err=1 | a: claim=- | b: claim=-
         14.1 ends
         14.1 pattern
         129.9 ends
         129.9 pattern
         130.9 ends
         130.9 pattern",
        "pattern quiet
         loop rounds 4/5
         storm generations 4/21
         pattern loop
         5 rounds in the last 2 minutes ended in CONFIG_MISMATCH or reached nobody, and none was completed since
         loop rounds 5/5
         storm generations 5/21
         pattern loop
         5 rounds in the last 2 minutes ended in CONFIG_MISMATCH or reached nobody, and none was completed since
         loop rounds 5/5
         storm generations 5/21
         pattern quiet
         loop rounds 4/5
         storm generations 5/21",
    );
}

/// A round that is completed ends the loop, once that is proven; what fails after it is
/// counted anew.
#[test]
fn a_completed_round_ends_a_loop() {
    check(
        "0.0 ends
         1.0 group 7 sessioned a off=3 | a: claim=- | b: claim=-
         2.0 group 13 sessioned a off=3 err=1 | a: claim=- | b: claim=-
         2.1 ends
         2.1 pattern
         3.0 group 14 sessioned a off=3 | a: claim=- add=foo | b: claim=-
         3.1 ends
         3.1 pattern
         4.0 group 18 sessioned a off=3 err=1 | a: claim=foo | b: claim=-
         4.1 ends
         4.1 pattern
         5.0 group 19 sessioned a off=3 err=1 | a: claim=foo | b: claim=-
         5.1 ends
         5.1 pattern",
        "pattern loop
         6 rounds in the last 2 minutes ended in CONFIG_MISMATCH or reached nobody, and none was completed since
         loop rounds 6/5
         storm generations 6/21
         pattern loop
         6 rounds in the last 2 minutes ended in CONFIG_MISMATCH or reached nobody, and none was completed since
         loop rounds 6/5
         storm generations 7/21
         pattern quiet
         loop rounds 4/5
         storm generations 11/21
         pattern loop
         5 rounds in the last 2 minutes ended in CONFIG_MISMATCH or reached nobody, and none was completed since
         loop rounds 5/5
         storm generations 12/21",
    );
}

/// Numbers of which nobody knows how they ended, and when, are used by no pattern: a compacted
/// log has such holes.
#[test]
fn a_hole_in_the_history_is_no_loop_and_no_storm() {
    check(
        "1.0 group 7 sessioned a off=3 | a: claim=- | b: claim=-
         2.0 group 200 sessioned a off=3 | a: claim=- | b: claim=-
         3.0 live
         3.1 ends
         3.1 pattern
         4.0 group 205 sessioned a off=3 | a: claim=- | b: claim=-
         4.1 ends
         4.1 pattern",
        "pattern quiet
         storm generations 1/21
         pattern quiet
         loop rounds 4/5
         storm generations 6/21",
    );
}

/// Pattern rule 2: each round takes away what the one before handed out, with the same members
/// and the same configuration. One that leaves nothing to be done ends it.
#[test]
fn follow_ups_that_never_converge() {
    check(
        "0.0 ends
         1.0 group 1 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=foo-1
         10.0 group 2 sessioned a off=5 | a: claim=foo,foo-0 rev=foo-0 | b: claim=foo-1 | c: claim=none
         11.0 group 3 sessioned a off=5 | a: claim=foo | b: claim=foo-1 rev=foo-1 | c: claim=- add=foo-0
         12.0 group 4 sessioned a off=5 | a: claim=foo add=foo-1 | b: claim=- | c: claim=foo-0 rev=foo-0
         13.0 group 5 sessioned a off=5 | a: claim=foo,foo-1 rev=foo-1 | b: claim=- add=foo-0 | c: claim=-
         14.0 group 6 sessioned a off=5 | a: claim=foo | b: claim=foo-0 rev=foo-0 | c: claim=- add=foo-1
         14.1 ends
         14.1 pattern
         15.0 group 7 sessioned a off=5 | a: claim=foo add=foo-0 | b: claim=- | c: claim=foo-1 rev=foo-1
         15.1 ends
         15.1 pattern
         16.0 group 8 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=- add=foo-1 | c: claim=-
         16.1 ends
         16.1 pattern",
        "pattern quiet
         loop followups 4/5
         storm generations 5/21
         pattern loop
         5 follow-ups of revocations revoked again, while members and configuration stayed the same
         loop followups 5/5
         storm generations 6/21
         pattern quiet
         storm generations 7/21",
    );
}

/// Pattern rule 3: 21 generations are a storm, 20 are none; ten minutes after the first of
/// them there are fewer. Numbers without a record count where the log is whole.
#[test]
fn twenty_one_generations_in_ten_minutes() {
    check(
        "0.0 config connector foo
         0.1 ends
         1.0 group 1 sessioned a off=1 | a: claim=foo | b: claim=-
         1.1 ends
         30.0 group 10 sessioned a off=1 | a: claim=foo | b: claim=-
         30.1 ends
         60.0 group 20 sessioned a off=1 | a: claim=foo | b: claim=-
         60.1 ends
         60.2 status foo RUNNING a 20
         80.0 group 21 sessioned a off=1 | a: claim=foo | b: claim=-
         80.1 ends
         80.1 pattern
         90.0 group 22 sessioned a off=1 | a: claim=foo | b: claim=-
         90.1 ends
         90.1 pattern
         629.9 ends
         629.9 pattern
         630.1 ends
         630.1 pattern",
        "pattern quiet
         storm generations 20/21
         pattern storm
         21 generations in the last 10 minutes, and no configuration written by a person since the first of them
         storm generations 21/21
         pattern storm
         21 generations in the last 10 minutes, and no configuration written by a person since the first of them
         storm generations 21/21
         pattern quiet
         storm generations 12/21",
    );
}

/// A person changes a connector: what comes of that is no storm, and what was before it is
/// not counted. The same configuration again changes nothing, and what a connector itself
/// writes is of no person.
#[test]
fn a_person_is_no_storm() {
    check(
        "0.0 config connector foo content=1
         0.1 ends
         1.0 group 1 sessioned a off=1 | a: claim=foo | b: claim=-
         1.1 ends
         30.0 group 12 sessioned a off=1 | a: claim=foo | b: claim=-
         30.1 ends
         31.0 config connector foo content=1
         31.1 config tasks foo 1
         32.0 group 13 sessioned a off=4 | a: claim=foo | b: claim=- add=foo-0
         32.1 ends
         32.1 pattern
         40.0 config connector foo content=2
         40.0 config tasks foo 1
         41.0 group 14 sessioned a off=7 | a: claim=foo | b: claim=foo-0
         41.1 ends
         41.1 pattern
         50.0 config target foo PAUSED
         60.0 group 24 sessioned a off=8 | a: claim=foo | b: claim=foo-0
         60.1 ends
         60.1 pattern",
        "pattern quiet
         storm generations 12/21
         churn commits 1/3
         pattern quiet
         churn commits 2/3
         pattern loop
         9 rounds in the last 2 minutes ended in CONFIG_MISMATCH or reached nobody, and none was completed since
         loop rounds 9/5
         churn commits 2/3",
    );
}

/// Pattern rule 4: the third time that it leaves without a word. It comes back under another
/// address once, and is the same chain; a stop in good order in between does not count.
#[test]
fn one_worker_crashes_three_times() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 join=0.9 | a: claim=none add=foo,foo-0 | c: host=192.0.2.3 claim=none add=foo-1
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.3 status foo-1 RUNNING c 1
         2.0 ends
         30.0 group 2 sessioned a off=4 delay=10000 | a: claim=foo,foo-0
         35.0 group 3 sessioned a off=4 delay=5000 | a: claim=foo,foo-0 | d: host=192.0.2.3 claim=none
         40.3 group 4 sessioned a off=4 | a: claim=foo,foo-0 | d: host=192.0.2.3 claim=- add=foo-1
         40.8 status foo-1 RUNNING d 4
         41.0 ends
         60.0 group 5 sessioned a off=4 delay=10000 | a: claim=foo,foo-0
         65.0 group 6 sessioned a off=4 delay=5000 | a: claim=foo,foo-0 | d#2: host=192.0.2.3 claim=none
         70.3 group 7 sessioned a off=4 | a: claim=foo,foo-0 | d#2: host=192.0.2.3 claim=- add=foo-1
         70.8 status foo-1 RUNNING d 7
         71.0 ends
         80.0 status foo-1 UNASSIGNED d 7
         80.2 group 8 sessioned a off=4 delay=10000 | a: claim=foo,foo-0
         85.0 group 9 sessioned a off=4 delay=5000 | a: claim=foo,foo-0 | d#3: host=192.0.2.3 claim=none
         90.3 group 10 sessioned a off=4 | a: claim=foo,foo-0 | d#3: host=192.0.2.3 claim=- add=foo-1
         90.8 status foo-1 RUNNING d 10
         91.0 ends
         91.0 pattern
         120.0 group 11 sessioned a off=4 delay=10000 | a: claim=foo,foo-0
         121.1 ends
         121.1 pattern
         125.0 group 12 sessioned a off=4 delay=5000 | a: claim=foo,foo-0 | d#4: host=192.0.2.3 claim=none
         125.1 ends
         125.1 pattern
         1829.9 ends
         1829.9 pattern
         1830.1 ends
         1830.1 pattern",
        "pattern quiet
         storm generations 9/21
         flapping departures 2/3
         rollout workers 1/2
         pattern quiet
         storm generations 10/21
         flapping departures 2/3
         rollout workers 1/2
         pattern flapping d:8083
         d:8083 left 3 times in the last 30 minutes: crashed, crashed, crashed
         storm generations 11/21
         flapping departures 3/3
         rollout workers 1/2
         pattern flapping d:8083
         d:8083 left 3 times in the last 30 minutes: crashed, crashed, crashed
         flapping departures 3/3
         rollout workers 1/2
         pattern quiet
         flapping departures 2/3
         rollout workers 1/2",
    );
}

/// Pattern rule 5: the third generation with tasks of one connector; what is written twice
/// before one generation counts once, and tasks of another connector are not added.
#[test]
fn tasks_of_one_connector_three_times() {
    check(
        "0.0 config connector foo content=1
         0.0 config tasks foo 1
         0.0 config connector bar content=2
         0.0 config tasks bar 1
         0.1 ends
         1.0 group 1 sessioned a off=6 | a: claim=foo,foo-0,bar,bar-0
         1.1 ends
         10.0 config tasks foo 1
         11.0 group 2 sessioned a off=8 | a: claim=foo,foo-0,bar,bar-0
         11.1 ends
         20.0 config tasks bar 1
         20.1 config tasks foo 2
         20.2 config tasks foo 2
         21.0 group 3 sessioned a off=16 | a: claim=foo,foo-0,bar,bar-0 add=foo-1
         21.1 ends
         21.1 pattern
         30.0 config connector foo content=3
         30.1 config tasks foo 2
         31.0 group 4 sessioned a off=20 | a: claim=foo,foo-0,foo-1,bar,bar-0
         31.1 ends
         31.1 pattern
         910.9 ends
         910.9 pattern
         911.1 ends
         911.1 pattern",
        "pattern quiet
         storm generations 2/21
         churn commits 2/3
         pattern churn foo
         tasks of one connector were written 3 times (1 after somebody changed its configuration, 2 as the connector itself asked for it, 2 without any change) in the last 15 minutes
         churn commits 3/3
         pattern churn foo
         tasks of one connector were written 3 times (1 after somebody changed its configuration, 2 as the connector itself asked for it, 2 without any change) in the last 15 minutes
         churn commits 3/3
         pattern quiet
         churn commits 2/3",
    );
}

/// Pattern rule 6: two workers stop in good order and somebody comes in the place of each. One
/// that stops for good is no rollout, nor is the same one twice.
#[test]
fn two_workers_are_replaced() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 1 sessioned a off=5 join=0.9 | a: claim=none add=foo,foo-0 | b: claim=none add=foo-1 | c: claim=none add=foo-2
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 RUNNING b 1
         1.3 status foo-2 RUNNING c 1
         2.0 ends
         20.0 status foo-2 UNASSIGNED c 1
         20.2 group 2 sessioned a off=5 delay=10000 | a: claim=foo,foo-0 | b: claim=foo-1
         25.0 group 3 sessioned a off=5 delay=5000 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=none
         30.3 group 4 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=- add=foo-2
         30.8 status foo-2 RUNNING c 4
         31.0 ends
         40.0 status foo-2 UNASSIGNED c 4
         40.2 group 5 sessioned a off=5 delay=10000 | a: claim=foo,foo-0 | b: claim=foo-1
         45.0 group 6 sessioned a off=5 delay=5000 | a: claim=foo,foo-0 | b: claim=foo-1 | c#3: claim=none
         50.3 group 7 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=foo-1 | c#3: claim=- add=foo-2
         50.8 status foo-2 RUNNING c 7
         51.0 ends
         60.0 status foo-1 UNASSIGNED b 7
         60.2 group 8 sessioned a off=5 delay=10000 | a: claim=foo,foo-0 | c#3: claim=foo-2
         60.3 ends
         60.3 pattern
         65.0 group 9 sessioned a off=5 delay=5000 | a: claim=foo,foo-0 | b#2: claim=none | c#3: claim=foo-2
         65.1 ends
         65.1 pattern",
        "pattern quiet
         storm generations 7/21
         rollout workers 1/2
         pattern rollout c:8083 b:8083
         2 workers stopped and were replaced in the last 30 minutes: c:8083, b:8083
         storm generations 8/21
         rollout workers 2/2",
    );
}

/// Without the group's records nothing is said.
#[test]
fn without_records_there_is_no_pattern() {
    check(
        "0.0 access offsets denied
         0.1 poll stable sessioned a off=3 | a: claim=-
         0.2 ends
         0.3 pattern",
        "pattern unknown",
    );
}
