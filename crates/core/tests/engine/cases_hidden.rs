//! Real incidents as data: groups whose records may not be read. See `cases.rs`.

use evenkeel_core::answers::{GroupState, Mode, Outcome};

use crate::cases_groups::{answers, findings};

/// The offsets topic is hidden: who is in, who leads, the protocol, who was told what and
/// why the rest has no owner come from descriptions. What only records show is absent,
/// and no count says that nothing happened.
#[test]
fn o_51_the_offsets_topic_is_hidden() {
    let hidden = "0.0 access offsets denied
         0.0 own a 192.0.2.10
         0.0 config connector foo
         0.0 config tasks foo 2
         0.1 poll stable sessioned a off=4 | a: host=192.0.2.10 claim=foo,foo-0 | c: claim=foo-1
         0.2 ends
         8.0 status foo-0 RUNNING a 41
         9.0 poll stable sessioned a off=4 delay=60000 | a: host=192.0.2.10 claim=foo,foo-0
         9.1 ends";
    let told = answers(hidden);
    assert_eq!(told.mode, Mode::NoOffsetsTopic);
    assert!(told.fresh);
    assert_eq!(told.state, Some(GroupState::Stable));
    let group = told.group.as_ref().unwrap();
    assert_eq!(group.leader.as_deref(), Some("a:8083"));
    assert_eq!(group.protocol.unwrap().label(), "sessioned");
    // At least this one: a member's status names it.
    assert_eq!(group.generation, Some(41));
    assert_eq!(told.without_owner().len(), 1);
    let lost = &told.without_owner()[0];
    assert_eq!(lost.item.task, Some(1));
    assert_eq!(lost.last_owner.as_deref(), Some("c:8083"));
    // Only records tell these.
    assert_eq!(
        (group.recorded, group.join_ended, group.record_bytes),
        (None, None, None)
    );
    let member = &group.members[0];
    assert_eq!(
        (member.session_timeout_ms, member.rebalance_timeout_ms),
        (None, None)
    );
    assert_eq!(told.whole_since, None);
    assert!(told.rounds.is_empty());
    let counters = &told.counters;
    assert!(counters.generations.is_empty() && counters.assignments.is_empty());
    assert!(counters.revocations.is_empty() && counters.assignment_errors.is_empty());
    let offsets = told.inputs.iter().find(|input| !input.needed).unwrap();
    assert!(offsets.trouble.is_some() && !offsets.caught_up);
    // The right is given, and the records tell the rest.
    let granted = answers(&format!(
        "{hidden}
         12.0 access offsets ok
         12.0 group 40 sessioned a off=4 | a: host=192.0.2.10 claim=none add=foo,foo-0 | c: claim=foo-1
         12.1 group 41 sessioned a off=4 delay=60000 | a: host=192.0.2.10 claim=foo,foo-0
         12.2 poll listed none
         12.3 ends"
    ));
    assert_eq!(granted.mode, Mode::Full);
    let group = granted.group.as_ref().unwrap();
    assert_eq!(group.generation, Some(41));
    assert!(group.recorded.is_some());
    assert_eq!(group.members[0].session_timeout_ms, Some(10_000));
    assert_eq!(granted.without_owner().len(), 1);
}

/// A change of leader that descriptions showed is not counted again when the records of
/// that time are read; another one, which no description showed, is.
#[test]
fn o_51_nothing_is_counted_twice_when_the_right_is_given() {
    let leaders = |records: &str| {
        let told = answers(&format!(
            "0.0 ends
             1.0 live
             1.0 group 7 sessioned a | a: claim=- | b: claim=-
             1.1 ends
             5.0 access offsets denied
             5.5 poll stable sessioned a | a: claim=- | b: claim=-
             6.0 poll stable sessioned b | a: claim=- | b: claim=-
             6.1 ends
             7.0 access offsets ok
             {records}
             7.1 ends
             9.0 group 11 sessioned a | a: claim=- | b: claim=-
             9.1 ends"
        ));
        assert_eq!(
            told.counters.generations_of(Outcome::Completed),
            1 + records.lines().count() as u64
        );
        told.counters.leader_changes
    };
    let once = "5.9 group 8 sessioned b | a: claim=- | b: claim=-";
    assert_eq!(leaders(once), 2);
    let thrice = "5.7 group 8 sessioned b | a: claim=- | b: claim=-
             5.8 group 9 sessioned a | a: claim=- | b: claim=-
             5.9 group 10 sessioned b | a: claim=- | b: claim=-";
    assert_eq!(leaders(thrice), 4);
}

/// The coordinator describes groups of every type; only one of Connect is taken, and a
/// group of another type is named in a finding, not taken for an empty cluster.
#[test]
fn o_52_groups_of_every_type() {
    for (group_type, foreign) in [
        ("connect", false),
        ("consumer", true),
        ("streams", true),
        ("share", true),
    ] {
        let told = answers(&format!(
            "0.0 access offsets denied
             0.0 config connector foo
             0.1 poll stable sessioned a type={group_type} off=1 | a: claim=foo
             0.2 ends"
        ));
        let found = findings(&told);
        assert_eq!(
            found.contains(&("foreign_group", "cg")),
            foreign,
            "{found:?}"
        );
        assert_eq!(told.group.is_none(), foreign, "{group_type}");
        let text = format!("a group of type {group_type} has this id");
        let said = told.findings.iter().any(|found| found.text.contains(&text));
        assert_eq!(said, foreign, "{:?}", told.findings);
    }
}
