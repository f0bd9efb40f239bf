//! D15: which generation is weighed, and what is above the best split.

use crate::dsl::{run, told};

#[track_caller]
fn check(scenario: &str, expected: &str) {
    let told = told(&run(scenario), "balance");
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(told, expected, "\n--- told:\n{}", told.join("\n"));
}

/// Balance rule 1: a record that nobody has acted on yet is not weighed; once a worker says
/// that it did, it is.
#[test]
fn what_is_confirmed_is_weighed() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 1 sessioned a off=5 | a: claim=none add=foo,foo-0,foo-1,foo-2
         1.1 balance
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 RUNNING a 1
         1.3 status foo-2 RUNNING a 1
         2.0 ends
         2.1 balance
         20.0 group 2 sessioned a off=5 join=19.9 | a: claim=foo,foo-0,foo-1,foo-2 | b: claim=none
         20.5 ends
         20.6 balance
         160.0 ends
         160.1 balance",
        "balance unknown
         balance of 1
         connector 1 on 1 most 1 least 1 best 1 above 0 survivor -
         task 3 on 1 most 3 least 3 best 3 above 0 survivor -
         balance of 1
         connector 1 on 1 most 1 least 1 best 1 above 0 survivor -
         task 3 on 1 most 3 least 3 best 3 above 0 survivor -
         balance of 2
         connector 1 on 2 most 1 least 0 best 1 above 0 survivor 1
         task 3 on 2 most 3 least 0 best 2 above 1 survivor 3
         of foo 3 most 3 best 2 above 1",
    );
}

/// Balance rule 2: a worker joins, and work moves to it in two rounds. The first is confirmed
/// by the second; what it leaves on nobody is no imbalance of anything.
#[test]
fn between_two_rounds_nothing_is_weighed() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 4
         0.1 ends
         1.0 group 1 sessioned a off=6 | a: claim=none add=foo,foo-0,foo-1,foo-2,foo-3
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 RUNNING a 1
         1.2 status foo-2 RUNNING a 1
         1.3 status foo-3 RUNNING a 1
         2.0 ends
         20.0 group 2 sessioned a off=6 join=19.9 | a: claim=foo,foo-0,foo-1,foo-2,foo-3 rev=foo-2,foo-3 | b: claim=none
         20.1 ends
         20.2 balance
         20.3 status foo-2 UNASSIGNED a 1
         20.3 status foo-3 UNASSIGNED a 1
         20.5 group 3 sessioned a off=6 join=20.4 | a: claim=foo,foo-0,foo-1 | b: claim=- add=foo-2,foo-3
         20.6 ends
         20.7 balance
         21.0 status foo-2 RUNNING b 3
         21.0 status foo-3 RUNNING b 3
         21.5 ends
         21.6 balance",
        "balance of 1 frozen
         connector 1 on 1 most 1 least 1 best 1 above 0 survivor -
         task 4 on 1 most 4 least 4 best 4 above 0 survivor -
         balance of 1 frozen
         connector 1 on 1 most 1 least 1 best 1 above 0 survivor -
         task 4 on 1 most 4 least 4 best 4 above 0 survivor -
         balance of 3
         connector 1 on 2 most 1 least 0 best 1 above 0 survivor 1
         task 4 on 2 most 2 least 2 best 2 above 0 survivor 4",
    );
}

/// Balance rule 3: a worker is gone and its work is parked; another comes and is empty until
/// the delay ends. The parked work will be its own: nobody has too much.
#[test]
fn parked_work_is_somebodys_soon() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 6
         0.1 ends
         1.0 group 1 sessioned a off=8 join=0.9 | a: claim=foo,foo-0,foo-1 | b: claim=foo-2,foo-3 | c: claim=foo-4,foo-5
         1.1 ends
         30.0 group 2 sessioned a off=8 join=29.9 delay=300000 | a: claim=foo,foo-0,foo-1 | b: claim=foo-2,foo-3
         30.1 ends
         40.0 group 3 sessioned a off=8 join=39.9 delay=290000 | a: claim=foo,foo-0,foo-1 | b: claim=foo-2,foo-3 | d: claim=none
         40.1 ends
         200.0 ends
         200.1 balance",
        "balance of 3
         connector 1 on 3 most 1 least 0 best 1 above 0 survivor 1
         task 4+2 on 3 most 2 least 0 best 2 above 0 survivor 3",
    );
}

/// The group has no members: there is nothing to weigh.
#[test]
fn an_empty_group_has_no_balance() {
    check(
        "0.0 config connector foo
         0.1 ends
         1.0 group 1 sessioned a off=1 | a: claim=foo | b: claim=-
         1.1 ends
         130.0 ends
         130.0 balance
         131.0 group 2 empty
         131.1 ends
         131.2 balance",
        "balance of 1
         connector 1 on 2 most 1 least 0 best 1 above 0 survivor 1
         task 0 on 2 most 0 least 0 best 0 above 0 survivor 0
         balance unknown",
    );
}
