//! Moves (D11): what went to another worker, and whether it had to.

use crate::departures::THREE;
use crate::dsl::{run, told};

#[track_caller]
fn check(scenario: &str, expected: &str) {
    let told = told(&run(scenario), "moves");
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(told, expected, "\n--- told:\n{}", told.join("\n"));
}

/// After three workers with one task each, the first has the connector, too.
#[track_caller]
fn after_three(scenario: &str, expected: &str) {
    check(&format!("{THREE}{scenario}"), expected);
}

/// Move rule 2: who has it is known at once, whether it had to go there after ten minutes.
#[test]
fn away_from_who_is_gone_for_good() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         50.3 group 3 sessioned a off=5 join=50.2 | a: claim=foo,foo-0 | b: claim=foo-1 add=foo-2
         50.8 status foo-2 RUNNING b 3
         51.0 ends
         51.1 moves
         629.8 ends
         629.8 moves
         640.0 ends
         640.1 moves",
        "moves
         task unsettled 1
         moves
         task unsettled 1
         moves
         task required 1",
    );
}

/// Move rules 1 and 3: a leader's work is handed out at once, and comes back after its
/// restart. What it gets later is another matter.
#[test]
fn a_leaders_restart_is_paid_twice() {
    after_three(
        "30.0 group 2 sessioned b off=5 join=29.9 | b: claim=foo-1 add=foo | c: claim=foo-2 add=foo-0
         30.5 status foo RUNNING b 2
         30.6 status foo-0 RUNNING c 2
         31.0 ends
         31.1 moves
         40.0 group 3 sessioned b off=5 join=39.9 | a#2: claim=none | b: claim=foo,foo-1 | c: claim=foo-0,foo-2 rev=foo-0
         40.2 ends
         41.0 group 4 sessioned b off=5 join=40.9 | a#2: claim=- add=foo-0 | b: claim=foo,foo-1 | c: claim=foo-2
         41.5 status foo-0 RUNNING a 4
         42.0 ends
         42.1 moves
         60.0 config tasks foo 4
         60.2 group 5 sessioned b off=10 join=60.1 | a#2: claim=foo-0 | b: claim=foo,foo-1 | c: claim=foo-2 add=foo-3
         60.8 status foo-3 RUNNING c 5
         61.0 ends
         70.0 group 6 sessioned b off=10 join=69.9 | a#2: claim=foo-0 | b: claim=foo,foo-1 rev=foo-1 | c: claim=foo-2,foo-3
         71.0 group 7 sessioned b off=10 join=70.9 | a#2: claim=foo-0 add=foo-1 | b: claim=foo | c: claim=foo-2,foo-3
         71.5 status foo-1 RUNNING a 7
         72.0 ends
         72.1 moves",
        "moves
         connector unsettled 1
         task unsettled 1
         moves
         connector returned 1
         task returned 2
         moves
         connector returned 1
         task returned 2
         task extra 1",
    );
}

/// Move rule 1: two are away in one window; when it ends, each gets the other's work.
#[test]
fn each_gets_the_others_work() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         35.0 group 3 sessioned a off=5 join=34.9 delay=15000 | a: claim=foo,foo-0 | c#2: claim=none
         40.0 group 4 sessioned a off=5 join=39.9 delay=10000 | a: claim=foo,foo-0 | c#2: claim=- | b#2: claim=none
         50.3 group 5 sessioned a off=5 join=50.2 | a: claim=foo,foo-0 | c#2: claim=- add=foo-1 | b#2: claim=- add=foo-2
         50.8 status foo-1 RUNNING c 5
         50.9 status foo-2 RUNNING b 5
         51.0 ends
         51.1 moves",
        "moves
         task returned 2",
    );
}

/// Gone for ten minutes and more: nothing of a restart. Its share is what the split takes.
#[test]
fn back_after_ten_minutes() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 | a: claim=foo,foo-0 | b: claim=foo-1 add=foo-2
         30.8 status foo-2 RUNNING b 2
         31.0 ends
         640.0 group 3 sessioned a off=5 join=639.9 | a: claim=foo,foo-0 | b: claim=foo-1,foo-2 rev=foo-1 | c#2: claim=none
         641.0 group 4 sessioned a off=5 join=640.9 | a: claim=foo,foo-0 | b: claim=foo-2 | c#2: claim=- add=foo-1
         641.5 status foo-1 RUNNING c 4
         642.0 ends
         642.1 moves",
        "moves
         task required 2",
    );
}

/// Move rule 4: a worker more takes its share, and no more than that.
#[test]
fn the_share_of_a_new_worker() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 4
         0.1 ends
         1.0 group 1 sessioned a off=6 join=0.9 | a: claim=none add=foo,foo-0,foo-1,foo-2,foo-3
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 RUNNING a 1
         1.2 status foo-2 RUNNING a 1
         1.2 status foo-3 RUNNING a 1
         2.0 ends
         9.0 group 2 sessioned a off=6 join=8.9 | a: claim=foo,foo-0,foo-1,foo-2,foo-3 rev=foo-0,foo-1 | b: claim=none
         9.5 group 3 sessioned a off=6 join=9.4 | a: claim=foo,foo-2,foo-3 | b: claim=- add=foo-0,foo-1
         9.8 status foo-0 RUNNING b 3
         9.9 ends
         9.9 moves",
        "moves
         task required 2",
    );
}

