//! Real incidents as data: what was lost with a worker or a group, and how that ended (D5).
//! See `cases.rs` and `cases_why.rs`.

use evenkeel_core::answers::{Cause, EpisodeOutcome, LossEnd, UnassignedReason};

use crate::cases_groups::answers;
use crate::cases_why::{evidence, tells};
use crate::dsl::{check, run};

/// Deleted while a worker is away: the delay is the rest of that worker's, its lost task is
/// removed, and both are one episode that names the worker and the deletion.
#[test]
fn o_09_the_delay_belongs_to_who_is_away() {
    tells(
        "0.0 config connector snow
         0.0 config tasks snow 4
         0.1 status snow RUNNING a 213
         0.1 status snow-0 RUNNING a 213
         0.1 status snow-1 RUNNING a 213
         0.1 status snow-3 RUNNING a 213
         0.1 status snow-2 RUNNING c 213
         0.2 ends
         1.0 group 214 sessioned a off=6 | a: claim=snow,snow-0,snow-1,snow-3 | c: claim=snow-2
         1.1 ends
         12.0 group 215 sessioned a off=6 delay=58000 | a: claim=snow,snow-0,snow-1,snow-3
         12.1 ends
         64.0 config delete snow
         64.8 group 216 sessioned a off=7 join=64.7 delay=5179 | a: claim=snow,snow-0,snow-1,snow-3 rev=snow,snow-0,snow-1,snow-3
         64.9 status snow gone
         64.9 status snow-0 gone
         64.9 status snow-1 gone
         64.9 status snow-3 gone
         65.2 group 217 sessioned a off=7 join=65.1 delay=4779 | a: claim=-
         65.3 ends
         70.1 group 218 sessioned a off=7 join=70.0 | a: claim=-
         70.2 ends
         70.2 story
         70.2 show",
        "episode 215-218 settled 12..70.1 active 0.6+ parked 56.779
         worker_lost c from 215
         delay_expired - from 218
         connector_deleted snow from 216
         revocation_followup - from 217
         gen 215 completed worker_lost c sync 0 stop - start -
         gen 216 completed connector_deleted snow sync 0.1 stop - start -
         gen 217 completed revocation_followup - sync 0.1 stop - start -
         gen 218 open delay_expired - sync 0.1 stop - start -
         left c crashed not settled with 0+1
         lost 1 open 0 removed=1 longest 52.8+
         stable 218 sessioned led by a
         a owns
         finding deleted_work_unaccounted snow-2",
    );
}

/// The group id goes to consumers: for Connect the group is gone with all it had.
#[test]
fn o_20_the_group_is_gone_for_connect() {
    tells(
        "0.0 config connector orders
         0.0 config tasks orders 1
         0.1 status orders RUNNING a 7
         0.1 status orders-0 RUNNING a 7
         0.2 ends
         1.0 group 7 sessioned a off=3 | a: claim=orders,orders-0
         1.1 ends
         20.0 status orders UNASSIGNED a 7
         20.0 status orders-0 UNASSIGNED a 7
         20.2 group 8 empty
         21.0 group 9 range s type=consumer | s: claim=-
         21.1 ends
         700.0 ends
         700.0 story",
        "episode 8-8 group_gone 20..20.2 active 0.2[0,0.2] parked 0
         group_emptied - from 8
         worker_left a from 8
         gen 8 emptied group_emptied - sync - stop - start -
         left a graceful with 1+1
         lost 2 open 0 group_gone=2 longest 1",
    );
}

