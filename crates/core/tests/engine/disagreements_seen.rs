//! Disagreements (D12) that claims, writers and steps show; those that are weighed by time are in
//! `disagreements.rs`.

use crate::disagreements::check;

/// Rule 5: a zombie is back with its claim; the round after takes it from both.
#[test]
fn two_claim_it() {
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
         21.1 ends
         30.0 group 3 sessioned b off=3 | a#2: claim=foo-0 rev=foo-0 missed | b: claim=foo,foo-0 rev=foo-0
         30.1 ends
         30.2 disagreements
         30.3 status foo-0 UNASSIGNED b 2
         30.4 status foo-0 UNASSIGNED a 1
         31.0 group 4 sessioned b off=3 | a#2: claim=- | b: claim=foo add=foo-0
         31.2 status foo-0 RUNNING b 4
         31.3 ends
         40.0 ends
         40.0 disagreements",
        "disagreements
         duplicate_claim foo-0 a from 30 certain
         running_on_departed_worker foo-0 a from 19 to 30 possible
         disagreements
         duplicate_claim foo-0 a from 30 to 31 certain
         running_on_departed_worker foo-0 a from 19 to 30 possible",
    );
}

/// Rule 6: a thawed worker's task goes on and says so, with the generation it knows.
#[test]
fn two_write_of_it() {
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
         25.0 status foo-0 RUNNING a 1
         26.0 ends
         26.0 disagreements
         30.0 status foo-0 UNASSIGNED a 1
         30.1 ends
         31.0 ends
         31.0 disagreements",
        "disagreements
         running_on_departed_worker foo-0 a from 19 possible
         two_writers foo-0 a from 25 certain
         disagreements
         two_writers foo-0 a from 25 to 30 certain
         running_on_departed_worker foo-0 a from 19 to 30 possible",
    );
}

/// Rule 6 does not hold of a stop that arrives late (KAFKA-12525).
#[test]
fn a_late_stop_is_none() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 11 sessioned a off=3 | a: claim=none add=foo,foo-0 | b: claim=none
         1.2 status foo RUNNING a 11
         1.3 status foo-0 RUNNING a 11
         1.5 ends
         20.0 group 12 sessioned a off=3 | a: claim=foo,foo-0 rev=foo-0 | b: claim=-
         20.5 group 13 sessioned a off=3 | a: claim=foo | b: claim=- add=foo-0
         20.8 status foo-0 RUNNING b 13
         20.9 status foo-0 UNASSIGNED a 11
         21.0 ends
         99.0 ends
         99.0 states
         99.0 disagreements",
        "disagreements",
    );
}

/// Rule 7: an eager worker joins, and what the round moves runs on where it was.
#[test]
fn an_eager_latecomer_leaves_orphans() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.4 status foo-1 RUNNING a 1
         1.5 ends
         20.0 group 2 default a off=4 | a: add=foo,foo-0 | b: add=foo-1
         20.2 status foo RUNNING a 2
         20.2 status foo-0 RUNNING a 2
         20.3 status foo-1 RUNNING b 2
         20.4 ends
         25.0 ends
         25.0 disagreements
         30.0 group 3 default b off=4 | b: add=foo,foo-0,foo-1
         30.1 ends
         31.0 ends
         31.0 disagreements",
        "disagreements
         possible_orphan foo-1 a from 20 likely
         disagreements
         possible_orphan foo-1 a from 20 to 30 likely",
    );
}

/// Rule 7 does not hold of what its worker stopped before it joined.
#[test]
fn what_was_stopped_is_no_orphan() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.4 status foo-1 RUNNING a 1
         1.5 ends
         19.0 status foo-1 UNASSIGNED a 1
         20.0 group 2 default a off=4 join=19.9 | a: add=foo,foo-0 | b: add=foo-1
         20.2 status foo RUNNING a 2
         20.2 status foo-0 RUNNING a 2
         20.3 status foo-1 RUNNING b 2
         20.4 ends
         25.0 ends
         25.0 disagreements",
        "disagreements",
    );
}

/// Rule 8: told to stop it, gone from the next claim, and not a word. What had failed writes
/// nothing either.
#[test]
fn a_stop_that_was_given_up() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 9 sessioned a off=5 | a: claim=none add=foo,foo-0,foo-1,foo-2
         1.2 status foo RUNNING a 9
         1.3 status foo-0 RUNNING a 9
         1.4 status foo-1 FAILED a 9
         1.4 status foo-2 RUNNING a 9
         1.5 ends
         20.0 group 10 sessioned a off=5 | a: claim=foo,foo-0,foo-1,foo-2 rev=foo-0,foo-1,foo-2 | b: claim=none
         20.2 status foo-2 UNASSIGNED a 9
         25.5 group 11 sessioned a off=5 | a: claim=foo | b: claim=- add=foo-0,foo-1,foo-2
         25.8 status foo-0 RUNNING b 11
         25.8 status foo-1 RUNNING b 11
         25.8 status foo-2 RUNNING b 11
         25.9 ends
         30.0 ends
         30.0 disagreements
         99.0 ends
         99.0 disagreements
         100.0 group 12 sessioned b off=5 | b: claim=foo-0,foo-1,foo-2 add=foo
         100.1 status foo RUNNING b 12
         100.2 ends
         101.0 ends
         101.0 disagreements",
        "disagreements
         abandoned_stop foo-0 a from 25.5 likely
         disagreements
         abandoned_stop foo-0 a from 25.5 likely
         disagreements
         running_on_departed_worker foo a from 100 possible
         abandoned_stop foo-0 a from 25.5 to 100 likely",
    );
}

/// Rule 9: the group was created anew, its generations start over, and who has it cannot say
/// that it failed.
#[test]
fn a_state_of_an_older_group() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 50 sessioned a off=3 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 50
         1.3 status foo-0 RUNNING a 50
         1.5 ends
         20.0 group 51 empty
         20.1 ends
         700.0 group gone
         700.1 ends
         900.0 group 1 sessioned b off=3 | b: claim=none add=foo,foo-0
         900.3 status foo RUNNING b 1
         900.4 ends
         959.0 ends
         959.0 disagreements
         961.0 ends
         961.0 disagreements",
        "disagreements
         running_on_departed_worker foo-0 a from 20 to 900 possible
         running_on_departed_worker foo a from 20 to 900.3 possible
         disagreements
         status_frozen foo-0 b from 900 likely
         running_on_departed_worker foo-0 a from 20 to 900 possible
         running_on_departed_worker foo a from 20 to 900.3 possible",
    );
}
