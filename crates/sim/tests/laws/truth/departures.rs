//! Departures: who left and how, and who came in its place.
//!
//! What no log shows, and is asked of no answer:
//! - that a process which wrote the stop of all it had was killed before it could leave, or
//!   was frozen after it had stopped its work for another reason: it went in good order;
//! - what a worker wrote whose clock, or whose coordinator's, is off by seconds, or was set, as
//!   long as nothing bounds by how much;
//! - when within a join phase a member was removed: one that left in good order, but gave up
//!   part of its work, was cut short if that join phase ended a session after its last stop,
//!   and is unknown if it ended after a time that fits both;
//! - that one whose stops were all given up, or were of tasks that had failed, was asked to
//!   stop: it wrote nothing;
//! - that a silent process lives, until it comes back with its claim;
//! - how somebody left who had nothing that writes when it stops, or whose address another
//!   member has, too;
//! - who is the successor of whom among newcomers with other addresses: the only newcomer
//!   beside the only place is taken for it.

use evenkeel_core::answers::{DepartureAnswer, DepartureHow};
use evenkeel_sim::item::Item;
use evenkeel_sim::truth::{ChangeWhat, How, StopWhy, TrueDeparture, TrueRound};

use super::causes::departure;
use super::matched::{Matched, Step};

/// Two thirds of the session timeout of every slot: heartbeats come at least that often.
const SESSION_LEAST_MS: i64 = 6_666;

/// Who leaves by itself waits 5 s for what does not heed its stop, by default, and the others
/// hear of it with their next heartbeat: up to here either may be.
const LEFT_MOST_MS: i64 = 8_333;

/// The session timeout of every slot, and the shortest rebalance timeout of any: nobody is
/// thrown out sooner after a join phase than the lesser of both.
const SESSION_MS: i64 = 10_000;
const REBALANCE_LEAST_MS: i64 = 6_000;
/// Milliseconds by which a clock may be off before what it stamps proves nothing.
const SLACK_MS: i64 = 5_000;
/// Milliseconds in which somebody may come in a departed worker's place.
const WINDOW_MS: i64 = 600_000;
/// Most departures that an episode shows.
const SHOWN_MAX: usize = 50;

/// Everyone who left is told, once, as it left.
pub(super) fn all_are_told(matched: &Matched<'_>) -> Result<(), String> {
    for (place, episode) in matched.episodes.iter().enumerate() {
        let of_it = || matched.steps.iter().filter(|step| step.episode == place);
        let left: usize = of_it().map(|step| step.leavers().count()).sum();
        if left <= SHOWN_MAX && left != episode.departures.len() {
            return Err(format!(
                "episode {}: {left} left, and {:?} are told",
                episode.id, episode.departures
            ));
        }
    }
    for step in &matched.steps {
        for (id, member) in step.leavers() {
            let episode = matched.episode(step);
            let is_it = |told: &&DepartureAnswer| {
                *told.worker == *member.worker && told.generation == step.told.generation
            };
            let Some(told) = episode.departures.iter().find(is_it) else {
                if episode.departures.len() == SHOWN_MAX {
                    continue;
                }
                return Err(format!("{}: {id} left untold", step.name()));
            };
            let gone = departure(matched, id, step)
                .ok_or_else(|| format!("{}: {id} never left", step.name()))?;
            let mut right = possible(matched, step, gone);
            // What really happened is never wrong to say.
            right.push(really(gone));
            if !right.contains(&told.how) {
                return Err(format!(
                    "{}: {told:?}, not {right:?}: {gone:?}",
                    step.name()
                ));
            }
            successor(matched, step, gone, told)
                .map_err(|what| format!("{}: {what}: {told:?} of {gone:?}", step.name()))?;
        }
    }
    Ok(())
}

/// How it really left, as far as that can be seen of one who had anything.
fn really(gone: &TrueDeparture) -> DepartureHow {
    match gone.how {
        _ if gone.owned.is_empty() => DepartureHow::Unknown,
        How::Graceful => DepartureHow::Graceful,
        How::CutShort => DepartureHow::CutShort,
        How::Crashed => DepartureHow::Crashed,
        How::Unresponsive => DepartureHow::Unresponsive,
    }
}

