//! Which episode stands for which bucket.

use evenkeel_core::answers::{Answers, EpisodeState, EpisodesAnswer, Histogram};
use evenkeel_core::facts::time::EventTime;

use super::*;
use crate::show::sample::incident;

/// A closed episode that began with this generation, was active for so long, and was over
/// at this instant.
fn episode(generation: i32, active_ms: i64, closed_ms: i64) -> EpisodeAnswer {
    let answers = incident();
    let episodes = answers.episodes.unwrap();
    let sample = episodes.open.unwrap_or_else(|| episodes.closed[0].clone());
    let mut episode = Arc::unwrap_or_clone(sample);
    episode.id = Arc::from(format!("{generation}@{closed_ms}"));
    episode.state = EpisodeState::Closed;
    episode.closed = Some(EventTime(closed_ms));
    episode.whole = true;
    episode.active = DurationAnswer::exact(active_ms);
    episode.polled.active = None;
    episode
}

/// A group with these episodes, oldest first.
fn group(episodes: Vec<EpisodeAnswer>) -> Answers {
    let mut answers = incident();
    answers.episodes = Some(EpisodesAnswer {
        closed: episodes.into_iter().map(Arc::new).collect(),
        ..EpisodesAnswer::default()
    });
    answers
}

/// As if all of these had been sent from here.
fn handed(answers: &Answers) -> BTreeSet<Arc<str>> {
    let episodes = answers.episodes.iter();
    let closed = episodes.flat_map(|all| &all.closed);
    closed.map(|episode| Arc::clone(&episode.id)).collect()
}

fn counted(all_ms: &[i64]) -> Histogram {
    let mut histogram = Histogram::default();
    all_ms.iter().for_each(|ms| histogram.add(*ms));
    histogram
}

/// Place of the bucket, value, instant.
fn places(exemplars: &[(usize, Exemplar)]) -> Vec<(usize, f64, i64)> {
    let place = |(place, exemplar): &(usize, Exemplar)| (*place, exemplar.value, exemplar.at_ms);
    exemplars.iter().map(place).collect()
}

#[test]
fn the_newest_of_each_bucket_stands_for_it() {
    let answers = group(vec![
        episode(3, 700, 10_000),
        episode(5, 9_000, 20_000),
        episode(7, 800, 30_000),
        episode(9, 1_000_000, 40_000),
    ]);
    let counts = counted(&[700, 9_000, 800, 1_000_000]);
    let placed = Traced::of(&answers, Some(&handed(&answers))).durations(&counts);
    assert_eq!(
        places(&placed),
        [(4, 0.8, 30_000), (7, 9.0, 20_000), (13, 1_000.0, 40_000)]
    );
    let (trace, span) = ids::of_episode(&answers.settings, &episode(7, 800, 30_000)).unwrap();
    assert_eq!(placed[0].1.trace_id, ids::hex(&trace));
    assert_eq!(placed[0].1.span_id, ids::hex(&span));
}

#[test]
fn only_what_is_counted_and_was_handed_over_stands_anywhere() {
    let counts = counted(&[700, 800]);
    let placed = |answers: &Answers, handed: Option<&BTreeSet<Arc<str>>>| {
        places(&Traced::of(answers, handed).durations(&counts))
    };
    let answers = group(vec![episode(3, 700, 10_000), episode(5, 750, 20_000)]);
    let first = handed(&group(vec![episode(3, 700, 10_000)]));
    assert_eq!(placed(&answers, Some(&first)), [(4, 0.7, 10_000)]);
    // Nowhere, or by another agent.
    assert_eq!(placed(&answers, None), []);
    assert_eq!(placed(&answers, Some(&BTreeSet::new())), []);
    // Its bucket counts nothing: another one was counted.
    let answers = group(vec![episode(3, 70, 10_000)]);
    assert_eq!(placed(&answers, Some(&handed(&answers))), []);
}

#[test]
fn phases_and_losses_are_those_that_were_counted() {
    let mut first = episode(3, 700, 10_000);
    first.polled.rounds = vec![PolledRound {
        generation: 3,
        join: Some(DurationAnswer::within(300, 200, 400)),
        stop: None,
        start: Some(DurationAnswer::exact(60)),
    }];
    first.rounds[0].sync = Some(DurationAnswer::exact(30));
    first.lost.longest = Some(DurationAnswer::at_least(11_000));
    let answers = group(vec![first]);
    let handed = handed(&answers);
    let traced = Traced::of(&answers, Some(&handed));
    let placed = |phase, ms| places(&traced.phases(phase, &counted(&[ms])));
    assert_eq!(placed(Phase::Join, 300), [(3, 0.3, 10_000)]);
    assert_eq!(placed(Phase::Sync, 30), [(0, 0.03, 10_000)]);
    assert_eq!(placed(Phase::Start, 60), [(1, 0.06, 10_000)]);
    assert_eq!(placed(Phase::Stop, 60), []);
    let lost = traced.losses(&counted(&[11_000]));
    assert_eq!(places(&lost), [(8, 11.0, 10_000)]);
}
