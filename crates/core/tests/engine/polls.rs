//! What the coordinator's answers add, and how they stand in for records that may not be
//! read.

use crate::dsl::check;

/// Polls show what no record does: that members are joining now. They decide nothing else.
#[test]
fn the_state_at_this_moment() {
    check(
        "0.0 config connector foo
         0.1 ends
         1.0 group 7 sessioned a off=1 | a: claim=foo | b: claim=-
         1.1 ends
         1.2 mode
         1.3 poll listed none
         1.3 mode
         2.0 poll listed preparing
         2.0 mode
         2.1 poll preparing
         2.5 poll listed completing
         2.5 mode
         3.0 poll listed none
         3.0 mode
         3.0 show
         40.0 ends
         40.0 mode",
        "incarnation 1 from generation 7
         mode no_polls fresh state stable
         mode full fresh state stable
         mode full fresh state preparing_rebalance
         mode full fresh state completing_rebalance
         mode full fresh state stable
         stable 7 sessioned led by a
         a owns foo
         b owns
         counted
         mode no_polls fresh state stable",
    );
}

/// A hidden offsets topic: members, leader, protocol, ownership and reasons come from
/// descriptions, generations from statuses, counts from nowhere.
#[test]
fn descriptions_stand_in_for_hidden_records() {
    check(
        "0.0 access offsets denied
         0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         0.1 mode
         0.2 poll stable sessioned a off=4 | a: claim=foo,foo-0 | c: claim=foo-1
         0.3 mode
         0.3 show
         1.0 status foo-0 RUNNING a 41
         1.0 status foo-1 RUNNING c 40
         1.1 ends
         1.1 show
         20.0 poll listed preparing
         20.1 mode
         20.5 poll stable sessioned a off=4 delay=300000 | a: claim=foo,foo-0
         20.6 ends
         20.6 show
         60.0 poll stable sessioned a off=4 delay=260000 | a: claim=foo,foo-0 | c#2: claim=none
         60.1 ends
         60.1 show
         320.0 poll stable sessioned a off=4 | a: claim=foo,foo-0 | c#2: claim=- add=foo-1
         320.1 ends
         320.1 show",
        "mode topics_only fresh state unknown owners unknown
         mode no_offsets_topic fresh state stable
         stable ? sessioned led by a
         a owns foo,foo-0
         c owns foo-1
         counted
         stable 41 sessioned led by a
         a owns foo,foo-0
         c owns foo-1
         counted
         mode no_offsets_topic fresh state preparing_rebalance
         stable 41 sessioned led by a
         a owns foo,foo-0
         unassigned foo-1 lost since 20.5 of c
         deadline 320.5 lost
         counted
         stable 41 sessioned led by a
         a owns foo,foo-0
         c owns
         unassigned foo-1 lost since 20.5 of c
         deadline 320 lost
         counted
         stable 41 sessioned led by a
         a owns foo,foo-0
         c owns foo-1
         counted",
    );
}

/// A right that is taken and given again while the agent runs: descriptions go on from
/// the last record, the records go on from where they were, and nothing is counted twice.
#[test]
fn a_right_comes_and_goes() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 live
         1.0 group 7 sessioned a off=4 | a: claim=foo,foo-0 | c: claim=foo-1
         1.1 poll listed none
         1.1 ends
         1.2 mode
         5.0 access offsets denied
         5.0 mode
         6.0 poll stable sessioned a off=4 delay=300000 | a: claim=foo,foo-0
         6.1 ends
         6.1 show
         7.0 access offsets ok
         7.0 mode
         5.9 group 8 sessioned a off=4 delay=300000 | a: claim=foo,foo-0
         7.1 ends
         7.2 mode
         7.2 show",
        "incarnation 1 from generation 7
         mode full fresh state stable
         mode no_offsets_topic fresh state stable
         stable ? sessioned led by a
         a owns foo,foo-0
         unassigned foo-1 lost since 6 of c
         counted 
         mode no_offsets_topic fresh state stable
         gen 7 completed by rule 3
         mode full fresh state stable
         stable 8 sessioned led by a
         a owns foo,foo-0
         unassigned foo-1 lost since 5.9 of c
         deadline 305.9 lost
         counted completed=1",
    );
}

