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
         episode 2-3 settled 8.9..9.8 active 0.9+ parked 0
           worker_joined b from 2
           revocation_followup - from 3
           gen 2 completed worker_joined b sync 0.1 stop 0.2[0,0.4] start -
           gen 3 completed revocation_followup - sync 0.1 stop - start -
         counted group_formed.completed=1 worker_joined.completed=1 revocation_followup.completed=1 rebalances.group_formed=1 rebalances.worker_joined=1 sync=3 stop=1 join.unmeasured=3 start.unmeasured=2",
    );
}
