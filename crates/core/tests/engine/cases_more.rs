//! Real incidents as data, from O-28 on; see `cases.rs`.

use std::fmt::Write as _;

use evenkeel_core::engine::Engine;

use crate::dsl::{Step, check, inputs, run};

/// Exactly-once: markers take offsets, so the offset that workers report is the last
/// data record's plus one, not the log's end.
#[test]
fn o_28_markers_take_offsets() {
    let text = run("0.0 config connector c
         0.0 skip 1
         0.1 config task c-0
         0.1 skip 1
         0.2 config commit c 1
         0.2 skip 1
         0.3 ends
         1.0 group 3 sessioned a off=5 | a: claim=c,c-0
         1.1 ends
         1.1 show");
    assert!(!text.contains("finding"), "{text}");
    assert!(!text.contains("unassigned"), "{text}");
}

/// STOPPED takes the tasks away on purpose; the connector stays.
#[test]
fn o_29_stopped_connector() {
    check(
        "0.0 config connector c
         0.0 config tasks c 3
         0.1 ends
         1.0 group 14 sessioned a off=5 | a: claim=c,c-0,c-1,c-2
         2.0 config commit c 0
         2.0 config target c STOPPED
         2.2 group 15 sessioned a off=7 | a: claim=c,c-0,c-1,c-2 rev=c-0,c-1,c-2
         2.3 ends
         2.3 show
         5.0 config target c STARTED
         5.1 config tasks c 3
         5.2 ends
         5.2 show",
        "incarnation 1 from generation 14
         gen 14 completed by rule 3
         stable 15 sessioned led by a
         a owns c
         counted completed=1
         stable 15 sessioned led by a
         a owns c
         unassigned c-0 new since 5.1 of -
         unassigned c-1 new since 5.1 of -
         unassigned c-2 new since 5.1 of -
         counted completed=1",
    );
}

/// Several live members with one nonsense worker id: told apart by nothing but their
/// member ids, which are no label; ownership still adds up.
#[test]
fn o_46_one_worker_id_for_all() {
    let url = "url=http://null:-1/";
    let text = run(&format!(
        "0.0 config connector c
         0.0 config tasks c 4
         0.1 status c-0 RUNNING null 3
         0.2 ends
         1.0 group 3 sessioned a off=6 | a: {url} claim=c,c-0 | b: {url} claim=c-1,c-2 | d: {url} claim=c-3
         1.1 ends
         1.1 show"
    ));
    assert!(text.contains("finding shared_worker null:-1"), "{text}");
    assert!(text.contains("finding url_invalid null:-1"), "{text}");
    assert!(text.contains("null:-1@192.0.2.1 owns c-1,c-2"), "{text}");
    assert!(!text.contains("unassigned"), "{text}");
}

/// Worker ids are opaque: IPv6, two addresses in one text, no URL at all.
#[test]
fn o_47_worker_ids_are_opaque() {
    let text = run("0.0 ends
         1.0 group 3 sessioned a | a: url=http://[2001:db8::5]:8083/ claim=- | b: url=http://2001:db8::6:8083/ claim=- | c: url=NOTUSED claim=-
         1.1 ends
         1.1 show");
    assert!(text.contains("[2001:db8::5] owns"), "{text}");
    assert!(
        text.contains("finding url_invalid 2001:db8::6:8083"),
        "{text}"
    );
    assert!(text.contains("finding url_invalid NOTUSED"), "{text}");
    assert!(!text.contains("url_invalid [2001"), "{text}");
}

/// The group expires and starts again at generation 1: a new incarnation, counters keep
/// their values, generation 1 is newer than 57.
#[test]
fn o_50_group_expires() {
    check(
        "0.0 ends
         1.0 group 57 empty
         600.0 group gone
         605.0 ends
         700.0 group 1 sessioned a | a: claim=none add=foo | b: claim=none
         701.0 status foo RUNNING a 1
         702.0 ends
         780.0 ends
         781.0 show",
        "incarnation 1 from generation 57
         gen 57 emptied by rule 1
         deleted
         incarnation 2 from generation 1
         gen 1 completed by rule 4
         stable 1 sessioned led by a
         a owns foo
         b owns
         counted completed=1 emptied=1 assigned.connector=1",
    );
}

/// Thousands of tasks in every member's entry: 20 members, 4,200 tasks with long names.
#[test]
fn o_53_very_large_record() {
    let items = |member: usize| {
        let name = "n".repeat(38);
        (0..210)
            .map(|task| format!("{name}{:02}-{task}", member))
            .collect::<Vec<_>>()
            .join(",")
    };
    let mut line = String::from("1.0 group 4 sessioned m0 off=0");
    for member in 0..20 {
        write!(line, " | m{member}: claim={}", items(member)).unwrap();
    }
    let mut engine = Engine::new();
    for step in inputs(&format!("0.0 ends\n{line}")) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    let group = engine.answers().group.unwrap();
    assert_eq!(
        group
            .members
            .iter()
            .map(|member| member.owned.len())
            .sum::<usize>(),
        4200
    );
}

/// Create and delete: nothing of a deleted connector is left.
#[test]
fn o_58_deleted_connectors_leave_nothing() {
    let mut scenario = String::new();
    for number in 0..20 {
        writeln!(
            scenario,
            "0.0 config connector c{number}\n0.0 config tasks c{number} 1"
        )
        .unwrap();
    }
    for number in 0..20 {
        writeln!(scenario, "1.0 config delete c{number}").unwrap();
    }
    scenario.push_str("1.1 ends\n");
    let mut engine = Engine::new();
    for step in inputs(&scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    let answers = engine.answers();
    assert!(answers.configured.as_ref().unwrap().connectors.is_empty());
    assert!(answers.without_owner().is_empty());
}

/// Members without assignment bytes, with null lists and with a claim that is no claim.
#[test]
fn o_49_short_and_empty_member_bytes() {
    let text = run("0.0 ends
         1.0 group 3 sessioned a | a: claim=foo | b: claim=none
         1.1 ends
         1.1 show");
    assert!(text.contains("b owns"), "{text}");
}

/// `foo-1` is a task of `foo`, and a connector with a task `foo-1-0`: both connectors have
/// no owner here, all their tasks have one.
#[test]
fn o_10_names_that_end_in_a_number() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.0 config connector foo-1
         0.0 config tasks foo-1 1
         0.1 status foo-1 RUNNING a 3
         0.1 status foo-1-0 RUNNING a 3
         0.2 ends
         1.0 group 3 sessioned a off=7 | a: claim=foo-0,foo-1,foo-1-0
         1.1 ends
         1.1 show",
        "incarnation 1 from generation 3
         gen 3 completed by rule 4
         stable 3 sessioned led by a
         a owns foo-0,foo-1,foo-1-0
         unassigned foo new since 0 of -
         unassigned foo-1 new since 0 of -
         counted completed=1",
    );
}

/// A slash in a name is a letter like any other.
#[test]
fn o_60_slash_in_a_name() {
    check(
        "0.0 config connector team/a
         0.0 config tasks team/a 1
         0.2 ends
         1.0 group 3 sessioned a off=3 | a: claim=team/a
         1.1 ends
         1.1 show",
        "incarnation 1 from generation 3
         stable 3 sessioned led by a
         a owns team/a
         unassigned team/a-0 new since 0 of -
         counted",
    );
}
