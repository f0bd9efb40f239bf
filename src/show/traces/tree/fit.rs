//! Makes a trace fit: which workers and tasks get a span of their own where there are too many,
//! and that a child lies inside its parent.
//!
//! 1. Every round that the episode holds has its span, its join, its sync and its delay: at
//!    most 32 of each (`limits::EPISODE_ROUNDS_SHOWN_MAX`), the last of a storm.
//! 2. Of stops and starts of workers the slowest of the whole episode, at most `WORKERS_MAX`.
//! 3. Of the slowest tasks of each round those whose worker has a span, at most `TASKS_MAX`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_core::answers::{EpisodeAnswer, Phase};

use super::{Draft, instant};

/// Stops and starts of workers that have a span.
const WORKERS_MAX: usize = 256;

/// Tasks that have one.
const TASKS_MAX: usize = 96;

/// Place of the round, phase, worker.
pub(super) type WorkerKey = (usize, Phase, Arc<str>);

/// What has a span of its own, and how much has none.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) workers: BTreeSet<WorkerKey>,
    /// Place of the round, place in its list of the slowest.
    pub(super) tasks: BTreeSet<(usize, usize)>,
    pub(super) workers_left_out: usize,
    pub(super) tasks_left_out: usize,
}

pub(super) fn choose(episode: &EpisodeAnswer) -> Chosen {
    let mut workers: Vec<(Reverse<i64>, WorkerKey)> = Vec::new();
    let mut tasks: Vec<(Reverse<i64>, usize, usize)> = Vec::new();
    for (place, round) in episode.rounds.iter().enumerate() {
        for worker in &round.workers {
            let works = [(Phase::Stop, worker.stops), (Phase::Start, worker.starts)];
            for (phase, work) in works {
                if let Some(work) = work {
                    let took = Reverse(work.by.since_ms(work.from));
                    workers.push((took, (place, phase, Arc::clone(&worker.worker))));
                }
            }
        }
        let slowest = round.slowest.iter().enumerate();
        tasks.extend(slowest.map(|(nth, item)| (Reverse(item.by.since_ms(item.from)), place, nth)));
    }
    workers.sort_unstable();
    let workers_left_out = workers.len().saturating_sub(WORKERS_MAX);
    workers.truncate(WORKERS_MAX);
    let workers: BTreeSet<WorkerKey> = workers.into_iter().map(|(_, key)| key).collect();
    tasks.sort_unstable();
    let all = tasks.len();
    let has_worker = |(_, place, nth): &(Reverse<i64>, usize, usize)| {
        let round = episode.rounds.get(*place);
        let item = round.and_then(|round| round.slowest.get(*nth));
        item.is_some_and(|item| workers.contains(&(*place, item.phase, Arc::clone(&item.worker))))
    };
    tasks.retain(has_worker);
    tasks.truncate(TASKS_MAX);
    Chosen {
        workers,
        workers_left_out,
        tasks_left_out: all - tasks.len(),
        tasks: tasks
            .into_iter()
            .map(|(_, place, nth)| (place, nth))
            .collect(),
    }
}

/// Puts children inside their parents, which come before them. Clocks of workers are known in
/// an interval only, so a status may seem to lie a little outside of what it is part of.
pub(super) fn inside(drafts: &mut [Draft]) {
    let mut spans: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for draft in drafts {
        let parent = draft.parent.as_deref().and_then(|parent| spans.get(parent));
        if let Some((start_ms, end_ms)) = parent.copied() {
            draft.start_ms = draft.start_ms.clamp(start_ms, end_ms);
            draft.end_ms = draft.end_ms.clamp(draft.start_ms, end_ms);
        }
        let (start, end) = (instant(draft.start_ms), instant(draft.end_ms));
        for event in &mut draft.events.events {
            event.timestamp = event.timestamp.clamp(start, end);
        }
        spans.insert(draft.key.clone(), (draft.start_ms, draft.end_ms));
    }
}
