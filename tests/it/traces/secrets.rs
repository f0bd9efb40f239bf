//! What no trace holds: what a configuration holds, members' ids, and names that are masked.

use std::collections::BTreeSet;

use evenkeel::read::mask::NameMask;
use evenkeel::show::traces::Trace;
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::InputKind;

use super::{inputs, traces};
use crate::replays::{captures, is_telling};

/// All that a trace says in words.
fn words(trace: &Trace) -> String {
    format!("{trace:?}")
}

#[test]
fn no_trace_holds_what_a_configuration_holds() {
    for capture in captures() {
        let inputs = inputs(&capture);
        let told: String = traces(&inputs).iter().map(words).collect();
        // Values are redacted before they are captured; what is left of them are the names of
        // settings, their whitelisted values and numbers that stand for content.
        for secret in [
            "password",
            "topics",
            "jdbc",
            "tasks.max",
            "connector.class",
            "trace=",
        ] {
            assert!(!told.contains(secret), "{}: {secret}", capture.display());
        }
        let answers_hold_ids = told.contains("member_id") || told.contains("connect-1-");
        assert!(!answers_hold_ids, "{}", capture.display());
    }
}

#[test]
fn masked_names_stay_masked() {
    let mask = NameMask::new(b"a key for tests only");
    let mut masked_names = 0;
    for capture in captures().iter().filter(|capture| is_telling(capture)) {
        let plain = inputs(capture);
        let mut masked = plain.clone();
        for input in &mut masked {
            match &mut input.kind {
                InputKind::Record(record) => mask.record(record),
                InputKind::Polled(polled) => mask.polled(polled),
                InputKind::Settings(settings) => settings.masked = true,
                _ => {}
            }
        }
        let names: BTreeSet<String> = {
            let mut engine = Engine::new();
            for input in &plain {
                engine.apply(input);
            }
            let configured = engine.answers().configured.unwrap_or_default();
            let connectors = configured.connectors.iter();
            connectors
                .map(|known| known.connector.to_string())
                .collect()
        };
        let (plain, masked) = (traces(&plain), traces(&masked));
        let told: String = masked.iter().map(words).collect();
        for name in &names {
            let quoted = format!("\"{name}\"");
            assert!(!told.contains(&quoted), "{}: {name}", capture.display());
            masked_names += usize::from(told.contains(&mask.name(name)));
        }
        // The ids of traces are no function of names; those of tasks' spans are.
        let ids = |traces: &[Trace]| traces.iter().map(|trace| trace.id).collect::<Vec<_>>();
        assert_eq!(ids(&plain), ids(&masked));
    }
    assert!(masked_names > 3, "{masked_names} codes are told");
}
