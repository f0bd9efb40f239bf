//! What becomes of lost work, and of those who left it.

use crate::departures::after_three;

/// Successor rules 2 and 3: back under another address, known by its host, or as the only
/// newcomer.
#[test]
fn back_under_another_address() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         30.1 ends
         40.0 group 3 sessioned a off=5 join=39.9 delay=10000 | a: claim=foo,foo-0 | b: claim=foo-1 | d: claim=none host=192.0.2.9
         40.1 ends
         50.3 group 4 sessioned a off=5 join=50.2 | a: claim=foo,foo-0 | b: claim=foo-1 | d: claim=- add=foo-2 host=192.0.2.9
         50.8 status foo-2 RUNNING d 4
         51.0 ends
         61.0 group 5 sessioned a off=5 join=60.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         61.1 ends
         71.0 group 6 sessioned a off=5 join=70.9 delay=10000 | a: claim=foo,foo-0 | b: claim=foo-1 | e: claim=none host=192.0.2.9 | f: claim=none host=192.0.2.8
         71.1 ends
         71.1 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-4 settled 29.9..50.8 active 0.8+ parked 19.9-
           worker_lost c from 2
           worker_restarted d from 3
           delay_expired - from 4
           gen 2 completed worker_lost c sync 0.1 stop - start -
           gen 3 completed worker_restarted d sync 0.1 stop - start -
           gen 4 completed delay_expired - sync 0.1 stop - start -
           seen here of 4 start 0.5[0,0.52]
           left c crashed with 0+1 successor d in 3
           lost 1 open 0 reclaimed=1 longest 20.4+
         episode 5-6 parked 60.9.. active 0.2+ parked 10-
           worker_lost d from 5
           worker_restarted e from 6
           worker_joined f from 6
           gen 5 completed worker_lost d sync 0.1 stop - start -
           gen 6 open worker_restarted e sync 0.1 stop - start -
           left d crashed with 0+1 successor e in 6
           lost 1 open 1
         counted group_formed.completed=1 worker_lost.completed=2 worker_restarted.completed=1 delay_expired.completed=1 rebalances.group_formed=1 rebalances.worker_lost=1 c.crashed=1 d.crashed=1 lost.task.reclaimed=1 sync=5 start=2 join.unmeasured=5",
    );
}

/// Loss rules 2 and 5: dropped work of a member that stayed, and work that is deleted while
/// it is lost.
#[test]
fn dropped_and_removed() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=none
         30.1 ends
         35.0 config delete foo
         36.0 group 3 sessioned a off=6 join=35.9 delay=14000 | a: claim=foo,foo-0 rev=foo,foo-0 | b: claim=foo-1 rev=foo-1 | c: claim=-
         36.2 status foo UNASSIGNED a 2
         36.2 status foo-0 UNASSIGNED a 2
         36.2 status foo-1 UNASSIGNED b 2
         37.0 group 4 sessioned a off=6 join=36.9 delay=13000 | a: claim=- | b: claim=- | c: claim=-
         37.1 ends
         37.1 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-4 parked 29.9.. active 1.2+ parked 5.1
           coordinator_lost c from 2
           connector_deleted foo from 3
           revocation_followup - from 4
           gen 2 completed coordinator_lost c sync 0.1 stop - start -
           gen 3 completed connector_deleted foo sync 0.1 stop 0.2[0,0.9] start -
           gen 4 open revocation_followup - sync 0.1 stop - start -
           seen here of 3 stop 0.2[0,0.22]
           lost 1 open 0 removed=1 longest 6.1+
         counted group_formed.completed=1 coordinator_lost.completed=1 connector_deleted.completed=1 rebalances.group_formed=1 lost.task.removed=1 sync=3 stop=1 start=1 join.unmeasured=3",
    );
}

/// Loss rule 6: the group is deleted while work is lost, and nobody forms it anew.
#[test]
fn the_group_is_deleted() {
    after_three(
        "30.0 group 2 empty join=29.9
         30.1 ends
         700.0 group gone
         700.1 ends
         1310.0 ends
         1310.1 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 group_gone 29.9..30 active 0.1+ parked 0
           group_emptied - from 2
           worker_lost a from 2
           worker_lost b from 2
           worker_lost c from 2
           gen 2 emptied group_emptied - sync - stop - start -
           left a crashed with 1+1
           left b crashed with 0+1
           left c crashed with 0+1
           lost 4 open 0 group_gone=4 longest 670.1+
         counted group_formed.completed=1 group_emptied.emptied=1 rebalances.group_formed=1 rebalances.group_emptied=1 a.crashed=1 b.crashed=1 c.crashed=1 lost.connector.group_gone=1 lost.task.group_gone=3 sync=1 start=1 join.unmeasured=1",
    );
}

/// Successor rule 1: of two that are gone, the address tells which one is back.
#[test]
fn one_of_two_is_back() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0
         30.1 ends
         40.0 group 3 sessioned a off=5 join=39.9 delay=10000 | a: claim=foo,foo-0 | b#2: claim=none
         40.1 ends
         40.1 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-3 parked 29.9.. active 0.2+ parked 10-
           worker_lost b from 2
           worker_lost c from 2
           worker_restarted b from 3
           gen 2 completed worker_lost b sync 0.1 stop - start -
           gen 3 open worker_restarted b sync 0.1 stop - start -
           left b crashed with 0+1 successor b in 3
           left c crashed not settled with 0+1
           lost 2 open 2
         counted group_formed.completed=1 rebalances.group_formed=1 b.crashed=1 sync=2 start=1 join.unmeasured=2",
    );
}
