//! When what is asked, on a clock that the test moves.

use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Answers of a group that rests or rebalances, of these sizes.
struct Group {
    list_bytes: usize,
    describe_bytes: usize,
    rebalances: fn(Duration) -> bool,
}

/// Runs until `end`; gives each question with its time in milliseconds.
fn run(pacer: &mut Pacer, from: Duration, end: Duration, group: &Group) -> Vec<(u128, Ask)> {
    let mut now = from;
    let mut asked = Vec::new();
    while now < end {
        match pacer.next(now) {
            Next::Wait(until) => {
                assert!(until > now, "waits for {until:?} at {now:?}");
                now = until;
            }
            // It moves no turn, and has a test of its own.
            Next::Ask(Ask::Cluster) => pacer.cluster_told(now),
            Next::Ask(ask) => {
                asked.push((now.as_millis(), ask));
                match ask {
                    Ask::List => pacer.listed(now, group.list_bytes, (group.rebalances)(now)),
                    Ask::Describe => pacer.described(now, group.describe_bytes),
                    Ask::Cluster => unreachable!(),
                }
            }
        }
        assert!(asked.len() < 10_000, "it spins");
    }
    asked
}

const RESTING: Group = Group {
    list_bytes: 20,
    describe_bytes: 1_000,
    rebalances: |_| false,
};

fn count(asked: &[(u128, Ask)], ask: Ask) -> usize {
    asked.iter().filter(|(_, asked)| *asked == ask).count()
}

#[test]
fn a_resting_group_is_described_first_then_listed_and_described_every_30_s() {
    let mut pacer = Pacer::new();
    let asked = run(&mut pacer, ms(0), ms(60_000), &RESTING);
    let expected = [
        (0, Ask::Describe),
        (10_000, Ask::List),
        (20_000, Ask::List),
        (30_000, Ask::List),
        (30_000, Ask::Describe),
        (40_000, Ask::List),
        (50_000, Ask::List),
    ];
    assert_eq!(asked, expected);
}

#[test]
fn fast_is_every_500_ms_and_begins_at_once() {
    let mut pacer = Pacer::new();
    run(&mut pacer, ms(0), ms(2_000), &RESTING);
    pacer.set(Pace::Fast, false);
    let asked = run(&mut pacer, ms(2_000), ms(12_000), &RESTING);
    assert_eq!(count(&asked, Ask::List), 20);
    assert_eq!(count(&asked, Ask::Describe), 0);
    assert_eq!(asked[0].0, 2_000);
    pacer.set(Pace::Slow, false);
    let asked = run(&mut pacer, ms(12_000), ms(22_000), &RESTING);
    assert_eq!(asked, [(21_500, Ask::List)]);
}

#[test]
fn a_hit_is_described_and_so_is_the_end_of_it() {
    let mut pacer = Pacer::new();
    pacer.set(Pace::Fast, false);
    let group = Group {
        rebalances: |now| (ms(1_000)..ms(2_000)).contains(&now),
        ..RESTING
    };
    let asked = run(&mut pacer, ms(0), ms(4_000), &group);
    let described: Vec<u128> = asked
        .iter()
        .filter(|(_, ask)| *ask == Ask::Describe)
        .map(|(at, _)| *at)
        .collect();
    assert_eq!(described, [0, 1_000, 1_500, 2_000]);
}

#[test]
fn where_members_are_wanted_every_turn_is_a_description() {
    let mut pacer = Pacer::new();
    pacer.set(Pace::Fast, true);
    let asked = run(&mut pacer, ms(0), ms(5_000), &RESTING);
    assert_eq!(count(&asked, Ask::Describe), 10);
    assert_eq!(count(&asked, Ask::List), 0);
}

#[test]
fn a_broker_that_cannot_list_is_asked_for_descriptions() {
    let mut pacer = Pacer::new();
    assert_eq!(pacer.next(ms(0)), Next::Ask(Ask::Describe));
    pacer.described(ms(0), 100);
    pacer.cluster_told(ms(0));
    assert_eq!(pacer.next(ms(10_000)), Next::Ask(Ask::List));
    pacer.unlisted();
    assert_eq!(pacer.next(ms(10_000)), Next::Ask(Ask::Describe));
    pacer.described(ms(10_000), 100);
    assert_eq!(pacer.next(ms(10_000)), Next::Wait(ms(20_000)));
}

