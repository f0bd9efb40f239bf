//! How workers leave, who comes in their place, and what becomes of their work.

use crate::dsl::check;

/// Two connectors on three workers, all of it running; the last instant is 2.0.
pub(crate) const THREE: &str = "0.0 config connector foo
     0.0 config tasks foo 3
     0.1 ends
     1.0 group 1 sessioned a off=5 join=0.9 | a: claim=none add=foo,foo-0 | b: claim=none add=foo-1 | c: claim=none add=foo-2
     1.2 status foo RUNNING a 1
     1.2 status foo-0 RUNNING a 1
     1.2 status foo-1 RUNNING b 1
     1.3 status foo-2 RUNNING c 1
     2.0 ends\n";

#[track_caller]
pub(crate) fn after_three(scenario: &str, expected: &str) {
    check(&format!("{THREE}{scenario}"), expected);
}

/// Departure rule 5, successor rule 1, loss rules 1 and 3: a follower is killed and comes
/// back inside the delay. One episode, from the join phase that misses it to its last start.
#[test]
fn killed_and_back_inside_the_delay() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         30.1 ends
         40.0 group 3 sessioned a off=5 join=39.9 delay=10000 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=none
         40.1 ends
         50.3 group 4 sessioned a off=5 join=50.2 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=- add=foo-2
         50.8 status foo-2 RUNNING c 4
         51.0 ends
         51.0 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-4 settled 29.9..50.8 active 0.8+ parked 19.9-
           worker_lost c from 2
           worker_restarted c from 3
           delay_expired - from 4
           gen 2 completed worker_lost c sync 0.1 stop - start -
           gen 3 completed worker_restarted c sync 0.1 stop - start -
           gen 4 completed delay_expired - sync 0.1 stop - start -
           seen here of 4 start 0.5[0.2,0.52]
           left c crashed with 0+1 successor c in 3
           lost 1 open 0 reclaimed=1 longest 20.4+
         counted group_formed.completed=1 worker_lost.completed=1 worker_restarted.completed=1 delay_expired.completed=1 rebalances.group_formed=1 rebalances.worker_lost=1 c.crashed=1 lost.task.reclaimed=1 sync=4 start=2 join.unmeasured=4",
    );
}

/// Never back: how it left is settled when the episode closes, and counted ten minutes later.
#[test]
fn killed_for_good() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         30.1 ends
         50.3 group 3 sessioned a off=5 join=50.2 | a: claim=foo,foo-0 | b: claim=foo-1 add=foo-2
         50.8 status foo-2 RUNNING b 3
         51.0 ends
         700.0 ends
         700.1 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-3 settled 29.9..50.8 active 0.7+ parked 20
           worker_lost c from 2
           delay_expired - from 3
           gen 2 completed worker_lost c sync 0.1 stop - start -
           gen 3 completed delay_expired - sync 0.1 stop - start -
           seen here of 3 start 0.5[0.3,0.52]
           left c crashed with 0+1
           lost 1 open 0 reassigned=1 longest 20.4+
         counted group_formed.completed=1 worker_lost.completed=1 delay_expired.completed=1 rebalances.group_formed=1 rebalances.worker_lost=1 c.crashed=1 lost.task.reassigned=1 sync=3 start=2 join.unmeasured=3",
    );
}

/// Departure rule 1: it wrote the stop of all it had.
#[test]
fn stopped_in_good_order() {
    after_three(
        "20.0 status foo-2 UNASSIGNED c 1
         20.5 group 2 sessioned a off=5 join=20.4 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         20.6 ends
         40.9 group 3 sessioned a off=5 join=40.8 | a: claim=foo,foo-0 add=foo-2 | b: claim=foo-1
         41.3 status foo-2 RUNNING a 3
         41.5 ends
         41.5 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-3 settled 20..41.3 active 1.3[0.6,1.3] parked 20
           worker_left c from 2
           delay_expired - from 3
           gen 2 completed worker_left c sync 0.1 stop - start -
           gen 3 completed delay_expired - sync 0.1 stop - start -
           seen here of 3 start 0.4[0.2,0.42]
           left c graceful with 0+1
           lost 1 open 0 reassigned=1 longest 20.9
         counted group_formed.completed=1 worker_left.completed=1 delay_expired.completed=1 rebalances.group_formed=1 rebalances.worker_left=1 c.graceful=1 lost.task.reassigned=1 sync=3 start=2 join.unmeasured=3",
    );
}