/// Move rules 4 and 5: the eager assignor deals all of it anew.
#[test]
fn the_eager_assignor_moves_more() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 4
         0.1 ends
         1.0 group 1 default a off=6 join=0.9 | a: add=foo,foo-1,foo-3 | b: add=foo-0,foo-2
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING b 1
         2.0 ends
         9.0 status foo UNASSIGNED a 1
         9.0 status foo-0 UNASSIGNED b 1
         9.5 group 2 default a off=6 join=9.4 | a: add=foo,foo-2 | b: add=foo-0,foo-3 | c: add=foo-1
         9.8 status foo RUNNING a 2
         9.8 status foo-0 RUNNING b 2
         9.8 status foo-1 RUNNING c 2
         9.9 ends
         9.9 moves",
        "moves
         task required 1
         task extra 2",
    );
}

/// Where the eager assignor deals anew what a worker of short absence left, what it gets is
/// the restart's, and all else that moves among the others is nobody's.
#[test]
fn an_eager_restart() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 4
         0.1 ends
         1.0 group 1 default a off=6 join=0.9 | a: add=foo,foo-1 | b: add=foo-0,foo-2 | c: add=foo-3
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING b 1
         1.2 status foo-3 RUNNING c 1
         2.0 ends
         9.5 group 2 default a off=6 join=9.4 | a: add=foo,foo-1,foo-3 | b: add=foo-0,foo-2
         9.8 status foo RUNNING a 2
         9.8 status foo-0 RUNNING b 2
         10.0 ends
         15.5 group 3 default a off=6 join=15.4 | a: add=foo,foo-2 | b: add=foo-0,foo-3 | c#2: add=foo-1
         15.8 status foo RUNNING a 3
         15.8 status foo-0 RUNNING b 3
         15.8 status foo-1 RUNNING c 3
         16.0 ends
         16.0 moves",
        "moves
         task returned 2
         task extra 2",
    );
}

/// Move rule 6: a connector that was stopped and runs again elsewhere moved nowhere.
#[test]
fn what_was_removed_is_new() {
    after_three(
        "30.0 config commit foo 0
         30.1 group 2 sessioned a off=6 join=30.0 | a: claim=foo,foo-0 rev=foo-0 | b: claim=foo-1 rev=foo-1 | c: claim=foo-2 rev=foo-2
         30.5 group 3 sessioned a off=6 join=30.4 | a: claim=foo | b: claim=- | c: claim=-
         31.0 ends
         40.0 config tasks foo 3
         40.1 group 4 sessioned a off=10 join=40.0 | a: claim=foo add=foo-2 | b: claim=- add=foo-0 | c: claim=- add=foo-1
         40.5 status foo-2 RUNNING a 4
         40.5 status foo-0 RUNNING b 4
         40.5 status foo-1 RUNNING c 4
         41.0 ends
         41.0 moves",
        "moves",
    );
}

/// Who comes in a worker's place takes that worker's work: nothing moves.
#[test]
fn a_successor_takes_its_own() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         40.0 group 3 sessioned a off=5 join=39.9 delay=10000 | a: claim=foo,foo-0 | b: claim=foo-1 | d: claim=none
         50.3 group 4 sessioned a off=5 join=50.2 | a: claim=foo,foo-0 | b: claim=foo-1 | d: claim=- add=foo-2
         50.8 status foo-2 RUNNING d 4
         51.0 ends
         51.0 moves",
        "moves",
    );
}

/// Move rule 5: a worker lost its coordinator for a moment; what it dropped goes elsewhere.
#[test]
fn what_was_dropped_need_not_move() {
    after_three(
        "20.0 group 2 sessioned a off=5 join=19.9 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
         20.1 ends
         30.0 group 3 sessioned a off=5 join=29.9 | a: claim=foo,foo-0 | b: claim=foo-1 add=foo-2 | c: claim=none
         30.5 status foo-2 RUNNING b 3
         31.0 ends
         31.0 moves",
        "moves
         task extra 1",
    );
}

/// A worker that was thrown out comes back with its claim: all that has two owners is taken
/// from both.
#[test]
fn what_two_claim_is_taken_from_both() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 | a: claim=foo,foo-0 | b: claim=foo-1 add=foo-2
         30.8 status foo-2 RUNNING b 2
         31.0 ends
         40.0 group 3 sessioned a off=5 join=39.9 | a: claim=foo,foo-0 | b: claim=foo-1,foo-2 rev=foo-2 | c#2: claim=foo-2 rev=foo-2
         41.0 group 4 sessioned a off=5 join=40.9 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=- add=foo-2
         41.5 status foo-2 RUNNING c 4
         42.0 ends
         42.0 moves",
        "moves
         task returned 2",
    );
}

/// What the assignor revokes of what it is about to hand out was never its new owner's.
#[test]
fn what_is_taken_before_it_was_handed_out() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         40.0 group 3 sessioned a off=5 join=39.9 delay=10000 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=none
         50.3 group 4 sessioned a off=5 join=50.2 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=- rev=foo-2
         50.8 group 5 sessioned a off=5 join=50.7 | a: claim=foo,foo-0 | b: claim=foo-1 add=foo-2 | c#2: claim=-
         51.0 status foo-2 RUNNING b 5
         51.5 ends
         51.6 moves",
        "moves
         task returned 1",
    );
}
