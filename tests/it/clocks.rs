//! Which checks fire in the recordings, at any moment of each, and why each is right to: what
//! a careful operator would call noise must not be in the list.

use std::collections::BTreeMap;

use evenkeel::read::capture::CaptureReader;
use evenkeel_core::answers::FiredAnswer;
use evenkeel_core::engine::Engine;

use crate::replays::{captures, name};

/// Recording, check, and why it is true there.
const FIRE: &[(&str, &str, &str)] = &[
    (
        "delay_zero",
        "delay_without_loss",
        "the scenario sets the delay to 0",
    ),
    (
        "delay_zero",
        "delay_zero",
        "the scenario sets the delay to 0",
    ),
    (
        "eager_latecomer",
        "protocol_below_proven",
        "a worker with connect.protocol=eager is in the group, and all of them speak as it does",
    ),
    (
        "eager_latecomer",
        "session_above_delay",
        "the scenario sets a delay of 5 s and leaves the session at 10 s",
    ),
    (
        "eager_latecomer-3.9.2",
        "protocol_below_proven",
        "a worker with connect.protocol=eager is in the group, and all of them speak as it does",
    ),
    (
        "eager_latecomer-3.9.2",
        "session_above_delay",
        "the scenario sets a delay of 5 s and leaves the session at 10 s",
    ),
    (
        "herder_blocked",
        "session_reaches_rebalance",
        "the scenario sets rebalance.timeout.ms to 8 s, below the session of 10 s",
    ),
    (
        "membership",
        "protocol_below_proven",
        "a worker with connect.protocol=eager is in the group, and all of them speak as it does",
    ),
    (
        "membership-3.4.1",
        "protocol_below_proven",
        "a worker with connect.protocol=eager is in the group, and all of them speak as it does",
    ),
    (
        "membership-3.4.1-2.5.1",
        "protocol_below_proven",
        "a worker with connect.protocol=eager is in the group, and all of them speak as it does",
    ),
    (
        "membership-3.9.2",
        "protocol_below_proven",
        "a worker with connect.protocol=eager is in the group, and all of them speak as it does",
    ),
    (
        "membership-4.4.0-2.5.1",
        "protocol_below_proven",
        "a worker with connect.protocol=eager is in the group, and all of them speak as it does",
    ),
    (
        "protocol_rolling",
        "delay_below_restart",
        "the longest of three restarts took 5.1 s, and the delay is 5 s",
    ),
    (
        "protocol_rolling",
        "session_above_delay",
        "the scenario sets a delay of 5 s and leaves the session at 10 s",
    ),
    (
        "shared_group_two_clusters",
        "config_offsets_apart",
        "workers of two clusters are in one group: some never read what the others do",
    ),
    (
        "shared_group_two_clusters",
        "session_above_delay",
        "the scenario sets a delay of 5 s and leaves the session at 10 s",
    ),
    (
        "task_fails_after_move",
        "session_above_delay",
        "the scenario sets a delay of 5 s and leaves the session at 10 s",
    ),
    (
        "task_ignores_stop",
        "graceful_below_stop",
        "tasks are given 2 s and ignore that for 12 s",
    ),
    (
        "task_ignores_stop-3.9.2",
        "graceful_below_stop",
        "tasks are given 2 s and ignore that for 12 s",
    ),
    (
        "zombie_returns",
        "session_above_delay",
        "the scenario sets a delay of 5 s and leaves the session at 10 s",
    ),
];

#[test]
fn each_check_that_fires_in_a_recording_is_right() {
    let mut found: BTreeMap<(String, &'static str), FiredAnswer> = BTreeMap::new();
    for capture in captures() {
        let mut engine = Engine::new();
        let mut decided = 0;
        for (at, input) in CaptureReader::open(&capture).unwrap().enumerate() {
            engine.apply(&input.unwrap());
            // As often as a busy group is published, about.
            if at % 8 != 0 {
                continue;
            }
            let Some(checks) = engine.answers().checks else {
                continue;
            };
            decided = decided.max(checks.passed);
            for fired in &checks.fired {
                let key = (name(&capture), fired.check);
                found.entry(key).or_insert_with(|| fired.clone());
            }
        }
        assert!(decided > 0, "{}: nothing is decided", name(&capture));
    }
    let expected: Vec<(&str, &str)> = FIRE.iter().map(|(a, b, _)| (*a, *b)).collect();
    let fired: Vec<(&str, &str)> = found.keys().map(|(a, b)| (a.as_str(), *b)).collect();
    let told: Vec<String> = found
        .iter()
        .map(|((name, check), fired)| {
            let values = fired.values.iter();
            let values = values.map(|v| format!("{} = {} ({})", v.name, v.value, v.source));
            let values: Vec<String> = values.collect();
            let values = values.join(", ");
            format!("{name} {check} {}: {}; {values}", fired.subject, fired.said)
        })
        .collect();
    assert_eq!(fired, expected, "\n{}", told.join("\n"));
    assert!(FIRE.iter().all(|(_, _, why)| !why.is_empty()));
}
