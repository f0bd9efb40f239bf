//! Splits by their loads: the numbers are those of Kafka's own tests and tickets where one is
//! named.

use super::*;

#[track_caller]
fn check(loads: &[u64], parked: u64, best_most: u64, above: u64, survivor: Option<u64>) {
    let split = split(loads, parked).unwrap();
    assert_eq!(
        (split.best_most, split.above),
        (best_most, above),
        "{loads:?}"
    );
    let told = survivor_most(&split, parked, Some(Protocol::Sessioned));
    assert_eq!(told, survivor, "{loads:?} without one");
}

#[test]
fn what_the_assignor_leaves_is_no_imbalance() {
    check(&[3, 3, 2], 0, 3, 0, Some(4));
    check(&[1, 0, 0], 0, 1, 0, Some(1));
    check(&[0, 0], 0, 0, 0, Some(0));
    // KAFKA-12309: the old assignor leaves 6/6/4 of 16 where 6/5/5 would do; nobody has more
    // than in the best split.
    check(&[6, 6, 4], 0, 6, 0, Some(8));
}

#[test]
fn what_lies_above_the_best_split_is_counted() {
    check(&[8, 8, 0], 0, 6, 4, Some(8));
    check(&[4, 2, 2], 0, 3, 1, Some(4));
    check(&[4, 3, 2], 0, 3, 1, Some(5));
    // KAFKA-10413: all lost work went to one of two that came.
    check(&[10, 0], 0, 5, 5, Some(10));
}

#[test]
fn parked_work_is_part_of_the_split() {
    check(&[4, 4, 0], 4, 4, 0, Some(6));
    check(&[4, 4, 0], 3, 4, 0, Some(6));
    check(&[5, 4, 0], 3, 4, 1, Some(6));
}

#[test]
fn nobody_survives_the_last() {
    check(&[7], 0, 7, 0, None);
    assert_eq!(split(&[], 0), None);
}

#[test]
fn the_eager_assignor_deals_anew() {
    let split = split(&[8, 1, 0], 0).unwrap();
    assert_eq!(survivor_most(&split, 0, Some(Protocol::Eager)), Some(5));
    assert_eq!(
        survivor_most(&split, 0, Some(Protocol::Compatible)),
        Some(8)
    );
}

#[test]
fn an_even_split_takes_so_many_moves() {
    for (loads, items, least) in [
        (&[20, 20, 0][..], 40, 13),
        (&[5, 5, 0], 10, 3),
        (&[4, 4, 2], 10, 1),
        (&[4, 3, 3], 10, 0),
        (&[3, 4, 3], 10, 0),
        // New work goes to who has less.
        (&[3, 3, 0], 9, 0),
        (&[], 0, 0),
        (&[0, 0], 0, 0),
    ] {
        assert_eq!(least_moves(loads, items), least, "{loads:?} of {items}");
    }
}
