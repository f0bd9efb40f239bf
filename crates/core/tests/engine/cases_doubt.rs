//! Real incidents in which status topic and group say different things: what each piece of work
//! does, and what disagrees.

use crate::dsl::run;

/// What `states` and `disagreements` print, one after the other.
#[track_caller]
fn check(scenario: &str, expected: &str) {
    let printed = run(scenario);
    let mut ours = false;
    let is_ours = |line: &&str| {
        if !line.starts_with(' ') {
            ours = matches!(*line, "states" | "disagreements");
        }
        ours
    };
    let told: Vec<&str> = printed.lines().filter(is_ours).map(str::trim).collect();
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(told, expected, "\n--- told:\n{}", told.join("\n"));
}

const THROWN_OUT: &str = "0.0 config connector simple
     0.0 config tasks simple 1
     0.1 ends
     1.0 group 2 sessioned b off=3 timeout=10000 | a: claim=none add=simple-0 | b: claim=none add=simple
     1.2 status simple RUNNING b 2
     1.3 status simple-0 RUNNING a 2
     1.5 ends
     30.0 group 3 sessioned b off=3 delay=5000 timeout=10000 | b: claim=simple
     30.1 ends
     30.2 states
     30.2 disagreements";

/// KAFKA-16056: thrown out for its poll timeout, its work runs on, a second copy starts. Suspected
/// since it was missed; over when it comes back without a claim.
#[test]
fn o_03_a_second_copy_is_suspected() {
    check(
        &format!(
            "{THROWN_OUT}
             35.0 group 4 sessioned b off=3 timeout=10000 | b: claim=simple add=simple-0
             35.2 status simple-0 RUNNING b 4
             35.3 ends
             36.0 ends
             36.0 states
             36.0 disagreements
             80.0 group 5 sessioned b off=3 timeout=10000 | a#2: claim=none | b: claim=simple,simple-0
             80.1 ends
             81.0 ends
             81.0 disagreements"
        ),
        "states
         simple running: 1 lost
         disagreements
         states
         simple running: 1 running
         disagreements
         running_on_departed_worker simple-0 a from 30 possible
         disagreements
         running_on_departed_worker simple-0 a from 30 to 80 possible",
    );
}

/// The fixed release stops its work when it leaves.
#[test]
fn o_03_a_stop_leaves_no_suspicion() {
    check(
        &format!(
            "{THROWN_OUT}
             33.0 status simple-0 UNASSIGNED a 2
             35.0 group 4 sessioned b off=3 timeout=10000 | b: claim=simple add=simple-0
             35.2 status simple-0 RUNNING b 4
             35.3 ends
             36.0 ends
             36.0 states
             36.0 disagreements"
        ),
        "states
         simple running: 1 lost
         disagreements
         states
         simple running: 1 running
         disagreements",
    );
}

/// KAFKA-12525: the old owner's stop comes after the new owner's start, with an older generation,
/// or with the same one.
#[test]
fn o_05_the_owners_word_counts() {
    for generation in [11, 12] {
        check(
            &format!(
                "0.0 config connector foo
                 0.0 config tasks foo 1
                 0.1 ends
                 1.0 group 11 sessioned b off=3 | a: claim=foo-0 rev=foo-0 | b: claim=foo
                 1.5 status foo RUNNING b 10
                 2.0 group 12 sessioned b off=3 | a: claim=- | b: claim=foo add=foo-0
                 2.2 status foo-0 RUNNING b 12
                 2.3 status foo-0 UNASSIGNED a {generation}
                 2.4 ends
                 99.0 ends
                 99.0 states
                 99.0 disagreements"
            ),
            "states
             foo running: 1 running
             disagreements",
        );
    }
}

/// One eager worker: what moves away runs on where it was; back to cooperative that worker is
/// still the same process.
#[test]
fn o_14_orphans_of_cooperative_workers() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 30 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
         1.1 status foo RUNNING a 29
         1.1 status foo-0 RUNNING a 29
         1.1 status foo-1 RUNNING b 29
         1.1 status foo-2 RUNNING c 29
         1.2 ends
         10.0 group 31 default a off=5 | a: add=foo | b: add=foo-1 | c: add=foo-2 | d: add=foo-0
         10.2 status foo RUNNING a 31
         10.2 status foo-1 RUNNING b 31
         10.2 status foo-2 RUNNING c 31
         10.2 status foo-0 RUNNING d 31
         10.3 ends
         11.0 ends
         11.0 states
         11.0 disagreements
         39.0 status foo-0 UNASSIGNED d 31
         40.0 group 32 sessioned a off=5 join=39.5 | a: claim=foo add=foo-0 | b: claim=foo-1 | c: claim=foo-2
         40.2 status foo-0 RUNNING a 32
         40.3 ends
         41.0 ends
         41.0 disagreements",
        "states
         foo running: 3 running
         disagreements
         possible_orphan foo-0 a from 10 likely
         disagreements
         possible_orphan foo-0 a from 10 to 40.2 likely",
    );
}

