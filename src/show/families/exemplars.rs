//! Exemplars: for each bucket of a histogram the newest episode of which it counts a value,
//! by its trace.
//!
//! Only an episode whose trace this agent handed to its sender has one. Whether another agent
//! sends a trace is not known here: the worker that led may have none beside it, or one that
//! reads less. They are made of the episodes that are kept and shown: what is forgotten there
//! is not referred to here.

use std::collections::BTreeSet;
use std::sync::Arc;

use evenkeel_core::answers::{self, Answers, DurationAnswer, EpisodeAnswer, Phase, PolledRound};
use evenkeel_core::facts::input::Settings;
use evenkeel_core::facts::time::EventTime;

use super::Exemplar;
use super::episodes::seconds;
use crate::show::traces::ids;

/// The episodes that values can be traced to.
#[derive(Debug)]
pub(super) struct Traced<'a> {
    settings: &'a Settings,
    /// Newest first.
    episodes: Vec<(&'a EpisodeAnswer, EventTime)>,
}

/// A value of an episode, and when it closed.
type Counted<'a> = (i64, &'a EpisodeAnswer, EventTime);

// === impl Traced ===

impl<'a> Traced<'a> {
    /// Those of a group whose trace was handed to the sender, by their ids.
    pub(super) fn of(answers: &'a Answers, handed: Option<&BTreeSet<Arc<str>>>) -> Self {
        let episodes = answers.episodes.iter();
        let closed = episodes.flat_map(|all| all.closed.iter().rev());
        let traced = closed.filter(|one| handed.is_some_and(|handed| handed.contains(&one.id)));
        Self {
            settings: &answers.settings,
            episodes: traced
                .filter_map(|episode| Some((&**episode, episode.closed?)))
                .collect(),
        }
    }

    /// Of the duration of episodes.
    pub(super) fn durations(&self, counted: &answers::Histogram) -> Vec<(usize, Exemplar)> {
        self.place(
            counted,
            self.episodes.iter().map(|&(episode, closed)| {
                let active = episode.polled.active.unwrap_or(episode.active);
                (active.ms, episode, closed)
            }),
        )
    }

    /// Of a phase of their rounds, the newest round of each first.
    pub(super) fn phases(
        &self,
        phase: Phase,
        counted: &answers::Histogram,
    ) -> Vec<(usize, Exemplar)> {
        self.place(
            counted,
            self.episodes.iter().flat_map(|&(episode, closed)| {
                let polled = episode.polled.rounds.iter().rev();
                let polled = polled.filter_map(move |round| of_polled(round, phase));
                let exact = episode.rounds.iter().rev();
                let exact = exact
                    .filter(move |_| phase == Phase::Sync)
                    .filter_map(|round| round.sync);
                polled
                    .chain(exact)
                    .filter(DurationAnswer::is_measured)
                    .map(move |lasted| (lasted.ms, episode, closed))
            }),
        )
    }

    /// Of work that was lost in them: the longest of each.
    pub(super) fn losses(&self, counted: &answers::Histogram) -> Vec<(usize, Exemplar)> {
        self.place(
            counted,
            self.episodes.iter().filter_map(|&(episode, closed)| {
                let longest = episode.lost.longest?;
                Some((longest.ms, episode, closed))
            }),
        )
    }

    /// The first for each bucket that counts anything.
    fn place<'b>(
        &self,
        counted: &answers::Histogram,
        values: impl Iterator<Item = Counted<'b>>,
    ) -> Vec<(usize, Exemplar)> {
        let mut placed: Vec<(usize, Counted<'b>)> = Vec::new();
        for value in values {
            let bucket = answers::Histogram::bucket(value.0);
            let is_taken = placed.iter().any(|(of, _)| *of == bucket);
            if !is_taken && counted.in_bucket(bucket) > 0 {
                placed.push((bucket, value));
            }
        }
        placed.sort_unstable_by_key(|(bucket, _)| *bucket);
        let exemplar = |(bucket, (ms, episode, closed)): (usize, Counted<'b>)| {
            let (trace, span) = ids::of_episode(self.settings, episode)?;
            let exemplar = Exemplar {
                trace_id: ids::hex(&trace),
                span_id: ids::hex(&span),
                value: seconds(u64::try_from(ms).unwrap_or(0)),
                at_ms: closed.0,
            };
            Some((bucket, exemplar))
        };
        placed.into_iter().filter_map(exemplar).collect()
    }
}

fn of_polled(round: &PolledRound, phase: Phase) -> Option<DurationAnswer> {
    match phase {
        Phase::Join => round.join,
        Phase::Sync => None,
        Phase::Stop => round.stop,
        Phase::Start => round.start,
    }
}

#[cfg(test)]
mod tests;
