//! How long things took in the group, where that is certain enough to be held against a clock.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::DELAY;
use crate::answers::{Bound, HabitAnswer, Outcome};
use crate::checks::known::{Known, Measured};
use crate::checks::source::{Source, Value};
use crate::engine::State;
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::facts::time::EventTime;
use crate::limits::{CHECK_RESTARTS_MIN, CHECK_START_GAP_MS};
use crate::story::rounds::Round;

/// How long things took, by the habits and the last rounds.
pub(super) fn measured(state: &State, known: &Known) -> Measured {
    let habits = state.story.habits.answer(&state.names);
    Measured {
        restart_ms: restart_ms(&habits.restarts, known),
        stop_ms: longest(&habits.stops),
        sync_ms: sync_ms(state),
        rebalance_ms: rebalance_ms(state),
        start_spread_ms: start_spread_ms(state, known),
    }
}

/// How long a single round certainly took, from the first sign of it to its record, of the
/// episodes that are over: an episode may be many rounds, each completed soon. The first sign
/// may be by a worker's clock: no round is taken to be longer than its episode certainly was.
fn rebalance_ms(state: &State) -> Option<Value<i64>> {
    let lasted = state.story.episodes.closed().flat_map(|episode| {
        let active = episode.active;
        let certain_ms = match active.bound {
            Bound::Exact | Bound::AtLeast => active.ms,
            Bound::Poll => active.between_ms.map_or(0, |(least, _)| least),
            Bound::AtMost => 0,
        };
        episode.rounds.iter().filter_map(move |round| {
            let began = round.began.or(round.join_ended)?;
            Some(round.recorded.since_ms(began).clamp(0, certain_ms.max(0)))
        })
    });
    longest_of(lasted.collect())
}

/// How far apart workers certainly started. A start is the first generation of a group that
/// was empty, and those after it as long as each brings somebody new, soon.
///
/// The coordinator ends the first join no sooner than the initial delay after somebody
/// joined (`GroupCoordinatorService`: `min(initial delay, rebalance timeout)`), and whoever
/// came after its record was no part of it.
fn start_spread_ms(state: &State, known: &Known) -> Option<Value<i64>> {
    let rounds: Vec<&Round> = state.rounds.shown().collect();
    let spreads = rounds.iter().enumerate().filter_map(|(place, round)| {
        let first = round.record.as_deref().filter(|r| !r.members.is_empty())?;
        let was_empty = match place.checked_sub(1).map(|before| rounds[before]) {
            Some(before) if before.incarnation == round.incarnation => {
                let record = before.record.as_deref();
                record.is_some_and(|record| record.members.is_empty())
            }
            _ => round.generation <= 1,
        };
        let joined = first.join_ended.filter(|_| was_empty)?;
        let waited_ms = known.broker.initial_delay_ms.as_ref().map_or(0, |delay| {
            let timeouts = first.members.iter().map(|m| m.rebalance_timeout_ms);
            delay.value.min(timeouts.max().map_or(0, i64::from))
        });
        let after = rounds.get(place.saturating_add(1)..).unwrap_or_default();
        let last = last_of_start(round, first, after);
        let apart_ms = last.map_or(0, |before_last| {
            before_last
                .since_ms(joined)
                .max(0)
                .saturating_add(waited_ms)
        });
        Some(apart_ms)
    });
    longest_of(spreads.collect())
}

/// The record before the one that brings the last worker of a start.
fn last_of_start(round: &Round, first: &GroupSnapshot, after: &[&Round]) -> Option<EventTime> {
    let mut seen: BTreeSet<&str> = first.members.iter().map(|m| &*m.worker).collect();
    let mut before = first;
    let mut arrived = first.recorded;
    let mut last = None;
    for next in after {
        let record = next.record.as_deref();
        let follows = |record: &&GroupSnapshot| {
            next.incarnation == round.incarnation
                && before.generation.checked_add(1) == Some(record.generation)
                && record.recorded.since_ms(arrived) <= CHECK_START_GAP_MS
        };
        let Some(record) = record.filter(follows) else {
            break;
        };
        // Who is back at its old address was restarted, or thrown out.
        let comes = |member: &Arc<Member>| !matches!(member.claim, Claim::Items(_));
        let is_new = |member: &&Arc<Member>| comes(member) && !seen.contains(&*member.worker);
        if record.members.iter().any(|member| is_new(&member)) {
            last = Some(before.recorded);
            arrived = record.recorded;
        }
        seen.extend(record.members.iter().map(|member| &*member.worker));
        before = record;
    }
    last
}

fn longest_of(all: Vec<i64>) -> Option<Value<i64>> {
    let most = all.iter().copied().max()?;
    let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
    Some(measured_ms(most, count))
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
    longest_of(took.collect())
}

fn measured_ms(ms: i64, count: u64) -> Value<i64> {
    Value::new(ms, Source::Measured { count })
}
