//! Phases: what is said to lie in an interval lies there, whatever clock wrote it.
//!
//! What no log shows, and is asked of no answer: how far a clock is off that was set, or that
//! is held against another coordinator's, between the records that would tell.

use evenkeel_core::answers::{DurationAnswer, EpisodeRound};
use evenkeel_sim::item::Work;
use evenkeel_sim::truth::{StopWhy, TrueMember};

use super::matched::{Matched, Step};
use crate::drive::Watched;

/// Milliseconds between two things that one process does at once.
const AT_ONCE_MS: i64 = 1;

/// The leader's turn is exact: one clock stamps both its ends.
pub(super) fn sync(matched: &Matched<'_>) -> Result<(), String> {
    for step in &matched.steps {
        let real = step.real;
        let right_ms = matched.truth.stamp(real.recorded_ms.unwrap())
            - matched.truth.stamp(real.join_ended_ms);
        // Where nobody is left, nobody takes a turn.
        let right = (!real.members.is_empty()).then(|| DurationAnswer::exact(right_ms));
        if step.told.sync_ms != Some(right_ms) {
            return Err(format!("{}: sync {:?}", step.name(), step.told.sync_ms));
        }
        if let Some(shown) = matched.shown(step)
            && shown.sync != right
        {
            return Err(format!(
                "{}: sync {:?}, not {right:?}",
                step.name(),
                shown.sync
            ));
        }
    }
    Ok(())
}

/// Where polls saw the join phase begin, it began there.
pub(super) fn join(matched: &Matched<'_>) -> Result<(), String> {
    if !is_steady(matched) {
        return Ok(());
    }
    for step in &matched.steps {
        let real = step.real;
        let really_ms = real.join_ended_ms - real.prepare_started_ms;
        let episode = matched.episode(step);
        let mut polled = episode.polled.rounds.iter();
        // Numbers come again when the group is made anew.
        if matched.truth.lives.len() > 1 {
            continue;
        }
        let polled = polled.find(|round| round.generation == step.told.generation);
        let join = polled.and_then(|round| round.join);
        holds(join, really_ms).map_err(|what| format!("{}: join: {what}", step.name()))?;
    }
    Ok(())
}

/// What each worker took to stop and to start lies where it is said to.
pub(super) fn stops_and_starts(matched: &Matched<'_>) -> Result<(), String> {
    if !is_steady(matched) {
        return Ok(());
    }
    for step in &matched.steps {
        let Some(shown) = matched.shown(step) else {
            continue;
        };
        if is_recommitted(matched, step) {
            continue;
        }
        for (id, member) in &step.real.members {
            let twins = step
                .real
                .members
                .values()
                .filter(|m| m.worker == member.worker);
            let clock = matched.clock_of(&member.worker);
            if twins.count() > 1 || clock.is_none_or(|clock| !clock.steps.is_empty()) {
                continue;
            }
            let name = |what: String| format!("{} {}: {what}", step.name(), member.worker);
            worker(matched, step, shown, id, member).map_err(name)?;
        }
    }
    Ok(())
}

fn worker(
    matched: &Matched<'_>,
    step: &Step<'_>,
    shown: &EpisodeRound,
    id: &str,
    member: &TrueMember,
) -> Result<(), String> {
    let mut workers = shown.workers.iter();
    let Some(told) = workers.find(|told| *told.worker == *member.worker) else {
        return Ok(());
    };
    let recorded_ms = step.real.recorded_ms.unwrap();
    if let Some(last_ms) = last_start(matched, step, id, &member.assigned) {
        holds(told.start, last_ms - recorded_ms).map_err(|what| format!("start: {what}"))?;
    }
    let eager = step.before.is_none_or(|before| before.version == 0);
    if let Some(last_ms) = last_stop(matched, step, id, &member.revoked)
        && !eager
    {
        holds(told.stop, last_ms - recorded_ms).map_err(|what| format!("stop: {what}"))?;
    }
    Ok(())
}

/// When the last of its work said what became of it, if all did.
fn last_start(matched: &Matched<'_>, step: &Step<'_>, id: &str, work: &Work) -> Option<i64> {
    let recorded_ms = step.real.recorded_ms.unwrap();
    let starts = work.iter().map(|item| {
        let mut starts = matched.truth.starts.iter().filter(|start| {
            start.item == *item
                && start.member.as_deref() == Some(id)
                && start.from_ms >= recorded_ms
        });
        starts.find_map(|start| start.until_ms)
    });
    starts.collect::<Option<Vec<i64>>>()?.into_iter().max()
}

fn last_stop(matched: &Matched<'_>, step: &Step<'_>, id: &str, work: &Work) -> Option<i64> {
    let recorded_ms = step.real.recorded_ms.unwrap();
    let stops = work.iter().map(|item| {
        let mut stops = matched.truth.stops.iter().filter(|stop| {
            stop.item == *item
                && stop.member.as_deref() == Some(id)
                && stop.why == StopWhy::Revoked
                && stop.from_ms >= recorded_ms
        });
        stops.next().filter(|stop| !stop.stuck)?.until_ms
    });
    stops.collect::<Option<Vec<i64>>>()?.into_iter().max()
}

fn is_recommitted(matched: &Matched<'_>, step: &Step<'_>) -> bool {
    let from_ms = step.before.map_or(0, |before| before.prepare_started_ms);
    let mut changes = matched.truth.changes.iter();
    changes.any(|change| (from_ms..=step.real.recorded_ms.unwrap()).contains(&change.at_ms))
}

/// Each clock is off by what is said.
pub(super) fn skews(matched: &Matched<'_>, watched: &Watched) -> Result<(), String> {
    if !is_steady(matched) {
        return Ok(());
    }
    let at_ms = matched.truth.end.at_ms;
    let episodes = watched.engine.answers().episodes.unwrap_or_default();
    for told in &episodes.skews {
        let clock = matched
            .clock_of(&told.worker)
            .filter(|clock| clock.steps.is_empty());
        let Some(clock) = clock else { continue };
        let really_ms = clock.at(at_ms) - matched.truth.stamp(at_ms);
        let (least, most) = told.between_ms;
        let within = least.is_none_or(|least| least <= really_ms)
            && most.is_none_or(|most| really_ms <= most);
        if !within {
            return Err(format!("{told:?}, not {really_ms}"));
        }
    }
    Ok(())
}

/// Whether one clock, which nobody set, stamped all records of the group.
pub(super) fn is_steady(matched: &Matched<'_>) -> bool {
    let coordinators = &matched.truth.coordinators;
    let first = coordinators.first().map(|(_, clock)| clock);
    let same = |clock| Some(clock) == first;
    coordinators
        .iter()
        .all(|(_, clock)| same(clock) && clock.steps.is_empty())
}

fn holds(told: Option<DurationAnswer>, really_ms: i64) -> Result<(), String> {
    let Some((least, most)) = told.and_then(|told| told.between_ms) else {
        return Ok(());
    };
    let holds = least - AT_ONCE_MS <= really_ms && really_ms <= most + AT_ONCE_MS;
    holds
        .then_some(())
        .ok_or_else(|| format!("{told:?}, not {really_ms}"))
}