/// A delay of 0: what a crashed worker had belongs to nobody, nothing is scheduled, and it
/// stays so until something else brings a round six hours later.
#[test]
fn o_31_nothing_is_scheduled() {
    let log = "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 status foo RUNNING a 40
         0.1 status foo-0 RUNNING a 40
         0.1 status foo-1 RUNNING b 40
         0.1 status foo-2 RUNNING c 40
         0.2 ends
         1.0 group 40 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
         1.1 ends
         100.0 group 41 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=foo-1
         100.1 ends
         161.0 ends";
    let told = answers(log);
    let closed = &told.episodes.as_ref().unwrap().closed;
    let gone = closed.last().unwrap();
    assert_eq!(gone.outcome, Some(EpisodeOutcome::Unresolved));
    assert_eq!(
        (gone.cause, gone.subject.as_deref()),
        (Cause::WorkerLost, Some("c:8083"))
    );
    assert_eq!((gone.lost.items, gone.lost.open), (1, 1));
    assert!(told.deadline.is_none());
    let lost = told.without_owner();
    assert_eq!(lost.len(), 1);
    assert_eq!(lost[0].reason, UnassignedReason::Lost);
    let told = answers(&format!(
        "{log}
         21700.0 config connector bar
         21700.5 group 42 sessioned a off=6 join=21700.4 | a: claim=foo,foo-0 add=foo-2 | b: claim=foo-1 add=bar
         21700.9 status foo-2 RUNNING a 42
         21700.9 status bar RUNNING b 42
         21701.1 ends"
    ));
    let causes = evidence(&told);
    assert_eq!(
        causes,
        [(Cause::ConnectorCreated, "bar", "config record 5")]
    );
    assert!(told.without_owner().is_empty());
    let ended: Vec<_> = told.counters.lost.iter().collect();
    let [((kind, end), count)] = ended.as_slice() else {
        panic!("{ended:?}");
    };
    assert_eq!(
        (kind.to_string(), *end, **count),
        ("task".to_owned(), LossEnd::Reassigned, 1)
    );
    // What a fixed leader does: handed out at once.
    let fixed = run(&format!(
        "{}
         100.3 status foo-2 RUNNING b 41
         100.5 ends
         100.5 story
         100.5 show",
        log.replace(
            "b: claim=foo-1\n         100.1",
            "b: claim=foo-1 add=foo-2\n         100.1"
        )
    ));
    assert!(fixed.contains("lost 1 open 0 reassigned=1"), "{fixed}");
    assert!(!fixed.contains("unassigned"), "{fixed}");
}

/// Back with an outdated claim: both copies are revoked and one is handed out in the round
/// that follows. Nobody had lost it in between.
#[test]
fn o_32_both_copies_are_revoked() {
    let log = "0.0 config connector t
         0.0 config tasks t 4
         0.1 status t RUNNING a 40
         0.1 status t-0 RUNNING a 40
         0.1 status t-1 RUNNING a 40
         0.1 status t-2 RUNNING c 40
         0.1 status t-3 RUNNING b 40
         0.2 ends
         1.0 group 47 sessioned a off=6 | a: claim=t,t-0,t-1 | b: claim=t-3 | c: claim=t-2
         1.1 ends
         20.0 group 48 sessioned a off=6 delay=20000 | a: claim=t,t-0,t-1 | b: claim=t-3
         20.1 ends
         40.2 group 49 sessioned a off=6 join=40.1 | a: claim=t,t-0,t-1 | b: claim=t-3 add=t-2
         40.5 status t-2 RUNNING b 49
         40.6 ends
         60.0 group 50 sessioned a off=6 | a: claim=t,t-0,t-1 | b: claim=t-2,t-3 rev=t-2 | c#2: claim=t-2 rev=t-2
         60.1 ends";
    tells(
        &format!("{log}\n60.1 story\n60.1 show"),
        "episode 48-49 settled 20..40.5 active 0.4+ parked 20
         worker_lost c from 48
         delay_expired - from 49
         gen 48 completed worker_lost c sync 0 stop - start -
         gen 49 completed delay_expired - sync 0.1 stop - start -
         left c unresponsive with 0+1 back in 50
         lost 1 open 0 reassigned=1 longest 20.2+
         episode 50-50 active 60.. active 0.1+ parked 0
         worker_unresponsive c from 50
         gen 50 open worker_unresponsive c sync 0 stop - start -
         stable 50 sessioned led by a
         a owns t,t-0,t-1
         b owns t-3
         c owns
         unassigned t-2 revoked since 60 of b",
    );
    tells(
        &format!(
            "{log}
         60.3 status t-2 UNASSIGNED b 49
         60.3 status t-2 UNASSIGNED c 47
         60.6 group 51 sessioned a off=6 join=60.5 | a: claim=t,t-0,t-1 | b: claim=t-3 | c#2: claim=- add=t-2
         60.9 status t-2 RUNNING c 51
         61.0 ends
         61.0 story
         61.0 show"
        ),
        "episode 48-49 settled 20..40.5 active 0.4+ parked 20
         worker_lost c from 48
         delay_expired - from 49
         gen 48 completed worker_lost c sync 0 stop - start -
         gen 49 completed delay_expired - sync 0.1 stop - start -
         left c unresponsive with 0+1 back in 50
         lost 1 open 0 reassigned=1 longest 20.2+
         episode 50-51 settled 60..60.9 active 0.9+ parked 0
         worker_unresponsive c from 50
         revocation_followup - from 51
         gen 50 completed worker_unresponsive c sync 0 stop 0.3[0,0.5] start -
         gen 51 completed revocation_followup - sync 0.1 stop - start 0.3[0,0.5]
         stable 51 sessioned led by a
         a owns t,t-0,t-1
         b owns t-3
         c owns t-2",
    );
}

