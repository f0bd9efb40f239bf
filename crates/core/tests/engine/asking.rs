//! When another question for the ends of the topics is wanted.

use evenkeel_core::answers::Outcome;
use evenkeel_core::engine::Engine;

use crate::dsl::{Step, inputs};

/// At each `show`: whether a question is wanted, and how the newest round ended.
fn shown(scenario: &str) -> Vec<(bool, Option<Outcome>)> {
    let mut engine = Engine::new();
    let mut shown = Vec::new();
    for step in inputs(scenario) {
        match step {
            Step::Input(input) => drop(engine.apply(&input)),
            _ => {
                let newest = engine.answers().rounds.last().map(|round| round.outcome);
                shown.push((engine.wants_ends(), newest.flatten()));
            }
        }
    }
    shown
}

/// A status that proves the newest round counts once no older group record can be unread. A
/// question that was sent before it was written cannot say so, and nothing else may happen
/// for long: another question is wanted.
#[test]
fn status_after_the_last_question() {
    let completed = Some(Outcome::Completed);
    let shown = shown(
        "0.0 ends
         1.0 group 1 sessioned a | a: claim=none add=foo
         1.1 status foo RUNNING a 1
         2.0 ends
         3.0 group 2 sessioned a | a: claim=foo
         3.2 ends
         3.3 show
         3.5 status foo RUNNING a 2
         3.6 show
         4.0 ends
         4.1 show",
    );
    assert_eq!(shown, [(false, None), (true, None), (false, completed)]);
}
