//! D16: how long things usually take.

use std::fmt::Write as _;

use crate::dsl::{run, told};

#[track_caller]
fn check(scenario: &str, expected: &str) {
    let told = told(&run(scenario), "habits");
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(told, expected, "\n--- told:\n{}", told.join("\n"));
}

/// Habit rules 1 to 4. A worker stops in good order and is back after 25 s under another
/// address; later it is killed and back 15 s after it was missed; it is one chain. What it is
/// handed as a fresh process runs 0.7 s and 0.5 s after the record.
#[test]
fn restarts_starts_stops_and_catching_up() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 join=0.9 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.6 status foo-1 RUNNING a 1
         2.0 ends
         2.0 habits
         10.0 group 2 sessioned a off=4 join=9.9 | a: claim=foo,foo-0,foo-1 rev=foo-1 | b: host=192.0.2.2 claim=none
         10.3 status foo-1 UNASSIGNED a 1
         10.5 group 3 sessioned a off=4 join=10.4 | a: claim=foo,foo-0 | b: host=192.0.2.2 claim=- add=foo-1
         11.2 status foo-1 RUNNING b 3
         12.0 ends
         20.0 status foo-1 UNASSIGNED b 3
         20.2 group 4 sessioned a off=4 delay=30000 join=20.1 | a: claim=foo,foo-0
         45.1 group 5 sessioned a off=4 delay=5100 join=45.0 | a: claim=foo,foo-0 | c: host=192.0.2.2 claim=none
         50.4 group 6 sessioned a off=4 join=50.3 | a: claim=foo,foo-0 | c: host=192.0.2.2 claim=- add=foo-1
         50.9 status foo-1 RUNNING c 6
         51.0 ends
         80.1 group 7 sessioned a off=4 delay=30000 join=80.0 | a: claim=foo,foo-0
         95.1 group 8 sessioned a off=4 delay=15000 join=95.0 | a: claim=foo,foo-0 | c#2: host=192.0.2.2 claim=none
         95.2 ends
         95.3 habits",
        "habits
         catch-up a:8083 1 times: median 600 largest 600
         start foo 3 times: median 300 largest 600
         habits
         restart c:8083 2 times, 1 at least: median 20000 largest 25000
         catch-up a:8083 1 times: median 600 largest 600
         catch-up c:8083 2 times: median 600 largest 700
         start foo 5 times: median 500 largest 700
         stop foo 1 times: median 300 largest 300",
    );
}

/// What runs only after the next join phase is not measured, nor what failed; of a deleted
/// connector nothing is kept.
#[test]
fn what_is_not_done_in_time_is_no_habit() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.0 config connector bar
         0.1 ends
         1.0 group 1 sessioned a off=5 join=0.9 | a: claim=none add=foo,foo-0,foo-1,bar
         1.1 status bar RUNNING a 1
         1.2 status foo RUNNING a 1
         1.3 status foo-0 FAILED a 1
         10.0 group 2 sessioned a off=5 join=9.9 | a: claim=foo,foo-0,foo-1,bar | b: claim=none
         10.2 status foo-1 RUNNING a 2
         11.0 ends
         11.0 habits
         12.0 config delete bar
         12.5 group 3 sessioned a off=6 | a: claim=foo,foo-0,foo-1,bar rev=bar | b: claim=-
         12.6 ends
         12.6 habits",
        "habits
         start bar 1 times: median 100 largest 100
         start foo 1 times: median 200 largest 200
         habits
         start foo 1 times: median 200 largest 200",
    );
}

/// A worker whose clock is behind, by nobody knows how much: its statuses look younger than
/// they are. Once a stop bounds it, it is measured.
#[test]
fn a_clock_that_is_behind_gives_no_habit() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         100.0 group 1 sessioned a off=3 join=99.9 | a: claim=none add=foo,foo-0
         98.1 status foo RUNNING a 1
         98.2 status foo-0 RUNNING a 1
         100.5 ends
         100.5 habits
         110.0 group 2 sessioned a off=3 join=109.9 | a: claim=foo,foo-0 rev=foo-0 | b: claim=none
         108.3 status foo-0 UNASSIGNED a 1
         110.5 group 3 sessioned a off=3 join=110.4 | a: claim=foo | b: claim=- add=foo-0
         110.6 ends
         110.6 habits",
        "habits
         habits
         stop foo 1 times: median 200 largest 200",
    );
}

/// The last twenty count.
#[test]
fn the_last_twenty_count() {
    let mut scenario = String::from(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 default a off=3 | a: add=foo
         1.9 status foo RUNNING a 1
         2.0 ends
",
    );
    for round in 2..=21 {
        let at = f64::from(round) * 10.0;
        writeln!(
            scenario,
            "{at} group {round} default a off=3 | a: add=foo
             {} status foo RUNNING a {round}
             {} ends",
            at + 0.1 + f64::from(round) / 1000.0,
            at + 1.0
        )
        .unwrap();
    }
    check(
        &format!("{scenario}\n900 habits"),
        "habits
         catch-up a:8083 1 times: median 900 largest 900
         start foo 20 times: median 111 largest 121",
    );
}
