//! Habits: as many as there were, and no longer than it took.

use evenkeel_core::answers::HabitAnswer;
use evenkeel_sim::truth::{TrueRound, TrueStart, TrueStop};

use super::matched::Matched;
use crate::drive::Watched;

/// Most samples of one subject that are kept.
const SAMPLES_MAX: u64 = 20;
/// Most departures that an episode shows.
const SHOWN_MAX: usize = 50;
/// Milliseconds by which a clock that is known may still be off, and a record late.
const SLACK_MS: i64 = 200;

/// Every departure with a successor is a restart.
pub(super) fn restarts(matched: &Matched<'_>, watched: &Watched) -> Result<(), String> {
    let habits = watched.engine.answers().habits.ok_or("no habits")?;
    let departures = matched.episodes.iter().flat_map(|e| &e.departures);
    let replaced: Vec<_> = departures.filter(|d| d.successor.is_some()).collect();
    let counted: u64 = habits.restarts.iter().map(|habit| habit.count).sum();
    let full = habits.restarts.iter().any(|h| h.count == SAMPLES_MAX);
    let cut = matched
        .episodes
        .iter()
        .any(|e| e.departures.len() >= SHOWN_MAX);
    let right = u64::try_from(replaced.len()).unwrap();
    if !full && !cut && counted != right {
        return Err(format!("{counted} restarts of {replaced:?}"));
    }
    // From when it is missed at the latest to the record that has its successor.
    let least = replaced.iter().filter_map(|departed| {
        let (worker, generation) = departed.successor.as_ref()?;
        let mut steps = matched.steps.iter();
        let step = steps.find(|step| {
            let members = step.told.members.iter();
            let mut members = members.filter(|member| member.worker == *worker);
            let after = step.told.recorded >= Some(departed.gone_by);
            after && step.told.generation == *generation && members.next().is_some()
        })?;
        Some(step.told.join_ended?.since_ms(departed.gone_by))
    });
    let least = least.max().unwrap_or(0);
    let largest = habits.restarts.iter().map(|habit| habit.largest_ms).max();
    if !full && !cut && largest.unwrap_or(0) < least {
        return Err(format!("the largest is {largest:?}, and one took {least}"));
    }
    Ok(())
}

/// None took longer than the slowest piece of that connector, and there are no more than
/// there were.
pub(super) fn starts_and_stops(matched: &Matched<'_>, watched: &Watched) -> Result<(), String> {
    let habits = watched.engine.answers().habits.ok_or("no habits")?;
    let workers = matched.truth.rounds.iter().flat_map(|r| r.members.values());
    let off_ms = workers
        .map(|m| matched.off_ms(&m.worker))
        .max()
        .unwrap_or(0);
    if off_ms > 5_000 {
        // Nothing bounds such a clock well.
        return Ok(());
    }
    let from = |at_ms: i64| {
        let recorded = |round: &&TrueRound| round.recorded_ms.is_some_and(|r| r <= at_ms);
        let newest = matched.truth.rounds.iter().filter(recorded);
        newest
            .filter_map(|round| round.recorded_ms)
            .max()
            .unwrap_or(at_ms)
    };
    let took = |from_ms: i64, until_ms: Option<i64>| until_ms.map(|until| until - from(from_ms));
    let bound = |habit: &HabitAnswer, all: Vec<i64>, what: &str| {
        let slowest = all.iter().max().copied().unwrap_or(0);
        let most_ms = slowest + SLACK_MS + 2 * off_ms;
        let many = u64::try_from(all.len()).unwrap();
        (habit.largest_ms <= most_ms && habit.count <= many)
            .then_some(())
            .ok_or_else(|| format!("{what} {habit:?}, and {many} took {slowest} ms at most"))
    };
    for habit in &habits.starts {
        let of_it = |start: &&TrueStart| start.item.connector == habit.subject;
        let starts = matched.truth.starts.iter().filter(of_it);
        let all = starts.filter_map(|start| took(start.from_ms, start.until_ms));
        bound(habit, all.collect(), "starts")?;
    }
    for habit in &habits.stops {
        let of_it = |stop: &&TrueStop| stop.item.connector == habit.subject;
        let stops = matched.truth.stops.iter().filter(of_it);
        let all = stops.filter_map(|stop| took(stop.from_ms, stop.until_ms));
        bound(habit, all.collect(), "stops")?;
    }
    Ok(())
}
