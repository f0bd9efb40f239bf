//! Episodes: what a person calls a rebalance, why it came about, and what it cost.

use crate::dsl::check;

/// A new worker takes its share in two rounds: one episode, until it says that it started.
#[test]
fn a_worker_joins() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.4 status foo-1 RUNNING a 1
         1.5 ends
         9.0 group 2 sessioned a off=4 join=8.9 | a: claim=foo,foo-0,foo-1 rev=foo-1 | b: claim=none
         9.2 status foo-1 UNASSIGNED a 1
         9.5 group 3 sessioned a off=4 join=9.4 | a: claim=foo,foo-0 | b: claim=- add=foo-1
         9.8 status foo-1 RUNNING b 3
         9.9 ends
         9.9 story",
        "episode 1-1 settled 1..1.4 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.4[0.2,0.42]
         episode 2-3 settled 8.9..9.8 active 0.9+ parked 0
           worker_joined b from 2
           revocation_followup - from 3
           gen 2 completed worker_joined b sync 0.1 stop 0.2[0,0.4] start -
           gen 3 completed revocation_followup - sync 0.1 stop - start -
           seen here of 2 stop 0.2[0,0.22]
           seen here of 3 start 0.3[0,0.32]
         counted group_formed.completed=1 worker_joined.completed=1 revocation_followup.completed=1 rebalances.group_formed=1 rebalances.worker_joined=1 sync=3 stop=1 start=2 join.unmeasured=3",
    );
}

/// A connector is created: its own start and that of its tasks are one episode.
#[test]
fn a_connector_is_created() {
    check(
        "0.1 ends
         1.0 group 1 sessioned a off=0 | a: claim=none
         1.1 ends
         10.0 config connector foo
         12.0 group 2 sessioned a off=1 join=11.9 | a: claim=- add=foo
         12.5 status foo RUNNING a 2
         12.7 ends
         13.0 config tasks foo 1
         14.0 group 3 sessioned a off=3 join=13.9 | a: claim=foo add=foo-0
         14.4 status foo-0 RUNNING a 3
         14.5 ends
         14.5 story",
        "episode 1-1 settled 1..1 active 0+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-3 settled 10..14.4 active 4.4[2.5,4.4] parked 0
           connector_created foo from 2
           tasks_changed foo from 3 Created changed
           gen 2 completed connector_created foo sync 0.1 stop - start -
           gen 3 completed tasks_changed foo sync 0.1 stop - start -
           seen here of 2 start 0.5[0,0.52]
           seen here of 3 start 0.4[0,0.42]
         counted group_formed.completed=1 connector_created.completed=1 tasks_changed.completed=1 rebalances.group_formed=1 rebalances.connector_created=1 sync=3 start=2 join.unmeasured=3",
    );
}

/// A task that never starts: the episode closes unresolved, and what moves then opens one
/// that goes on with it. What lies in between is not waited for.
#[test]
fn a_start_that_never_ends() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 1
         30.0 ends
         70.0 ends
         80.0 group 2 sessioned a off=3 | a: claim=foo,foo-0 | b: claim=none
         80.5 ends
         80.5 story",
        "episode 1-1 unresolved 1..61.2 active 60.2+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-2 settled 80..80 active 0+ parked 0 goes on
           worker_joined b from 2
           gen 2 open worker_joined b sync 0 stop - start -
         counted group_formed.completed=1 rebalances.group_formed=1 rebalances.worker_joined=1 sync=2 join.unmeasured=2 start.unmeasured=1",
    );
}

/// The group empties, and is formed again before it was deleted.
#[test]
fn emptied_and_formed_again() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.5 ends
         10.0 status foo-0 UNASSIGNED a 1
         10.1 status foo UNASSIGNED a 1
         10.3 group 2 empty
         10.5 ends
         60.0 group 3 sessioned a#2 off=3 join=59.8 | a#2: claim=none add=foo,foo-0
         60.4 status foo RUNNING a 3
         60.5 status foo-0 RUNNING a 3
         60.8 ends
         60.8 story",
        "episode 1-1 settled 1..1.2 active 0.2+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.2[0,0.22]
         episode 2-2 group_gone 10..10.3 active 0.3[0,0.3] parked 0
           group_emptied - from 2
           worker_left a from 2
           gen 2 emptied group_emptied - sync - stop - start -
           left a graceful with 1+1 successor a in 3
           lost 2 open 0 reclaimed=2 longest 50
         episode 3-3 settled 59.8..60.5 active 0.7+ parked 0
           group_formed - from 3
           gen 3 completed group_formed - sync 0.2 stop - start -
           seen here of 3 start 0.5[0.3,0.52]
         counted group_formed.completed=2 group_emptied.emptied=1 rebalances.group_formed=2 rebalances.group_emptied=1 a.graceful=1 lost.connector.reclaimed=1 lost.task.reclaimed=1 sync=2 start=2 join.unmeasured=2",
    );
}