/// The leader leaves: no delay, its work is handed out at once.
#[test]
fn the_leader_stops() {
    after_three(
        "20.0 status foo-0 UNASSIGNED a 1
         20.1 status foo UNASSIGNED a 1
         20.5 group 2 sessioned b off=5 join=20.4 | b: claim=foo-1 add=foo | c: claim=foo-2 add=foo-0
         20.8 status foo RUNNING b 2
         20.9 status foo-0 RUNNING c 2
         21.0 ends
         21.0 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 settled 20..20.9 active 0.9[0.5,0.9] parked 0
           worker_left a from 2
           gen 2 completed worker_left a sync 0.1 stop - start -
           seen here of 2 start 0.4[0.1,0.42]
           left a graceful with 1+1
           lost 2 open 0 reassigned=2 longest 0.5
         counted group_formed.completed=1 worker_left.completed=1 rebalances.group_formed=1 rebalances.worker_left=1 a.graceful=1 lost.connector.reassigned=1 lost.task.reassigned=1 sync=2 start=2 join.unmeasured=2",
    );
}

/// Departure rule 2: one task did not heed the stop, but the worker left in good order.
#[test]
fn a_task_that_ignores_the_stop() {
    after_three(
        "20.0 status foo UNASSIGNED a 1
         25.5 group 2 sessioned b off=5 join=25.4 | b: claim=foo-1 add=foo | c: claim=foo-2 add=foo-0
         25.8 status foo RUNNING b 2
         25.9 status foo-0 RUNNING c 2
         27.0 ends
         27.0 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 settled 20..25.9 active 5.9[0.5,5.9] parked 0
           worker_left a from 2
           gen 2 completed worker_left a sync 0.1 stop - start -
           seen here of 2 start 0.4[0.1,0.42]
           left a graceful with 1+1
           lost 2 open 0 reassigned=2 longest 5.5+
         counted group_formed.completed=1 worker_left.completed=1 rebalances.group_formed=1 rebalances.worker_left=1 a.graceful=1 lost.connector.reassigned=1 lost.task.reassigned=1 sync=2 start=2 join.unmeasured=2",
    );
}

/// Departure rule 3: nothing that it had heeded the stop, but no session can have ended.
#[test]
fn a_stop_that_nothing_heeds() {
    after_three(
        "9.5 group 2 sessioned a off=5 join=9.4 | a: claim=foo,foo-0 add=foo-2 | b: claim=foo-1
         9.8 status foo-2 RUNNING a 2
         11.0 ends
         11.0 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 settled 9.4..9.8 active 0.4+ parked 0
           worker_left c from 2
           gen 2 completed worker_left c sync 0.1 stop - start -
           seen here of 2 start 0.3[0.1,0.32]
           left c graceful not settled with 0+1
           lost 1 open 0 reassigned=1 longest 0.1+
         counted group_formed.completed=1 worker_left.completed=1 rebalances.group_formed=1 rebalances.worker_left=1 lost.task.reassigned=1 sync=2 start=2 join.unmeasured=2",
    );
}

/// Departure rule 3: another coordinator has another clock, which may be behind.
#[test]
fn who_is_gone_once_the_coordinator_moved() {
    after_three(
        "9.5 group 2 sessioned a off=5 epoch=1 join=9.4 | a: claim=foo,foo-0 add=foo-2 | b: claim=foo-1
         9.8 status foo-2 RUNNING a 2
         11.0 ends
         11.0 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 settled 9.4..9.8 active 0.4+ parked 0
           worker_lost c from 2
           gen 2 completed worker_lost c sync 0.1 stop - start -
           seen here of 2 start 0.3[0.1,0.32]
           left c crashed not settled with 0+1
           lost 1 open 0 reassigned=1 longest 0.1+
         counted group_formed.completed=1 worker_lost.completed=1 rebalances.group_formed=1 rebalances.worker_lost=1 lost.task.reassigned=1 sync=2 start=2 join.unmeasured=2",
    );
}

/// Departure rules 3 and 6: it left the group by itself and lived on, as one does that cannot
/// read the config topic.
#[test]
fn who_left_by_itself_may_come_back() {
    after_three(
        "9.5 group 2 sessioned a off=5 join=9.4 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         9.6 ends
         12.0 group 3 sessioned a off=5 join=11.9 delay=17000 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
         12.1 ends
         12.1 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-3 parked 9.4.. active 0.2+ parked 2.5-
           worker_unresponsive c from 2
           gen 2 completed worker_unresponsive c sync 0.1 stop - start -
           gen 3 open worker_unresponsive c sync 0.1 stop - start -
           left c unresponsive with 0+1 back in 3
           lost 1 open 0 reclaimed=1 longest 2.6+
         counted group_formed.completed=1 worker_unresponsive.completed=1 rebalances.group_formed=1 c.unresponsive=1 lost.task.reclaimed=1 sync=2 start=1 join.unmeasured=2",
    );
}

