//! Real incidents as data: who left and how, and the episode around it (D6, D8). See
//! `cases.rs` and `cases_why.rs`; what was lost in the end is in `cases_lost.rs`.

use evenkeel_core::answers::{Cause, DepartureHow};

use crate::cases_groups::answers;
use crate::cases_why::{evidence, tells};

/// `simple` and its task on `a`, `b` idle.
const SIMPLE: &str = "0.0 config connector simple
         0.0 config tasks simple 1
         0.1 ends
         1.0 group 2 sessioned b off=3 | a: claim=none add=simple,simple-0 | b: claim=none
         1.3 status simple RUNNING a 2
         1.3 status simple-0 RUNNING a 2
         1.5 ends";

/// A blocked worker is thrown out, its work is started elsewhere, and it comes back with its
/// claim: until then it may have died, then it is known that it had not.
#[test]
fn o_03_thrown_out_and_still_running() {
    let log = format!(
        "{SIMPLE}
         30.0 group 3 sessioned b off=3 delay=5000 | b: claim=-
         30.1 ends
         35.2 group 4 sessioned b off=3 | b: claim=- add=simple,simple-0
         35.5 status simple RUNNING b 4
         35.5 status simple-0 RUNNING b 4
         35.6 ends"
    );
    tells(
        &format!("{log}\n35.6 story"),
        "episode 3-4 settled 30..35.5 active 0.3+ parked 5
         worker_lost a from 3
         delay_expired - from 4
         gen 3 completed worker_lost a sync 0 stop - start -
         gen 4 completed delay_expired - sync 0 stop - start -
         left a crashed not settled with 1+1
         lost 2 open 0 reassigned=2 longest 5.2+",
    );
    tells(
        &format!(
            "{log}
         90.0 group 5 sessioned b off=3 | a#2: claim=simple,simple-0 rev=simple,simple-0 | b: claim=simple,simple-0 rev=simple,simple-0
         90.2 status simple UNASSIGNED a 2
         90.2 status simple-0 UNASSIGNED a 2
         90.3 status simple UNASSIGNED b 4
         90.3 status simple-0 UNASSIGNED b 4
         90.5 group 6 sessioned b off=3 | a#2: claim=- add=simple | b: claim=- add=simple-0
         90.8 status simple RUNNING a 6
         90.8 status simple-0 RUNNING b 6
         91.0 ends
         91.0 story"
        ),
        "episode 3-4 settled 30..35.5 active 0.3+ parked 5
         worker_lost a from 3
         delay_expired - from 4
         gen 3 completed worker_lost a sync 0 stop - start -
         gen 4 completed delay_expired - sync 0 stop - start -
         left a unresponsive with 1+1 back in 5
         lost 2 open 0 reassigned=2 longest 5.2+
         episode 5-6 settled 90..90.8 active 0.8+ parked 0
         worker_unresponsive a from 5
         revocation_followup - from 6
         gen 5 completed worker_unresponsive a sync 0 stop 0.3[0,0.5] start -
         gen 6 completed revocation_followup - sync 0 stop - start 0.3[0,0.5]",
    );
}

/// The same where the worker stops its work before it leaves (KAFKA-16056): it left in good
/// order, and is back as a fresh member.
#[test]
fn o_03_thrown_out_after_it_stopped() {
    tells(
        &format!(
            "{SIMPLE}
         29.8 status simple UNASSIGNED a 2
         29.8 status simple-0 UNASSIGNED a 2
         30.0 group 3 sessioned b off=3 delay=5000 | b: claim=-
         30.1 ends
         35.2 group 4 sessioned b off=3 | b: claim=- add=simple,simple-0
         35.5 status simple RUNNING b 4
         35.5 status simple-0 RUNNING b 4
         35.6 ends
         60.0 group 5 sessioned b off=3 join=59.9 | a#2: claim=none | b: claim=simple,simple-0
         60.1 ends
         60.1 story"
        ),
        "episode 3-4 settled 29.8..35.5 active 0.7[0.3,0.7] parked 5
         worker_left a from 3
         delay_expired - from 4
         gen 3 completed worker_left a sync 0 stop - start -
         gen 4 completed delay_expired - sync 0 stop - start -
         left a graceful with 1+1 successor a in 5
         lost 2 open 0 reassigned=2 longest 5.4
         episode 5-5 settled 59.9..60 active 0.1+ parked 0
         worker_restarted a from 5
         gen 5 open worker_restarted a sync 0.1 stop - start -",
    );
}

/// `foo` with three tasks; `c` has `foo-1`.
const THREE: &str = "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 status foo RUNNING a 5
         0.1 status foo-0 RUNNING a 5
         0.1 status foo-2 RUNNING b 5
         0.2 ends
         1.0 group 7 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=foo-2 | c: host=192.0.2.7 claim=none add=foo-1
         1.3 status foo-1 RUNNING c 7
         1.5 ends";