/// A delay although nothing is lost: revoking rounds that follow each other too quickly.
#[test]
fn a_delay_with_nothing_lost() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 RUNNING a 1
         1.5 ends
         5.0 group 2 sessioned a off=4 join=4.9 | a: claim=foo,foo-0,foo-1 rev=foo-1 | b: claim=none
         5.1 status foo-1 UNASSIGNED a 1
         5.4 group 3 sessioned a off=4 join=5.3 delay=1600 | a: claim=foo,foo-0 | b: claim=- add=foo-1 | c: claim=none
         5.8 status foo-1 RUNNING b 3
         6.0 ends
         7.2 group 4 sessioned a off=4 join=7.1 | a: claim=foo,foo-0 rev=foo | b: claim=foo-1 | c: claim=-
         7.3 status foo UNASSIGNED a 3
         7.6 group 5 sessioned a off=4 join=7.5 | a: claim=foo-0 | b: claim=foo-1 | c: claim=- add=foo
         7.9 status foo RUNNING c 5
         8.0 ends
         8.0 story",
        "episode 1-1 settled 1..1.2 active 0.2+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.2[0,0.22]
         episode 2-5 settled 4.9..7.9 active 1.7+ parked 1.2
           worker_joined b from 2
           worker_joined c from 3
           delay_expired - from 4
           revocation_followup - from 3
           gen 2 completed worker_joined b sync 0.1 stop 0.1[0,0.3] start -
           gen 3 completed worker_joined c sync 0.1 stop - start -
           gen 4 completed delay_expired - sync 0.1 stop 0.1[0,0.3] start -
           gen 5 completed revocation_followup - sync 0.1 stop - start -
           seen here of 2 stop 0.1[0,0.12]
           seen here of 3 start 0.4[0,0.42]
           seen here of 4 stop 0.1[0,0.12]
           seen here of 5 start 0.3[0,0.32]
         counted group_formed.completed=1 worker_joined.completed=2 delay_expired.completed=1 revocation_followup.completed=1 rebalances.group_formed=1 rebalances.worker_joined=1 sync=5 stop=2 start=3 join.unmeasured=5",
    );
}

/// What polls saw of a join phase bounds it, and the active time.
#[test]
fn a_join_phase_that_polls_saw() {
    check(
        "0.1 ends
         0.9 poll listed none
         1.0 group 1 sessioned a off=0 | a: claim=none
         1.1 ends
         9.0 poll listed none
         9.5 poll listed preparing
         12.0 group 2 sessioned a off=0 join=11.9 | a: claim=- | b: claim=none
         12.1 ends
         12.1 story",
        "episode 1-1 settled 1..1 active 0+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-2 settled 11.9..12 active 0.1+ parked 0
           worker_joined b from 2
           gen 2 open worker_joined b sync 0.1 stop - start -
           seen here of 2 join 2.645[2.38,2.91]
         counted group_formed.completed=1 rebalances.group_formed=1 rebalances.worker_joined=1 join=1 sync=2 join.unmeasured=1",
    );
}

/// What was asked before a record and answered after it may tell of its own join phase: it
/// bounds not that of the next.
#[test]
fn a_join_phase_that_the_next_follows_at_once() {
    check(
        "0.1 ends
         0.9 poll listed none
         1.0 group 1 sessioned a off=0 | a: claim=none
         1.1 ends
         9.0 poll listed none
         9.5 group 2 sessioned a off=0 join=9.4 | a: claim=- | b: claim=none
         9.505 poll listed preparing
         9.9 group 3 sessioned a off=0 join=9.8 | a: claim=- | b: claim=- | c: claim=none
         10.0 ends
         10.0 story",
        "episode 1-1 settled 1..1 active 0+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-2 settled 9.4..9.5 active 0.1+ parked 0
           worker_joined b from 2
           gen 2 completed worker_joined b sync 0.1 stop - start -
         episode 3-3 settled 9.8..9.9 active 0.1+ parked 0
           worker_joined c from 3
           gen 3 open worker_joined c sync 0.1 stop - start -
         counted group_formed.completed=1 worker_joined.completed=1 rebalances.group_formed=1 rebalances.worker_joined=2 sync=3 join.unmeasured=3",
    );
}

/// The group is deleted and formed anew: its numbers start over, lost work and departed
/// workers live on, and statuses of the life before prove nothing.
#[test]
fn formed_anew_after_it_was_deleted() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 RUNNING a 1
         1.5 ends
         10.0 group 2 sessioned a off=4 | a: claim=foo,foo-0,foo-1 rev=foo-1 | b: claim=none
         10.1 status foo-1 UNASSIGNED a 1
         10.3 group 3 sessioned a off=4 | a: claim=foo,foo-0 | b: claim=- add=foo-1
         10.5 status foo-1 RUNNING b 3
         10.6 ends
         30.0 group 4 empty
         700.0 group gone
         700.1 ends
         760.0 group 1 sessioned a#2 off=4 join=759.8 | a#2: claim=none add=foo,foo-0,foo-1
         760.4 status foo RUNNING a 1
         760.5 status foo-0 RUNNING a 1
         762.0 status foo-1 RUNNING a 1
         763.0 ends
         763.0 story",
        "episode 1-1 settled 1..1.2 active 0.2+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.2[0,0.22]
         episode 2-3 settled 10..10.5 active 0.5+ parked 0
           worker_joined b from 2
           revocation_followup - from 3
           gen 2 completed worker_joined b sync 0 stop 0.1[0,0.3] start -
           gen 3 completed revocation_followup - sync 0 stop - start -
           seen here of 2 stop 0.1[0,0.12]
           seen here of 3 start 0.2[0,0.22]
         episode 4-4 group_gone 30..30 active 0+ parked 0
           group_emptied - from 4
           worker_lost a from 4
           worker_lost b from 4
           gen 4 emptied group_emptied - sync - stop - start -
           left a crashed with 1+1 successor a in 1
           left b crashed with 0+1
           lost 3 open 0 reclaimed=2 reassigned=1 longest 730+
         episode 1-1 settled 759.8..762 active 2.2+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.2 stop - start 2[1.8,2.2]
           seen here of 1 start 2[1.8,2.02]
         counted group_formed.completed=2 group_emptied.emptied=1 worker_joined.completed=1 revocation_followup.completed=1 rebalances.group_formed=2 rebalances.group_emptied=1 rebalances.worker_joined=1 a.crashed=1 b.crashed=1 lost.connector.reclaimed=1 lost.task.reclaimed=1 lost.task.reassigned=1 sync=4 stop=1 start=3 join.unmeasured=4",
    );
}
