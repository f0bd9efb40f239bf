//! Real incidents as data: work that moves, is restarted or does not stop, and what that
//! is in episodes (D7, D8). See `cases.rs` and `cases_why.rs`.

use crate::cases_why::tells;
use crate::dsl::{check, run};

/// The stop of the old owner is written after the start of the new one, with an older or
/// with the same generation: the move is over, and the late stop begins nothing.
#[test]
fn o_05_a_late_stop_is_no_new_unrest() {
    let log = |generation: i32| {
        format!(
            "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 status foo RUNNING a 10
         0.1 status foo-0 RUNNING a 10
         0.2 ends
         1.0 group 10 sessioned a off=3 | a: claim=foo,foo-0
         1.1 ends
         20.0 group 11 sessioned a off=3 join=19.9 | a: claim=foo,foo-0 rev=foo-0 | b: claim=none
         20.3 group 12 sessioned a off=3 join=20.2 | a: claim=foo | b: claim=- add=foo-0
         20.6 status foo-0 RUNNING b 12
         20.8 status foo-0 UNASSIGNED a {generation}
         21.0 ends
         100.0 ends
         100.0 story
         100.0 show"
        )
    };
    tells(
        &log(11),
        "episode 11-12 settled 19.9..20.6 active 0.7+ parked 0
         worker_joined b from 11
         revocation_followup - from 12
         gen 11 completed worker_joined b sync 0.1 stop - start -
         gen 12 completed revocation_followup - sync 0.1 stop - start -
         stable 12 sessioned led by a
         a owns foo
         b owns foo-0",
    );
    assert_eq!(run(&log(12)), run(&log(11)));
}

/// A restart of connector and tasks: statuses change, no generation comes, and it is no
/// rebalance.
#[test]
fn o_30_a_restart_is_no_rebalance() {
    check(
        "0.0 config connector c
         0.0 config tasks c 3
         0.1 status c RUNNING a 8
         0.1 status c-0 RUNNING a 8
         0.1 status c-1 RUNNING a 8
         0.1 status c-2 FAILED a 8
         0.2 ends
         1.0 group 8 sessioned a off=5 | a: claim=c,c-0,c-1,c-2
         1.1 ends
         20.0 status c-2 RESTARTING a 8
         20.1 ends
         20.5 status c-2 RUNNING a 8
         20.6 ends
         20.6 story
         20.6 show",
        "episode 8-8 settled 1..1 active 0+ parked 0 in part
           unknown - from 8
           gen 8 completed unknown - sync 0 stop - start -
         counted unknown.completed=1 rebalances.unknown=1 sync=1 join.unmeasured=1
         stable 8 sessioned led by a
         a owns c,c-0,c-1,c-2
         counted completed=1",
    );
}

/// A task is moved away and back: its start fails because the old instance still runs. The
/// round is over all the same, for the worker said what became of it.
#[test]
fn o_33_a_start_that_fails_is_an_answer() {
    tells(
        "0.0 config connector s3
         0.0 config tasks s3 2
         0.1 status s3 RUNNING a 62
         0.1 status s3-0 RUNNING a 62
         0.1 status s3-1 RUNNING a 62
         0.2 ends
         1.0 group 62 sessioned a off=4 | a: claim=s3,s3-0,s3-1
         1.1 ends
         20.0 group 63 sessioned a off=4 join=19.9 | a: claim=s3,s3-0,s3-1 rev=s3-1 | b: claim=none
         20.4 group 64 sessioned a off=4 join=20.3 | a: claim=s3,s3-0 add=s3-1
         20.5 status s3-1 FAILED a 64
         20.7 ends
         20.7 story
         20.7 show",
        "episode 63-64 settled 19.9..20.5 active 0.6+ parked 0
         worker_left b from 64
         worker_joined b from 63
         revocation_followup - from 64
         gen 63 completed worker_joined b sync 0.1 stop - start -
         gen 64 completed worker_left b sync 0.1 stop - start -
         left b graceful not settled with 0+0
         stable 64 sessioned led by a
         a owns s3,s3-0,s3-1",
    );
}

