//! Disagreements (D12), rules 1 to 4: each, and what is nearly one and is none.

use crate::dsl::{run, told};

#[track_caller]
pub(crate) fn check(scenario: &str, expected: &str) {
    let told = told(&run(scenario), "disagreements");
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(told, expected, "\n--- told:\n{}", told.join("\n"));
}

/// Rule 1: thrown out with its work running, which somebody else runs now; a worker that died
/// looks the same. Nobody came back in ten minutes: it is taken for dead.
#[test]
fn thrown_out_with_its_work_running() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned b off=3 | a: claim=none add=foo-0 | b: claim=none add=foo
         1.2 status foo RUNNING b 1
         1.3 status foo-0 RUNNING a 1
         1.5 ends
         20.0 group 2 sessioned b off=3 delay=30000 join=19 | b: claim=foo
         20.1 ends
         49.0 ends
         49.0 disagreements
         50.0 group 3 sessioned b off=3 | b: claim=foo add=foo-0
         50.4 status foo-0 RUNNING b 3
         50.5 ends
         60.0 ends
         60.0 disagreements
         619.0 ends
         619.0 disagreements
         640.0 ends
         640.0 disagreements",
        "disagreements
         disagreements
         running_on_departed_worker foo-0 a from 19 possible
         disagreements
         running_on_departed_worker foo-0 a from 19 possible
         disagreements
         running_on_departed_worker foo-0 a from 19 to 50.4 possible",
    );
}

/// Rule 1: its place is taken by a fresh process, so it is dead.
#[test]
fn who_was_replaced_runs_nothing() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned b off=3 | a: claim=none add=foo-0 | b: claim=none add=foo
         1.2 status foo RUNNING b 1
         1.3 status foo-0 RUNNING a 1
         1.5 ends
         20.0 group 2 sessioned b off=3 join=19 | b: claim=foo add=foo-0
         20.4 status foo-0 RUNNING b 2
         20.5 ends
         21.0 ends
         21.0 disagreements
         30.0 group 3 sessioned b off=3 | a#2: claim=none | b: claim=foo,foo-0
         30.1 ends
         40.0 ends
         40.0 disagreements",
        "disagreements
         running_on_departed_worker foo-0 a from 19 possible
         disagreements
         running_on_departed_worker foo-0 a from 19 to 30 possible",
    );
}

/// Rule 1 does not hold of who stopped what it had.
#[test]
fn who_left_in_good_order_runs_nothing() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned b off=3 | a: claim=none add=foo-0 | b: claim=none add=foo
         1.2 status foo RUNNING b 1
         1.3 status foo-0 RUNNING a 1
         1.5 ends
         19.0 status foo-0 UNASSIGNED a 1
         20.0 group 2 sessioned b off=3 join=19.9 | b: claim=foo add=foo-0
         20.4 status foo-0 RUNNING b 2
         20.5 ends
         21.0 ends
         21.0 disagreements",
        "disagreements",
    );
}

/// Rule 1: nobody has it and no delay runs (KAFKA-15693), so its status tells what is not so.
#[test]
fn nobody_waits_for_a_dead_workers_work() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned b off=3 | a: claim=none add=foo-0 | b: claim=none add=foo
         1.2 status foo RUNNING b 1
         1.3 status foo-0 RUNNING a 1
         1.5 ends
         20.0 group 2 sessioned b off=3 join=19 | b: claim=foo
         20.1 ends
         79.0 ends
         79.0 disagreements
         81.0 ends
         81.0 disagreements",
        "disagreements
         disagreements
         running_on_departed_worker foo-0 a from 19 possible",
    );
}

/// Rule 2: a member writes that it runs what another is told to have.
#[test]
fn it_runs_where_nobody_told() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned b off=3 | a: claim=none | b: claim=none add=foo,foo-0
         1.2 status foo RUNNING b 1
         1.3 status foo-0 RUNNING b 1
         1.5 ends
         20.0 group 2 sessioned b off=3 | a: claim=- | b: claim=foo,foo-0
         20.1 ends
         25.0 status foo-0 RUNNING a 2
         84.0 ends
         84.0 disagreements
         86.0 ends
         86.0 disagreements
         90.0 status foo-0 UNASSIGNED a 2
         90.1 ends
         95.0 ends
         95.0 disagreements",
        "disagreements
         disagreements
         running_elsewhere foo-0 a from 25 likely
         disagreements
         running_elsewhere foo-0 a from 25 to 90 likely",
    );
}

/// Rule 3: told to have it, and not a word for a minute.
#[test]
fn told_and_not_started() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 1
         1.5 ends
         60.9 ends
         60.9 disagreements
         61.1 ends
         61.1 disagreements
         65.0 group 2 sessioned a off=3 | a: claim=foo,foo-0
         65.1 ends
         66.0 ends
         66.0 disagreements
         80.0 status foo-0 RUNNING a 2
         80.1 ends
         90.0 ends
         90.0 disagreements",
        "disagreements
         disagreements
         assigned_not_running foo-0 a from 1 likely
         disagreements
         assigned_not_running foo-0 a from 1 likely
         disagreements
         assigned_not_running foo-0 a from 1 to 80 likely",
    );
}

/// Rule 3 waits as long as the worker's rebalance timeout, and for any word.
#[test]
fn slow_starts_and_failures_are_told_in_time() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 timeout=120000 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo PAUSED a 1
         1.3 status foo-0 FAILED a 1
         1.5 ends
         120.0 ends
         120.0 disagreements
         120.5 status foo-1 RUNNING a 1
         122.0 ends
         122.0 disagreements",
        "disagreements
         disagreements",
    );
}

/// Rule 4: its owner wrote that it stopped it, and keeps it.
#[test]
fn stopped_and_kept() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.5 ends
         20.0 status foo-0 UNASSIGNED a 1
         79.0 ends
         79.0 disagreements
         81.0 ends
         81.0 disagreements
         90.0 status foo-0 RUNNING a 1
         90.1 ends
         99.0 ends
         99.0 disagreements",
        "disagreements
         disagreements
         unassigned_but_owned foo-0 a from 20 likely
         disagreements
         unassigned_but_owned foo-0 a from 20 to 90 likely",
    );
}

/// Rule 4 does not hold of what was stopped for a round that gives it to another.
#[test]
fn a_stop_for_a_hand_over_is_none() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.5 ends
         20.0 group 2 sessioned a off=3 | a: claim=foo,foo-0 rev=foo-0 | b: claim=none
         20.2 status foo-0 UNASSIGNED a 1
         20.5 group 3 sessioned a off=3 | a: claim=foo | b: claim=- add=foo-0
         20.8 status foo-0 RUNNING b 3
         20.9 ends
         99.0 ends
         99.0 disagreements",
        "disagreements",
    );
}