/// How a departure may be told, by what its worker could write and did write.
pub(super) fn possible(
    matched: &Matched<'_>,
    step: &Step<'_>,
    gone: &TrueDeparture,
) -> Vec<DepartureHow> {
    if step.shared_before(&gone.worker) {
        return vec![DepartureHow::Unknown];
    }
    let wrote = Wrote::of(matched, step, gone);
    let mut out = Vec::new();
    // It was alive when it joined last: gone so soon, it left by itself.
    let joined = step.before.filter(|r| r.members.contains_key(&gone.member));
    let since_ms = joined.map_or(i64::MAX, |r| step.real.join_ended_ms - r.join_ended_ms);
    let lived = matches!(gone.how, How::Graceful | How::Unresponsive);
    if since_ms < REBALANCE_LEAST_MS && !wrote.far {
        out.extend(lived.then_some(DepartureHow::Graceful));
        let is_open = wrote.may_be_silent || wrote.may_be_nothing;
        if is_open && returned(matched, step, gone).is_some() {
            out.push(DepartureHow::Unresponsive);
        }
        return out;
    }
    if since_ms < SESSION_MS && (lived || wrote.far) {
        out.push(DepartureHow::Graceful);
    }
    if wrote.may_be_nothing {
        out.push(DepartureHow::Unknown);
    }
    // Whatever it was: it stopped all that can write so.
    if wrote.may_be_all {
        out.push(DepartureHow::Graceful);
    }
    if wrote.may_be_part {
        let silent_ms = |last: Option<i64>| last.map(|at| step.real.join_ended_ms - at);
        // Of what it may have written, it wrote at least one.
        let longest_ms = silent_ms(wrote.surely_last_ms.or(wrote.first_ms));
        let later = |ms: i64| wrote.far || longest_ms.is_some_and(|silent| silent >= ms);
        let shortest_ms = silent_ms(wrote.last_ms);
        let sooner = |ms: i64| wrote.far || shortest_ms.is_some_and(|silent| silent < ms);
        let off_ms = wrote.off_ms;
        let settled = later(LEFT_MOST_MS - off_ms).then_some(DepartureHow::CutShort);
        out.extend(settled);
        out.extend(sooner(SESSION_LEAST_MS + off_ms).then_some(DepartureHow::Graceful));
        let between = later(SESSION_LEAST_MS - off_ms) && sooner(LEFT_MOST_MS + off_ms);
        out.extend(between.then_some(DepartureHow::Unknown));
    }
    if wrote.may_be_silent {
        out.push(DepartureHow::Crashed);
    }
    // Some of what it wrote while it stopped may look as if the config topic had asked for it.
    if gone.how == How::CutShort && step.real.join_ended_ms - gone.died_ms < LEFT_MOST_MS {
        out.push(DepartureHow::Unknown);
    }
    if gone.how == How::Unresponsive && returned(matched, step, gone).is_some() {
        // What it wrote before settles it; else its claim says that it lived.
        out.retain(|how| *how != DepartureHow::Crashed && *how != DepartureHow::Unknown);
        if wrote.may_be_silent || wrote.may_be_nothing {
            out.push(DepartureHow::Unresponsive);
        }
    }
    out
}

/// The record in which the same process is back with its claim.
fn returned<'a>(
    matched: &Matched<'a>,
    step: &Step<'_>,
    gone: &TrueDeparture,
) -> Option<&'a TrueRound> {
    let (next, _) = gone.successor.as_ref()?;
    let later = matched.truth.rounds.iter().filter(|round| {
        round.recorded_ms.is_some() && round.join_ended_ms >= step.real.join_ended_ms
    });
    let mut later = later.filter(|round| round.members.contains_key(next));
    later.next().filter(|round| {
        let back = &round.members[next];
        back.worker == gone.worker && back.claim.is_some()
    })
}

/// What a worker wrote of what it had, as bounds: what the truth does not tell (whether a
/// task had failed) may be either way.
struct Wrote {
    may_be_all: bool,
    may_be_part: bool,
    may_be_silent: bool,
    may_be_nothing: bool,
    last_ms: Option<i64>,
    first_ms: Option<i64>,
    /// The last that it certainly wrote.
    surely_last_ms: Option<i64>,
    /// Whether clocks are too far apart for any of it to be sure.
    far: bool,
    /// How far its clock may be off when seen from the coordinator's.
    off_ms: i64,
}

// === impl Wrote ===