/// A task that does not heed its stop writes nothing: the move looks clean by the group's
/// records, and how long the stop took is not known, rather than short.
#[test]
fn o_34_a_stop_that_was_given_up_is_not_measured() {
    let log = |stopped: &str| {
        format!(
            "0.0 config connector c
         0.0 config tasks c 2
         0.1 status c RUNNING a 8
         0.1 status c-0 RUNNING a 8
         0.1 status c-1 RUNNING a 8
         0.2 ends
         1.0 group 9 sessioned a off=4 | a: claim=c,c-0,c-1
         1.1 ends
         20.0 group 10 sessioned a off=4 join=19.9 | a: claim=c,c-0,c-1 rev=c-0 | b: claim=none
         {stopped}
         25.2 group 11 sessioned a off=4 join=25.1 | a: claim=c,c-1 | b: claim=- add=c-0
         25.5 status c-0 RUNNING b 11
         26.0 ends
         26.0 story"
        )
    };
    tells(
        &log(""),
        "episode 10-11 settled 19.9..25.5 active 5.6+ parked 0
         worker_joined b from 10
         revocation_followup - from 11
         gen 10 completed worker_joined b sync 0.1 stop - start -
         gen 11 completed revocation_followup - sync 0.1 stop - start -",
    );
    let counted = |text: String| text.lines().last().unwrap().to_owned();
    let given_up = counted(run(&log("")));
    assert!(given_up.contains("stop.unmeasured=1"), "{given_up}");
    let heeded = counted(run(&log("20.3 status c-0 UNASSIGNED a 9")));
    assert!(heeded.contains(" stop=1"), "{heeded}");
    assert!(!heeded.contains("stop.unmeasured"), "{heeded}");
}

/// Two workers come at once and take their share in two rounds: the second is a consequence,
/// and what is between two owners is not lost.
#[test]
fn o_36_rounds_until_the_share_is_taken() {
    let all = "t,t-0,t-1,t-2,t-3,t-4,t-5";
    tells(
        &format!(
            "0.0 config connector t
         0.0 config tasks t 6
         0.1 ends
         1.0 group 4 sessioned w0 off=8 | w0: claim={all}
         1.1 ends
         20.0 group 5 sessioned w0 off=8 join=19.9 | w0: claim={all} rev=t-2,t-3,t-4,t-5 | w1: claim=none | w2: claim=none
         20.2 status t-2 UNASSIGNED w0 4
         20.2 status t-3 UNASSIGNED w0 4
         20.2 status t-4 UNASSIGNED w0 4
         20.2 status t-5 UNASSIGNED w0 4
         20.4 group 6 sessioned w0 off=8 join=20.3 | w0: claim=t,t-0,t-1 | w1: claim=- add=t-2,t-3 | w2: claim=- add=t-4,t-5
         20.7 status t-2 RUNNING w1 6
         20.7 status t-3 RUNNING w1 6
         20.8 status t-4 RUNNING w2 6
         20.8 status t-5 RUNNING w2 6
         21.0 ends
         21.0 story
         21.0 show"
        ),
        "episode 5-6 settled 19.9..20.8 active 0.9+ parked 0
         worker_joined w1 from 5
         worker_joined w2 from 5
         revocation_followup - from 6
         gen 5 completed worker_joined w1 sync 0.1 stop 0.2[0,0.3] start -
         gen 6 completed revocation_followup - sync 0.1 stop - start -
         stable 6 sessioned led by w0
         w0 owns t,t-0,t-1
         w1 owns t-2,t-3
         w2 owns t-4,t-5",
    );
}

