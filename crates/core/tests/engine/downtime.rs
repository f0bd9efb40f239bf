//! Downtime and hand-overs (D10, D11): what does not run, why, and how it changes hands.

use crate::dsl::check;

/// One worker runs a connector and its task.
pub(crate) const ONE: &str = "0.0 config connector foo
     0.0 config tasks foo 1
     0.1 ends
     1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
     1.2 status foo RUNNING a 1
     1.3 status foo-0 RUNNING a 1
     1.5 ends\n";

/// One runs the connector, another its task.
pub(crate) const TWO: &str = "0.0 config connector foo
     0.0 config tasks foo 1
     0.1 ends
     1.0 group 1 sessioned a off=3 | a: claim=none add=foo | b: claim=none add=foo-0
     1.2 status foo RUNNING a 1
     1.3 status foo-0 RUNNING b 1
     1.5 ends\n";

#[track_caller]
pub(crate) fn on_one(scenario: &str, expected: &str) {
    check(&format!("{ONE}{scenario}"), expected);
}

#[track_caller]
pub(crate) fn on_two(scenario: &str, expected: &str) {
    check(&format!("{TWO}{scenario}"), expected);
}

/// A hand-over: revoked, stopped, started elsewhere.
#[test]
fn a_worker_takes_its_share() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.4 status foo-1 RUNNING a 1
         1.5 ends
         9.0 group 2 sessioned a off=4 | a: claim=foo,foo-0,foo-1 rev=foo-1 | b: claim=none
         9.2 status foo-1 UNASSIGNED a 1
         9.5 group 3 sessioned a off=4 | a: claim=foo,foo-0 | b: claim=- add=foo-1
         9.8 status foo-1 RUNNING b 3
         9.9 ends
         9.9 costs",
        "interrupted task handover 1
         handed over task clean 1
         foo was down handover for 0.6",
    );
}

/// The record is judged long before the slow stop is written.
#[test]
fn a_slow_stop_after_the_record_is_a_handover() {
    on_one(
        "9.0 group 2 sessioned a off=3 | a: claim=foo,foo-0 rev=foo-0 | b: claim=none
         9.2 ends
         20.0 status foo-0 UNASSIGNED a 1
         20.1 ends
         20.5 group 3 sessioned a off=3 | a: claim=foo | b: claim=- add=foo-0
         20.8 status foo-0 RUNNING b 3
         20.9 ends
         20.9 costs",
        "interrupted task handover 1
         handed over task clean 1
         foo was down handover for 0.8",
    );
}

/// Nobody wrote a stop: it is down since it was missed, and its hand-over is unclean.
#[test]
fn a_killed_workers_work_is_lost() {
    on_two(
        "20.0 group 2 sessioned a off=3 delay=30000 | a: claim=foo
         20.1 ends
         50.0 group 3 sessioned a off=3 | a: claim=foo add=foo-0
         50.4 status foo-0 RUNNING a 3
         50.5 ends
         50.5 costs",
        "interrupted task lost 1
         handed over task unclean 1
         foo was down lost for 30.4",
    );
}

/// Without a delay it is handed out at once, and runs before the record was judged.
#[test]
fn lost_work_that_starts_before_it_is_judged() {
    on_two(
        "20.0 group 2 sessioned a off=3 | a: claim=foo add=foo-0
         20.4 status foo-0 RUNNING a 2
         21.5 ends
         21.5 costs",
        "interrupted task lost 1
         handed over task unclean 1
         foo was down lost for 0.4",
    );
}

/// A worker that leaves in good order writes its stops: lost since then, handed over clean.
#[test]
fn a_stopped_workers_work_is_lost_since_its_stop() {
    on_two(
        "19.0 status foo-0 UNASSIGNED b 1
         20.0 group 2 sessioned a off=3 delay=30000 | a: claim=foo
         20.1 ends
         50.0 group 3 sessioned a off=3 | a: claim=foo add=foo-0
         50.4 status foo-0 RUNNING a 3
         50.5 ends
         50.5 costs",
        "interrupted task lost 1
         handed over task clean 1
         foo was down lost for 31.4",
    );
}

