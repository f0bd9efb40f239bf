//! The budget at its borders, and when a storm is over.

use super::*;

fn sample(generation: i32, at_ms: i64, bytes: u64) -> Sample {
    Sample {
        generation,
        at: EventTime(at_ms),
        bytes,
    }
}

/// At exactly the budget it is never beyond it, however long it lasts.
#[test]
fn budget_that_is_used_up_is_kept() {
    let mut budget = Budget::default();
    for second in 0..3_600 {
        assert!(!budget.spend(EventTime(second * 1_000), BYTES_PER_S));
    }
}

/// A tenth more is beyond it once five seconds' worth are owed: after forty seconds.
#[test]
fn a_little_more_is_beyond_it_in_the_end() {
    let mut budget = Budget::default();
    let mut seconds = 0..;
    let beyond = seconds.find(|second| budget.spend(EventTime(second * 1_000), 4_400_000));
    assert_eq!(beyond, Some(40));
}

#[test]
fn burst_of_five_seconds_worth_is_allowed() {
    let mut budget = Budget::default();
    for _ in 0..20 {
        assert!(!budget.spend(EventTime(1_000), 1_000_000));
    }
    assert!(budget.spend(EventTime(1_000), 1));
}

/// What was owed is paid by the time between, and by no more than that.
#[test]
fn time_pays() {
    let mut budget = Budget::default();
    assert!(!budget.spend(EventTime(0), 20_000_000));
    assert!(!budget.spend(EventTime(60_000), 20_000_000), "all was paid");
    assert!(budget.spend(EventTime(60_100), 400_001), "400,000 were");
    // A clock that steps back pays nothing.
    let mut budget = Budget::default();
    assert!(!budget.spend(EventTime(60_000), 20_000_000));
    assert!(budget.spend(EventTime(0), 1));
    assert!(
        !budget.spend(EventTime(1_000), 3_000_000),
        "it goes on from there"
    );
}

#[test]
fn silence_is_calm_after_ten_samples() {
    let mut calm = Calm::default();
    assert!(!calm.is_over(Some(sample(5, 0, 400_000))));
    let over: Vec<bool> = (0..10).map(|_| calm.is_over(None)).collect();
    assert_eq!(over.iter().filter(|over| **over).count(), 1);
    assert_eq!(over.last(), Some(&true));
}

/// Half of the budget is few enough, a little more is not, and begins the count anew.
#[test]
fn half_of_the_budget_is_few_enough() {
    let mut calm = Calm::default();
    let mut generation = 0;
    let mut next = |calm: &mut Calm, second: i64, more: i32, bytes| {
        generation += more;
        calm.is_over(Some(sample(generation, second * 1_000, bytes)))
    };
    assert!(!next(&mut calm, 0, 1, 400_000));
    for second in 1..10 {
        assert!(!next(&mut calm, second, 5, 400_000), "2 MB/s, not for long");
    }
    assert!(!next(&mut calm, 10, 6, 400_000), "2.4 MB/s");
    for second in 11..20 {
        assert!(!next(&mut calm, second, 5, 400_000));
    }
    assert!(next(&mut calm, 20, 5, 400_000));
}

/// Numbers that begin anew say at least how many there were since.
#[test]
fn group_created_anew() {
    assert_eq!(
        rate(sample(900, 0, 1), sample(20, 1_000, 100_000)),
        2_000_000
    );
    // The same number, written again.
    assert_eq!(rate(sample(20, 0, 1), sample(20, 1_000, 100_000)), 100_000);
}
