//! Laws: what the engine says equals what happened.

mod balance;
mod causes;
mod departures;
mod disagreements;
mod episodes;
mod habits;
mod lost;
mod matched;
mod patterns;
mod phases;
mod rounds;
mod state;

use evenkeel_core::answers::{self, RevocationHow};
use evenkeel_sim::plan::Deed;
use evenkeel_sim::truth::{Outcome, TrueRound};
use evenkeel_sim::world::BASE_MS;

use crate::drive::{over_seeds, watch};
use crate::hand;
use evenkeel_sim::observer::ObserverSpec;
use evenkeel_sim::rng::Rng;
use matched::Matched;

/// Watched from before the first worker came: everything is seen, and counted.
fn from_the_start() -> ObserverSpec {
    ObserverSpec::default()
}

#[test]
fn what_is_said_is_what_happened() {
    over_seeds(60, |world| {
        let (truth, watched) = (world.truth(), watch(world, from_the_start()));
        rounds::outcomes(truth, &watched)?;
        rounds::contents(truth, &watched)?;
        state::at_rest(truth, &watched)?;
        rounds::counters(truth, &watch(world, to_the_end()))
    });
}

/// A sidecar that comes late, or starts anew, reads what was: where that is whole, it says
/// the same at the end.
#[test]
fn a_late_sidecar_knows_what_is() {
    over_seeds(40, |world| {
        let mut rng = Rng::new(world.plan().seed);
        let late = ObserverSpec {
            start_ms: rng.between(1, world.plan().end_ms),
            poll_ms: rng.chance(50).then_some(500),
            lag_ms: (1, 800),
            doubled: 10,
            ..from_the_start()
        };
        let watched = watch(world, late.clone());
        rounds::outcomes(world.truth(), &watched)?;
        state::at_rest(world.truth(), &watched)?;
        let compacted = ObserverSpec {
            compacted_ms: Some(1_000),
            ..late
        };
        state::owners(world.truth(), &watch(world, compacted), true).map(|_| ())
    });
}

#[test]
fn every_generation_is_in_one_episode() {
    over_seeds(60, |world| {
        let watched = watch(world, from_the_start());
        Matched::of(world, &watched).map(|_| ())
    });
}

#[test]
fn causes_are_what_happened() {
    over_seeds(60, |world| {
        let watched = watch(world, from_the_start());
        let matched = Matched::of(world, &watched)?;
        causes::all_are_told(&matched)?;
        causes::nothing_is_made_up(&matched)
    });
}

#[test]
fn who_left_and_who_came_is_what_happened() {
    over_seeds(60, |world| {
        let watched = watch(world, from_the_start());
        departures::all_are_told(&Matched::of(world, &watched)?)
    });
}

/// Long enough for all that may still come to be given up.
fn to_the_end() -> ObserverSpec {
    ObserverSpec {
        after_ms: 1_300_000,
        ..from_the_start()
    }
}

#[test]
fn phases_lie_where_they_are_said_to() {
    over_seeds(60, |world| {
        let often = ObserverSpec {
            poll_ms: Some(500),
            ..from_the_start()
        };
        let watched = watch(world, often);
        let matched = Matched::of(world, &watched)?;
        phases::sync(&matched)?;
        phases::skews(&matched, &watched)?;
        phases::stops_and_starts(&matched)
    });
}

#[test]
fn join_phases_began_where_polls_saw_it() {
    over_seeds(60, |world| {
        let often = ObserverSpec {
            poll_ms: Some(500),
            ..from_the_start()
        };
        let watched = watch(world, often);
        phases::join(&Matched::of(world, &watched)?)
    });
}

#[test]
fn episodes_are_over_when_nothing_is_pending() {
    over_seeds(60, |world| {
        let watched = watch(world, from_the_start());
        let matched = Matched::of(world, &watched)?;
        episodes::at_rest(&matched, &watched)?;
        episodes::unresolved(&matched)?;
        episodes::active(&matched, false)
    });
}

#[test]
fn counters_add_up_with_episodes() {
    over_seeds(60, |world| {
        let watched = watch(world, to_the_end());
        episodes::counters(&Matched::of(world, &watched)?, &watched)
    });
}

#[test]
fn lost_work_is_counted_once_as_it_ended() {
    over_seeds(60, |world| {
        let watched = watch(world, to_the_end());
        lost::ends(&Matched::of(world, &watched)?, &watched)
    });
}

#[test]
fn balance_is_that_of_the_group_at_rest() {
    over_seeds(60, |world| {
        let watched = watch(world, to_the_end());
        balance::at_rest(world.truth(), &watched)
    });
}

#[test]
fn patterns_are_counted_from_what_happened() {
    over_seeds(60, |world| {
        let sampled = patterns::Sampled::of(world, from_the_start());
        sampled.first_that_applies()?;
        sampled.no_more_than_happened(world)?;
        sampled.as_departures_are_told()
    });
}

