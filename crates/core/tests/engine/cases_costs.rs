//! Real incidents as data: what they cost, and whether it had to be. Their numbers are in the
//! names.

use crate::dsl::{check, run, told};

#[track_caller]
fn moves(scenario: &str, expected: &str) {
    let told = told(&run(scenario), "moves");
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(told, expected, "\n--- told:\n{}", told.join("\n"));
}

/// A pod replaced by one with another address, 40 s later: its task stands still for the whole
/// delay, whether it said that it stopped or not, and moves nowhere.
#[test]
fn o_08_how_long_it_stood_still() {
    let log = |stopped: &str, gone: &str| {
        format!(
            "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 7 sessioned a off=4 | a: claim=none add=foo | b: claim=none add=foo-0 | old: claim=none add=foo-1
         1.2 status foo RUNNING a 7
         1.2 status foo-0 RUNNING b 7
         1.2 status foo-1 RUNNING old 7
         1.5 ends
         {stopped}
         {gone} group 8 sessioned a off=4 delay=300000 | a: claim=foo | b: claim=foo-0
         140.0 group 9 sessioned a off=4 delay=260000 | a: claim=foo | b: claim=foo-0 | new: claim=none
         140.1 ends
         400.5 group 10 sessioned a off=4 | a: claim=foo | b: claim=foo-0 | new: claim=- add=foo-1
         400.9 status foo-1 RUNNING new 10
         401.0 ends"
        )
    };
    let graceful = log("100.0 status foo-1 UNASSIGNED old 7", "100.2");
    check(
        &format!("{graceful}\n401.0 costs"),
        "interrupted task lost 1
         handed over task clean 1
         foo was down lost for 300.9",
    );
    // Ten seconds more, in which the group did not know.
    check(
        &format!("{}\n401.0 costs", log("", "110.0")),
        "interrupted task lost 1
         handed over task unclean 1
         foo was down lost for 290.9",
    );
    moves(&format!("{graceful}\n401.0 moves"), "moves");
}

/// One eager worker joins: what statuses prove was stopped is interrupted, and nothing else;
/// what the new owner starts was never stopped where it was. With four workers and three tasks
/// no task had to move. When it leaves, everybody stops everything.
#[test]
fn o_14_what_one_eager_worker_stops() {
    let log = "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 29 sessioned a off=5 | a: claim=none add=foo,foo-0 | b: claim=none add=foo-1 | c: claim=none add=foo-2
         1.2 status foo RUNNING a 29
         1.2 status foo-0 RUNNING a 29
         1.2 status foo-1 RUNNING b 29
         1.2 status foo-2 RUNNING c 29
         1.5 ends
         2.0 group 30 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
         2.1 ends
         40.0 group 31 default a off=5 join=39.9 | a: add=foo,foo-0 | b: add=foo-1 | c: add= | d: add=foo-2
         40.4 status foo-2 RUNNING d 31
         40.5 ends";
    check(&format!("{log}\n40.6 costs"), "handed over task unclean 1");
    moves(
        &format!("{log}\n40.6 moves"),
        "moves
         task extra 1",
    );
    check(
        &format!(
            "{log}
         90.0 status foo UNASSIGNED a 31
         90.0 status foo-0 UNASSIGNED a 31
         90.0 status foo-1 UNASSIGNED b 31
         90.1 status foo-2 UNASSIGNED d 31
         90.5 group 32 sessioned a off=5 join=90.4 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=- add=foo-2
         90.8 status foo RUNNING a 32
         90.8 status foo-0 RUNNING a 32
         90.8 status foo-1 RUNNING b 32
         90.9 status foo-2 RUNNING c 32
         91.0 ends
         91.0 costs"
        ),
        "interrupted connector handover 1
         interrupted task handover 2
         interrupted task lost 1
         handed over task clean 1
         handed over task unclean 1
         foo was down handover for 1.6
         foo was down lost for 0.8",
    );
}

/// Restarted with its tasks, without a round: from RESTARTING to RUNNING; what had failed was
/// down from its failure on.
#[test]
fn o_30_how_long_a_restart_took() {
    check(
        "0.0 config connector c
         0.0 config tasks c 3
         0.1 ends
         1.0 group 8 sessioned a off=5 | a: claim=none add=c,c-0,c-1,c-2
         1.2 status c RUNNING a 8
         1.2 status c-0 RUNNING a 8
         1.2 status c-1 RUNNING a 8
         1.2 status c-2 RUNNING a 8
         1.5 ends
         15.0 status c-2 FAILED a 8
         20.0 status c-1 RESTARTING a 8
         20.0 status c-2 RESTARTING a 8
         20.1 ends
         20.1 costs
         20.5 status c-2 RUNNING a 8
         20.7 status c-1 RUNNING a 8
         20.8 ends
         20.8 costs",
        "interrupted task restarted 1
         interrupted task failed 1
         c was down restarted for 0.7
         c was down failed for 5.5",
    );
}

