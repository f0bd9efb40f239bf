//! Episodes: when they are over, and how long they were active.
//!
//! What no log shows, and is asked of no answer: when a join phase began that nothing dated.

use std::collections::BTreeMap;

use evenkeel_core::answers::{EpisodeAnswer, EpisodeOutcome};

use super::matched::{Matched, Step};
use super::phases::is_steady;
use crate::drive::Watched;

/// Milliseconds without any move after which an episode is unresolved.
const UNRESOLVED_MS: i64 = 60_000;
/// Milliseconds by which a clock may be off that nothing bounds.
const SLACK_MS: i64 = 5_000;

/// At rest no episode is open, unless a delay runs.
pub(super) fn at_rest(matched: &Matched<'_>, watched: &Watched) -> Result<(), String> {
    let open = watched.engine.answers().episodes.and_then(|all| all.open);
    let (Some(open), Some(newest)) = (open, matched.steps.last()) else {
        return Ok(());
    };
    if matched.truth.end.rest && newest.real.delay_ms == 0 {
        return Err(format!("{} is open: {open:?}", open.id));
    }
    Ok(())
}

/// Where an episode is unresolved, nothing moved for a minute.
pub(super) fn unresolved(matched: &Matched<'_>) -> Result<(), String> {
    for (place, episode) in matched.episodes.iter().enumerate() {
        if episode.outcome != Some(EpisodeOutcome::Unresolved) || !is_steady(matched) {
            continue;
        }
        let closed = episode.closed.ok_or("closed at no time")?.0;
        let quiet = (closed - UNRESOLVED_MS + 1)..closed;
        let truth = matched.truth;
        let round = truth.rounds.iter().find(|round| {
            round
                .recorded_ms
                .is_some_and(|at| quiet.contains(&truth.stamp(at)))
        });
        if let Some(round) = round {
            return Err(format!("{}: {} moved", episode.id, round.generation));
        }
        let last = matched.steps.iter().rfind(|step| step.episode == place);
        let told = last.map(|step| &step.real.members);
        let start = truth.starts.iter().find(|start| {
            let awaited = told.is_some_and(|members| {
                let mut members = members.iter();
                members.any(|(id, member)| {
                    start.member.as_ref() == Some(id)
                        && member.assigned.contains(&start.item)
                        && member.received_ms.is_some_and(|at| at <= start.from_ms)
                })
            });
            let near = matched.off_ms(&start.worker) < SLACK_MS;
            let off_ms = matched.off_ms(&start.worker);
            let quiet = (quiet.start + off_ms)..(quiet.end - off_ms);
            awaited
                && near
                && start
                    .until_ms
                    .is_some_and(|at| quiet.contains(&truth.stamp(at)))
        });
        if let Some(start) = start {
            return Err(format!("{}: {start:?}", episode.id));
        }
    }
    Ok(())
}

/// Active time is no less than is said to be certain, and, with `upper`, no more than is said
/// to be possible.
pub(super) fn active(matched: &Matched<'_>, upper: bool) -> Result<(), String> {
    if !is_steady(matched) {
        return Ok(());
    }
    for (place, episode) in matched.episodes.iter().enumerate() {
        let steps = matched.steps.iter().filter(|step| step.episode == place);
        let steps: Vec<&Step<'_>> = steps.collect();
        let Some((closed, parked)) = times(episode) else {
            continue;
        };
        // From the first preparation to the end, less what it was parked.
        let began_ms = steps.first().map_or(0, |step| step.prepared_ms);
        let first_ms = steps.first().map_or(0, |step| step.real.prepare_started_ms);
        let whole_ms = closed - matched.truth.stamp(began_ms.min(first_ms));
        let (least, most) = episode
            .active
            .between_ms
            .unwrap_or((episode.active.ms, i64::MAX));
        if least > whole_ms {
            return Err(format!("{}: {least} of {whole_ms} ms", episode.id));
        }
        let off_ms = steps.iter().flat_map(|step| step.real.members.values());
        let off_ms = off_ms
            .map(|member| matched.off_ms(&member.worker))
            .max()
            .unwrap_or(0);
        let unrest_ms = unrest(matched, &steps);
        if !upper {
            continue;
        }
        if off_ms == 0 && most.saturating_add(parked) < unrest_ms {
            return Err(format!(
                "{}: at most {most} and {parked} ms, not {unrest_ms}",
                episode.id
            ));
        }
        if off_ms == 0 && most < i64::MAX && whole_ms > most + parked {
            return Err(format!(
                "{}: {most} and {parked} of {whole_ms} ms",
                episode.id
            ));
        }
    }
    Ok(())
}

fn times(episode: &EpisodeAnswer) -> Option<(i64, i64)> {
    Some((episode.closed?.0, episode.parked.ms))
}

/// For how long certainly something was under way: rounds from their preparation to their
/// record.
fn unrest(matched: &Matched<'_>, steps: &[&Step<'_>]) -> i64 {
    let truth = matched.truth;
    let each = steps.iter().map(|step| {
        truth.stamp(step.real.recorded_ms.unwrap()) - truth.stamp(step.real.prepare_started_ms)
    });
    each.sum()
}

/// Counters add up: each closed episode, each generation, each measured phase once.
pub(super) fn counters(matched: &Matched<'_>, watched: &Watched) -> Result<(), String> {
    let counted = watched.engine.answers().counters;
    let mut closed = BTreeMap::new();
    for episode in &watched.closed {
        *closed.entry(episode.cause).or_insert(0_u64) += 1;
    }
    if counted.rebalances != closed {
        return Err(format!(
            "rebalances {:?}, not {closed:?}",
            counted.rebalances
        ));
    }
    if counted.rebalance_duration.count != closed.values().sum::<u64>() {
        return Err(format!("durations {:?}", counted.rebalance_duration));
    }
    let generations: u64 = counted.generations.values().sum();
    let told: u64 = matched
        .episodes
        .iter()
        .map(|episode| episode.generations)
        .sum();
    let missing: u64 = watched.missing.iter().map(|(_, count, _)| count).sum();
    let settled = u64::try_from(watched.settled.len()).unwrap();
    if generations != told || generations != settled + missing {
        return Err(format!(
            "{generations} generations are counted, {told} are in episodes, {settled} and \
             {missing} without a record were settled"
        ));
    }
    let departures: u64 = counted.departures.values().sum();
    let told = matched
        .episodes
        .iter()
        .flat_map(|episode| &episode.departures);
    // While work of a departed worker is lost it may come back.
    let told = told.filter(|departed| departed.settled).count();
    if departures != u64::try_from(told).unwrap() {
        return Err(format!(
            "{departures} departures are counted, and {told} told"
        ));
    }
    Ok(())
}
