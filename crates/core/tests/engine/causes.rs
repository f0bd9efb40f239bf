//! Why rounds come about, one cause after the other.

use crate::dsl::check;

/// Tasks are written anew: by a person, by the connector itself (the same configuration again
/// is no reason), with the same and with another number.
#[test]
fn tasks_change() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.3 status foo-1 RUNNING a 1
         1.5 ends
         10.0 config connector foo content=1
         10.1 config tasks foo 2
         10.3 status foo-0 UNASSIGNED a 1
         10.4 status foo-1 UNASSIGNED a 1
         12.0 group 2 sessioned a off=8 join=11.9 | a: claim=foo,foo-0,foo-1
         12.5 status foo-0 RUNNING a 2
         12.6 status foo-1 RUNNING a 2
         12.7 ends
         20.0 config connector foo content=1
         20.1 config tasks foo 1
         20.3 status foo-0 UNASSIGNED a 2
         20.4 status foo-1 UNASSIGNED a 2
         22.0 group 3 sessioned a off=11 join=21.9 | a: claim=foo,foo-0,foo-1 rev=foo-1
         22.5 status foo-0 RUNNING a 3
         22.8 group 4 sessioned a off=11 join=22.7 | a: claim=foo,foo-0
         23.0 ends
         30.0 config commit foo 0
         30.0 config target foo STOPPED
         31.0 group 5 sessioned a off=12 join=30.9 | a: claim=foo,foo-0 rev=foo-0
         31.3 status foo-0 UNASSIGNED a 4
         31.8 group 6 sessioned a off=13 join=31.7 | a: claim=foo
         32.0 ends
         32.0 story",
        "episode 1-1 settled 1..1.3 active 0.3+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.3[0.1,0.32]
         episode 2-2 settled 10.1..12.6 active 2.5[0.7,2.5] parked 0
           tasks_changed foo from 2 Reconfigured unchanged
           gen 2 completed tasks_changed foo sync 0.1 stop - start -
           seen here of 2 stop 0.3[0.1,0.32] start 0.6[0.4,0.62]
         episode 3-4 settled 20.1..22.8 active 2.7[0.9,2.7] parked 0
           tasks_changed foo from 3 Requested changed
           revocation_followup - from 4
           gen 3 completed tasks_changed foo sync 0.1 stop 0.3[0.1,2.6] start 0.5[0.3,2.8]
           gen 4 unknown revocation_followup - sync 0.1 stop - start -
           seen here of 3 stop 0.3[0.1,0.32] start 0.5[0.3,0.52]
         episode 5-6 settled 30..31.8 active 1.8[0.9,1.8] parked 0
           tasks_changed foo from 5 Stopped changed
           revocation_followup - from 6
           gen 5 completed tasks_changed foo sync 0.1 stop 0.3[0.1,0.7] start -
           gen 6 open revocation_followup - sync 0.1 stop - start -
           seen here of 5 stop 0.3[0.1,0.32]
         counted group_formed.completed=1 tasks_changed.completed=3 revocation_followup.unknown=1 rebalances.group_formed=1 rebalances.tasks_changed=3 sync=6 stop=3 start=3 join.unmeasured=6",
    );
}

/// A connector is deleted: the round that revokes it, and the one that follows.
#[test]
fn a_connector_is_deleted() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING a 1
         1.5 ends
         10.0 config delete foo
         12.0 group 2 sessioned a off=4 join=11.9 | a: claim=foo,foo-0 rev=foo,foo-0
         12.1 status foo UNASSIGNED a 1
         12.1 status foo-0 UNASSIGNED a 1
         12.8 group 3 sessioned a off=4 join=12.7 | a: claim=-
         13.0 ends
         13.0 story",
        "episode 1-1 settled 1..1.3 active 0.3+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.3[0.1,0.32]
         episode 2-3 settled 10..12.8 active 2.8[0.9,2.8] parked 0
           connector_deleted foo from 2
           revocation_followup - from 3
           gen 2 completed connector_deleted foo sync 0.1 stop 0.1[0,0.7] start -
           gen 3 open revocation_followup - sync 0.1 stop - start -
           seen here of 2 stop 0.1[0,0.12]
         counted group_formed.completed=1 connector_deleted.completed=1 rebalances.group_formed=1 rebalances.connector_deleted=1 sync=3 stop=1 start=1 join.unmeasured=3",
    );
}

/// The coordinator is lost: all come back under their ids without a claim.
#[test]
fn the_coordinator_is_lost() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo | b: claim=none add=foo-0
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING b 1
         1.5 ends
         20.0 group 2 sessioned a off=3 join=19.9 | a: claim=none add=foo | b: claim=none add=foo-0
         20.2 status foo RUNNING a 2
         20.3 status foo-0 RUNNING b 2
         20.5 ends
         20.5 story",
        "episode 1-1 settled 1..1.3 active 0.3+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 settled 19.9..20.3 active 0.4+ parked 0
           coordinator_lost - from 2
           gen 2 completed coordinator_lost - sync 0.1 stop - start -
           seen here of 2 start 0.3[0,0.32]
           lost 2 open 0 reclaimed=2 longest 0.1+
         counted group_formed.completed=1 coordinator_lost.completed=1 rebalances.group_formed=1 rebalances.coordinator_lost=1 lost.connector.reclaimed=1 lost.task.reclaimed=1 sync=2 start=2 join.unmeasured=2",
    );
}