#[test]
fn a_late_sidecar_sees_the_same_pattern() {
    over_seeds(40, |world| {
        let late = ObserverSpec {
            start_ms: world.plan().end_ms,
            ..from_the_start()
        };
        let live = patterns::Sampled::of(world, from_the_start());
        live.agrees(&patterns::Sampled::of(world, late), world)
    });
}

#[test]
fn habits_are_as_long_as_it_took() {
    over_seeds(60, |world| {
        let watched = watch(world, to_the_end());
        let matched = Matched::of(world, &watched)?;
        habits::restarts(&matched, &watched)?;
        habits::starts_and_stops(&matched, &watched)
    });
}

#[test]
fn every_piece_of_work_is_in_one_state() {
    over_seeds(60, |world| {
        let watched = watch(world, from_the_start());
        disagreements::each_in_one_state(&watched)?;
        disagreements::what_runs_was_started(world.truth(), &watched)
    });
}

/// Of disagreements stays only what is so, and all stops that were given up are told.
#[test]
fn disagreements_are_what_really_runs() {
    let told = std::cell::Cell::new(0);
    over_seeds(60, |world| {
        let watched = watch(world, to_the_end());
        disagreements::each_in_one_state(&watched)?;
        disagreements::what_is_left_is_so(world.truth(), &watched)?;
        let given_up = disagreements::stops_that_were_given_up(world, &watched)?;
        told.set(told.get() + given_up);
        Ok(())
    });
    assert!(told.get() > 0, "no stop was given up in any world");
}

#[test]
fn a_late_sidecar_sees_the_same_disagreements() {
    over_seeds(40, |world| {
        let late = ObserverSpec {
            start_ms: world.plan().end_ms,
            ..to_the_end()
        };
        let live = watch(world, to_the_end());
        disagreements::agree(&live, &watch(world, late))
    });
}

/// A second worker joins while the record of the first is being written: nobody gets
/// generation 1, which told nobody anything, and the first worker comes back without a
/// claim. That proves nothing.
#[test]
fn a_round_that_told_nobody_anything_is_not_proven_by_who_stayed() {
    let mut plan = hand::plan(vec![hand::slot(), hand::slot()]);
    plan.manner.append_ms = (300, 300);
    plan.deeds = vec![hand::start(0, 0), hand::start(100, 1)];
    let world = plan.run();
    let watched = watch(&world, from_the_start());
    let first = (&world.truth().rounds[0], &watched.settled[0]);
    assert_eq!((first.0.generation, first.1.generation), (1, 1));
    assert_eq!(first.0.outcome, Outcome::Aborted);
    assert_eq!(first.1.outcome, Some(answers::Outcome::Unknown));
}

/// The newcomer of slot 2 is far away: it gets its first work, of a worker that is gone,
/// later than slot 3 joins, so it gets nothing, and comes back without a claim as it came.
/// It had nothing to drop.
#[test]
fn a_late_newcomer_is_counted_once() {
    let mut plan = hand::plan(vec![hand::slot(); 4]);
    for slot in &mut plan.slots {
        slot.max_delay_ms = 0;
        slot.latency_ms = 1;
    }
    plan.slots[2].latency_ms = 60;
    plan.connectors = vec![hand::connector("c", 3)];
    plan.deeds = vec![
        hand::start(0, 0),
        hand::start(100, 1),
        (8_000, Deed::Create(0)),
        (20_000, Deed::Kill { slot: 1 }),
        hand::start(21_000, 2),
    ];
    // Once to see when the round with the newcomer is in effect, and once with slot 3 in it.
    let alone = plan.clone().run();
    let joins = |round: &&TrueRound| round.members.values().any(|m| m.worker == "10.0.2.3:8083");
    let round = alone.truth().rounds.iter().find(joins).unwrap();
    let at_ms = round.effective_ms.unwrap() + 5 - BASE_MS;
    plan.deeds.push(hand::start(at_ms, 3));
    let world = plan.run();
    let handed_twice = world.truth().rounds.windows(2).any(|pair| {
        let mut members = pair[0].members.iter();
        members.any(|(id, member)| {
            let back = pair[1].members.get(id);
            member.claim.is_none()
                && !member.assigned.is_empty()
                && back.is_some_and(|back| back.claim.is_none())
        })
    });
    assert!(handed_twice, "it happened in no round");
    let watched = watch(&world, from_the_start());
    assert!(world.truth().drops.is_empty());
    let revocations = watched.engine.answers().counters.revocations;
    let dropped = revocations
        .keys()
        .any(|(_, how)| *how == RevocationHow::Dropped);
    assert!(!dropped, "{revocations:?}");
}
