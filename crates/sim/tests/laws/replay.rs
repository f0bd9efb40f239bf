//! Laws of the engine on every world: the same inputs give the same answers, and a state
//! written down goes on the same.

use evenkeel_core::engine::Engine;
use evenkeel_sim::observer::ObserverSpec;

use crate::drive::{Watched, over_seeds, watch};

#[test]
fn a_replay_gives_the_same_answers() {
    over_seeds(40, |world| {
        let live = watch(world, ObserverSpec::default());
        let mut replayed = Watched {
            engine: Engine::new(),
            inputs: Vec::new(),
            settled: Vec::new(),
            missing: Vec::new(),
        };
        for input in &live.inputs {
            replayed.take(input);
        }
        let same = replayed.answers_json() == live.answers_json();
        same.then_some(()).ok_or("the replay differs".to_owned())
    });
}