/// A mismatch, its repetition, and the round that ends it.
#[test]
fn a_mismatch() {
    check(
        "0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none | b: claim=none
         1.1 ends
         5.0 group 2 sessioned a off=4 err=1 | a: claim=- | b: claim=-
         5.1 group 3 sessioned a off=4 err=1 | a: claim=- | b: claim=-
         5.2 group 4 sessioned a off=4 | a: claim=- | b: claim=-
         5.5 ends
         5.5 story",
        "episode 1-1 settled 1..1 active 0+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-4 settled 5..5.2 active 0.2+ parked 0
           config_mismatch - from 3
           config_advanced - from 2
           gen 2 mismatch config_advanced - sync 0 stop - start -
           gen 3 mismatch config_mismatch - sync 0 stop - start -
           gen 4 open config_mismatch - sync 0 stop - start -
         counted group_formed.completed=1 config_mismatch.mismatch=1 config_advanced.mismatch=1 rebalances.group_formed=1 rebalances.config_mismatch=1 sync=4 join.unmeasured=4",
    );
}

/// An eager worker drags the protocol down, and up again when it leaves. Eager members stop
/// all they have before they join.
#[test]
fn the_protocol_falls_and_rises() {
    check(
        "0.0 config connector foo
         0.1 ends
         1.0 group 1 sessioned a off=1 | a: claim=none add=foo
         1.2 status foo RUNNING a 1
         1.5 ends
         10.0 group 2 default a off=1 join=9.9 | a: add=foo | b: add=
         10.4 status foo RUNNING a 2
         10.5 ends
         20.0 status foo UNASSIGNED a 2
         20.5 group 3 sessioned a off=1 join=20.4 | a: claim=foo
         20.9 status foo RUNNING a 3
         21.0 ends
         21.0 story",
        "episode 1-1 settled 1..1.2 active 0.2+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.2[0,0.22]
         episode 2-2 settled 9.9..10.4 active 0.5+ parked 0
           protocol_changed b from 2
           worker_joined b from 2
           gen 2 completed protocol_changed b sync 0.1 stop - start -
           seen here of 2 start 0.4[0.2,0.42]
         episode 3-3 settled 20..20.5 active 0.1+ parked 0
           protocol_changed b from 3
           worker_gone b from 3
           gen 3 completed protocol_changed b sync 0.1 stop - start -
           seen here of 3 stop 0[0,0.02]
           left b unknown not settled with 0+0
         counted group_formed.completed=1 protocol_changed.completed=2 rebalances.group_formed=1 rebalances.protocol_changed=2 sync=3 stop=1 start=2 join.unmeasured=3",
    );
}

/// Nothing but a grown config offset, at once; nothing but another leader epoch; nothing.
#[test]
fn small_causes() {
    check(
        "0.0 config key
         0.1 ends
         1.0 group 1 sessioned a off=1 | a: claim=none | b: claim=none
         1.1 ends
         2.0 config key
         3.0 group 2 sessioned a off=2 | a: claim=- | b: claim=-
         3.1 ends
         100.0 config key
         300.0 group 3 sessioned a off=3 epoch=1 | a: claim=- | b: claim=-
         300.1 ends
         400.0 group 6 sessioned a off=3 epoch=1 | a: claim=- | b: claim=-
         400.1 ends
         400.1 story",
        "episode 1-1 settled 1..1 active 0+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
         episode 2-2 settled 3..3 active 0+ parked 0
           config_advanced - from 2
           gen 2 completed config_advanced - sync 0 stop - start -
         episode 3-3 settled 300..300 active 0+ parked 0
           coordinator_moved - from 3
           gen 3 completed coordinator_moved - sync 0 stop - start -
         episode 4-6 settled 400..400 active 0+ parked 0
           unknown - from 6
           gen 6 open unknown - sync 0 stop - start - after 2 without a record
         counted group_formed.completed=1 config_advanced.completed=1 coordinator_moved.completed=1 unknown.unknown=2 rebalances.group_formed=1 rebalances.config_advanced=1 rebalances.coordinator_moved=1 rebalances.unknown=1 sync=4 join.unmeasured=4",
    );
}

/// A member that was behind the config offset joins again when it has read on.
#[test]
fn a_member_that_was_behind() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=none add=foo | b: claim=none off=1 add=foo-0
         1.2 status foo RUNNING a 1
         1.3 status foo-0 RUNNING b 1
         1.5 ends
         2.0 group 2 sessioned a off=3 | a: claim=foo | b: claim=foo-0
         2.5 ends
         2.5 story",
        "episode 1-1 settled 1..1.3 active 0.3+ parked 0
           group_formed - from 1
           gen 1 completed group_formed - sync 0 stop - start -
           seen here of 1 start 0.3[0,0.32]
         episode 2-2 settled 2..2 active 0+ parked 0
           config_advanced b from 2
           gen 2 open config_advanced b sync 0 stop - start -
         counted group_formed.completed=1 rebalances.group_formed=1 rebalances.config_advanced=1 sync=2 start=1 join.unmeasured=2",
    );
}