/// KAFKA-9849: it is away as long as the leader waits; the suspicion begins when its work is
/// handed out.
#[test]
fn o_16_suspected_when_the_delay_is_over() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 2 compatible b off=3 | a: claim=none add=foo-0 | b: claim=none add=foo
         1.2 status foo RUNNING b 2
         1.3 status foo-0 RUNNING a 2
         1.5 ends
         10.0 group 3 compatible b off=3 delay=300000 | b: claim=foo
         10.1 ends
         309.0 ends
         309.0 states
         309.0 disagreements
         310.1 group 4 compatible b off=3 | b: claim=foo add=foo-0
         310.3 status foo-0 RUNNING b 4
         310.4 ends
         311.0 ends
         311.0 disagreements",
        "states
         foo running: 1 lost
         disagreements
         disagreements
         running_on_departed_worker foo-0 a from 10 possible",
    );
}

/// The group was made anew with other addresses: what the old ones wrote is nobody's, and the
/// connector's owner has not said a word.
#[test]
fn o_23_only_the_owners_count() {
    check(
        "0.0 config connector c1
         0.0 config tasks c1 1
         0.1 status c1 UNASSIGNED old 3
         0.1 status c1-0 RUNNING a 5
         0.2 ends
         1.0 group 5 sessioned old off=3 | a: claim=c1,c1-0
         1.1 ends
         2.0 ends
         2.0 states
         2.0 disagreements
         62.0 ends
         62.0 disagreements",
        "states
         c1 starting: 1 running
         disagreements
         disagreements
         assigned_not_running c1 a from 1 likely",
    );
}

/// Fewer tasks: an old release leaves the statuses of the others for ever; they are no zombies.
#[test]
fn o_24_statuses_of_removed_tasks() {
    check(
        "0.0 config connector c
         0.0 config tasks c 4
         0.1 ends
         1.0 group 7 sessioned a off=6 | a: claim=none add=c,c-0,c-1,c-2,c-3
         1.2 status c RUNNING a 7
         1.2 status c-0 RUNNING a 7
         1.2 status c-1 RUNNING a 7
         1.2 status c-2 RUNNING a 7
         1.2 status c-3 RUNNING a 7
         1.3 ends
         5.0 config tasks c 1
         5.1 group 8 sessioned a off=8 | a: claim=c,c-0,c-1,c-2,c-3 rev=c-1,c-2,c-3
         5.2 status c-1 UNASSIGNED a 7
         5.2 status c-2 UNASSIGNED a 7
         5.2 status c-3 UNASSIGNED a 7
         5.4 group 9 sessioned a off=8 | a: claim=c,c-0
         5.5 ends
         99.0 ends
         99.0 states
         99.0 disagreements",
        "states
         c running: 1 running
         disagreements",
    );
}

