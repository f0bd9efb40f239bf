//! Laws: what rebalances cost, as the engine counts it, is what it cost the simulated
//! workers; and everything is counted once, whoever watches.

mod downtime;
mod moves;
mod once;
mod stops;

use std::collections::BTreeMap;

use evenkeel_core::answers::DownReason;
use evenkeel_core::facts::ids::Kind;
use evenkeel_sim::item::Item;
use evenkeel_sim::observer::ObserverSpec;
use evenkeel_sim::rng::Rng;
use evenkeel_sim::truth::{How, RunEnd, StopWhy, TrueRound, TrueRun, Truth};
use evenkeel_sim::world::World;

use crate::drive::{over_seeds, watch};

/// Reasons that truth cannot, or need not, tell apart are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Handover,
    Lost,
    Dropped,
    /// Reconfigured, or restarted.
    Again,
    Failed,
    /// Paused, stopped or deleted.
    Wanted,
}

/// At least and at most.
type Bounds = (u64, u64);

/// All that ran of one piece of work, in order.
struct Line<'a> {
    item: &'a Item,
    runs: Vec<&'a TrueRun>,
    /// Whether no two of its runs overlap, and its workers wrote of each how it ended, as far
    /// as they lived.
    plain: bool,
}

fn kind(item: &Item) -> Kind {
    if item.is_connector() {
        Kind::Connector
    } else {
        Kind::Task
    }
}

fn class(reason: DownReason) -> Class {
    match reason {
        DownReason::Handover => Class::Handover,
        DownReason::Lost => Class::Lost,
        DownReason::Dropped => Class::Dropped,
        DownReason::Reconfigured | DownReason::Restarted => Class::Again,
        DownReason::Failed => Class::Failed,
        DownReason::Paused | DownReason::Stopped | DownReason::Deleted => Class::Wanted,
    }
}

/// Every piece of work that ever ran.
fn lines(truth: &Truth) -> Vec<Line<'_>> {
    let mut by_item: BTreeMap<&Item, Vec<&TrueRun>> = BTreeMap::new();
    for run in &truth.runs {
        by_item.entry(&run.item).or_default().push(run);
    }
    let lines = by_item.into_iter().map(|(item, runs)| Line {
        plain: is_plain(truth, item, &runs),
        item,
        runs,
    });
    lines.collect()
}

fn is_plain(truth: &Truth, item: &Item, runs: &[&TrueRun]) -> bool {
    let told = runs
        .iter()
        .all(|run| !matches!(run.end, RunEnd::GivenUp | RunEnd::StoppedSilently));
    let apart = runs.windows(2).all(|pair| {
        let until = pair[0].until_ms;
        until.is_some_and(|until| until <= pair[1].from_ms)
    });
    // Who was thrown out ran it on; and what of that was seen is hard to say.
    let mut departures = truth.departures.iter();
    let thrown_out = departures.any(|gone| {
        gone.how == How::Unresponsive && runs.iter().any(|run| run.worker == gone.worker)
    });
    let _ = item;
    told && apart && !thrown_out
}

/// The first record after an instant.
fn record_after(truth: &Truth, at_ms: i64) -> Option<&TrueRound> {
    let mut rounds = truth.rounds.iter();
    rounds.find(|round| round.recorded_ms.is_some() && round.join_ended_ms >= at_ms)
}

/// The first record that misses a member that was in one before.
fn missed<'a>(truth: &'a Truth, run: &TrueRun) -> Option<&'a TrueRound> {
    let id = run.member.as_ref()?;
    let mut recorded = truth
        .rounds
        .iter()
        .filter(|round| round.recorded_ms.is_some());
    recorded.find(|round| round.members.contains_key(id))?;
    recorded.find(|round| !round.members.contains_key(id))
}

/// Whether somebody changed the connector's configuration around a stop.
fn is_changed(truth: &Truth, item: &Item, from_ms: i64, until_ms: i64) -> bool {
    let mut changes = truth.changes.iter();
    changes.any(|change| {
        *change.connector == *item.connector && (from_ms..=until_ms).contains(&change.at_ms)
    })
}