/// A worker joins right after a round that revoked: the leader hands out what it has, and
/// backs off from revoking with a delay in which nothing is lost. The case has the delay a
/// round later; the assignor (KAFKA-12495, since 3.4) gives it in the round after a revoking one.
#[test]
fn o_37_a_delay_in_which_nothing_is_lost() {
    let log = "0.0 config connector t
         0.0 config tasks t 5
         0.1 ends
         1.0 group 1 sessioned a off=7 | a: claim=none add=t,t-0,t-1,t-2,t-3,t-4
         1.2 status t RUNNING a 1
         1.2 status t-0 RUNNING a 1
         1.2 status t-1 RUNNING a 1
         1.2 status t-2 RUNNING a 1
         1.2 status t-3 RUNNING a 1
         1.2 status t-4 RUNNING a 1
         1.5 ends
         20.0 group 2 sessioned a off=7 join=19.9 | a: claim=t,t-0,t-1,t-2,t-3,t-4 rev=t-2,t-3,t-4 | b: claim=none
         20.1 status t-2 UNASSIGNED a 1
         20.1 status t-3 UNASSIGNED a 1
         20.1 status t-4 UNASSIGNED a 1
         20.3 group 3 sessioned a off=7 join=20.2 delay=1600 | a: claim=t,t-0,t-1 | b: claim=- add=t-2,t-3,t-4 | c: claim=none
         20.6 status t-2 RUNNING b 3
         20.6 status t-3 RUNNING b 3
         20.6 status t-4 RUNNING b 3
         21.1 ends";
    tells(
        &format!("{log}\n21.1 story\n21.1 show"),
        "episode 2-3 parked 19.9.. active 0.7+ parked 0.5
         worker_joined b from 2
         worker_joined c from 3
         revocation_followup - from 3
         gen 2 completed worker_joined b sync 0.1 stop 0.1[0,0.2] start -
         gen 3 completed worker_joined c sync 0.1 stop - start -
         stable 3 sessioned led by a
         a owns t,t-0,t-1
         b owns t-2,t-3,t-4
         c owns
         deadline 21.9 revocation_backoff",
    );
    tells(
        &format!(
            "{log}
         22.0 group 4 sessioned a off=7 join=21.95 | a: claim=t,t-0,t-1 rev=t-1 | b: claim=t-2,t-3,t-4 rev=t-4 | c: claim=-
         22.1 status t-1 UNASSIGNED a 3
         22.1 status t-4 UNASSIGNED b 3
         22.3 group 5 sessioned a off=7 join=22.25 | a: claim=t,t-0 | b: claim=t-2,t-3 | c: claim=- add=t-1,t-4
         22.6 status t-1 RUNNING c 5
         22.7 status t-4 RUNNING c 5
         23.5 ends
         23.5 story
         23.5 show"
        ),
        "episode 2-5 settled 19.9..22.7 active 1.45+ parked 1.3
         worker_joined b from 2
         worker_joined c from 3
         delay_expired - from 4
         revocation_followup - from 3
         gen 2 completed worker_joined b sync 0.1 stop 0.1[0,0.2] start -
         gen 3 completed worker_joined c sync 0.1 stop - start -
         gen 4 completed delay_expired - sync 0.05 stop 0.1[0,0.25] start -
         gen 5 completed revocation_followup - sync 0.05 stop - start -
         stable 5 sessioned led by a
         a owns t,t-0
         b owns t-2,t-3
         c owns t-1,t-4",
    );
}

/// The group's record is too large to be written: rounds begin and none reaches the log, until
/// a connector is deleted. They are told with the first that does.
#[test]
fn o_53_rounds_whose_record_is_too_large() {
    check(
        "0.0 config connector big
         0.0 config connector small
         0.1 ends
         1.0 live
         1.0 group 4 sessioned a off=2 | a: claim=big,small | b: claim=-
         1.1 ends
         21.0 ends
         41.0 ends
         60.0 config delete big
         61.0 group 9 sessioned a off=3 join=60.5 | a: claim=big,small rev=big | b: claim=-
         61.4 group 10 sessioned a off=3 join=61.3 | a: claim=small | b: claim=-
         61.5 ends
         61.5 story",
        "episode 4-4 settled 1..1 active 0+ parked 0 in part
           unknown - from 4
           gen 4 completed unknown - sync 0 stop - start -
         episode 5-10 settled 60..61.4 active 0.9+ parked 0
           connector_deleted big from 9
           revocation_followup - from 10
           gen 9 completed connector_deleted big sync 0.5 stop - start - after 4 without a record
           gen 10 open revocation_followup - sync 0.1 stop - start -
         counted connector_deleted.completed=1 connector_deleted.aborted=4 unknown.completed=1 rebalances.connector_deleted=1 rebalances.unknown=1 sync=3 join.unmeasured=3 stop.unmeasured=1",
    );
}

/// Without the group's records there are no episodes, and none is said to be absent.
#[test]
fn o_51_no_episodes_without_records() {
    check(
        "0.0 access offsets denied
         0.0 config connector foo
         0.1 poll stable sessioned a off=1 | a: claim=foo | c: claim=-
         0.2 ends
         9.0 poll stable sessioned a off=1 | a: claim=foo
         9.1 ends
         9.1 story",
        "no episodes",
    );
}
