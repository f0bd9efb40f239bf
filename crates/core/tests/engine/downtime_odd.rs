//! Downtime (D10) where the order of things is odd: seen late, by clocks that are off, or of
//! what is removed meanwhile.

use crate::downtime::{on_one, on_two};

/// Killed, and back before the group had missed it: the record that misses it has its
/// successor, which runs all of it before that is judged.
#[test]
fn killed_and_back_at_once() {
    on_one(
        "20.0 group 2 sessioned a off=3 | a#2: claim=none add=foo,foo-0
         20.2 status foo RUNNING a 2
         20.4 status foo-0 RUNNING a 2
         21.5 ends
         21.5 costs",
        "interrupted connector lost 1
         interrupted task lost 1
         foo was down lost for 0.4",
    );
}

/// The next coordinator's clock is half a minute behind: a number is not.
#[test]
fn a_stop_and_a_coordinator_whose_clock_is_behind() {
    on_two(
        "49.0 status foo-0 UNASSIGNED b 1
         50.0 group 2 sessioned a off=3 stamped=20 join=20 epoch=1 | a: claim=foo
         51.0 group 3 sessioned a off=3 stamped=21 join=21 epoch=1 | a: claim=foo add=foo-0
         51.4 status foo-0 RUNNING a 3
         51.5 ends
         51.5 costs",
        "interrupted task lost 1
         handed over task clean 1
         foo was down lost for 2.4",
    );
}

/// A worker was missed before it had stopped; it says so before anybody else runs it.
#[test]
fn a_stop_of_who_was_missed() {
    on_two(
        "20.0 group 2 sessioned a off=3 delay=30000 | a: claim=foo
         21.1 ends
         25.0 status foo-0 UNASSIGNED b 1
         50.0 group 3 sessioned a off=3 | a: claim=foo add=foo-0
         50.4 status foo-0 RUNNING a 3
         50.5 ends
         50.5 costs",
        "interrupted task lost 1
         handed over task clean 1
         foo was down lost for 30.4",
    );
}

/// Not so where another process of that worker, which never ran it, says that it stopped.
#[test]
fn a_stop_of_who_came_after() {
    on_two(
        "20.0 group 2 sessioned a off=3 delay=30000 | a: claim=foo
         21.1 ends
         30.0 group 3 sessioned a off=3 | a: claim=foo | b#2: claim=none add=foo-0
         30.2 status foo-0 UNASSIGNED b 3
         30.5 group 4 sessioned a off=3 | a: claim=foo add=foo-0
         30.9 status foo-0 RUNNING a 4
         31.0 ends
         31.0 costs",
        "interrupted task lost 1
         handed over task unclean 1
         foo was down lost for 10.9",
    );
}

/// A task that was revoked is removed before its worker has stopped it: its status is deleted,
/// and nothing else is written.
#[test]
fn a_revoked_task_whose_status_is_deleted() {
    on_one(
        "9.0 group 2 sessioned a off=3 | a: claim=foo,foo-0 rev=foo-0 | b: claim=none
         9.2 ends
         9.5 config commit foo 0
         9.6 status foo-0 gone
         9.7 group 3 sessioned a off=4 | a: claim=foo | b: claim=-
         9.9 ends
         9.9 costs",
        "interrupted task handover 1
         foo was down handover for 8.4",
    );
}

/// Downtime rule 10: what waits for its delay is removed: nobody misses it from then on.
#[test]
fn lost_work_that_is_removed() {
    on_two(
        "20.0 group 2 sessioned a off=3 delay=30000 | a: claim=foo
         21.1 ends
         30.0 config delete foo
         30.2 status foo-0 gone
         30.3 group 3 sessioned a off=4 delay=20000 | a: claim=foo rev=foo
         30.4 ends
         30.5 status foo gone
         30.6 costs",
        "interrupted connector deleted 1
         interrupted task lost 1
         foo was down lost for 10.3",
    );
}

/// A task whose stop was given up is started anew where it was, and says so once its round was
/// judged: that round's reason is remembered.
#[test]
fn a_stop_that_was_given_up_for_tasks_written_anew() {
    on_one(
        "9.0 config tasks foo 1
         14.1 group 2 sessioned a off=5 | a: claim=foo,foo-0
         14.2 ends
         14.9 status foo-0 RUNNING a 2
         15.0 ends
         15.0 costs",
        "interrupted task reconfigured 1",
    );
}

/// Frozen for longer than its session, and back with its claim: what it had runs on without a
/// word, and its downtime is over.
#[test]
fn frozen_and_back_with_its_claim() {
    on_two(
        "20.0 group 2 sessioned a off=3 join=19.9 delay=30000 | a: claim=foo
         21.1 ends
         25.0 group 3 sessioned a off=3 join=24.9 | a: claim=foo | b#2: claim=foo-0
         26.1 ends
         60.0 group 4 sessioned a off=3 | a: claim=foo | b#2: claim=foo-0 rev=foo-0
         60.2 status foo-0 UNASSIGNED b 3
         60.5 group 5 sessioned a off=3 | a: claim=foo add=foo-0 | b#2: claim=-
         60.9 status foo-0 RUNNING a 5
         61.0 ends
         61.0 costs",
        "interrupted task handover 1
         interrupted task lost 1
         handed over task clean 1
         foo was down handover for 0.7
         foo was down lost for 5",
    );
}