/// What may be told of how a run ended: several where no log says which.
fn classes(truth: &Truth, run: &TrueRun, next: Option<&TrueRun>) -> Vec<Class> {
    let Some(until_ms) = run.until_ms else {
        return Vec::new();
    };
    let stop = run.stop.and_then(|number| truth.stops.get(number));
    let after = record_after(truth, until_ms);
    let next_ms = next.map_or(i64::MAX, |next| next.from_ms);
    // Before it ran again its worker was gone.
    let recorded = truth.rounds.iter().filter(|round| {
        round.recorded_ms.is_some() && (until_ms..=next_ms).contains(&round.join_ended_ms)
    });
    let id = run.member.as_deref().unwrap_or_default();
    let gone = recorded
        .clone()
        .any(|round| !round.members.contains_key(id));
    let mut classes = match (run.end, stop) {
        (RunEnd::Paused, _) => return vec![Class::Wanted],
        (RunEnd::Failed | RunEnd::Open, _) => return Vec::new(),
        (RunEnd::Killed, _) => vec![Class::Lost],
        (_, Some(stop)) if !stop.configured && stop.why == StopWhy::Revoked => {
            vec![Class::Handover, Class::Wanted]
        }
        (_, Some(stop)) if !stop.configured => vec![Class::Wanted],
        (_, Some(stop)) => vec![match stop.why {
            StopWhy::Revoked | StopWhy::Eager => Class::Handover,
            StopWhy::Reconfigured => Class::Again,
            StopWhy::Dropped => Class::Dropped,
            StopWhy::Shutdown => Class::Lost,
        }],
        (_, None) => vec![Class::Again],
    };
    let asked_ms = stop.map_or(until_ms, |stop| stop.from_ms);
    let seen_ms = after.map_or(i64::MAX, |round| round.recorded_ms.unwrap_or(i64::MAX));
    if is_changed(truth, &run.item, asked_ms - 30_000, seen_ms) {
        classes.extend([Class::Again, Class::Wanted]);
    }
    if gone {
        classes.push(Class::Lost);
    }
    // It was told to stop it anyhow, or somebody else has it who could not have it before.
    let revoked = truth.rounds.iter().any(|round| {
        let near = (run.from_ms..=next_ms).contains(&round.join_ended_ms);
        let member = round.members.get(id);
        near && member.is_some_and(|member| member.revoked.contains(&run.item))
    });
    let moved = next.is_some_and(|next| next.worker != run.worker);
    // In the eager protocol nobody can tell a restart from the stop before a member joins.
    let eager = after.is_some_and(|round| round.version == 0);
    if revoked || (moved || eager) && classes.contains(&Class::Again) {
        classes.push(Class::Handover);
    }
    let drops = truth.drops.iter();
    let mut of_it = drops.filter(|drop| Some(&drop.member) == run.member.as_ref());
    if of_it.any(|drop| (asked_ms..=next_ms).contains(&drop.at_ms)) {
        classes.push(Class::Dropped);
    }
    if classes.contains(&Class::Dropped) {
        classes.extend([Class::Handover, Class::Again, Class::Lost]);
    }
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// Long enough for all that may still come to be given up.
fn to_the_end() -> ObserverSpec {
    ObserverSpec {
        after_ms: 1_300_000,
        ..ObserverSpec::default()
    }
}

/// Whether all clocks agree and nobody sets them.
fn clocks_agree(world: &World) -> bool {
    let mut clocks = world.truth().clocks.values();
    clocks.all(|clock| clock.skew_ms == 0 && clock.steps.is_empty())
}

#[test]
fn interruptions_and_handovers_are_what_happened() {
    over_seeds(60, |world| {
        let watched = watch(world, to_the_end());
        stops::interruptions(world.truth(), &watched)?;
        stops::handovers(world.truth(), &watched)
    });
}

#[test]
fn downtime_is_as_long_as_it_was() {
    let compared = std::cell::Cell::new(0);
    over_seeds(120, |world| {
        if !clocks_agree(world) {
            return Ok(());
        }
        let watched = watch(world, to_the_end());
        compared.set(compared.get() + downtime::ended(world, &watched)?);
        downtime::lasting(world, &watched)
    });
    let is_one = std::env::var_os("EVENKEEL_SIM_SEED").is_some();
    assert!(is_one || compared.get() > 40, "{} compared", compared.get());
}

#[test]
fn moves_are_what_changed_hands() {
    let compared = std::cell::Cell::new(0);
    over_seeds(120, |world| {
        let watched = watch(world, to_the_end());
        compared.set(compared.get() + moves::counted(world, &watched)?);
        Ok(())
    });
    let is_one = std::env::var_os("EVENKEEL_SIM_SEED").is_some();
    assert!(is_one || compared.get() > 40, "{} compared", compared.get());
}

/// Who comes late counts a part of it, who comes at the end nothing, and records that are read
/// twice count once.
#[test]
fn nothing_is_counted_twice() {
    over_seeds(30, |world| {
        let mut rng = Rng::new(world.plan().seed);
        let whole = once::costs(&watch(world, to_the_end()).engine.answers().counters);
        let twice = ObserverSpec {
            doubled: 30,
            ..to_the_end()
        };
        let twice = once::costs(&watch(world, twice).engine.answers().counters);
        if twice != whole {
            return Err(format!("read twice: {twice:?}, not {whole:?}"));
        }
        let at_the_end = ObserverSpec {
            start_ms: world.truth().end.at_ms - evenkeel_sim::world::BASE_MS + 1_000,
            ..to_the_end()
        };
        let nothing = once::costs(&watch(world, at_the_end).engine.answers().counters);
        once::no_more(&nothing, &BTreeMap::new(), "who comes at the end")?;
        if !clocks_agree(world) {
            return Ok(());
        }
        let late = ObserverSpec {
            start_ms: rng.between(1, world.plan().end_ms),
            ..to_the_end()
        };
        let late = once::costs(&watch(world, late).engine.answers().counters);
        once::no_more(&late, &whole, "who comes late")
    });
}

/// A state that another process goes on from, some time later, adds nothing: what happened
/// meanwhile is history.
#[test]
fn an_absence_adds_nothing() {
    let compared = std::cell::Cell::new(0);
    over_seeds(30, |world| {
        if !clocks_agree(world) {
            return Ok(());
        }
        let mut rng = Rng::new(world.plan().seed);
        let whole = once::costs(&watch(world, to_the_end()).engine.answers().counters);
        let end_ms = world.plan().end_ms;
        let from_ms = rng.between(1, end_ms);
        let absent = (from_ms, from_ms + rng.between(0, 60_000));
        let counted = once::costs(&once::with_an_absence(world, absent));
        compared.set(compared.get() + counted.len());
        once::no_more(&counted, &whole, &format!("who was away {absent:?}"))
    });
    let is_one = std::env::var_os("EVENKEEL_SIM_SEED").is_some();
    assert!(is_one || compared.get() > 30, "{} compared", compared.get());
}