#[test]
fn large_answers_stay_within_the_budget_and_lists_go_on() {
    let group = Group {
        list_bytes: 60,
        describe_bytes: 1_000_000,
        rebalances: |_| true,
    };
    for every_turn in [false, true] {
        let mut pacer = Pacer::new();
        pacer.set(Pace::Fast, every_turn);
        let asked = run(&mut pacer, ms(0), ms(100_000), &group);
        let descriptions = count(&asked, Ask::Describe);
        // 5 s of budget each, and one that was saved up.
        assert!((20..=21).contains(&descriptions), "{descriptions}");
        assert!(pacer.take_put_off());
        assert!(!pacer.take_put_off());
        if !every_turn {
            assert_eq!(count(&asked, Ask::List), 199);
        }
    }
}

#[test]
fn the_largest_answer_is_asked_for_again_within_90_s() {
    let mut pacer = Pacer::new();
    pacer.set(Pace::Fast, true);
    let group = Group {
        describe_bytes: ANSWER_BYTES_MAX,
        ..RESTING
    };
    let asked = run(&mut pacer, ms(0), ms(300_000), &group);
    let gaps = asked.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let gaps: Vec<u128> = gaps.collect();
    assert!(gaps.len() >= 3);
    assert!(
        gaps.iter().all(|gap| (80_000..90_000).contains(gap)),
        "{gaps:?}"
    );
}

#[test]
fn lists_beyond_their_budget_give_way_to_descriptions() {
    let mut pacer = Pacer::new();
    pacer.set(Pace::Fast, false);
    let group = Group {
        list_bytes: 560_000,
        ..RESTING
    };
    let asked = run(&mut pacer, ms(0), ms(50_000), &group);
    assert!((4..=6).contains(&count(&asked, Ask::List)), "{asked:?}");
    assert!(count(&asked, Ask::Describe) > 80);
}

#[test]
fn failures_are_tried_again_ever_more_slowly_at_either_pace() {
    for pace in [Pace::Fast, Pace::Slow] {
        let mut pacer = Pacer::new();
        pacer.set(pace, false);
        let mut now = ms(0);
        let mut gaps = Vec::new();
        for _ in 0..8 {
            let Next::Ask(ask) = pacer.next(now) else {
                panic!("not at {now:?}");
            };
            pacer.failed(now, ask, Failure::Other);
            let Next::Wait(until) = pacer.next(now) else {
                panic!("no rest");
            };
            gaps.push((until - now).as_millis());
            now = until;
        }
        assert_eq!(
            gaps,
            [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]
        );
        // The first answer ends it.
        assert_eq!(pacer.next(now), Next::Ask(Ask::Describe));
        pacer.described(now, 100);
        pacer.cluster_told(now);
        let Next::Wait(until) = pacer.next(now) else {
            panic!("no rest");
        };
        assert_eq!(until - now, pacer.interval());
    }
}

#[test]
fn after_a_denial_only_a_description_proves_the_right() {
    let mut pacer = Pacer::new();
    pacer.set(Pace::Fast, false);
    run(&mut pacer, ms(0), ms(1_000), &RESTING);
    assert_eq!(pacer.next(ms(1_000)), Next::Ask(Ask::List));
    pacer.failed(ms(1_000), Ask::List, Failure::Denied);
    assert_eq!(pacer.next(ms(1_500)), Next::Ask(Ask::Describe));
    pacer.failed(ms(1_500), Ask::Describe, Failure::Denied);
    assert_eq!(pacer.next(ms(2_500)), Next::Ask(Ask::Describe));
    pacer.described(ms(2_500), 100);
    assert_eq!(pacer.next(ms(3_000)), Next::Ask(Ask::List));
}

#[test]
fn after_any_other_failure_lists_go_on_and_a_description_is_due() {
    let mut pacer = Pacer::new();
    pacer.set(Pace::Fast, false);
    run(&mut pacer, ms(0), ms(1_000), &RESTING);
    assert_eq!(pacer.next(ms(1_000)), Next::Ask(Ask::List));
    pacer.failed(ms(1_000), Ask::List, Failure::Other);
    let asked = run(&mut pacer, ms(1_500), ms(2_100), &RESTING);
    let expected = [
        (1_500, Ask::List),
        (1_500, Ask::Describe),
        (2_000, Ask::List),
    ];
    assert_eq!(asked, expected);
}