/// The pod of `c` is replaced by one with another name and address. From its stop to the
/// start in its successor it is one stretch of unrest, most of it spent waiting.
#[test]
fn o_08_replaced_in_good_order() {
    let log = format!(
        "{THREE}
         100.0 status foo-1 UNASSIGNED c 7
         100.2 group 8 sessioned a off=5 delay=300000 | a: claim=foo,foo-0 | b: claim=foo-2
         100.3 ends"
    );
    tells(
        &format!("{log}\n100.3 story\n100.3 show"),
        "episode 8-8 parked 100.. active 0.2[0,0.2] parked 0.1
         worker_left c from 8
         gen 8 open worker_left c sync 0 stop - start -
         left c graceful with 0+1
         lost 1 open 1
         stable 8 sessioned led by a
         a owns foo,foo-0
         b owns foo-2
         unassigned foo-1 lost since 100.2 of c
         deadline 400.2 lost",
    );
    let log = format!(
        "{log}
         140.0 group 9 sessioned a off=5 join=139.9 delay=260000 | a: claim=foo,foo-0 | b: claim=foo-2 | d: host=192.0.2.9 claim=none
         140.1 ends"
    );
    tells(
        &format!("{log}\n140.1 story\n140.1 show"),
        "episode 8-9 parked 100.. active 0.1+ parked 39.8-
         worker_left c from 8
         worker_restarted d from 9
         gen 8 completed worker_left c sync 0 stop - start -
         gen 9 open worker_restarted d sync 0.1 stop - start -
         left c graceful with 0+1 successor d in 9
         lost 1 open 1
         stable 9 sessioned led by a
         a owns foo,foo-0
         b owns foo-2
         d owns
         unassigned foo-1 lost since 100.2 of c
         deadline 400 lost",
    );
    tells(
        &format!(
            "{log}
         400.5 group 10 sessioned a off=5 join=400.4 | a: claim=foo,foo-0 | b: claim=foo-2 | d: host=192.0.2.9 claim=- add=foo-1
         400.9 status foo-1 RUNNING d 10
         401.0 ends
         401.0 story"
        ),
        "episode 8-10 settled 100..400.9 active 0.6+ parked 299.7-
         worker_left c from 8
         worker_restarted d from 9
         delay_expired - from 10
         gen 8 completed worker_left c sync 0 stop - start -
         gen 9 completed worker_restarted d sync 0.1 stop - start -
         gen 10 completed delay_expired - sync 0.1 stop - start -
         left c graceful with 0+1 successor d in 9
         lost 1 open 0 reclaimed=1 longest 300.5",
    );
}

/// The same, killed: nothing is written, and the group learns of it a session later.
#[test]
fn o_08_replaced_after_a_crash() {
    let log = format!(
        "{THREE}
         110.0 group 8 sessioned a off=5 delay=300000 | a: claim=foo,foo-0 | b: claim=foo-2
         111.1 ends"
    );
    tells(
        &format!("{log}\n111.1 story\n111.1 show"),
        "episode 8-8 parked 110.. active 0+ parked 1.1
         worker_lost c from 8
         gen 8 open worker_lost c sync 0 stop - start -
         left c crashed not settled with 0+1
         lost 1 open 1
         stable 8 sessioned led by a
         a owns foo,foo-0
         b owns foo-2
         unassigned foo-1 lost since 110 of c
         deadline 410 lost",
    );
    let log = format!(
        "{log}
         140.0 group 9 sessioned a off=5 join=139.9 delay=270000 | a: claim=foo,foo-0 | b: claim=foo-2 | d: host=192.0.2.9 claim=none
         140.1 ends
         410.5 group 10 sessioned a off=5 join=410.4 | a: claim=foo,foo-0 | b: claim=foo-2 | d: host=192.0.2.9 claim=- add=foo-1
         410.9 status foo-1 RUNNING d 10
         411.0 ends"
    );
    tells(
        &format!("{log}\n411.0 story"),
        "episode 8-10 settled 110..410.9 active 0.6+ parked 299.9-
         worker_lost c from 8
         worker_restarted d from 9
         delay_expired - from 10
         gen 8 completed worker_lost c sync 0 stop - start -
         gen 9 completed worker_restarted d sync 0.1 stop - start -
         gen 10 completed delay_expired - sync 0.1 stop - start -
         left c crashed with 0+1 successor d in 9
         lost 1 open 0 reclaimed=1 longest 300.5+",
    );
    let told = answers(&log);
    let departure = &told.episodes.as_ref().unwrap().closed[1].departures[0];
    let (from, to) = departure.died_between.unwrap();
    // A session after its last heartbeat it is missed; then the join phase waits for the others.
    assert_eq!(to.since_ms(from), 10_000 + 60_000);
    assert_eq!(
        evidence(&told)[0],
        (
            Cause::WorkerLost,
            "c:8083",
            "it wrote nothing, and left 1 behind as running: it died, or nothing heeded its stop"
        )
    );
}

