//! Departures of which two things may be true.

use crate::departures::after_three;
use crate::dsl::check;

/// Departure rule 7: with 7.5 s its session may have ended, or it waited for the rest.
#[test]
fn cut_short_or_left() {
    after_three(
        "20.0 status foo UNASSIGNED a 1
         27.5 group 2 sessioned b off=5 join=27.4 | b: claim=foo-1 add=foo | c: claim=foo-2 add=foo-0
         27.8 status foo RUNNING b 2
         27.9 status foo-0 RUNNING c 2
         29.0 ends
         29.0 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 settled 20..27.9 active 7.9[0.5,7.9] parked 0
           worker_gone a from 2
           gen 2 completed worker_gone a sync 0.1 stop - start -
           seen here of 2 start 0.4[0.1,0.42]
           left a unknown not settled with 1+1
           lost 2 open 0 reassigned=2 longest 7.5+
         counted group_formed.completed=1 worker_gone.completed=1 rebalances.group_formed=1 rebalances.worker_gone=1 lost.connector.reassigned=1 lost.task.reassigned=1 sync=2 start=2 join.unmeasured=2",
    );
}

/// Whichever it was, it stopped its work first: two that are replaced are a rollout.
#[test]
fn a_rollout_of_workers_with_a_deaf_task() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 6
         0.1 ends
         1.0 group 1 sessioned a off=8 join=0.9 | a: claim=none add=foo,foo-0,foo-1 | b: claim=none add=foo-2,foo-3 | c: claim=none add=foo-4,foo-5
         1.2 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.2 status foo-1 RUNNING a 1
         1.2 status foo-2 RUNNING b 1
         1.2 status foo-3 RUNNING b 1
         1.2 status foo-4 RUNNING c 1
         1.2 status foo-5 RUNNING c 1
         2.0 ends
         60.0 status foo-2 UNASSIGNED b 1
         67.5 group 2 sessioned a off=8 join=67.4 delay=300000 | a: claim=foo,foo-0,foo-1 | c: claim=foo-4,foo-5
         67.6 ends
         69.0 ends
         90.0 group 3 sessioned a off=8 join=89.9 delay=277000 | a: claim=foo,foo-0,foo-1 | b#2: claim=none | c: claim=foo-4,foo-5
         91.0 ends
         120.0 status foo-4 UNASSIGNED c 1
         127.5 group 4 sessioned a off=8 join=127.4 delay=240000 | a: claim=foo,foo-0,foo-1 | b#2: claim=-
         127.6 ends
         129.0 ends
         150.0 group 5 sessioned a off=8 join=149.9 delay=217000 | a: claim=foo,foo-0,foo-1 | b#2: claim=- | c#2: claim=none
         151.0 ends
         152.0 ends
         152.0 pattern",
        "incarnation 1 from generation 1
         gen 1 completed by rule 4
         gen 2 completed by rule 3
         gen 3 completed by rule 3
         gen 4 completed by rule 3
         pattern rollout b:8083 c:8083
           2 workers stopped and were replaced in the last 30 minutes: b:8083, c:8083
           storm generations 4/21
           rollout workers 2/2",
    );
}

/// A clock that was set back shows no departure as sooner than any session.
#[test]
fn a_clock_that_was_set_back() {
    after_three(
        "50.0 group 2 sessioned b off=5 stamped=0.6 join=0.5 | b: claim=foo-1 add=foo | c: claim=foo-2 add=foo-0
         50.8 status foo RUNNING b 2
         50.9 status foo-0 RUNNING c 2
         53.0 ends
         53.0 story",
        "episode 1-1 settled 0.9..1.3 active 0.4+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0.1 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 settled 0.5..50.9 active 50.4+ parked 0
           worker_gone a from 2
           gen 2 completed worker_gone a sync 0.1 stop - start -
           seen here of 2 start 50.3[50,50.32]
           left a unknown not settled with 0+0
         counted group_formed.completed=1 worker_gone.completed=1 rebalances.group_formed=1 rebalances.worker_gone=1 sync=2 start=2 join.unmeasured=2",
    );
}