/// A failed task keeps its owner and is not lost; and a worker that had nothing else leaves
/// without a word, which says nothing of how.
#[test]
fn o_35_failed_work_writes_nothing() {
    let log = "0.0 config connector t
         0.0 config tasks t 2
         0.1 status t RUNNING b 20
         0.1 status t-0 RUNNING b 20
         0.1 status t-1 FAILED a 20
         0.2 ends
         1.0 group 21 sessioned b off=4 | a: claim=t-1 | b: claim=t,t-0
         1.1 ends
         20.0 group 22 sessioned b off=4 | a: claim=t-1 | b: claim=t,t-0 | c: claim=none
         20.1 ends
         259200.0 ends";
    tells(
        &format!("{log}\n259200.0 story\n259200.0 show"),
        "episode 22-22 settled 20..20 active 0+ parked 0
         worker_joined c from 22
         gen 22 completed worker_joined c sync 0 stop - start -
         stable 22 sessioned led by b
         a owns t-1
         b owns t,t-0
         c owns",
    );
    tells(
        &format!(
            "{log}
         259300.0 group 23 sessioned b off=4 delay=300000 | b: claim=t,t-0 | c: claim=-
         259300.1 ends
         259300.1 story
         259300.1 show"
        ),
        "episode 22-22 settled 20..20 active 0+ parked 0
         worker_joined c from 22
         gen 22 completed worker_joined c sync 0 stop - start -
         episode 23-23 parked 259300.. active 0+ parked 0.1
         worker_gone a from 23
         gen 23 open worker_gone a sync 0 stop - start -
         left a unknown not settled with 0+1
         lost 1 open 1
         stable 23 sessioned led by b
         b owns t,t-0
         c owns
         unassigned t-1 lost since 259300 of a
         deadline 259600 lost",
    );
}

/// All workers are stopped, the group expires, and they start again: a group that emptied, a
/// group that formed, and what was lost is reclaimed by who had it, across both lives.
#[test]
fn o_50_emptied_and_formed_anew() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 status foo RUNNING a 50
         0.1 status foo-0 RUNNING b 50
         0.2 ends
         1.0 group 56 sessioned a off=3 | a: claim=foo | b: claim=foo-0
         1.1 ends
         100.0 status foo UNASSIGNED a 56
         100.1 status foo-0 UNASSIGNED b 56
         100.3 group 57 empty
         100.4 ends
         600.0 group gone
         605.0 ends
         680.0 group 1 sessioned a#2 off=3 join=679.8 | a#2: claim=none add=foo | b#2: claim=none add=foo-0
         680.4 status foo RUNNING a 1
         680.5 status foo-0 RUNNING b 1
         681.0 ends
         740.0 ends
         740.0 story",
        "episode 56-56 settled 1..1 active 0+ parked 0 in part
           unknown - from 56
           gen 56 completed unknown - sync 0 stop - start -
         episode 57-57 group_gone 100..100.3 active 0.3[0,0.3] parked 0
           group_emptied - from 57
           worker_left a from 57
           worker_left b from 57
           gen 57 emptied group_emptied - sync - stop - start -
           left a graceful with 1+0 successor a in 1
           left b graceful with 0+1 successor b in 1
           lost 2 open 0 reclaimed=2 longest 580
         episode 1-1 settled 679.8..680.5 active 0.7+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.2 stop - start -
           seen here of 1 start 0.5[0,0.52]
         counted group_formed.completed=1 group_emptied.emptied=1 unknown.completed=1 rebalances.group_formed=1 rebalances.group_emptied=1 rebalances.unknown=1 a.graceful=1 b.graceful=1 lost.connector.reclaimed=1 lost.task.reclaimed=1 sync=2 start=1 join.unmeasured=2",
    );
}
