//! Moves and their needs, of generations by hand.

use super::*;
use crate::truth::costs::Need;

/// A member: its id, what it owns, and what it is to stop.
type Member<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);

fn work(tasks: &[&str]) -> Work {
    Work {
        tasks: tasks.iter().map(|task| (*task).to_owned()).collect(),
        ..Work::default()
    }
}

/// The id `w1.2` is the second process of `w1`. The time is in seconds.
fn generation(at_s: i64, members: &[Member<'_>]) -> TruthGeneration {
    let member = |(id, owned, revoked): &Member<'_>| TruthMember {
        member_id: (*id).to_owned(),
        worker: id.split('.').next().map(str::to_owned),
        owned: Some(work(owned)),
        revoked: Some(work(revoked)),
        applied_ms: Some(at_s * 1_000),
        ..TruthMember::default()
    };
    TruthGeneration {
        incarnation: 0,
        generation: at_s,
        prepared_ms: None,
        reason: None,
        departures: Vec::new(),
        join_end_ms: at_s * 1_000,
        member_count: members.len(),
        assignment_ms: None,
        leader: None,
        leader_url: None,
        protocol: None,
        members: members.iter().map(member).collect(),
        leader_view: None,
    }
}

#[track_caller]
fn check(
    generations: &[TruthGeneration],
    end_s: i64,
    expected: &[(i64, &str, &str, Option<Need>)],
) {
    let told = moves(generations, end_s * 1_000);
    let told: Vec<_> = told
        .iter()
        .map(|m| (m.generation, &*m.item.name, &*m.to, m.need))
        .collect();
    assert_eq!(told, expected);
}

/// Two owners in one round are no move, as long as who had it has it.
#[test]
fn moves_are_changes_of_the_owner() {
    let generations = [
        generation(1, &[("w1", &["a-0"], &[]), ("w2", &["a-1"], &[])]),
        generation(2, &[("w2", &["a-1"], &[])]),
        generation(3, &[("w2", &["a-0", "a-1"], &[])]),
        generation(4, &[("w1.2", &["a-0"], &[]), ("w2", &["a-0", "a-1"], &[])]),
        generation(5, &[("w1.2", &["a-1"], &[]), ("w2", &["a-0"], &[])]),
    ];
    let expected = [
        (3, "a-0", "w2", Some(Need::Returned)),
        (5, "a-1", "w1", Some(Need::Required)),
    ];
    check(&generations, 9, &expected);
    check(&generations[..1], 9, &[]);
}

#[test]
fn who_is_not_back_in_time_is_gone() {
    let both = generation(1, &[("w1", &["a-0"], &[]), ("w2", &["a-1"], &[])]);
    let gone = generation(2, &[("w2", &["a-0", "a-1"], &[])]);
    let generations = [both.clone(), gone.clone()];
    check(&generations, 601, &[(2, "a-0", "w2", None)]);
    let required = [(2, "a-0", "w2", Some(Need::Required))];
    check(&generations, 602, &required);
    let late = generation(602, &[("w1.2", &[], &[]), ("w2", &["a-0", "a-1"], &[])]);
    check(&[both, gone, late], 700, &required);
}

#[test]
fn a_share_for_who_comes() {
    let revokes = |id| {
        [
            generation(1, &[("w1", &["a-0", "a-1"], &[])]),
            generation(2, &[("w1", &["a-0"], &["a-1"]), (id, &[], &[])]),
            generation(3, &[("w1", &["a-0"], &[]), (id, &["a-1"], &[])]),
        ]
    };
    check(&revokes("w2"), 9, &[(3, "a-1", "w2", Some(Need::Required))]);
    let mut back = vec![generation(
        0,
        &[("w1", &["a-0", "a-1"], &[]), ("w2", &[], &[])],
    )];
    back.extend(revokes("w2.2"));
    check(&back, 9, &[(3, "a-1", "w2", Some(Need::Returned))]);
    // Once it has its share, all else is another matter.
    back.push(generation(
        4,
        &[("w1", &["a-1"], &[]), ("w2.2", &["a-0"], &[])],
    ));
    let moved = moves(&back, 9_000);
    let last: Vec<_> = moved[1..].iter().map(|m| m.need).collect();
    assert_eq!(last, [Some(Need::Extra); 2]);
}