impl Wrote {
    fn of(matched: &Matched<'_>, step: &Step<'_>, gone: &TrueDeparture) -> Self {
        let truth = matched.truth;
        let before = step
            .before
            .and_then(|before| before.members.get(&gone.member));
        let joined_ms = step.before.map_or(0, |before| before.join_ended_ms);
        let (mut stopped, mut running, mut either) = (0, 0, 0);
        let (mut first_ms, mut last_ms, mut surely_last_ms) = (None, None, None);
        let told = before.map(|member| member.assigned.clone());
        let held = gone.owned.union(told.as_ref().unwrap_or(&gone.owned));
        for item in held {
            let mine = |worker: &str| worker == gone.worker;
            let started = truth.starts.iter().rev().find(|start| {
                let ran = start.until_ms.is_some_and(|at| at <= gone.removed_ms);
                start.item == *item && mine(&start.worker) && ran
            });
            let Some(started) = started else {
                // It never said that it ran.
                either += 1;
                continue;
            };
            let stops = truth.stops.iter().rev().filter(|stop| {
                let by_then = stop.from_ms <= step.real.join_ended_ms + SLACK_MS;
                stop.item == *item && mine(&stop.worker) && by_then
            });
            let mut stops = stops.filter(|stop| stop.from_ms >= started.from_ms);
            let stop = stops.next();
            if before.is_some_and(|m| m.revoked.contains(item)) {
                continue;
            }
            let again = truth.starts.iter().any(|start| {
                start.item == *item
                    && mine(&start.worker)
                    && start.from_ms > started.from_ms
                    && start.from_ms <= gone.removed_ms
            });
            let doubtful = again || may_fail(matched, item) || explained(matched, step, item);
            let written = stop.filter(|stop| !stop.stuck || item.is_connector());
            let written = written.and_then(|stop| Some((stop, stop.until_ms?)));
            match written {
                Some((stop, at)) if at <= step.real.join_ended_ms + SLACK_MS => {
                    // What is written after that may not be read in time.
                    if at <= step.real.join_ended_ms {
                        last_ms = last_ms.max(Some(at));
                        first_ms = Some(first_ms.map_or(at, |first: i64| first.min(at)));
                    }
                    if doubtful
                        || at > gone.removed_ms
                        || stop.from_ms < joined_ms
                        || stop.why != StopWhy::Shutdown
                    {
                        either += 1;
                    } else {
                        stopped += 1;
                        surely_last_ms = surely_last_ms.max(Some(at));
                    }
                }
                _ if doubtful => either += 1,
                _ => running += 1,
            }
        }
        let off_ms = matched.off_ms(&gone.worker);
        let coordinators = truth.coordinators.windows(2);
        let was_set = matched
            .clock_of(&gone.worker)
            .is_none_or(|clock| !clock.steps.is_empty());
        let moved = coordinators.into_iter().any(|pair| pair[0].1 != pair[1].1);
        let far = off_ms > SLACK_MS || was_set || moved;
        Self {
            may_be_all: stopped + either > 0 && (running == 0 || far),
            may_be_part: stopped + either > 0 && (running + either > 0 || far),
            may_be_silent: (stopped == 0 || far) && stopped + running + either > 0,
            may_be_nothing: (stopped == 0 && running == 0) || far,
            far,
            last_ms,
            first_ms,
            surely_last_ms,
            off_ms: 100 + 2 * off_ms,
        }
    }
}

/// Whether it was to stop anyhow: its configuration changed.
fn explained(matched: &Matched<'_>, step: &Step<'_>, item: &Item) -> bool {
    let from_ms = step.before.map_or(0, |before| before.prepare_started_ms);
    let mut changes = matched.truth.changes.iter();
    changes.any(|change| {
        let stops = match change.what {
            ChangeWhat::Created => false,
            ChangeWhat::Committed => !item.is_connector(),
            ChangeWhat::Deleted => true,
        };
        stops
            && *change.connector == *item.connector
            && (from_ms..=step.real.recorded_ms.unwrap()).contains(&change.at_ms)
    })
}

fn may_fail(matched: &Matched<'_>, item: &Item) -> bool {
    !item.is_connector() && matched.fails.contains(&*item.connector)
}

/// The successor is the one there was.
fn successor(
    matched: &Matched<'_>,
    step: &Step<'_>,
    gone: &TrueDeparture,
    told: &DepartureAnswer,
) -> Result<(), String> {
    let named = told.successor.as_ref().map(|(worker, _)| &**worker);
    let back = returned(matched, step, gone);
    if let Some(generation) = told.returned {
        return match back {
            Some(round) if round.generation == generation => Ok(()),
            _ => Err("it never came back with a claim".to_owned()),
        };
    }
    let Some((next, joined_ms)) = &gone.successor else {
        // Somebody else's newcomer may be the only one.
        let alone = |worker: &str| worker != gone.worker;
        return match named {
            Some(worker) if !alone(worker) => Err("nobody came in its place".to_owned()),
            _ => Ok(()),
        };
    };
    let seen = matched
        .steps
        .iter()
        .find(|s| s.real.members.contains_key(next));
    let Some(seen) = seen else { return Ok(()) };
    let worker = &seen.real.members[next].worker;
    let in_time = seen.real.join_ended_ms - step.real.join_ended_ms < WINDOW_MS - 60_000;
    let fresh = seen.real.members[next].claim.is_none();
    // Before its predecessor was missed: it was no newcomer any more.
    let came_later = seen.real.join_ended_ms >= step.real.join_ended_ms;
    let _ = joined_ms;
    if *worker == gone.worker && in_time && fresh && came_later {
        if named != Some(worker.as_str()) {
            return Err(format!("{worker} came in its place"));
        }
    } else if named.is_some_and(|named| named == gone.worker) && *worker != gone.worker {
        return Err("nobody came back to its address".to_owned());
    }
    Ok(())
}