/// A worker that lost its coordinator stops its work without a word.
#[test]
fn dropped_work() {
    on_one(
        "2.0 group 2 sessioned a off=3 | a: claim=foo,foo-0
         2.1 ends
         20.0 group 3 sessioned a off=3 delay=10000 | a: claim=none
         20.1 ends
         30.0 group 4 sessioned a off=3 | a: claim=- add=foo,foo-0
         30.3 status foo RUNNING a 4
         30.4 status foo-0 RUNNING a 4
         30.5 ends
         30.5 costs",
        "interrupted connector dropped 1
         interrupted task dropped 1
         foo was down dropped for 10.4",
    );
}

/// Tasks committed anew stop before the round, and start after it.
#[test]
fn tasks_written_anew() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.3 status foo-1 RUNNING a 1
         1.5 ends
         9.0 config tasks foo 1
         9.1 status foo-0 UNASSIGNED a 1
         9.1 status foo-1 UNASSIGNED a 1
         9.3 group 2 sessioned a off=6 | a: claim=foo,foo-0,foo-1 rev=foo-1
         9.6 status foo-0 RUNNING a 2
         9.8 ends
         9.8 costs",
        "interrupted task reconfigured 1
         interrupted task deleted 1
         foo was down reconfigured for 0.5",
    );
}

/// A task fails, is moved with its worker's end, and runs elsewhere: down by its failure all the while.
#[test]
fn a_failed_task_is_down_until_it_runs() {
    on_one(
        "10.0 status foo-0 FAILED a 1
         10.1 costs
         15.0 status foo-0 RESTARTING a 1
         16.0 status foo-0 RUNNING a 1
         16.1 ends
         16.1 costs",
        "interrupted task failed 1
         foo was down failed for 6",
    );
}

/// RESTARTING, and a stop that nothing explains: both are restarts.
#[test]
fn a_restart_by_hand() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.3 status foo-1 RUNNING a 1
         1.5 ends
         10.0 status foo-0 RESTARTING a 1
         10.1 status foo-0 UNASSIGNED a 1
         10.5 status foo-0 RUNNING a 1
         12.0 status foo-1 UNASSIGNED a 1
         12.5 status foo-1 RUNNING a 1
         12.6 ends
         12.6 costs",
        "interrupted task restarted 2
         foo was down restarted for 1",
    );
}

/// As workers do it: stopped, RESTARTING, started. That says why by itself, soon after a
/// configuration.
#[test]
fn a_restart_that_was_asked_for() {
    on_one(
        "5.0 status foo UNASSIGNED a 1
         5.0 status foo-0 UNASSIGNED a 1
         5.1 status foo RESTARTING a 1
         5.1 status foo-0 RESTARTING a 1
         5.3 status foo RUNNING a 1
         9.0 status foo-0 RUNNING a 1
         9.1 ends
         9.1 costs",
        "interrupted connector restarted 1
         interrupted task restarted 1
         foo was down restarted for 4",
    );
}

/// A start that hangs is no hand-over.
#[test]
fn a_restart_that_has_not_ended() {
    on_one(
        "5.0 status foo-0 UNASSIGNED a 1
         5.1 status foo-0 RESTARTING a 1
         5.4 ends
         6.0 costs",
        "interrupted task restarted 1
         foo has 1 down restarted",
    );
}

/// What somebody wanted is an interruption, and no downtime.
#[test]
fn paused_stopped_and_deleted() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.0 config connector bar
         0.0 config tasks bar 1
         0.1 ends
         1.0 group 1 sessioned a off=6 | a: claim=none add=foo,foo-0,bar,bar-0
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.3 status bar RUNNING a 1
         1.3 status bar-0 RUNNING a 1
         1.5 ends
         10.0 config target foo PAUSED
         10.1 status foo PAUSED a 1
         10.1 status foo-0 PAUSED a 1
         12.0 config delete bar
         12.1 status bar-0 UNASSIGNED a 1
         12.1 status bar UNASSIGNED a 1
         12.3 group 2 sessioned a off=8 | a: claim=foo,foo-0,bar,bar-0 rev=bar,bar-0
         12.4 ends
         12.4 costs",
        "interrupted connector paused 1
         interrupted connector deleted 1
         interrupted task paused 1
         interrupted task deleted 1",
    );
}