/// Departure rule 4: it was killed while it stopped.
#[test]
fn cut_short() {
    after_three(
        "20.0 status foo UNASSIGNED a 1
         31.5 group 2 sessioned b off=5 join=31.4 | b: claim=foo-1 add=foo | c: claim=foo-2 add=foo-0
         31.8 status foo RUNNING b 2
         31.9 status foo-0 RUNNING c 2
         33.0 ends
         33.0 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 settled 20..31.9 active 11.9[0.5,11.9] parked 0
           worker_lost a from 2
           gen 2 completed worker_lost a sync 0.1 stop - start -
           seen here of 2 start 0.4[0.1,0.42]
           left a cut_short with 1+1
           lost 2 open 0 reassigned=2 longest 11.5+
         counted group_formed.completed=1 worker_lost.completed=1 rebalances.group_formed=1 rebalances.worker_lost=1 a.cut_short=1 lost.connector.reassigned=1 lost.task.reassigned=1 sync=2 start=2 join.unmeasured=2",
    );
}

/// Departure rule 6, successor rule 4: frozen for longer than its session, and back with
/// its claim.
#[test]
fn frozen_and_back() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         30.1 ends
         40.0 group 3 sessioned a off=5 join=39.9 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=foo-2
         40.1 ends
         40.1 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-3 settled 29.9..40 active 0.2+ parked 9.9-
           worker_unresponsive c from 2
           gen 2 completed worker_unresponsive c sync 0.1 stop - start -
           gen 3 open worker_unresponsive c sync 0.1 stop - start -
           left c unresponsive with 0+1 back in 3
           lost 1 open 0 reclaimed=1 longest 10.1+
         counted group_formed.completed=1 worker_unresponsive.completed=1 rebalances.group_formed=1 rebalances.worker_unresponsive=1 c.unresponsive=1 lost.task.reclaimed=1 sync=3 start=1 join.unmeasured=3",
    );
}

/// Departure rule 7: a worker that had nothing to stop.
#[test]
fn an_idle_worker_leaves() {
    after_three(
        "10.0 group 2 sessioned a off=5 join=9.9 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2 | d: claim=none
         10.1 ends
         20.0 group 3 sessioned a off=5 join=19.9 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
         20.1 ends
         20.1 story
         640.0 ends
         640.1 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 settled 9.9..10 active 0.1+ parked 0
           worker_joined d from 2
           gen 2 unknown worker_joined d sync 0.1 stop - start -
         episode 3-3 settled 19.9..20 active 0.1+ parked 0
           worker_gone d from 3
           gen 3 completed worker_gone d sync 0.1 stop - start -
           left d unknown with 0+0
         counted group_formed.completed=1 worker_gone.completed=1 worker_joined.unknown=1 rebalances.group_formed=1 rebalances.worker_gone=1 rebalances.worker_joined=1 d.unknown=1 sync=3 start=1 join.unmeasured=3",
    );
}

/// Killed and back before its session ended: the same record misses the old process and has
/// the new one.
#[test]
fn killed_and_back_at_once() {
    after_three(
        "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=none
         30.1 ends
         50.3 group 3 sessioned a off=5 join=50.2 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=- add=foo-2
         50.8 status foo-2 RUNNING c 3
         51.0 ends
         51.0 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-3 settled 29.9..50.8 active 0.7+ parked 20
           worker_lost c from 2
           worker_restarted c from 2
           delay_expired - from 3
           gen 2 completed worker_lost c sync 0.1 stop - start -
           gen 3 completed delay_expired - sync 0.1 stop - start -
           seen here of 3 start 0.5[0.2,0.52]
           left c crashed with 0+1 successor c in 2
           lost 1 open 0 reclaimed=1 longest 20.4+
         counted group_formed.completed=1 worker_lost.completed=1 delay_expired.completed=1 rebalances.group_formed=1 rebalances.worker_lost=1 c.crashed=1 lost.task.reclaimed=1 sync=3 start=2 join.unmeasured=3",
    );
}

/// Nothing is said of workers that share an address.
#[test]
fn two_members_of_one_address() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0 | b: claim=none add=foo-1 url=http://a:8083/
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 RUNNING a 1
         2.0 ends
         30.0 group 2 sessioned a off=4 delay=20000 | a: claim=foo,foo-0
         31.1 ends
         31.1 story",
        "episode 1-1 settled 1..1 active 0+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-2 parked 30.. active 0+ parked 1.1
           worker_gone a from 2
           gen 2 open worker_gone a sync 0 stop - start -
           left a unknown with 0+0
         counted group_formed.completed=1 rebalances.group_formed=1 a.unknown=1 sync=1 join.unmeasured=1",
    );
}

/// Departure rule 1: all stops were written, though it was killed before it could leave.
#[test]
fn killed_when_all_was_stopped() {
    after_three(
        "20.0 status foo-2 UNASSIGNED c 1
         31.5 group 2 sessioned a off=5 join=31.4 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
         31.6 ends
         31.6 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 parked 20.. active 11.5[0.1,11.5] parked 0.1
           worker_left c from 2
           gen 2 open worker_left c sync 0.1 stop - start -
           left c graceful with 0+1
           lost 1 open 1
         counted group_formed.completed=1 rebalances.group_formed=1 c.graceful=1 sync=1 start=1 join.unmeasured=1",
    );
}