/// KAFKA-9841: two claim a task. A leader of today takes it from both; one of before leaves both
/// of them running.
#[test]
fn o_32_a_duplicate_begins_and_ends() {
    const CLAIMED: &str = "0.0 config connector t
         0.0 config tasks t 4
         0.1 ends
         1.0 group 49 sessioned a off=6 | a: claim=t,t-0,t-1 | b: claim=t-2,t-3
         1.1 status t RUNNING a 40
         1.1 status t-0 RUNNING a 40
         1.1 status t-1 RUNNING a 40
         1.1 status t-2 RUNNING b 48
         1.1 status t-3 RUNNING b 40
         1.2 ends";
    check(
        &format!(
            "{CLAIMED}
             60.0 group 50 sessioned a off=6 | a: claim=t,t-0,t-1 | b: claim=t-2,t-3 rev=t-2 | c: claim=t-2 rev=t-2
             60.1 ends
             60.1 states
             60.1 disagreements
             60.3 status t-2 UNASSIGNED b 49
             60.4 status t-2 UNASSIGNED c 47
             61.0 group 51 sessioned a off=6 | a: claim=t,t-0,t-1 | b: claim=t-3 | c: claim=- add=t-2
             61.2 status t-2 RUNNING c 51
             61.3 ends
             62.0 ends
             62.0 states
             62.0 disagreements"
        ),
        "states
         t running: 3 running 1 stopping
         disagreements
         duplicate_claim t-2 c from 60 certain
         states
         t running: 4 running
         disagreements
         duplicate_claim t-2 c from 60 to 61 certain",
    );
    check(
        &format!(
            "{CLAIMED}
             60.0 group 50 compatible a off=6 | a: claim=t,t-0,t-1 | b: claim=t-2,t-3 | c: claim=t-2
             60.1 ends
             200.0 group 51 compatible a off=6 | a: claim=t,t-0,t-1 | b: claim=t-2,t-3 | c: claim=t-2
             200.1 ends
             300.0 ends
             300.0 disagreements"
        ),
        "disagreements
         duplicate_claim t-2 c from 60 certain",
    );
}

/// It cannot be started because its old instance still runs: FAILED, and the stop before it was
/// given up.
#[test]
fn o_33_failed_beside_an_old_instance() {
    check(
        "0.0 config connector s
         0.0 config tasks s 1
         0.1 ends
         1.0 group 62 sessioned a off=3 | a: claim=s,s-0
         1.1 status s RUNNING a 60
         1.1 status s-0 RUNNING a 60
         1.2 ends
         10.0 group 63 sessioned a off=3 | a: claim=s,s-0 rev=s-0 | b: claim=none
         15.5 group 64 sessioned a off=3 | a: claim=s add=s-0 | b: claim=-
         15.6 ends
         15.7 states
         15.7 disagreements
         16.0 status s-0 FAILED a 64
         16.1 ends
         17.0 ends
         17.0 states
         17.0 disagreements",
        "states
         s running: 1 starting
         disagreements
         abandoned_stop s-0 a from 15.5 likely
         states
         s running: 1 failed
         disagreements
         abandoned_stop s-0 a from 15.5 to 16 likely",
    );
}

/// A poll that sleeps longer than the graceful timeout: revoked, gone from the next claim, and
/// not a word, while the second copy starts elsewhere.
#[test]
fn o_34_a_stop_is_abandoned() {
    check(
        "0.0 config connector c
         0.0 config tasks c 1
         0.1 ends
         1.0 group 9 sessioned a off=3 | a: claim=c,c-0
         1.1 status c RUNNING a 8
         1.1 status c-0 RUNNING a 8
         1.2 ends
         10.0 group 10 sessioned a off=3 | a: claim=c,c-0 rev=c-0 | b: claim=none
         10.1 ends
         10.1 states
         15.5 group 11 sessioned a off=3 | a: claim=c | b: claim=- add=c-0
         15.7 status c-0 RUNNING b 11
         15.8 ends
         20.0 ends
         20.0 states
         20.0 disagreements",
        "states
         c running: 1 stopping
         states
         c running: 1 running
         disagreements
         abandoned_stop c-0 a from 15.5 likely",
    );
}

/// A worker times out and its task runs twice; another task failed and stays with its owner, where
/// no rebalance heals it.
#[test]
fn o_35_a_copy_beside_a_failure() {
    check(
        "0.0 config connector m
         0.0 config tasks m 2
         0.1 ends
         1.0 group 20 sessioned b off=4 | a: claim=none add=m-0 | b: claim=none add=m,m-1
         1.2 status m RUNNING b 20
         1.2 status m-0 RUNNING a 20
         1.2 status m-1 FAILED b 20
         1.3 ends
         30.0 group 21 sessioned b off=4 delay=5000 | b: claim=m,m-1
         35.0 group 22 sessioned b off=4 | b: claim=m,m-1 add=m-0
         35.2 status m-0 RUNNING b 22
         35.3 ends
         100.0 ends
         100.0 states
         100.0 disagreements",
        "states
         m running: 1 running 1 failed
         disagreements
         running_on_departed_worker m-0 a from 30 possible",
    );
}

/// All advertise one address: whose status it is cannot be told, so nothing is said of workers.
#[test]
fn o_46_nothing_is_said_of_workers_that_share_an_id() {
    check(
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
