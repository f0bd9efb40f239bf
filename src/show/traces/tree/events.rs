//! What happened in an episode at one instant: who came and left, what was configured, what
//! may run twice.

use evenkeel_core::answers::{
    Cause, CauseAnswer, Confidence, DepartureAnswer, DepartureHow, DisagreementAnswer,
    DisagreementType, EpisodeAnswer, JoinedAnswer, TasksRoot,
};
use evenkeel_core::facts::time::EventTime;
use opentelemetry::trace::Event;

use super::{Attributes, Scene, instant};

/// All of them, by time.
pub(super) fn all(episode: &EpisodeAnswer, scene: Scene<'_>, closed: EventTime) -> Vec<Event> {
    let joined = episode.joined.iter().map(joined);
    let left = episode.departures.iter().map(left);
    let causes = episode.contributing.iter();
    let changed = causes.filter_map(|found| changed(episode, found));
    let during = episode.began..=closed;
    let zombies = scene.beside.disagreements.iter();
    let zombies = zombies.filter(|found| during.contains(&found.since));
    let mut events: Vec<Event> = joined
        .chain(left)
        .chain(changed)
        .chain(zombies.filter_map(zombie))
        .collect();
    events.sort_by_key(|event| event.timestamp);
    events
}

fn event(name: &'static str, at: EventTime, attributes: Attributes) -> Event {
    Event::new(name, instant(at.0), attributes.into_list(), 0)
}

fn joined(joined: &JoinedAnswer) -> Event {
    let attributes = Attributes::default()
        .text("evenkeel.worker", &joined.worker)
        .number("evenkeel.generation", joined.generation)
        .some("evenkeel.replaces", joined.replaces.as_deref())
        .truth("evenkeel.returned", joined.returned);
    event("member joined", joined.at, attributes)
}

fn left(left: &DepartureAnswer) -> Event {
    let (connectors, tasks) = left.owned;
    let mut attributes = Attributes::default()
        .text("evenkeel.worker", &left.worker)
        .number("evenkeel.generation", left.generation)
        .text("evenkeel.how", DepartureHow::label(left.how))
        .truth("evenkeel.settled", left.settled)
        .text("evenkeel.evidence", &left.evidence)
        .number("evenkeel.owned_connectors", connectors)
        .number("evenkeel.owned_tasks", tasks);
    if let Some((successor, generation)) = &left.successor {
        attributes = attributes
            .text("evenkeel.successor", successor)
            .number("evenkeel.successor_generation", *generation);
    }
    if let Some(generation) = left.returned {
        attributes = attributes.number("evenkeel.returned_generation", generation);
    }
    if let Some((from, to)) = left.died_between {
        // How long before it was found gone.
        attributes = attributes
            .number(
                "evenkeel.died_at_most_ms_before",
                left.gone_by.since_ms(from),
            )
            .number(
                "evenkeel.died_at_least_ms_before",
                left.gone_by.since_ms(to),
            );
    }
    event("member left", left.gone_by, attributes)
}

/// When the round of this generation was: that is known where nothing dates more.
fn round_of(episode: &EpisodeAnswer, generation: i32) -> EventTime {
    let mut rounds = episode.rounds.iter();
    let round = rounds.find(|round| round.generation == generation);
    round.map_or(episode.began, |round| {
        round.join_ended.unwrap_or(round.recorded)
    })
}

fn changed(episode: &EpisodeAnswer, found: &CauseAnswer) -> Option<Event> {
    let at = found
        .at
        .unwrap_or_else(|| round_of(episode, found.generation));
    let attributes = Attributes::default()
        .number("evenkeel.generation", found.generation)
        .text("evenkeel.evidence", &found.evidence);
    let change = match found.cause {
        Cause::ProtocolChanged => {
            let attributes = attributes.some("evenkeel.worker", found.subject.as_deref());
            return Some(event("protocol changed", at, attributes));
        }
        Cause::ConnectorCreated => "created",
        Cause::ConnectorDeleted => "deleted",
        Cause::TasksChanged => "tasks_changed",
        _ => return None,
    };
    let root = found.root.map(|root| match root {
        TasksRoot::Created => "created",
        TasksRoot::Reconfigured => "reconfigured",
        TasksRoot::Stopped => "stopped",
        TasksRoot::Resumed => "resumed",
        TasksRoot::Requested => "requested",
    });
    let attributes = attributes
        .some("evenkeel.connector", found.subject.as_deref())
        .text("evenkeel.change", change)
        .some("evenkeel.root", root);
    let attributes = match found.changed {
        Some(changed) => attributes.truth("evenkeel.content_changed", changed),
        None => attributes,
    };
    Some(event("connector changed", at, attributes))
}

/// Work that may run where it should not.
fn zombie(found: &DisagreementAnswer) -> Option<Event> {
    let runs = match found.kind {
        DisagreementType::RunningOnDepartedWorker
        | DisagreementType::RunningElsewhere
        | DisagreementType::DuplicateClaim
        | DisagreementType::TwoWriters
        | DisagreementType::PossibleOrphan
        | DisagreementType::AbandonedStop => true,
        DisagreementType::AssignedNotRunning
        | DisagreementType::UnassignedButOwned
        | DisagreementType::StatusFrozen => false,
    };
    let attributes = Attributes::default()
        .text("evenkeel.disagreement", found.kind.label())
        .text("evenkeel.connector", &found.item.connector)
        .text("evenkeel.worker", &found.worker)
        .text("evenkeel.confidence", Confidence::label(found.confidence))
        .text("evenkeel.evidence", &found.evidence);
    let attributes = match found.item.task {
        Some(task) => attributes.number("evenkeel.task", task),
        None => attributes,
    };
    runs.then(|| event("zombie suspected", found.since, attributes))
}
