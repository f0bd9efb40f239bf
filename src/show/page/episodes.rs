//! The last rebalances of a group on the page, the newest first.

use evenkeel_core::answers::{EpisodeAnswer, EpisodeOutcome, EpisodeState, EpisodesAnswer};
use evenkeel_core::facts::time::ArrivalTime;

use super::group::ago;
use super::html::Html;
use crate::show::spans::lasted;

/// Episodes that are shown, the newest ones.
const EPISODES_MAX: usize = 8;

/// Writes the table, if there is anything to tell.
pub(super) fn write(out: &mut Html, episodes: &EpisodesAnswer, now: ArrivalTime) {
    let newest_first = episodes.open.iter().chain(episodes.closed.iter().rev());
    let shown: Vec<_> = newest_first.take(EPISODES_MAX).collect();
    if shown.is_empty() {
        return;
    }
    out.element("h3", "", "Last rebalances");
    out.table([
        "began",
        "why",
        "evidence",
        "generations",
        "active",
        "parked",
        "left",
        "lost",
        "outcome",
    ]);
    for episode in shown {
        out.row([
            ago(episode.began, now),
            why(episode),
            episode
                .contributing
                .first()
                .map_or_else(String::new, |found| found.evidence.clone()),
            generations(episode),
            lasted(&episode.polled.active.unwrap_or(episode.active)),
            if episode.parked.ms > 0 {
                lasted(&episode.parked)
            } else {
                String::new()
            },
            left(episode),
            lost(episode),
            outcome(episode).to_owned(),
        ]);
    }
    out.table_end();
}

fn why(episode: &EpisodeAnswer) -> String {
    let cause = episode.cause.label();
    let first = match &episode.subject {
        Some(subject) => format!("{cause} {subject}"),
        None => cause.to_owned(),
    };
    match episode.contributing.len().saturating_sub(1) {
        0 => first,
        more => format!("{first}, and {more} more"),
    }
}

fn generations(episode: &EpisodeAnswer) -> String {
    let (first, last) = (episode.first_generation, episode.last_generation);
    if first == last {
        first.to_string()
    } else {
        format!("{first} to {last}")
    }
}

fn left(episode: &EpisodeAnswer) -> String {
    let one = |departed: &evenkeel_core::answers::DepartureAnswer| {
        let how = departed.how.label();
        let settled = if departed.settled { "" } else { "?" };
        format!("{} {how}{settled}", departed.worker)
    };
    let mut left: Vec<String> = episode.departures.iter().take(3).map(one).collect();
    if episode.departures.len() > left.len() {
        left.push(format!("… {} in all", episode.departures.len()));
    }
    left.join(", ")
}

/// How much was lost, what became of it, and how long that took.
fn lost(episode: &EpisodeAnswer) -> String {
    let lost = &episode.lost;
    if lost.items == 0 {
        return String::new();
    }
    let ended = lost.ended.iter();
    let mut parts: Vec<String> = ended
        .map(|(end, count)| format!("{count} {}", end.label()))
        .collect();
    if lost.open > 0 {
        parts.push(format!("{} without an owner", lost.open));
    }
    if let Some(longest) = &lost.longest {
        parts.push(format!("the longest {}", lasted(longest)));
    }
    format!("{}: {}", lost.items, parts.join(", "))
}

fn outcome(episode: &EpisodeAnswer) -> &'static str {
    match (episode.outcome, episode.state) {
        (Some(outcome), _) => EpisodeOutcome::label(outcome),
        (None, EpisodeState::Parked) => "parked",
        (None, _) => "open",
    }
}
