//! `/api/v1/episodes`: the episodes that are remembered, newest first, narrowed by what the
//! query asks for. What it asks for and is not understood is an error, all of it at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use evenkeel_core::answers::{Answers, Cause, EpisodeAnswer};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};
use serde::Serialize;

use super::{NoSuchGroup, json};
use crate::show::health::health;
use crate::show::traces::Named;
use crate::show::view::Published;

/// The names that a query may have.
const NAMES: [&str; 6] = ["group", "since", "until", "cause", "worker", "connector"];

/// The least that is taken for an instant: 1973.
const INSTANT_MS_MIN: i64 = 100_000_000_000;

#[derive(Debug, Serialize)]
struct Episodes<'a> {
    now: ArrivalTime,
    groups: Vec<GroupEpisodes<'a>>,
}

#[derive(Debug, Serialize)]
struct GroupEpisodes<'a> {
    group: &'a str,
    /// Whether what is said is current; the past stays true when it is not.
    current: bool,
    /// The oldest instant since which the history is whole.
    whole_since: Option<EventTime>,
    /// Absent where the group's records are not read: without them nobody knows.
    episodes: Option<Vec<Named<'a>>>,
}

#[derive(Debug, Serialize)]
struct Mistakes {
    errors: Vec<String>,
}

/// What a query asks for.
#[derive(Debug, Default)]
struct Wanted {
    group: Option<String>,
    since: Option<EventTime>,
    until: Option<EventTime>,
    causes: Vec<Cause>,
    worker: Option<String>,
    connector: Option<String>,
}

/// Status and body for a query of these names and values.
pub(in crate::show) fn episodes(
    published: &Published,
    now: ArrivalTime,
    query: &[(String, String)],
) -> (u16, String) {
    let wanted = match Wanted::read(query, now) {
        Ok(wanted) => wanted,
        Err(errors) => return (400, json(&Mistakes { errors })),
    };
    let is_wanted = |answers: &&Arc<Answers>| {
        let name = wanted.group.as_deref();
        name.is_none_or(|name| answers.settings.group == name)
    };
    let groups: Vec<_> = published
        .groups
        .iter()
        .filter(is_wanted)
        .map(|answers| GroupEpisodes {
            group: &answers.settings.group,
            current: health(answers, now).current,
            whole_since: answers.whole_since,
            episodes: wanted.of(answers),
        })
        .collect();
    if let (Some(name), true) = (&wanted.group, groups.is_empty()) {
        let known = published.groups.iter();
        return (
            404,
            json(&NoSuchGroup {
                error: format!("no group {name} is watched here"),
                groups: known
                    .map(|answers| answers.settings.group.as_str())
                    .collect(),
            }),
        );
    }
    (200, json(&Episodes { now, groups }))
}

// === impl Wanted ===

impl Wanted {
    fn read(query: &[(String, String)], now: ArrivalTime) -> Result<Self, Vec<String>> {
        let mut wanted = Self::default();
        let mut errors = Vec::new();
        let mut seen = BTreeSet::new();
        for (name, value) in query {
            if name != "cause" && !seen.insert(name.as_str()) {
                errors.push(format!(
                    "{name}: asked for more than once; only cause may be"
                ));
                continue;
            }
            if value.is_empty() && NAMES.contains(&name.as_str()) {
                errors.push(format!("{name}: nothing is asked for"));
                continue;
            }
            match name.as_str() {
                "group" => wanted.group = Some(value.clone()),
                "worker" => wanted.worker = Some(value.clone()),
                "connector" => wanted.connector = Some(value.clone()),
                "since" | "until" => match instant(value, now) {
                    Some(at) if name == "since" => wanted.since = Some(at),
                    Some(at) => wanted.until = Some(at),
                    None => errors.push(format!(
                        "{name}: {value:?} is neither milliseconds since 1970 nor a time ago \
                         such as 90s, 15m, 2h or 1d"
                    )),
                },
                "cause" => match Cause::ALL.into_iter().find(|cause| cause.label() == value) {
                    Some(cause) => wanted.causes.push(cause),
                    None => errors.push(format!(
                        "cause: {value:?} is none; there are {}",
                        Cause::ALL.map(Cause::label).join(", ")
                    )),
                },
                other => errors.push(format!(
                    "{other:?} is not asked for here; there are {}",
                    NAMES.join(", ")
                )),
            }
        }
        if errors.is_empty() {
            Ok(wanted)
        } else {
            Err(errors)
        }
    }

    fn of<'a>(&self, answers: &'a Answers) -> Option<Vec<Named<'a>>> {
        let all = answers.episodes.as_ref()?;
        let newest_first = all.open.iter().chain(all.closed.iter().rev());
        Some(
            newest_first
                .map(|episode| &**episode)
                .filter(|episode| self.fits(episode))
                .map(|episode| Named::of(&answers.settings, episode))
                .collect(),
        )
    }

    fn fits(&self, episode: &EpisodeAnswer) -> bool {
        let before = self.until.is_none_or(|until| episode.began <= until);
        let after = self
            .since
            .is_none_or(|since| episode.closed.is_none_or(|closed| closed >= since));
        let caused = self.causes.is_empty()
            || episode
                .contributing
                .iter()
                .any(|found| self.causes.contains(&found.cause));
        let worker = self.worker.as_deref();
        let connector = self.connector.as_deref();
        before
            && after
            && caused
            && worker.is_none_or(|worker| is_about_worker(episode, worker))
            && connector.is_none_or(|connector| is_about_connector(episode, connector))
    }
}

fn is_about_worker(episode: &EpisodeAnswer, worker: &str) -> bool {
    let subject = episode
        .contributing
        .iter()
        .any(|found| found.subject.as_deref() == Some(worker) && !is_of_connector(found.cause));
    let departed = episode.departures.iter().any(|departed| {
        let successor = departed.successor.as_ref();
        &*departed.worker == worker || successor.is_some_and(|(name, _)| &**name == worker)
    });
    let worked = |round: &evenkeel_core::answers::EpisodeRound| {
        round.workers.iter().any(|phases| &*phases.worker == worker)
    };
    subject || departed || episode.rounds.iter().any(worked)
}

fn is_about_connector(episode: &EpisodeAnswer, connector: &str) -> bool {
    episode
        .contributing
        .iter()
        .any(|found| found.subject.as_deref() == Some(connector) && is_of_connector(found.cause))
}

fn is_of_connector(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::ConnectorCreated | Cause::ConnectorDeleted | Cause::TasksChanged
    )
}

/// Milliseconds since 1970, or a time ago.
fn instant(text: &str, now: ArrivalTime) -> Option<EventTime> {
    if let Ok(ms) = text.parse::<i64>() {
        // A number that small is a duration whose unit was forgotten.
        return (ms >= INSTANT_MS_MIN).then_some(EventTime(ms));
    }
    let unit = text.chars().next_back()?;
    let number = text.strip_suffix(unit)?.parse::<u32>().ok()?;
    let number = i64::from(number);
    let unit_ms = match unit {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return None,
    };
    let ago_ms = number.checked_mul(unit_ms)?;
    Some(EventTime(now.0.checked_sub(ago_ms)?))
}

#[cfg(test)]
mod tests;
