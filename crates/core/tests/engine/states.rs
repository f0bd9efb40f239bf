//! What each configured piece of work does: from its status and from who has it.

use evenkeel_core::answers::DisagreementType;
use evenkeel_core::engine::Engine;

use crate::dsl::{Step, inputs, run, told};

#[track_caller]
fn check(scenario: &str, expected: &str) {
    let told = told(&run(scenario), "states");
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(told, expected, "\n--- told:\n{}", told.join("\n"));
}

/// State rules 6 and 7: as the owner last wrote, since it has it.
#[test]
fn owners_tell_what_their_work_does() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 6
         0.0 config connector bar
         0.1 ends
         1.0 group 1 sessioned a off=9 | a: claim=none add=foo,foo-0,foo-1,foo-2,foo-3,foo-4,foo-5,bar
         1.1 ends
         1.1 states
         1.2 status foo RUNNING a 1
         1.2 status bar STOPPED a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 PAUSED a 1
         1.2 status foo-2 FAILED a 1
         1.2 status foo-3 RESTARTING a 1
         1.2 status foo-4 UNASSIGNED a 1
         1.3 ends
         1.3 states",
        "states
         bar starting:
         foo starting: 6 starting
         states
         bar stopped:
         foo running: 1 running 1 paused 1 failed 1 starting 1 restarting 1 unassigned",
    );
}

/// State rules 2 to 4, and 3 until its owner says that it stopped.
#[test]
fn what_nobody_has() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 1 sessioned a off=5 | a: claim=none add=foo,foo-0,foo-1 | b: claim=none add=foo-2
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 RUNNING a 1
         1.2 status foo-2 RUNNING b 1
         1.3 ends
         9.0 config tasks foo 4
         9.1 group 2 sessioned a off=5 delay=30000 | a: claim=foo,foo-0,foo-1 rev=foo-1
         9.2 ends
         9.2 states
         9.3 status foo-1 UNASSIGNED a 1
         9.4 ends
         9.4 states",
        "states
         foo running: 1 running 1 stopping 1 unassigned 1 lost
         states
         foo running: 1 running 2 unassigned 1 lost",
    );
}

/// A dead worker's RUNNING is not running, nor that of one that has it no more.
#[test]
fn others_words_do_not_count() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0 | b: claim=none add=foo-1
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 RUNNING b 1
         1.3 ends
         20.0 group 2 sessioned a off=4 | a: claim=foo,foo-0 add=foo-1
         20.1 ends
         20.1 states
         21.0 status foo-1 RUNNING b 1
         21.1 ends
         21.1 states
         22.0 status foo-1 RUNNING a 2
         23.0 status foo-1 FAILED b 1
         23.1 ends
         23.1 states",
        "states
         foo running: 1 running 1 starting
         states
         foo running: 1 running 1 starting
         states
         foo running: 2 running",
    );
}

/// A slow start is one also in the rounds that follow; an old stop of the same worker does not
/// answer it.
#[test]
fn a_slow_start_goes_on() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.3 ends
         9.0 group 2 sessioned a off=3 | a: claim=foo,foo-0 rev=foo-0 | b: claim=none
         9.1 status foo-0 UNASSIGNED a 1
         9.5 group 3 sessioned a off=3 | a: claim=foo add=foo-0 | b: claim=-
         9.6 ends
         9.6 states
         12.0 group 4 sessioned a off=3 | a: claim=foo,foo-0 | b: claim=-
         12.1 ends
         12.1 states
         13.0 status foo-0 RUNNING a 4
         13.1 ends
         13.1 states",
        "states
         foo running: 1 starting
         states
         foo running: 1 starting
         states
         foo running: 1 running",
    );
}

/// State rules 1 and 5: without the group nobody knows who has it, without statuses what it does.
#[test]
fn what_is_not_read_is_unknown() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 1
         1.3 access status denied
         1.4 ends
         40.0 ends
         40.0 states
         50.0 access offsets denied
         50.1 ends
         90.0 ends
         90.0 states",
        "states
         foo unknown: 1 unassigned 1 unknown
         states
         foo unknown: 2 unknown",
    );
}

/// A group that is gone has nothing.
#[test]
fn a_group_that_is_gone() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.3 ends
         9.0 group gone
         9.1 ends
         9.1 states",
        "states
         foo lost: 1 lost",
    );
}

/// All advertise one address: whose status it is cannot be told, so nothing is said of workers.
#[test]
fn o_46_nothing_is_said_of_workers_that_share_an_id() {
    crate::cases_doubt::check(
        "0.0 config connector c
         0.0 config tasks c 2
         0.1 ends
         1.0 group 5 sessioned a off=4 | a: url=http://w:8083/ claim=none add=c,c-0 | b: url=http://w:8083/ claim=none add=c-1
         1.2 status c RUNNING w 5
         1.2 status c-0 RUNNING w 5
         1.2 status c-1 RUNNING w 5
         1.5 ends
         1.5 states
         90.0 group 6 sessioned a off=4 | a: url=http://w:8083/ claim=c,c-0
         90.1 ends
         200.0 ends
         200.0 states
         200.0 disagreements",
        "states
         c running: 2 running
         states
         c running: 1 running 1 lost
         disagreements",
    );
}

/// Of disagreements, too: more than are shown are counted.
#[test]
fn those_beyond_the_list_are_counted() {
    let tasks: Vec<String> = (0..600).map(|task| format!("foo-{task}")).collect();
    let tasks = tasks.join(",");
    let scenario = format!(
        "0.0 config connector foo
         0.0 config tasks foo 600
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim={tasks} | b: claim=foo,{tasks}
         1.1 ends"
    );
    let mut engine = Engine::new();
    for step in inputs(&scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    let told = engine.answers().disagreements.unwrap();
    let all = told.count(DisagreementType::DuplicateClaim);
    assert!(all >= 600, "{all}");
    assert_eq!(told.now.len(), 500);
    assert_eq!(u64::try_from(told.left_out).unwrap(), all - 500);
}