#[test]
fn an_answer_too_large_stops_descriptions_for_a_while_and_nothing_else() {
    let mut pacer = Pacer::new();
    pacer.set(Pace::Fast, false);
    assert_eq!(pacer.next(ms(0)), Next::Ask(Ask::Describe));
    pacer.failed(ms(0), Ask::Describe, Failure::TooLarge);
    let asked = run(&mut pacer, ms(0), ms(83_000), &RESTING);
    assert_eq!(count(&asked, Ask::Describe), 0);
    assert_eq!(count(&asked, Ask::List), 165);
    let asked = run(&mut pacer, ms(83_000), ms(90_000), &RESTING);
    assert_eq!(count(&asked, Ask::Describe), 1);
}

#[test]
fn what_only_other_settings_help_against_is_not_tried_again() {
    let mut pacer = Pacer::new();
    pacer.set(Pace::Fast, false);
    assert_eq!(pacer.next(ms(0)), Next::Ask(Ask::Describe));
    pacer.failed(ms(0), Ask::Describe, Failure::Lasting);
    pacer.set(Pace::Slow, true);
    assert_eq!(pacer.next(ms(1_000_000)), Next::Wait(Duration::MAX));
    pacer.restart(ms(1_000_000));
    assert_eq!(pacer.next(ms(1_000_000)), Next::Ask(Ask::Describe));
}

#[test]
fn another_connection_is_asked_at_once_whatever_the_one_before_cost() {
    let mut pacer = Pacer::new();
    assert_eq!(pacer.next(ms(0)), Next::Ask(Ask::Describe));
    pacer.failed(ms(0), Ask::Describe, Failure::TooLarge);
    pacer.restart(ms(1_000));
    assert_eq!(pacer.next(ms(1_000)), Next::Ask(Ask::Describe));
    assert!(!pacer.take_put_off());
}

#[test]
fn another_pace_does_not_shorten_the_rest_after_a_failure() {
    let mut pacer = Pacer::new();
    for at in [0, 500, 1_500, 3_500] {
        assert_eq!(pacer.next(ms(at)), Next::Ask(Ask::Describe));
        pacer.failed(ms(at), Ask::Describe, Failure::Other);
    }
    pacer.set(Pace::Fast, false);
    assert_eq!(pacer.next(ms(3_500)), Next::Wait(ms(7_500)));
}

#[test]
fn how_brokers_are_set_is_asked_after_the_first_description_and_every_ten_minutes() {
    let mut pacer = Pacer::new();
    let mut now = ms(0);
    let mut asked = Vec::new();
    let mut failures = vec![Failure::Denied, Failure::Other, Failure::Other];
    while now < ms(2_600_000) {
        match pacer.next(now) {
            Next::Wait(until) => now = until,
            Next::Ask(Ask::List) => pacer.listed(now, 20, false),
            Next::Ask(Ask::Describe) => pacer.described(now, 1_000),
            Next::Ask(Ask::Cluster) => {
                asked.push(now.as_millis());
                match failures.pop() {
                    Some(failure) => pacer.failed(now, Ask::Cluster, failure),
                    None => pacer.cluster_told(now),
                }
            }
        }
    }
    // It fails twice, then it is refused, then it is told.
    let expected = [0, 60_000, 180_000, 780_000, 1_380_000, 1_980_000, 2_580_000];
    assert_eq!(asked, expected);
    // Another cluster is another answer; a group that nobody described is not asked about.
    pacer.restart(now);
    assert_eq!(pacer.next(now), Next::Ask(Ask::Describe));
    pacer.described(now, 1_000);
    assert_eq!(pacer.next(now), Next::Ask(Ask::Cluster));
    // However often it fails, ten minutes are the longest rest.
    for _ in 0..40 {
        pacer.failed(now, Ask::Cluster, Failure::Other);
    }
    pacer.set(Pace::Slow, false);
    assert_eq!(pacer.cluster_at, now + ms(600_000));
}
