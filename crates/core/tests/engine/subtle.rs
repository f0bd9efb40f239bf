//! What is easily mistaken for something else: past for present, a record that cannot be read
//! for none, one worker for another.

use crate::dsl::check;

/// The newest episode of the past is over before the agent comes, and closes only when a record
/// comes: that record is live, the episode is not.
#[test]
fn what_ended_before_the_agent_came_is_not_counted() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.0 group 1 sessioned a off=3 join=-99 stamped=-99 | a: claim=none add=foo,foo-0
         0.0 status foo RUNNING a 1 stamped=-98.9
         0.0 status foo-0 RUNNING a 1 stamped=-79
         0.0 live
         0.1 ends
         5.0 group 2 sessioned a off=3 | a: claim=foo,foo-0 | b: claim=none
         5.1 ends
         5.1 story",
        "episode 1-1 settled -99..-79 active 20+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-2 settled 5..5 active 0+ parked 0
           worker_joined b from 2
           gen 2 open worker_joined b sync 0 stop - start -
         counted rebalances.worker_joined=1 sync=1 join.unmeasured=1",
    );
}

/// A connector is deleted, the group is left and formed anew: the record without members names
/// no config offset, and the deletion must not fall between two records.
#[test]
fn what_was_deleted_while_nobody_was_there_is_removed() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
         1.1 status foo RUNNING a 1
         1.1 status foo-0 RUNNING a 1
         1.2 ends
         10.0 config delete foo
         10.1 status foo-0 UNASSIGNED a 1
         10.1 status foo UNASSIGNED a 1
         10.2 group 2 empty
         10.3 ends
         20.0 group 3 sessioned a#2 off=4 | a#2: claim=none
         20.1 ends
         20.1 story",
        "episode 1-1 settled 1..1.1 active 0.1+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.1[0,0.12]
         episode 2-2 group_gone 10.1..10.2 active 0.1[0,0.1] parked 0
           group_emptied - from 2
           worker_left a from 2
           gen 2 emptied group_emptied - sync - stop - start -
           left a graceful with 1+1 successor a in 3
           lost 2 open 0 removed=2 longest 9.9
         episode 3-3 settled 10.2..20 active 0+ parked 0
           group_formed - from 3
           connector_deleted foo from 3
           gen 3 open group_formed - sync 0 stop - start -
         counted group_formed.completed=1 group_emptied.emptied=1 rebalances.group_formed=2 rebalances.group_emptied=1 a.graceful=1 lost.connector.removed=1 lost.task.removed=1 sync=2 start=1 join.unmeasured=2",
    );
}

/// A leader that lags names an older offset: what lies after it was told before.
#[test]
fn a_config_offset_that_goes_back_tells_nothing_twice() {
    check(
        "0.0 config connector foo
         0.1 ends
         1.0 group 1 sessioned a off=1 | a: claim=none add=foo | b: claim=none
         1.1 status foo RUNNING a 1
         1.2 ends
         2.0 config tasks foo 1
         3.0 group 2 sessioned a off=3 | a: claim=foo add=foo-0 | b: claim=-
         3.1 status foo-0 RUNNING a 2
         3.2 ends
         20.0 group 3 sessioned b off=1 | b: claim=- | c: claim=none
         20.1 group 4 sessioned b off=3 | b: claim=- add=foo,foo-0 | c: claim=-
         20.2 status foo RUNNING b 4
         20.2 status foo-0 RUNNING b 4
         21.3 ends
         21.3 story",
        "episode 1-1 settled 1..1.1 active 0.1+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.1[0,0.12]
         episode 2-2 settled 2..3.1 active 1.1[0.1,1.1] parked 0
           tasks_changed foo from 2 Created changed
           gen 2 completed tasks_changed foo sync 0 stop - start -
           seen here of 2 start 0.1[0,0.12]
         episode 3-4 settled 20..20.2 active 0.2+ parked 0
           worker_lost a from 3
           worker_restarted c from 3
           config_advanced - from 4
           gen 3 completed worker_lost a sync 0 stop - start -
           gen 4 completed config_advanced - sync 0 stop - start -
           seen here of 4 start 0.1[0,0.12]
           left a crashed with 1+1 successor c in 3
           lost 2 open 0 reassigned=2 longest 0.1+
         counted group_formed.completed=1 worker_lost.completed=1 tasks_changed.completed=1 config_advanced.completed=1 rebalances.group_formed=1 rebalances.worker_lost=1 rebalances.tasks_changed=1 a.crashed=1 lost.connector.reassigned=1 lost.task.reassigned=1 sync=4 start=3 join.unmeasured=4",
    );
}

/// A number whose record cannot be read is not missing in the log.
#[test]
fn a_record_that_cannot_be_read_proves_no_abort() {
    check(
        "0.1 ends
         1.0 group 1 sessioned a | a: claim=none
         1.1 ends
         2.0 group unreadable
         3.0 group 3 sessioned a | a: claim=- | b: claim=none
         3.1 ends
         3.1 story",
        "episode 1-1 settled 1..1 active 0+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-3 settled 3..3 active 0+ parked 0
           worker_joined b from 3
           gen 3 open worker_joined b sync 0 stop - start - after 1 without a record
         counted group_formed.completed=1 worker_joined.unknown=1 rebalances.group_formed=1 rebalances.worker_joined=1 sync=2 join.unmeasured=2",
    );
}