/// A leader that is new to the group leaves what was deleted for one more round; its last word
/// is no downtime of a connector of the same name that is created later.
#[test]
fn deleted_under_a_new_leader_and_created_again() {
    on_two(
        "20.0 config delete foo
         20.2 group 2 sessioned b off=4 | a: claim=foo | b: claim=foo-0
         21.1 ends
         21.2 group 3 sessioned b off=4 | a: claim=foo rev=foo | b: claim=foo-0 rev=foo-0
         21.3 status foo-0 UNASSIGNED b 2
         21.3 status foo UNASSIGNED a 2
         21.5 group 4 sessioned b off=4 | a: claim=- | b: claim=-
         22.6 ends
         23.0 status foo-0 FAILED b 4
         3600.0 config connector foo
         3600.1 config tasks foo 1
         3600.2 group 5 sessioned b off=7 | a: claim=- add=foo | b: claim=- add=foo-0
         3600.5 status foo RUNNING a 5
         3600.6 status foo-0 RUNNING b 5
         3601.7 ends
         3601.7 costs",
        "interrupted connector deleted 1
         interrupted task deleted 1",
    );
}

/// Nobody misses what somebody asked to pause while it was down.
#[test]
fn paused_while_it_is_lost() {
    on_two(
        "20.0 group 2 sessioned a off=3 join=20 delay=300000 | a: claim=foo
         21.1 ends
         30.0 config target foo PAUSED
         30.2 ends
         320.0 group 3 sessioned a off=4 | a: claim=foo add=foo-0
         320.2 status foo-0 PAUSED a 3
         320.4 ends
         320.4 costs",
        "interrupted task lost 1
         foo was down lost for 10",
    );
}

/// What a fresh worker started in its first round, by a clock that is a minute ahead: its first
/// start dates that clock.
#[test]
fn the_first_start_by_a_clock_that_is_ahead() {
    on_two(
        "20.0 group 2 sessioned a off=3 delay=30000 | a: claim=foo
         20.1 ends
         50.0 group 3 sessioned a off=3 | a: claim=foo | c: claim=none add=foo-0
         50.4 status foo-0 RUNNING c 3 stamped=110.4
         51.5 ends
         51.5 costs",
        "interrupted task lost 1
         handed over task unclean 1
         foo was down lost for 30.4",
    );
}

/// The same where the pause is read before the step that misses the owner is judged; what is
/// lost after somebody wanted it to run again is missed.
#[test]
fn paused_before_it_is_known_to_be_lost() {
    on_two(
        "20.0 group 2 sessioned a off=3 join=20 delay=300000 | a: claim=foo
         30.0 config target foo PAUSED
         30.2 ends
         30.4 costs",
        "interrupted task lost 1
         foo was down lost for 10",
    );
    on_two(
        "10.0 config target foo PAUSED
         11.0 config target foo STARTED
         11.2 ends
         20.0 group 2 sessioned a off=5 join=20 delay=300000 | a: claim=foo
         30.2 ends
         30.4 costs",
        "interrupted task lost 1
         foo has 1 down lost",
    );
}

/// It was stopped to be restarted, and its worker died, or lost its coordinator, before it was:
/// a restart is why it stopped, and no reason that it stays down.
#[test]
fn a_restart_that_its_worker_did_not_survive() {
    on_two(
        "10.0 status foo-0 UNASSIGNED b 1
         10.1 status foo-0 RESTARTING b 1
         25.0 group 2 sessioned a off=3 join=24.9 delay=30000 | a: claim=foo
         26.1 ends
         55.0 group 3 sessioned a off=3 | a: claim=foo add=foo-0
         55.4 status foo-0 RUNNING a 3
         56.5 ends
         56.5 costs",
        "interrupted task restarted 1
         handed over task clean 1
         foo was down lost for 45.4",
    );
    on_two(
        "10.0 status foo-0 UNASSIGNED b 1
         10.1 status foo-0 RESTARTING b 1
         20.0 group 2 sessioned a off=3 join=19.9 | a: claim=none | b: claim=none
         21.1 ends
         21.2 costs",
        "interrupted connector dropped 1
         interrupted task restarted 1
         foo has 1 down dropped",
    );
    on_two(
        "10.0 status foo-0 UNASSIGNED b 1
         10.1 status foo-0 RESTARTING b 1
         20.0 group 2 sessioned a off=3 join=19.9 | a: claim=foo | b: claim=foo-0 rev=foo-0
         21.1 ends
         21.2 costs",
        "interrupted task restarted 1
         foo has 1 down handover",
    );
    // A round in which nobody leaves, and nothing is taken away, is no reason.
    on_two(
        "10.0 status foo-0 UNASSIGNED b 1
         10.1 status foo-0 RESTARTING b 1
         20.0 group 2 sessioned a off=3 join=19.9 | a: claim=foo | b: claim=foo-0 | c: claim=none
         21.1 ends
         21.2 costs",
        "interrupted task restarted 1
         foo has 1 down restarted",
    );
}

/// RESTARTING says why it stopped only of who stopped it, and in the same generation.
#[test]
fn a_restart_of_what_had_stopped_before() {
    // b was told to give it up; the next generation gives it back to b, which somebody restarts.
    on_two(
        "20.0 group 2 sessioned a off=3 join=19.9 | a: claim=foo | b: claim=foo-0 rev=foo-0
         20.1 status foo-0 UNASSIGNED b 1
         20.5 group 3 sessioned a off=3 join=20.4 | a: claim=foo | b: claim=- add=foo-0
         20.6 status foo-0 RESTARTING b 3
         21.8 ends
         22.0 costs",
        "interrupted task handover 1
         foo has 1 down handover",
    );
    // Another worker's word.
    on_two(
        "20.0 status foo-0 UNASSIGNED b 1
         20.1 status foo-0 RESTARTING a 1
         21.4 ends
         22.0 costs",
        "foo has 1 down handover",
    );
}