/// RESTARTING, and nothing more: it is shown as long as it lasts.
#[test]
fn o_30_a_restart_that_is_stuck() {
    check(
        "0.0 config connector c
         0.0 config tasks c 1
         0.1 ends
         1.0 group 8 sessioned a off=3 | a: claim=none add=c,c-0
         1.2 status c RUNNING a 8
         1.2 status c-0 RUNNING a 8
         1.5 ends
         20.0 status c-0 RESTARTING a 8
         600.0 ends
         600.0 costs",
        "interrupted task restarted 1
         c has 1 down restarted",
    );
}

/// Back with an outdated claim: both copies are stopped, and the work stands still from one
/// round to the next. It went to b because c was away for a minute, and comes back to c.
#[test]
fn o_32_what_two_copies_cost() {
    let log = "0.0 config connector t
         0.0 config tasks t 4
         0.1 ends
         1.0 group 47 sessioned a off=6 | a: claim=none add=t,t-0,t-1 | b: claim=none add=t-3 | c: claim=none add=t-2
         1.2 status t RUNNING a 47
         1.2 status t-0 RUNNING a 47
         1.2 status t-1 RUNNING a 47
         1.2 status t-2 RUNNING c 47
         1.2 status t-3 RUNNING b 47
         1.5 ends
         20.0 group 48 sessioned a off=6 delay=20000 | a: claim=t,t-0,t-1 | b: claim=t-3
         20.1 ends
         40.2 group 49 sessioned a off=6 join=40.1 | a: claim=t,t-0,t-1 | b: claim=t-3 add=t-2
         40.5 status t-2 RUNNING b 49
         40.6 ends
         60.0 group 50 sessioned a off=6 | a: claim=t,t-0,t-1 | b: claim=t-2,t-3 rev=t-2 | c#2: claim=t-2 rev=t-2
         60.3 status t-2 UNASSIGNED b 49
         60.8 group 51 sessioned a off=6 | a: claim=t,t-0,t-1 | b: claim=t-3 | c#2: claim=- add=t-2
         61.0 status t-2 RUNNING c 51
         61.1 ends";
    check(
        &format!("{log}\n61.1 costs"),
        "interrupted task handover 1
         interrupted task lost 1
         handed over task clean 1
         handed over task unclean 1
         t was down handover for 0.7
         t was down lost for 20.5",
    );
    moves(
        &format!("{log}\n61.1 moves"),
        "moves
         task returned 2",
    );
}

/// A task that does not heed its stop: by the group's records the move looks clean, by the
/// statuses it is not.
#[test]
fn o_34_a_hand_over_that_was_not_clean() {
    let log = |stopped: &str| {
        format!(
            "0.0 config connector c
         0.0 config tasks c 2
         0.1 ends
         1.0 group 9 sessioned a off=4 | a: claim=none add=c,c-0,c-1
         1.2 status c RUNNING a 9
         1.2 status c-0 RUNNING a 9
         1.2 status c-1 RUNNING a 9
         1.5 ends
         20.0 group 10 sessioned a off=4 join=19.9 | a: claim=c,c-0,c-1 rev=c-0 | b: claim=none
         {stopped}
         25.2 group 11 sessioned a off=4 join=25.1 | a: claim=c,c-1 | b: claim=- add=c-0
         25.5 status c-0 RUNNING b 11
         26.0 ends"
        )
    };
    check(
        &format!("{}\n26.0 costs", log("")),
        "interrupted task handover 1
         handed over task unclean 1",
    );
    check(
        &format!("{}\n26.0 costs", log("20.3 status c-0 UNASSIGNED a 9")),
        "interrupted task handover 1
         handed over task clean 1
         c was down handover for 5.2",
    );
    moves(
        &format!("{}\n26.0 moves", log("")),
        "moves
         task required 1",
    );
}

fn tasks(numbers: std::ops::Range<i32>) -> String {
    let names: Vec<String> = numbers.map(|task| format!("t-{task}")).collect();
    names.join(",")
}

