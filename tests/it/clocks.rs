//! Which checks fire in the recordings, at any moment of each, and why each is right to: what
//! a careful operator would call noise must not be in the list.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use evenkeel::read::capture::CaptureReader;
use evenkeel_core::answers::FiredAnswer;
use evenkeel_core::engine::Engine;
use serde_json::Value;

use crate::replays::{captures, name};

/// Recording, check, and why it is true there.
const FIRE: &[(&str, &str, &str)] = &[
    (
        "config_mismatch",
        "config_mismatches",
        "a worker with another config topic is in the group: no round gets an assignment",
    ),
    (
        "config_mismatch",
        "config_offsets_apart",
        "its config topic has more in it than the others ever read",
    ),
    (
        "connector_holds_up",
        "connector_call_exceeds_rebalance",
        "a connector waits 14 s for a source that does not answer, again and again, and the group waits for 8 s",
    ),
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
        "delays_differ",
        "delay_drifts",
        "the first worker has a delay of 35 s, the others of 20 s, and both led",
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
        "herder_blocked",
        "stop_exceeds_rebalance",
        "a task of a connector that gets other tasks takes 22 s to stop, and its worker is out after 8 s",
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
        "restart_outlives_delay",
        "delay_below_restart",
        "three restarts took 12 s, and the delay is 7 s",
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
        "stops_given_up",
        "graceful_below_stop",
        "tasks are given 2 s and need 6 s",
    ),
    (
        "stops_overrun",
        "stop_exceeds_rebalance",
        "a dozen stops of 6 s on eight threads, and the group waits for 10 s",
    ),
    (
        "stops_overrun",
        "timeouts_differ",
        "of two workers only the first has a rebalance timeout of 10 s",
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
        "timeouts_differ",
        "timeouts_differ",
        "each of three workers has other timeouts",
    ),
    (
        "zombie_returns",
        "session_above_delay",
        "the scenario sets a delay of 5 s and leaves the session at 10 s",
    ),
];

/// Recordings in which what was found is mended, each with the check and the workers of whom it
/// fires; none where it is the group.
const MENDED: &[(&str, &str, &[&str])] = &[
    (
        "connector_holds_up",
        "connector_call_exceeds_rebalance",
        &["returning"],
    ),
    ("delays_differ", "delay_drifts", &[]),
    // The leader, whose delay is known.
    ("restart_outlives_delay", "delay_below_restart", &["leader"]),
    ("stops_given_up", "graceful_below_stop", &["revoking"]),
    ("stops_overrun", "stop_exceeds_rebalance", &["revoking"]),
    ("timeouts_differ", "timeouts_differ", &[]),
];

/// Found, of the right subject by the logs, and over when the recording is.
#[test]
fn what_is_mended_in_a_recording_is_found_before_and_not_after() {
    for (recording, check, who) in MENDED {
        let captures = captures();
        let capture = captures.iter().find(|capture| name(capture) == *recording);
        let capture = capture.unwrap_or_else(|| panic!("no recording {recording}"));
        let truth = capture.to_string_lossy().replace(".evk.gz", ".truth.json");
        let truth: Value = serde_json::from_str(&fs::read_to_string(truth).unwrap()).unwrap();
        let mut engine = Engine::new();
        let mut subjects: BTreeSet<(String, i64)> = BTreeSet::new();
        for input in CaptureReader::open(capture).unwrap() {
            engine.apply(&input.unwrap());
            let answers = engine.answers();
            let generation = answers
                .group
                .as_ref()
                .and_then(|group| group.generation)
                .unwrap_or(0);
            let checks = answers.checks.iter().flat_map(|checks| &checks.fired);
            let ours = checks.filter(|fired| fired.check == *check);
            let ours = ours.map(|fired| (fired.subject.to_string(), generation.into()));
            subjects.extend(ours);
        }
        let left = engine.answers().checks.unwrap().fired.clone();
        assert!(left.is_empty(), "{recording}: left at the end: {left:#?}");
        assert!(!subjects.is_empty(), "{recording}: not found");
        let first = subjects.iter().map(|(_, generation)| *generation).min();
        for (subject, _) in subjects.iter().filter(|(_, at)| Some(*at) == first) {
            let expected = match who.first() {
                None => vec![engine.answers().settings.group.clone()],
                Some(role) => workers(&truth, role, first.unwrap()),
            };
            let is_right = expected.contains(subject);
            assert!(is_right, "{recording}: {subject}, by the logs {expected:?}");
        }
    }
}

/// The leader of a generation, who was back in the group in it, or who was told up to then to
/// give something up, by the logs.
fn workers(truth: &Value, role: &str, generation: i64) -> Vec<String> {
    let rounds = truth["generations"].as_array().unwrap().iter();
    let rounds = rounds.filter(|round| round["generation"].as_i64() <= Some(generation));
    let mut found = Vec::new();
    let mut before: Vec<&Value> = Vec::new();
    for round in rounds {
        let members = round["members"].as_array().unwrap().iter();
        let is_this = round["generation"] == generation;
        let members = members.filter(|member| match role {
            "leader" => is_this && member["member_id"] == round["leader"],
            "returning" => is_this && !before.contains(&&member["worker_url"]),
            _ => member["revoked"]["tasks"]
                .as_array()
                .is_some_and(|tasks| !tasks.is_empty()),
        });
        let urls = members.filter_map(|member| member["worker_url"].as_str());
        let ids = urls.map(|url| url.trim_start_matches("http://").trim_end_matches('/'));
        found.extend(ids.map(str::to_owned));
        let all = round["members"].as_array().unwrap().iter();
        before = all.map(|member| &member["worker_url"]).collect();
    }
    found
}

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
