//! The first sign of a round in the logs: its start is in no record, but what set it off
//! often is.

use crate::facts::ids::Protocol;
use crate::facts::time::EventTime;
use crate::limits::DELAY_EARLY_MS;
use crate::story::episodes::Sign;
use crate::story::steps::Turn;

/// The first sign of a step's round: a config record, a stop, the end of a delay; else the
/// end of its join phase.
#[must_use]
pub fn of(turn: &Turn<'_>, polled: Option<(EventTime, EventTime)>) -> Sign {
    let join_ended = turn.step.join_ended;
    let Some(before) = turn.step.before.as_deref() else {
        return Sign {
            at: join_ended,
            dated: false,
            join_ended,
            polled,
        };
    };
    let deadline = (before.delay_ms > 0)
        .then(|| before.recorded.plus_ms(i64::from(before.delay_ms)))
        .filter(|deadline| *deadline <= join_ended.plus_ms(DELAY_EARLY_MS));
    let leader = before.leader_member();
    let written = turn.changes().filter_map(|change| {
        let at = change.recorded?;
        let writer = leader.map_or("", |leader| &*leader.worker);
        Some(turn.placed(writer, at))
    });
    let led_to_it = written.chain(stops(turn, false)).chain(deadline).min();
    // Eager members who stay stop because the round has begun, some time ago.
    let followed = stops(turn, before.protocol == Some(Protocol::Eager)).min();
    let at = led_to_it.into_iter().chain(followed).min();
    Sign {
        at: at.unwrap_or(join_ended).min(join_ended),
        dated: led_to_it.is_some() && !is_undated(turn),
        join_ended,
        polled,
    }
}

/// Whether something set the round off, too, of which nothing says when: somebody came, or was
/// gone without a word; a revocation or an error was to be followed; a coordinator was lost.
fn is_undated(turn: &Turn<'_>) -> bool {
    let Some(before) = turn.step.before.as_deref() else {
        return true;
    };
    let silent = turn.leavers().any(|(place, old)| {
        let held = turn.held(place, old);
        let mut stops = held.iter().filter_map(|item| turn.stopped(*item, old));
        stops.next().is_none()
    });
    let follows = before.error.is_some()
        || before.members.iter().any(|old| !old.revoked.is_empty())
        || turn.step.missing.is_some();
    silent || follows || turn.newcomers().next().is_some() || turn.dropped_work().next().is_some()
}

/// The first stop that each member wrote between the two records: who leaves stops first,
/// and an eager member stops before it joins.
fn stops<'a>(turn: &'a Turn<'a>, eager: bool) -> impl Iterator<Item = EventTime> + 'a {
    let members = turn.before().iter().enumerate();
    let stopping = members.filter(move |(_, old)| eager || turn.present(&old.id).is_none());
    stopping.filter_map(move |(place, old)| {
        let held = turn.held(place, old);
        let written = held.iter().filter_map(|item| turn.stopped(*item, old));
        written.min().map(|at| turn.placed(&old.worker, at))
    })
}
