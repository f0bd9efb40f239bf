//! What an episode tells besides its cause: who came, who led, what each worker did and when,
//! and how long tasks stood still.

use std::sync::Arc;

use evenkeel_core::answers::{EpisodeAnswer, Phase};
use evenkeel_core::engine::Engine;

use crate::dsl::{BASE_MS, Step, inputs};

/// The episodes that closed, oldest first.
fn closed(scenario: &str) -> Vec<Arc<EpisodeAnswer>> {
    let mut engine = Engine::new();
    for step in inputs(scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    engine.answers().episodes.unwrap_or_default().closed
}

fn ms(at: evenkeel_core::facts::time::EventTime) -> i64 {
    at.0 - BASE_MS
}

const JOINS: &str = "0.0 config connector foo
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
     9.9 ends";

#[test]
fn who_came_and_who_led() {
    let all = closed(JOINS);
    let [formed, joined] = all.as_slice() else {
        panic!("{} episodes", all.len());
    };
    let came = |episode: &EpisodeAnswer| {
        let came = episode.joined.iter();
        came.map(|one| format!("{} {} {}", one.worker, one.generation, ms(one.at)))
            .collect::<Vec<_>>()
    };
    assert_eq!(came(formed), ["a:8083 1 1000"]);
    assert_eq!(came(joined), ["b:8083 2 8900"]);
    let led = joined.rounds.iter();
    let led: Vec<_> = led
        .map(|round| (round.leader.as_deref(), round.deputy.as_deref()))
        .collect();
    assert_eq!(led, [(Some("a:8083"), Some("b:8083")); 2]);
    // Alone, the leader is the next after itself.
    assert_eq!(formed.rounds[0].deputy.as_deref(), Some("a:8083"));
}

#[test]
fn what_each_worker_did_and_the_slowest_of_it() {
    let all = closed(JOINS);
    let formed = &all[0].rounds[0];
    let [a] = formed.workers.as_slice() else {
        panic!("{:?}", formed.workers);
    };
    let starts = a.starts.unwrap();
    assert_eq!((starts.items, starts.done), (3, 3));
    assert_eq!((ms(starts.from), ms(starts.by)), (1_000, 1_400));
    assert_eq!(a.stops, None);
    let slowest = formed.slowest.iter();
    let slowest: Vec<_> = slowest
        .map(|one| (one.phase, one.item.task, ms(one.by)))
        .collect();
    let expected = [(Some(1), 1_400), (Some(0), 1_300), (None, 1_200)];
    assert_eq!(slowest, expected.map(|(task, by)| (Phase::Start, task, by)));
    let stops = all[1].rounds[0].workers[0].stops.unwrap();
    assert_eq!((stops.items, stops.done), (1, 1));
    assert_eq!((ms(stops.from), ms(stops.by)), (9_000, 9_200));
}

#[test]
fn a_task_that_moves_stands_still_from_its_stop_to_its_start() {
    let all = closed(JOINS);
    assert_eq!(all[0].cost.stopped, 0);
    assert_eq!(all[0].cost.still_ms, None);
    let cost = all[1].cost;
    assert_eq!((cost.stopped, cost.still), (1, 0));
    let lasted = cost.still_ms.unwrap();
    assert_eq!(lasted.ms, 600);
    // Clocks are known in an interval only: it stopped after 9.0 and before it joined again.
    let (least, most) = lasted.between_ms.unwrap();
    assert!(
        least <= 600 && (600..=800).contains(&most),
        "{least} {most}"
    );
}

/// The worker is found gone at 19.9, and its work starts elsewhere a second after the delay.
const LOST: &str = "0.0 config connector foo
     0.0 config tasks foo 2
     0.1 ends
     1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0 | b: claim=none add=foo-1
     1.2 status foo RUNNING a 1
     1.2 status foo-0 RUNNING a 1
     1.2 status foo-1 RUNNING b 1
     1.5 ends
     20.0 group 2 sessioned a off=4 delay=10000 join=19.9 | a: claim=foo,foo-0
     30.2 group 3 sessioned a off=4 join=30.1 | a: claim=foo,foo-0 add=foo-1
     31.0 status foo-1 RUNNING a 3
     31.5 ends
     99.0 ends";

#[test]
fn a_task_that_is_lost_stands_still_at_least_since_its_worker_was_found_gone() {
    let all = closed(LOST);
    let cost = all.last().unwrap().cost;
    assert_eq!((cost.stopped, cost.still), (1, 0));
    let lasted = cost.still_ms.unwrap();
    // No earlier than it was told to start, no later than it said so.
    assert!((10_300..=11_100).contains(&lasted.ms), "{lasted:?}");
    assert_eq!(lasted.between_ms, None, "nobody knows when it stopped");
}

#[test]
fn a_task_that_is_not_configured_any_more_is_not_missed() {
    let deleted = JOINS.to_owned()
        + "
     20.0 config delete foo
     21.0 group 4 sessioned a off=5 join=20.9 | a: claim=foo,foo-0 rev=foo,foo-0 | b: claim=foo-1 rev=foo-1
     21.2 status foo-0 UNASSIGNED a 3
     21.2 status foo UNASSIGNED a 3
     21.2 status foo-1 UNASSIGNED b 3
     21.5 group 5 sessioned a off=5 join=21.4 | a: claim=- | b: claim=-
     21.9 ends
     99.0 ends";
    let all = closed(&deleted);
    let last = all.last().unwrap();
    assert_eq!(last.first_generation, 4);
    assert_eq!(last.cost.stopped, 0);
}

/// The history begins with generation 5, while `foo-1` may be on its way: what comes within a
/// minute may be the rest of what nobody read.
#[test]
fn the_rest_of_what_was_not_read_is_not_whole() {
    let after = |at: &str| {
        format!(
            "0.0 config connector foo
             0.0 config tasks foo 2
             0.1 ends
             1.0 group 5 sessioned a off=4 | a: claim=foo,foo-0,foo-1 | b: claim=-
             1.5 ends
             {at} group 6 sessioned a off=4 | a: claim=foo,foo-0,foo-1
             99.0 ends
             199.0 ends"
        )
    };
    let whole = |scenario: &str| {
        let all = closed(scenario);
        all.iter()
            .map(|one| one.whole && !one.rest)
            .collect::<Vec<_>>()
    };
    assert_eq!(whole(&after("30.0")), [false, false]);
    assert_eq!(whole(&after("62.0")), [false, true]);
}
