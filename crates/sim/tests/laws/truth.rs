//! Laws: what the engine says equals what happened.

mod rounds;
mod state;

use crate::drive::{over_seeds, watch};
use crate::hand;
use evenkeel_sim::observer::ObserverSpec;
use evenkeel_sim::rng::Rng;

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
        rounds::counters(truth, &watched)?;
        state::at_rest(truth, &watched)
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
        state::owners(world.truth(), &watch(world, compacted)).map(|_| ())
    });
}

/// Wrong, and known to be: see `rounds::is_rule_7_fault`. A second worker joins while the
/// record of the first is being written: nobody gets generation 1, which told nobody
/// anything, and the first worker comes back without a claim.
#[test]
fn rule_7_overlooks_that_nobody_got_a_round() {
    let mut plan = hand::plan(vec![hand::slot(), hand::slot()]);
    plan.manner.append_ms = (300, 300);
    plan.deeds = vec![hand::start(0, 0), hand::start(100, 1)];
    let world = plan.run();
    let watched = watch(&world, from_the_start());
    let rounds = world.truth().rounds.iter().zip(&watched.settled);
    let faults = rounds.filter(|(real, told)| rounds::is_rule_7_fault(real, told));
    assert_eq!(faults.count(), 1);
}
