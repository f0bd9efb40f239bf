//! The frontier, driven by hand: what it asks for and what it tells.

use std::time::{Duration, Instant};

use super::{Answer, Frontier, Progress, Step};

/// Times in a test are milliseconds after its start.
struct Clock(Instant);

impl Clock {
    fn new() -> Self {
        Self(Instant::now())
    }

    fn at(&self, ms: u64) -> Instant {
        self.0 + Duration::from_millis(ms)
    }

    fn answer(&self, partition: i32, end: i64, asked_ms: u64, answered_ms: u64) -> Answer {
        Answer {
            partition,
            end,
            asked: self.at(asked_ms),
            answered: self.at(answered_ms),
        }
    }
}

fn frontier(partitions: &[(i32, i64)], clock: &Clock) -> Frontier {
    let partitions: Vec<Progress> = partitions
        .iter()
        .map(|&(partition, offset)| Progress::begin(partition, offset))
        .collect();
    Frontier::new(&partitions, clock.at(0))
}

fn positions(frontier: &Frontier) -> Vec<(i32, i64)> {
    let progress = frontier.progress();
    progress.map(|part| (part.partition, part.next)).collect()
}

fn reached(partition: i32, offset: i64) -> Option<Step> {
    Some(Step::Reached { partition, offset })
}

#[test]
fn a_record_passed_on_needs_no_telling() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    assert_eq!(frontier.answered(clock.answer(0, 7, 1, 2)), None);
    assert!(frontier.is_waiting());
    assert_eq!(frontier.read(0, 6, true, clock.at(3)), None);
    assert_eq!(frontier.read(0, 7, true, clock.at(3)), None);
    assert!(!frontier.is_waiting());
    assert!(frontier.idle(clock.at(5_000)).is_empty());
}

#[test]
fn records_of_others_are_told_when_they_reach_the_end() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(13, 5)], &clock);
    assert_eq!(
        frontier.read(13, 8, false, clock.at(1)),
        None,
        "nobody asked"
    );
    assert_eq!(frontier.answered(clock.answer(13, 8, 2, 3)), reached(13, 8));
    assert_eq!(
        frontier.answered(clock.answer(13, 8, 4, 5)),
        None,
        "told before"
    );
    assert_eq!(frontier.answered(clock.answer(13, 10, 6, 7)), None);
    assert_eq!(frontier.read(13, 9, false, clock.at(8)), None);
    assert_eq!(frontier.read(13, 12, false, clock.at(8)), reached(13, 12));
}

#[test]
fn what_was_read_before_counts_as_told() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    assert_eq!(frontier.answered(clock.answer(0, 5, 1, 2)), None);
    assert!(!frontier.is_waiting());
}

#[test]
fn the_position_moves_over_a_marker() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    frontier.answered(clock.answer(0, 6, 1, 2));
    assert!(
        frontier.idle(clock.at(10)).is_empty(),
        "records may be on their way"
    );
    let step = Step::Position { partition: 0 };
    assert_eq!(frontier.idle(clock.at(40)), [step]);
    assert_eq!(frontier.position(0, 5), None);
    assert_eq!(frontier.position(0, 6), reached(0, 6));
}

#[test]
fn only_an_end_event_after_a_seek_proves() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    assert_eq!(frontier.end_of_partition(0), None, "nobody asked");
    frontier.answered(clock.answer(0, 9, 1, 2));
    assert_eq!(
        frontier.end_of_partition(0),
        None,
        "older than the answer, perhaps"
    );
    let seek = Step::Seek {
        partition: 0,
        offset: 5,
    };
    assert_eq!(frontier.idle(clock.at(302)), [seek]);
    assert!(
        frontier.idle(clock.at(400)).is_empty(),
        "one seek is enough"
    );
    assert_eq!(frontier.end_of_partition(0), reached(0, 9));
    assert!(!frontier.is_waiting());
    assert_eq!(positions(&frontier), [(0, 9)]);
}