/// 8/8/0 becomes 6/6/4: all four had to move, and one more would have made it even. When two
/// come at once, eight of sixteen have to.
#[test]
fn o_36_what_had_to_move() {
    let opening = |w0: std::ops::Range<i32>, w1: std::ops::Range<i32>| {
        format!(
            "0.0 config connector t
         0.0 config tasks t 16
         0.1 ends
         1.0 group 4 sessioned w0 off=18 | w0: claim=none add=t,{} | w1: claim=none add={}
         1.2 status t-0 RUNNING w0 4
         1.5 ends
         2.0 group 5 sessioned w0 off=18 | w0: claim=t,{} | w1: claim={}
         2.5 ends",
            tasks(w0.clone()),
            tasks(w1.clone()),
            tasks(w0),
            tasks(w1)
        )
    };
    moves(
        &format!(
            "{}
         20.0 group 6 sessioned w0 off=18 | w0: claim=t,{} rev=t-0,t-1 | w1: claim={} rev=t-8,t-9 | w2: claim=none
         21.0 group 7 sessioned w0 off=18 | w0: claim=t,{} | w1: claim={} | w2: claim=- add=t-0,t-1,t-8,t-9
         21.5 status t-0 RUNNING w2 7
         22.0 ends
         22.0 moves",
            opening(0..8, 8..16),
            tasks(0..8),
            tasks(8..16),
            tasks(2..8),
            tasks(10..16)
        ),
        "moves
         task required 4",
    );
    // multi_join: w0 has 16, and two come.
    let all = tasks(0..16);
    moves(
        &format!(
            "0.0 config connector t
         0.0 config tasks t 16
         0.1 ends
         1.0 group 4 sessioned w0 off=18 | w0: claim=none add=t,{all}
         1.2 status t-0 RUNNING w0 4
         1.5 ends
         20.0 group 5 sessioned w0 off=18 | w0: claim=t,{all} rev={} | w1: claim=none | w2: claim=none
         21.0 group 6 sessioned w0 off=18 | w0: claim=t,{} | w1: claim=- add={} | w2: claim=- add={}
         21.5 status t-0 RUNNING w1 6
         21.5 status t-4 RUNNING w2 6
         22.0 ends
         22.0 moves",
            tasks(0..8),
            tasks(8..16),
            tasks(0..4),
            tasks(4..8)
        ),
        "moves
         task required 8",
    );
}

/// Two come while ten tasks are lost, and one of them gets all: each had to go somewhere, since
/// its worker does not come back.
#[test]
fn o_36_all_that_was_lost_goes_to_one() {
    let lost = tasks(0..10);
    moves(
        &format!(
            "0.0 config connector t
         0.0 config tasks t 10
         0.1 ends
         1.0 group 4 sessioned w0 off=12 | w0: claim=none add=t | w9: claim=none add={lost}
         1.2 status t RUNNING w0 4
         1.2 status t-0 RUNNING w9 4
         1.5 ends
         30.0 group 5 sessioned w0 off=12 delay=30000 | w0: claim=t
         30.1 ends
         40.0 group 6 sessioned w0 off=12 delay=20000 | w0: claim=t | w1: claim=none | w2: claim=none
         40.1 ends
         60.2 group 7 sessioned w0 off=12 | w0: claim=t | w1: claim=- add={lost} | w2: claim=-
         60.5 status t-0 RUNNING w1 7
         61.0 ends
         61.0 moves
         640.0 ends
         640.1 moves"
        ),
        "moves
         task unsettled 10
         moves
         task required 10",
    );
}

/// All workers advertise the same: what moves between them is told by their members.
#[test]
fn o_46_what_moves_between_them() {
    moves(
        "0.0 config connector c
         0.0 config tasks c 4
         0.1 ends
         1.0 group 3 sessioned null off=6 | null: claim=none add=c,c-0,c-1,c-2,c-3
         1.2 status c-0 RUNNING null 3
         1.5 ends
         9.0 group 4 sessioned null off=6 | null: claim=c,c-0,c-1,c-2,c-3 rev=c-0,c-1 | null#2: claim=none host=192.0.2.8
         9.5 group 5 sessioned null off=6 | null: claim=c,c-2,c-3 | null#2: claim=- add=c-0,c-1 host=192.0.2.8
         10.0 group 6 sessioned null off=6 | null: claim=c,c-2,c-3 | null#2: claim=c-0,c-1 host=192.0.2.8
         10.5 ends
         10.5 moves",
        "moves
         task required 2",
    );
}
