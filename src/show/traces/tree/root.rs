//! The outermost span: what the episode was, why it came about, what it cost.

use evenkeel_core::answers::{DurationAnswer, EpisodeAnswer, EpisodeOutcome, LossEnd, Pattern};
use evenkeel_core::facts::time::EventTime;
use opentelemetry::trace::{Link, Status};

use super::fit::Chosen;
use super::rounds::DURATION;
use super::{Attributes, Draft, EVENTS_MAX, Scene, context, events};
use crate::show::traces::ids::{self, ROOT};

/// Why an episode is an error.
const UNRESOLVED: &str =
    "something is pending, nothing is scheduled, and nothing moved for a minute";

pub(super) fn draft(
    episode: &EpisodeAnswer,
    scene: Scene<'_>,
    chosen: &Chosen,
    inner: &[Draft],
    closed: EventTime,
) -> Draft {
    // A join that polls saw begin may have begun before the first sign in the logs.
    let first_ms = inner.iter().map(|draft| draft.start_ms).min();
    let start_ms = first_ms.map_or(episode.began.0, |first| first.min(episode.began.0));
    let attributes = what(episode, scene);
    let attributes = cost(episode, attributes);
    let attributes = left_out(episode, chosen, attributes);
    let mut draft = Draft::new(ROOT, None, ROOT, (start_ms, closed.0), attributes);
    let mut events = events::all(episode, scene, closed);
    let over = events.len().saturating_sub(EVENTS_MAX);
    // The last of them say how it ended, the first how it began.
    events.truncate(EVENTS_MAX);
    draft.events.events = events;
    draft.events.dropped_count = u32::try_from(over).unwrap_or(u32::MAX);
    draft.links.links.extend(before(episode, scene));
    if episode.outcome == Some(EpisodeOutcome::Unresolved) {
        draft.status = Status::error(UNRESOLVED);
    }
    draft
}

fn what(episode: &EpisodeAnswer, scene: Scene<'_>) -> Attributes {
    let first = episode.contributing.first();
    let contributing = episode.contributing.iter().skip(1).map(|found| {
        let (cause, generation) = (found.cause.label(), found.generation);
        match &found.subject {
            Some(subject) => format!("{cause} {subject} (generation {generation})"),
            None => format!("{cause} (generation {generation})"),
        }
    });
    let polled = episode.polled.active;
    // By the coordinator's clock alone: from the first sign to the last record.
    let last = episode.rounds.last().map(|round| round.recorded);
    let certain_ms = last.map_or(0, |last| last.since_ms(episode.began));
    Attributes::default()
        .text("messaging.system", "kafka")
        .text("messaging.consumer.group.name", &scene.settings.group)
        .some("evenkeel.cluster_id", scene.settings.cluster_id.as_deref())
        .text("evenkeel.episode", &episode.id)
        .text("evenkeel.cause", episode.cause.label())
        .some("evenkeel.subject", episode.subject.as_deref())
        .some("evenkeel.evidence", first.map(|found| &*found.evidence))
        .texts("evenkeel.contributing", contributing)
        .some(
            "evenkeel.outcome",
            episode.outcome.map(EpisodeOutcome::label),
        )
        .text("evenkeel.pattern", Pattern::label(scene.beside.pattern))
        .number("evenkeel.generations", episode.generations)
        .number("evenkeel.first_generation", episode.first_generation)
        .number("evenkeel.last_generation", episode.last_generation)
        .bound(DURATION, DurationAnswer::at_least(certain_ms))
        .duration("evenkeel.active", polled.unwrap_or(episode.active))
        .duration("evenkeel.parked", episode.parked)
}

fn cost(episode: &EpisodeAnswer, attributes: Attributes) -> Attributes {
    let (cost, lost) = (episode.cost, &episode.lost);
    let mut attributes = attributes
        .number("evenkeel.tasks_stopped", cost.stopped)
        .count("evenkeel.tasks_still_stopped", cost.still);
    if let Some(lasted) = cost.still_ms {
        attributes = attributes
            .seconds("evenkeel.task_seconds_lost", lasted.ms)
            .bound("evenkeel.task_seconds_lost", lasted);
    }
    attributes = attributes
        .count("evenkeel.lost_work", lost.items)
        .count("evenkeel.lost_work_open", lost.open);
    for (end, count) in &lost.ended {
        let name = match end {
            LossEnd::Reclaimed => "evenkeel.lost_work_reclaimed",
            LossEnd::Reassigned => "evenkeel.lost_work_reassigned",
            LossEnd::Removed => "evenkeel.lost_work_removed",
            LossEnd::GroupGone => "evenkeel.lost_work_group_gone",
        };
        attributes = attributes.count(name, *count);
    }
    match lost.longest {
        Some(longest) => attributes.duration("evenkeel.lost_work_longest", longest),
        None => attributes,
    }
}

fn left_out(episode: &EpisodeAnswer, chosen: &Chosen, attributes: Attributes) -> Attributes {
    let left_out = episode.left_out;
    let members = left_out.departures.saturating_add(left_out.joined);
    attributes
        .count("evenkeel.left_out.rounds", left_out.rounds)
        .count("evenkeel.left_out.worker_spans", chosen.workers_left_out)
        .count("evenkeel.left_out.task_spans", chosen.tasks_left_out)
        .count("evenkeel.left_out.member_events", members)
        .count("evenkeel.left_out.causes", episode.causes_left_out)
}

/// The episode that this one goes on with.
fn before(episode: &EpisodeAnswer, scene: Scene<'_>) -> Option<Link> {
    let before = episode.follows.as_deref()?;
    let trace = ids::of_id(scene.settings, before)?;
    let root = context(trace, ids::span_id(trace, ROOT));
    let attributes = Attributes::default().text("evenkeel.episode", before);
    Some(Link::new(root, attributes.into_list(), 0))
}