/// In the eager protocol everything stops in every round.
#[test]
fn eager_members_stop_before_they_join() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 default a off=3 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.5 ends
         9.0 status foo UNASSIGNED a 1
         9.0 status foo-0 UNASSIGNED a 1
         9.5 group 2 default a off=3 | a: add=foo | b: add=foo-0
         9.8 status foo RUNNING a 2
         9.8 status foo-0 RUNNING b 2
         9.9 ends
         9.9 costs",
        "interrupted connector handover 1
         interrupted task handover 1
         handed over task clean 1
         foo was down handover for 0.8",
    );
}

/// A connector that is configured anew is restarted by its worker, without a round.
#[test]
fn a_connector_is_configured_anew() {
    on_one(
        "10.0 config connector foo content=1
         10.1 status foo UNASSIGNED a 1
         10.3 status foo RUNNING a 1
         10.5 ends
         10.5 costs",
        "interrupted connector reconfigured 1",
    );
}

/// A task whose stop took too long is given up: nobody writes that it stopped.
#[test]
fn a_stop_that_is_given_up() {
    on_one(
        "9.0 group 2 sessioned a off=3 | a: claim=foo,foo-0 rev=foo-0 | b: claim=none
         14.1 group 3 sessioned a off=3 | a: claim=foo | b: claim=- add=foo-0
         14.3 status foo-0 RUNNING b 3
         14.4 ends
         14.4 costs",
        "interrupted task handover 1
         handed over task unclean 1",
    );
}

/// A connector is stopped: its tasks are revoked, and their statuses deleted by others before
/// their workers say that they stopped.
#[test]
fn a_connector_is_stopped() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 1 sessioned a off=5 | a: claim=none add=foo,foo-0,foo-1,foo-2
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.3 status foo-1 RUNNING a 1
         1.3 status foo-2 RUNNING a 1
         1.5 ends
         10.0 config commit foo 0
         10.0 config target foo STOPPED
         10.1 status foo STOPPED a 1
         10.2 group 2 sessioned a off=6 | a: claim=foo,foo-0,foo-1,foo-2 rev=foo-0,foo-1,foo-2
         10.3 status foo-0 UNASSIGNED a 1
         10.4 status foo-1 gone
         10.4 status foo-0 gone
         10.4 ends
         10.5 status foo-1 UNASSIGNED a 1
         10.5 status foo-2 UNASSIGNED a 1
         10.6 group 3 sessioned a off=7 | a: claim=foo
         10.7 status foo-2 gone
         10.9 ends
         10.9 costs",
        "interrupted connector stopped 1
         interrupted task stopped 3",
    );
}

/// The same where the round was judged before the next owner said RUNNING, and the one that
/// gave up leaves later: its departure is another matter.
#[test]
fn a_stop_that_was_given_up_long_ago() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0 | b: claim=none
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.5 ends
         9.0 group 2 sessioned a off=3 | a: claim=foo,foo-0 rev=foo-0 | b: claim=-
         9.1 ends
         14.1 group 3 sessioned a off=3 | a: claim=foo | b: claim=- add=foo-0
         14.2 ends
         14.9 status foo-0 RUNNING b 3
         15.0 ends
         40.0 status foo UNASSIGNED a 3
         40.1 group 4 sessioned b off=3 | b: claim=foo-0 add=foo
         40.3 status foo RUNNING b 4
         40.4 ends
         40.4 costs",
        "interrupted connector lost 1
         interrupted task handover 1
         handed over connector clean 1
         handed over task unclean 1",
    );
}
