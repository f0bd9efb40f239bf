//! Episodes in the log: a line when one begins, a line when it is over.

use std::sync::Arc;

use evenkeel_core::answers::{EpisodeAnswer, EpisodeOutcome, LossEnd};
use evenkeel_core::facts::input::Settings;
use tracing::{info, warn};

use crate::show::traces::ids;

/// An episode began: what it is about, as far as it is known.
pub(super) fn opened(group: &Arc<str>, episode: &EpisodeAnswer, settings: &Settings) {
    let trace_id = trace_id(settings, episode);
    let trace_id = trace_id.as_deref();
    let cause = episode.cause.label();
    let subject = episode.subject.as_deref().unwrap_or_default();
    let generation = episode.last_generation;
    let evidence = evidence(episode);
    info!(%group, episode = %episode.id, trace_id, cause, subject, generation, evidence, "rebalance began");
}

/// An episode is over: why it came about, what it took, what is left of it.
pub(super) fn closed(group: &Arc<str>, episode: &EpisodeAnswer, settings: &Settings) {
    let trace_id = trace_id(settings, episode);
    let trace_id = trace_id.as_deref();
    let cause = episode.cause.label();
    let subject = episode.subject.as_deref().unwrap_or_default();
    let outcome = episode.outcome.map_or("", EpisodeOutcome::label);
    let generations = episode.generations;
    let active = episode.polled.active.unwrap_or(episode.active);
    let (active_ms, parked_ms) = (active.ms, episode.parked.ms);
    let lost = episode.lost.items;
    let left: Vec<String> = episode
        .departures
        .iter()
        .map(|departed| format!("{} {}", departed.worker, departed.how.label()))
        .collect();
    let left = left.join(", ");
    let ended = |wanted: LossEnd| {
        let mut all = episode.lost.ended.iter();
        all.find(|(end, _)| *end == wanted)
            .map_or(0, |(_, count)| *count)
    };
    let (reclaimed, reassigned) = (ended(LossEnd::Reclaimed), ended(LossEnd::Reassigned));
    let evidence = evidence(episode);
    if episode.outcome == Some(EpisodeOutcome::Unresolved) {
        warn!(
            %group, episode = %episode.id, trace_id, cause, subject, outcome, generations, active_ms,
            parked_ms, left, lost, reclaimed, reassigned, evidence,
            "rebalance unresolved: nothing has moved for a minute, and something is pending"
        );
    } else {
        info!(
            %group, episode = %episode.id, trace_id, cause, subject, outcome, generations, active_ms,
            parked_ms, left, lost, reclaimed, reassigned, evidence, "rebalance over"
        );
    }
}

/// The id under which a receiver of traces has the episode, once it is over and was sent.
fn trace_id(settings: &Settings, episode: &EpisodeAnswer) -> Option<String> {
    ids::of_episode(settings, episode).map(|(trace, _)| ids::hex(&trace))
}

fn evidence(episode: &EpisodeAnswer) -> &str {
    let first = episode.contributing.first();
    first.map_or("", |found| found.evidence.as_str())
}
