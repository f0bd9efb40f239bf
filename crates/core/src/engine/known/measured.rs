//! How long things took in the group, where that is certain enough to be held against a clock.

use super::DELAY;
use crate::answers::{HabitAnswer, Outcome};
use crate::checks::known::{Known, Measured};
use crate::checks::source::{Source, Value};
use crate::engine::State;
use crate::limits::CHECK_RESTARTS_MIN;

/// How long things took, by the habits and the last rounds.
pub(super) fn measured(state: &State, known: &Known) -> Measured {
    let habits = state.story.habits.answer(&state.names);
    Measured {
        restart_ms: restart_ms(&habits.restarts, known),
        stop_ms: longest(&habits.stops),
        sync_ms: sync_ms(state),
        ..Measured::default()
    }
}

fn longest(habits: &[HabitAnswer]) -> Option<Value<i64>> {
    let most = habits.iter().map(|habit| habit.largest_ms).max()?;
    let count = habits.iter().map(|habit| habit.count).sum();
    Some(measured_ms(most, count))
}

fn restart_ms(restarts: &[HabitAnswer], known: &Known) -> Option<Value<i64>> {
    let longest = longest(restarts)?;
    let Source::Measured { count } = longest.source else {
        return None;
    };
    let at_least: u64 = restarts.iter().map(|habit| habit.at_least).sum();
    let delays = known
        .workers
        .iter()
        .filter_map(|worker| worker.number(DELAY));
    let is_too_long = delays
        .map(|delay| delay.value)
        .min()
        .is_some_and(|delay| longest.value > delay);
    let is_certain = is_too_long || at_least == 0;
    (is_certain && count >= CHECK_RESTARTS_MIN).then_some(longest)
}

/// From the end of a join until its assignment was there, where that was taken.
fn sync_ms(state: &State) -> Option<Value<i64>> {
    let completed = state
        .rounds
        .shown()
        .filter(|round| matches!(round.outcome, Some((Outcome::Completed, _))));
    let took = completed.filter_map(|round| {
        let record = round.record.as_deref()?;
        Some(record.recorded.since_ms(record.join_ended?))
    });
    let took: Vec<i64> = took.collect();
    let most = took.iter().copied().max()?;
    Some(measured_ms(
        most,
        u64::try_from(took.len()).unwrap_or(u64::MAX),
    ))
}

fn measured_ms(ms: i64, count: u64) -> Value<i64> {
    Value::new(ms, Source::Measured { count })
}