#[test]
fn an_end_that_grew_after_the_seek_is_proven_anew() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    frontier.answered(clock.answer(0, 9, 1, 2));
    assert_eq!(frontier.idle(clock.at(310)).len(), 1);
    frontier.answered(clock.answer(0, 11, 320, 330));
    assert_eq!(frontier.end_of_partition(0), reached(0, 9));
    assert!(frontier.is_waiting());
    let seek = Step::Seek {
        partition: 0,
        offset: 9,
    };
    assert_eq!(frontier.idle(clock.at(700)), [seek]);
}

#[test]
fn a_record_puts_the_proof_off() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    frontier.answered(clock.answer(0, 9, 1, 2));
    frontier.read(0, 6, true, clock.at(290));
    assert!(matches!(
        frontier.idle(clock.at(400)).as_slice(),
        [Step::Position { .. }]
    ));
    assert!(matches!(
        frontier.idle(clock.at(591)).as_slice(),
        [Step::Seek { offset: 6, .. }]
    ));
}

#[test]
fn a_seek_that_failed_is_tried_again() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    frontier.answered(clock.answer(0, 9, 1, 2));
    assert_eq!(frontier.idle(clock.at(302)).len(), 1);
    frontier.seek_failed(0, clock.at(303));
    assert_eq!(frontier.end_of_partition(0), None);
    assert!(matches!(
        frontier.idle(clock.at(603)).as_slice(),
        [Step::Seek { .. }]
    ));
}

/// Rule 4, with a log whose end gives no event.
#[test]
fn two_answers_apart_prove_where_no_event_comes() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    frontier.answered(clock.answer(0, 9, 1, 2));
    assert_eq!(frontier.idle(clock.at(302)).len(), 1);
    // Asked before the seek: says nothing about what came after it.
    assert_eq!(frontier.answered(clock.answer(0, 9, 290, 310)), None);
    assert_eq!(
        frontier.answered(clock.answer(0, 9, 310, 400)),
        None,
        "the first"
    );
    assert_eq!(
        frontier.answered(clock.answer(0, 9, 700, 890)),
        None,
        "too soon after the seek"
    );
    assert_eq!(
        frontier.answered(clock.answer(0, 9, 600, 910)),
        None,
        "asked too soon after the first"
    );
    assert_eq!(frontier.idle(clock.at(910)), [Step::Ask]);
    assert!(frontier.idle(clock.at(920)).is_empty(), "asked already");
    let fetched = Step::Fetched { partition: 0 };
    assert_eq!(
        frontier.answered(clock.answer(0, 9, 911, 1_200)),
        Some(fetched)
    );
    assert_eq!(frontier.fetched(0, Some(9)), reached(0, 9));
    // The position stays: what lies there, if it comes after all, is still read.
    assert_eq!(positions(&frontier), [(0, 5)]);
    assert_eq!(frontier.answered(clock.answer(0, 9, 9_000, 9_001)), None);
    assert!(!frontier.is_waiting());
}

/// The fetch between the two answers failed, so it proves nothing.
#[test]
fn a_failed_fetch_proves_nothing() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    frontier.answered(clock.answer(0, 9, 1, 2));
    assert_eq!(frontier.idle(clock.at(302)).len(), 1);
    assert_eq!(frontier.answered(clock.answer(0, 9, 310, 400)), None);
    let fetched = Some(Step::Fetched { partition: 0 });
    assert_eq!(frontier.answered(clock.answer(0, 9, 911, 1_200)), fetched);
    assert_eq!(frontier.fetched(0, None), None);
    assert!(frontier.is_waiting());
    assert_eq!(
        frontier.answered(clock.answer(0, 9, 1_300, 1_400)),
        None,
        "a first one"
    );
    assert_eq!(frontier.answered(clock.answer(0, 9, 1_700, 1_800)), fetched);
    assert_eq!(frontier.fetched(0, Some(8)), None, "an old end");
}

