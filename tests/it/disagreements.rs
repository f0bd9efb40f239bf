//! scratch
use crate::replays::{captures, name};
use evenkeel::read::capture::CaptureReader;
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::InputKind;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

#[test]
fn scratch() {
    for capture in captures() {
        let truth = capture.to_string_lossy().replace(".evk.gz", ".truth.json");
        let truth: Value = serde_json::from_str(&fs::read_to_string(truth).unwrap()).unwrap();
        let mut engine = Engine::new();
        let mut seen: BTreeMap<String, (i64, i64, i64, String)> = BTreeMap::new();
        let mut t = 0;
        let inputs: Vec<_> = CaptureReader::open(&capture)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let first = inputs[0].at.0;
        for input in &inputs {
            engine.apply(input);
            t = input.at.0;
            if matches!(input.kind, InputKind::Ends(_)) {
                let a = engine.answers();
                if let Some(d) = a.disagreements {
                    for e in d.now {
                        let key = format!(
                            "{} {}{} {}",
                            e.kind.label(),
                            e.item.connector,
                            e.item.task.map_or(String::new(), |t| format!("-{t}")),
                            e.worker
                        );
                        let s = seen.entry(key).or_insert((
                            e.since.0 - first,
                            t - first,
                            t - first,
                            e.confidence.label().to_owned(),
                        ));
                        s.2 = t - first;
                    }
                }
            }
        }
        let a = engine.answers();
        println!(
            "== {} ends {} {:?}",
            name(&capture),
            t - first,
            truth["worker_urls"]
        );
        for (k, v) in seen {
            println!(
                "   {k} since {} seen {}..{} {}{}",
                v.0,
                v.1,
                v.2,
                v.3,
                if v.2 + 12_000 > t - first {
                    " LAST"
                } else {
                    ""
                }
            );
        }
        if let Some(s) = a.states {
            for i in s.not_running {
                println!(
                    "   state {}{} {} {:?}",
                    i.item.connector,
                    i.item.task.map_or(String::new(), |t| format!("-{t}")),
                    i.state.label(),
                    i.worker
                );
            }
        }
    }
}
