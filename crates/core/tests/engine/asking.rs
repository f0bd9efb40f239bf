//! When another question for the ends of the topics is wanted.

use evenkeel_core::engine::Engine;

use crate::dsl::{Step, inputs};

fn feed(engine: &mut Engine, scenario: &str) {
    for step in inputs(scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
}

/// A status that proves the newest round counts once no older group record can be unread. A
/// question that was sent before it was written cannot say so, and no record may come for
/// long: another question is wanted.
#[test]
fn status_after_the_last_question() {
    let mut engine = Engine::new();
    feed(
        &mut engine,
        "0.0 ends
         1.0 group 1 sessioned a | a: add=foo
         1.2 ends",
    );
    feed(&mut engine, "1.5 status foo RUNNING a 1");
    let answers = engine.answers();
    assert_eq!(answers.rounds[0].outcome, None);
    assert!(engine.wants_ends());
    feed(&mut engine, "2.0 ends");
    assert!(engine.answers().rounds[0].outcome.is_some());
    assert!(!engine.wants_ends());
}