#[test]
fn a_record_between_the_two_answers_starts_them_over() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    frontier.answered(clock.answer(0, 9, 1, 2));
    assert_eq!(frontier.idle(clock.at(302)).len(), 1);
    assert_eq!(frontier.answered(clock.answer(0, 9, 400, 700)), None);
    frontier.read(0, 6, true, clock.at(900));
    assert_eq!(
        frontier.answered(clock.answer(0, 9, 2_000, 2_100)),
        None,
        "a first one"
    );
    let fetched = Some(Step::Fetched { partition: 0 });
    assert_eq!(frontier.answered(clock.answer(0, 9, 2_400, 2_500)), fetched);
}

#[test]
fn a_shorter_log_is_believed_the_second_time() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    assert_eq!(frontier.answered(clock.answer(0, 3, 1, 2)), None);
    assert_eq!(frontier.answered(clock.answer(0, 5, 3, 4)), None);
    assert!(!frontier.is_waiting(), "a leader that caught up");
    assert_eq!(frontier.answered(clock.answer(0, 3, 5, 6)), None);
    assert_eq!(
        frontier.answered(clock.answer(0, 3, 500, 501)),
        None,
        "too soon"
    );
    assert!(frontier.is_waiting());
    assert!(frontier.idle(clock.at(1_000)).is_empty());
    assert_eq!(frontier.idle(clock.at(1_006)), [Step::Ask]);
    assert!(frontier.idle(clock.at(1_010)).is_empty(), "asked already");
    let shorter = Step::Shorter { partition: 0 };
    let answer = clock.answer(0, 3, 1_007, 1_008);
    assert_eq!(frontier.answered(answer), Some(shorter));
}

/// Records keep coming, and every answer is older than the last of them: none says that the
/// log is shorter.
#[test]
fn an_answer_older_than_what_was_read_since_proves_no_shorter_log() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 5)], &clock);
    for (next, ms) in [(7, 100), (9, 1_300), (11, 2_500)] {
        assert!(frontier.read(0, next, true, clock.at(ms)).is_none());
        let answer = clock.answer(0, next - 2, ms - 1, ms + 1);
        assert_eq!(frontier.answered(answer), None, "{next}");
    }
}

/// What a client before read but did not tell is told by the next.
#[test]
fn goes_on_telling_where_it_left_off() {
    let clock = Clock::new();
    let mut before = frontier(&[(0, 5)], &clock);
    assert_eq!(before.read(0, 9, false, clock.at(1)), None);
    let progress: Vec<Progress> = before.progress().collect();
    let mut after = Frontier::new(&progress, clock.at(10));
    assert_eq!(after.answered(clock.answer(0, 9, 11, 12)), reached(0, 9));
}

#[test]
fn partitions_are_kept_apart() {
    let clock = Clock::new();
    let mut frontier = frontier(&[(0, 0), (1, 10), (2, 20)], &clock);
    assert_eq!(frontier.answered(clock.answer(1, 12, 1, 2)), None);
    assert_eq!(frontier.answered(clock.answer(2, 21, 1, 2)), None);
    assert_eq!(frontier.read(2, 21, false, clock.at(3)), reached(2, 21));
    assert!(matches!(
        frontier.idle(clock.at(400)).as_slice(),
        [Step::Seek { partition: 1, .. }]
    ));
    assert_eq!(frontier.end_of_partition(0), None);
    assert_eq!(frontier.end_of_partition(1), reached(1, 12));
    assert_eq!(
        frontier.read(7, 1, false, clock.at(500)),
        None,
        "none of ours"
    );
}

#[test]
fn a_chunk_is_proven_by_its_own_assignment() {
    let clock = Clock::new();
    let mut frontier = Frontier::proving(4, 100, 200, clock.at(0));
    assert_eq!(frontier.read(4, 150, false, clock.at(1)), None);
    assert_eq!(frontier.end_of_partition(4), reached(4, 200));
    let mut frontier = Frontier::proving(4, 100, 200, clock.at(0));
    assert_eq!(frontier.read(4, 200, true, clock.at(1)), None);
    assert!(!frontier.is_waiting(), "read to the end");
}