/// One worker stops what was written anew before it joins, and what is revoked after it: the
/// phase is as long as the longer.
#[test]
fn the_longer_of_two_stops_is_the_workers() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.0 config connector bar
         0.0 config tasks bar 1
         0.1 ends
         1.0 group 1 sessioned a off=6 | a: claim=none add=foo,foo-0,bar,bar-0
         1.1 status foo RUNNING a 1
         1.1 status foo-0 RUNNING a 1
         1.1 status bar RUNNING a 1
         1.1 status bar-0 RUNNING a 1
         1.2 ends
         10.0 config tasks foo 1
         10.1 status foo-0 UNASSIGNED a 1
         10.2 group 2 sessioned a off=8 | a: claim=foo,foo-0,bar,bar-0 rev=bar-0 | b: claim=none
         10.4 status foo-0 RUNNING a 2
         40.0 status bar-0 UNASSIGNED a 1
         40.1 group 3 sessioned a off=8 | a: claim=foo,foo-0,bar | b: claim=- add=bar-0
         40.2 status bar-0 RUNNING b 3
         40.3 ends
         40.3 story",
        "episode 1-1 settled 1..1.1 active 0.1+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.1[0,0.12]
         episode 2-3 settled 10..40.2 active 30+ parked 0
           worker_joined b from 2
           tasks_changed foo from 2 Requested unchanged
           revocation_followup - from 3
           gen 2 completed worker_joined b sync 0 stop 29.8[29.7,29.9] start 0.2[0.1,0.3]
           gen 3 completed revocation_followup - sync 0 stop - start -
           seen here of 2 stop 29.8[29.7,29.82] start 0.2[0.1,0.22]
           seen here of 3 start 0.1[0,0.12]
         counted group_formed.completed=1 worker_joined.completed=1 revocation_followup.completed=1 rebalances.group_formed=1 rebalances.worker_joined=1 sync=3 stop=1 start=3 join.unmeasured=3",
    );
}

/// Two newcomers, of which one has the address of who left and the other stands on its host: in
/// whatever order their ids come.
#[test]
fn the_place_of_a_worker_goes_by_its_address_first() {
    check(
        "0.1 ends
         1.0 group 1 sessioned b | b: claim=none | m: claim=none host=192.0.2.1
         1.1 ends
         12.0 group 2 sessioned b | b: claim=-
         12.1 ends
         14.0 group 3 sessioned b | b: claim=- host=192.0.2.9 | a: claim=none host=192.0.2.1 | m#2: claim=none host=192.0.2.2
         14.1 ends
         14.1 story",
        "episode 1-1 settled 1..1 active 0+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-2 settled 12..12 active 0+ parked 0
           worker_gone m from 2
           gen 2 unknown worker_gone m sync 0 stop - start -
           left m unknown with 0+0 successor m in 3
         episode 3-3 settled 14..14 active 0+ parked 0
           worker_restarted m from 3
           worker_joined a from 3
           gen 3 open worker_restarted m sync 0 stop - start -
         counted group_formed.completed=1 worker_gone.unknown=1 rebalances.group_formed=1 rebalances.worker_gone=1 rebalances.worker_restarted=1 m.unknown=1 sync=3 join.unmeasured=3",
    );
}

/// Three processes advertise one address: who comes with that address takes nobody's place.
#[test]
fn who_shares_an_address_has_no_successor() {
    check(
        "0.1 ends
         1.0 group 1 sessioned a | a: claim=none | a#2: claim=none | a#3: claim=none | b: claim=none
         1.1 ends
         10.0 group 2 sessioned a | a: claim=- | a#2: claim=- | b: claim=-
         10.1 ends
         100.0 group 3 sessioned a | a: claim=- | a#2: claim=- | b: claim=- | a#4: claim=none host=192.0.2.77 | c: claim=none
         100.1 ends
         100.1 story",
        "episode 1-1 settled 1..1 active 0+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-2 settled 10..10 active 0+ parked 0
           worker_gone a from 2
           gen 2 unknown worker_gone a sync 0 stop - start -
           left a unknown with 0+0
         episode 3-3 settled 100..100 active 0+ parked 0
           worker_joined a from 3
           worker_joined c from 3
           gen 3 open worker_joined a sync 0 stop - start -
         counted group_formed.completed=1 worker_gone.unknown=1 rebalances.group_formed=1 rebalances.worker_gone=1 rebalances.worker_joined=1 a.unknown=1 sync=3 join.unmeasured=3",
    );
}

/// Without a delay nothing is scheduled: the episode stays open, and is unresolved after a minute.
#[test]
fn lost_work_that_nobody_is_told_to_take() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo | b: claim=none add=foo-0
         1.1 status foo RUNNING a 1
         1.1 status foo-0 RUNNING b 1
         1.2 ends
         20.0 group 2 sessioned a off=3 | a: claim=foo
         20.1 ends
         81.0 ends
         90.0 group 3 sessioned a off=3 | a: claim=foo add=foo-0
         90.1 status foo-0 RUNNING a 3
         90.2 ends
         90.2 story",
        "episode 1-1 settled 1..1.1 active 0.1+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.1[0,0.12]
         episode 2-2 unresolved 20..80 active 60+ parked 0
           worker_lost b from 2
           gen 2 unknown worker_lost b sync 0 stop - start -
           left b crashed not settled with 0+1
           lost 1 open 0 reassigned=1 longest 70+
         episode 3-3 settled 90..90.1 active 0.1+ parked 0 goes on
           unknown - from 3
           gen 3 completed unknown - sync 0 stop - start -
           seen here of 3 start 0.1[0,0.12]
         counted group_formed.completed=1 worker_lost.unknown=1 unknown.completed=1 rebalances.group_formed=1 rebalances.worker_lost=1 rebalances.unknown=1 lost.task.reassigned=1 sync=3 start=2 join.unmeasured=3",
    );
}
