//! Going on or beginning again, case by case.

use super::super::frontier::Progress;
use super::Resume::Begin;
use super::{Bounds, Identity, PastTrouble, Resume, Saved, resume};

const NOTHING_WRONG: PastTrouble = PastTrouble {
    was_missing: false,
    was_replaced: false,
    was_out_of_range: false,
};

fn identity(cluster: &str, topic: Option<i64>) -> Identity {
    Identity {
        cluster_id: Some(cluster.to_owned()),
        topic_id: topic.map(|id| [0, id]),
    }
}

fn saved(positions: &[(i32, i64)], identity: Identity, trouble: PastTrouble) -> Saved {
    Saved {
        positions: positions
            .iter()
            .map(|&(partition, next)| {
                (
                    partition,
                    Progress {
                        partition,
                        next,
                        told: next - 1,
                    },
                )
            })
            .collect(),
        identity,
        trouble,
        ..Saved::default()
    }
}

fn going_on(partition: i32, next: i64) -> Resume {
    Resume::Continue(Progress {
        partition,
        next,
        told: next - 1,
    })
}

fn bounds(of: &[(i32, i64, i64)]) -> Vec<Bounds> {
    of.iter()
        .map(|&(partition, low, end)| Bounds {
            partition,
            low,
            end,
        })
        .collect()
}

#[track_caller]
fn check(saved: &Saved, now: &Identity, of: &[(i32, i64, i64)], expected: &[Resume]) {
    assert_eq!(resume(saved, now, &bounds(of)), expected);
}

#[test]
fn begins_at_first() {
    let now = identity("c", Some(1));
    let first = Begin { anew: false };
    check(
        &Saved::default(),
        &now,
        &[(0, 0, 9), (1, 3, 3)],
        &[first, first],
    );
}

#[test]
fn goes_on_where_the_next_offset_is_in_the_log() {
    let now = identity("c", Some(1));
    let before = saved(&[(0, 5), (1, 9)], now.clone(), NOTHING_WRONG);
    check(
        &before,
        &now,
        &[(0, 0, 9), (1, 9, 9)],
        &[going_on(0, 5), going_on(1, 9)],
    );
}

#[test]
fn a_partition_that_was_added_begins() {
    let now = identity("c", Some(1));
    let before = saved(&[(0, 5)], now.clone(), NOTHING_WRONG);
    check(
        &before,
        &now,
        &[(0, 0, 9), (1, 0, 2)],
        &[going_on(0, 5), Begin { anew: false }],
    );
}

#[test]
fn deleted_records_are_a_gap_not_another_topic() {
    let now = identity("c", Some(1));
    let trouble = PastTrouble {
        was_out_of_range: true,
        ..NOTHING_WRONG
    };
    let before = saved(&[(0, 5), (1, 5)], now.clone(), trouble);
    check(
        &before,
        &now,
        &[(0, 6, 9), (1, 0, 9)],
        &[Begin { anew: false }, going_on(1, 5)],
    );
}

#[test]
fn a_shorter_log_makes_all_partitions_another_topic() {
    let now = identity("c", Some(1));
    let before = saved(&[(0, 5), (1, 5)], now.clone(), NOTHING_WRONG);
    let anew = Begin { anew: true };
    check(&before, &now, &[(0, 0, 4), (1, 0, 9)], &[anew, anew]);
}

#[test]
fn a_log_that_was_shorter_and_has_grown_is_another_topic() {
    let now = identity("c", None);
    let out_of_range = PastTrouble {
        was_out_of_range: true,
        ..NOTHING_WRONG
    };
    let replaced = PastTrouble {
        was_replaced: true,
        ..NOTHING_WRONG
    };
    for trouble in [out_of_range, replaced] {
        let before = saved(&[(0, 5)], now.clone(), trouble);
        check(&before, &now, &[(0, 0, 9)], &[Begin { anew: true }]);
    }
}

#[test]
fn ids_tell_topics_apart() {
    let before = saved(&[(0, 5)], identity("c", Some(1)), NOTHING_WRONG);
    let others = [identity("c", Some(2)), identity("d", Some(1))];
    for other in others {
        check(&before, &other, &[(0, 0, 9)], &[Begin { anew: true }]);
    }
}

#[test]
fn a_topic_that_was_gone_is_the_same_only_if_its_id_says_so() {
    let trouble = PastTrouble {
        was_missing: true,
        ..NOTHING_WRONG
    };
    let same = saved(&[(0, 5)], identity("c", Some(1)), trouble);
    check(
        &same,
        &identity("c", Some(1)),
        &[(0, 0, 9)],
        &[going_on(0, 5)],
    );
    let unknown = saved(&[(0, 5)], identity("c", None), trouble);
    check(
        &unknown,
        &identity("c", None),
        &[(0, 0, 9)],
        &[Begin { anew: true }],
    );
}

#[test]
fn a_topic_missing_at_first_is_not_another_one() {
    let trouble = PastTrouble {
        was_missing: true,
        ..NOTHING_WRONG
    };
    let before = saved(&[], Identity::default(), trouble);
    check(
        &before,
        &identity("c", None),
        &[(0, 0, 9)],
        &[Begin { anew: false }],
    );
}

/// More partitions of the offsets topic: the group lies in another one now.
#[test]
fn another_partition_is_begun_anew() {
    let now = identity("c", Some(1));
    let before = saved(&[(3, 5)], now.clone(), NOTHING_WRONG);
    check(&before, &now, &[(7, 0, 9)], &[Begin { anew: true }]);
}