/// Thrown out every two minutes by a connector that blocks: one worker each time, though its
/// member id is another one, and never a newcomer.
#[test]
fn o_15_thrown_out_and_back_every_two_minutes() {
    let mut scenario = String::from(
        "0.0 config connector mm
         0.0 config tasks mm 2
         0.1 ends
         1.0 group 10 sessioned b off=4 | a: claim=none add=mm,mm-0 | b: claim=none add=mm-1
         1.3 status mm RUNNING a 10
         1.3 status mm-0 RUNNING a 10
         1.3 status mm-1 RUNNING b 10
         1.5 ends\n",
    );
    for turn in 0..3 {
        let (at, generation) = (60 + 120 * turn, 11 + 2 * turn);
        scenario += &format!(
            "{at}.0 group {generation} sessioned b off=4 delay=300000 | b: claim=mm-1
             {at}.1 ends
             {}.0 group {} sessioned b off=4 | a#{}: claim=mm,mm-0 | b: claim=mm-1
             {}.1 ends\n",
            at + 60,
            generation + 1,
            turn + 2,
            at + 60,
        );
    }
    let told = answers(&scenario);
    let departures = &told.counters.departures;
    assert_eq!(departures.len(), 1, "{departures:?}");
    let ((worker, how), count) = departures.first_key_value().unwrap();
    assert_eq!(
        (&**worker, *how, *count),
        ("a:8083", DepartureHow::Unresponsive, 3)
    );
    let episodes = told.episodes.as_ref().unwrap();
    for episode in &episodes.closed[1..] {
        assert_eq!(episode.cause, Cause::WorkerUnresponsive);
        assert_eq!(episode.subject.as_deref(), Some("a:8083"));
        assert_eq!(episode.departures[0].owned, (1, 1));
        assert!(episode.departures[0].returned.is_some());
    }
    assert_eq!(told.counters.rebalances[&Cause::WorkerUnresponsive], 3);
    assert!(!told.counters.rebalances.contains_key(&Cause::WorkerJoined));
}

/// A worker waits as long for the config topic as the leader waits for the worker: its work
/// is handed out in the moment it comes back with it.
#[test]
fn o_16_back_when_the_delay_is_over() {
    let log = format!(
        "{SIMPLE}
         20.0 group 3 sessioned b off=3 delay=300000 | b: claim=-
         21.1 ends"
    );
    tells(
        &format!("{log}\n21.1 story\n21.1 show"),
        "episode 3-3 parked 20.. active 0+ parked 1.1
         worker_lost a from 3
         gen 3 open worker_lost a sync 0 stop - start -
         left a crashed not settled with 1+1
         lost 2 open 2
         stable 3 sessioned led by b
         b owns
         unassigned simple lost since 20 of a
         unassigned simple-0 lost since 20 of a
         deadline 320 lost",
    );
    tells(
        &format!(
            "{log}
         320.2 group 4 sessioned b off=3 | b: claim=- add=simple,simple-0
         320.5 status simple RUNNING b 4
         320.5 status simple-0 RUNNING b 4
         321.0 group 5 sessioned b off=3 | a#2: claim=simple,simple-0 | b: claim=simple,simple-0
         321.1 ends
         321.1 story"
        ),
        "episode 3-4 settled 20..320.5 active 0.3+ parked 300
         worker_lost a from 3
         delay_expired - from 4
         gen 3 completed worker_lost a sync 0 stop - start -
         gen 4 completed delay_expired - sync 0 stop - start -
         left a unresponsive with 1+1 back in 5
         lost 2 open 0 reassigned=2 longest 300.2+
         episode 5-5 settled 321..321 active 0+ parked 0
         worker_unresponsive a from 5
         gen 5 open worker_unresponsive a sync 0 stop - start -",
    );
}

/// Workers that share one nonsense address: nothing is said of how one of them left.
#[test]
fn o_46_nothing_is_said_of_how() {
    let url = "url=http://null:-1/";
    tells(
        &format!(
            "0.0 config connector c
         0.0 config tasks c 2
         0.1 status c RUNNING null 3
         0.1 status c-0 RUNNING null 3
         0.1 status c-1 RUNNING null 3
         0.2 ends
         1.0 group 3 sessioned a off=4 | a: {url} claim=c,c-0 | b: {url} claim=c-1
         1.1 ends
         30.0 group 4 sessioned a off=4 delay=20000 | a: {url} claim=c,c-0
         30.1 ends
         30.1 story"
        ),
        "episode 4-4 parked 30.. active 0+ parked 0.1
         worker_gone null:-1 from 4
         gen 4 open worker_gone null:-1 sync 0 stop - start -
         left null:-1 unknown with 0+1
         lost 1 open 1",
    );
}