/// Nothing but the config topic: what is configured is known, who owns it is not.
#[test]
fn topics_only() {
    check(
        "0.0 access offsets denied
         0.0 poll failed denied
         0.0 config connector foo
         0.1 ends
         0.2 mode
         9.0 access config unreachable
         9.0 access status unreachable
         40.0 mode",
        "mode topics_only fresh state unknown owners unknown
         mode blind stale state unknown owners unknown",
    );
}

/// The own worker is the member from one of our addresses; of several such, or of none,
/// the one that is named.
#[test]
fn the_own_worker_and_its_part() {
    let record = "1.0 group 7 sessioned b off=1 | a: claim=- | b: claim=foo | c: claim=-
                  1.1 ends";
    for (own, expected) in [
        ("own a 192.0.2.1", " beside a Member"),
        ("own b 192.0.2.9", " beside b Leader"),
        ("own c", " beside c Deputy"),
        ("own d 192.0.2.1", ""),
    ] {
        check(
            &format!(
                "0.0 {own}
                 0.0 config connector foo
                 0.1 ends
                 {record}
                 1.2 poll listed none
                 1.2 mode"
            ),
            &format!("incarnation 1 from generation 7\nmode full fresh state stable{expected}"),
        );
    }
}

/// Started while members join: who is in the group is told by no description yet. Not
/// known is not zero, and not dead.
#[test]
fn joining_members_are_not_known_before_the_group_is_at_rest() {
    check(
        "0.0 access offsets denied
         0.0 config connector foo
         0.1 ends
         0.2 poll preparing
         0.2 mode
         0.3 show
         0.5 poll listed none
         0.5 mode
         0.6 poll stable sessioned a off=1 | a: claim=foo
         0.6 mode",
        "mode no_offsets_topic fresh state preparing_rebalance owners unknown
         no group
         counted
         mode no_offsets_topic fresh state unknown owners unknown
         mode no_offsets_topic fresh state stable",
    );
}

/// A list says nothing of members: what was described long ago is not current by it.
#[test]
fn a_list_keeps_no_description_fresh() {
    check(
        "0.0 access offsets denied
         0.0 config connector foo
         0.1 ends
         0.2 poll stable sessioned a off=1 | a: claim=foo
         0.2 mode
         29.0 ends
         29.0 poll listed none
         29.0 mode
         31.0 poll listed none
         31.0 mode
         32.0 poll stable sessioned a off=1 | a: claim=foo
         32.0 mode",
        "mode no_offsets_topic fresh state stable
         mode no_offsets_topic fresh state stable
         mode topics_only fresh state unknown owners unknown
         mode no_offsets_topic fresh state stable",
    );
}

/// The first description after a record shows the same round: its delay runs on, and
/// nothing has happened.
#[test]
fn a_description_of_the_same_round_is_no_news() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 7 sessioned a off=4 | a: claim=foo,foo-0 | c: claim=foo-1
         2.0 group 8 sessioned a off=4 delay=300000 | a: claim=foo,foo-0
         2.1 ends
         5.0 access offsets denied
         6.0 poll stable sessioned a off=4 delay=300000 | a: claim=foo,foo-0
         6.1 ends
         6.1 show",
        "incarnation 1 from generation 7
         gen 7 completed by rule 3
         stable ? sessioned led by a
         a owns foo,foo-0
         unassigned foo-1 lost since 2 of c
         deadline 302 lost
         counted completed=1",
    );
}

/// A leader that changes while the records are hidden is counted when it is described, and
/// not again when its record is read.
#[test]
fn a_leader_that_changed_unseen_is_counted_once() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 live
         1.0 group 7 sessioned a off=3 | a: claim=foo | c: claim=foo-0
         1.1 poll listed none
         1.1 ends
         5.0 access offsets denied
         6.0 poll stable sessioned a off=3 | a: claim=foo | c: claim=foo-0
         6.5 poll stable sessioned c off=3 | c: claim=foo-0
         6.6 ends
         6.6 show
         7.0 access offsets ok
         6.4 group 8 sessioned c off=3 | c: claim=foo-0
         7.1 ends
         7.2 show",
        "incarnation 1 from generation 7
         stable ? sessioned led by c
         c owns foo-0
         unassigned foo lost since 6.5 of a
         counted leaders=1
         gen 7 completed by rule 3
         stable 8 sessioned led by c
         c owns foo-0
         unassigned foo lost since 6.4 of a
         counted completed=1 leaders=1",
    );
}
