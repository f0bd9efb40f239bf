//! Every numbered rule of the story is needed: switched off, something that the scenarios
//! expect becomes wrong.

use std::collections::BTreeSet;

use evenkeel_core::engine::Engine;
use evenkeel_core::story::switches::StoryRule;

use crate::departures::THREE;
use crate::downtime::{ONE, TWO};
use crate::dsl::{run, run_on};

/// The scenarios of these files of tests, as they stand there.
fn scenarios() -> Vec<String> {
    let sources = [
        include_str!("departures.rs"),
        include_str!("losses.rs"),
        include_str!("causes.rs"),
        include_str!("episodes.rs"),
        include_str!("subtle.rs"),
        include_str!("downtime.rs"),
        include_str!("downtime_odd.rs"),
        include_str!("needs.rs"),
        include_str!("balance.rs"),
        include_str!("patterns.rs"),
        include_str!("habits.rs"),
        include_str!("disagreements.rs"),
    ];
    let tests = sources
        .iter()
        .flat_map(|source| source.split("#[test]").skip(1));
    let scenario = |test: &str| {
        let literal = test.split('"').nth(1).expect("a test has a scenario");
        let openings = [("after_three(", THREE), ("on_one(", ONE), ("on_two(", TWO)];
        let mut openings = openings.iter();
        let before = openings.find(|(by, _)| test.contains(by));
        let before = before.map_or("", |(_, opening)| opening);
        format!("{before}{literal}")
    };
    tests.map(scenario).collect()
}

#[test]
fn every_rule_is_needed() {
    let scenarios = scenarios();
    assert!(scenarios.len() > 20);
    let expected: Vec<String> = scenarios.iter().map(|scenario| run(scenario)).collect();
    let is_needed = |rule: &StoryRule| {
        let mut all = scenarios.iter().zip(&expected);
        all.any(|(scenario, expected)| run_on(Engine::without(*rule), scenario) != *expected)
    };
    let idle: BTreeSet<StoryRule> = StoryRule::all().filter(|rule| !is_needed(rule)).collect();
    assert!(idle.is_empty(), "no scenario needs {idle:?}");
}
