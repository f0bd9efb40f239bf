//! What each recorded scenario moved, and whether it had to: held against who owned what in
//! which generation, as the workers' logs show it.

use std::collections::BTreeMap;
use std::fs;

use evenkeel_testbed::truth::{ItemKind, Move, Need, TruthLog};
use serde_json::Value;

use crate::replays::{captures, lines, name, replayed};

type Counts = BTreeMap<(String, String), u64>;

fn key(moved: &Move) -> (String, String) {
    let kind = match moved.item.kind {
        ItemKind::Connector => "connector",
        ItemKind::Task => "task",
    };
    let need = match moved.need {
        Some(Need::Required) => "required",
        Some(Need::Returned) => "returned",
        Some(Need::Extra) => "extra",
        None => "unsettled",
    };
    (kind.to_owned(), need.to_owned())
}

fn told(answers: &Value) -> Counts {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let settled = answers["counters"]["moves"].as_array().unwrap().iter();
    let settled = settled.map(|pair| {
        let key = (text(&pair[0][0]), text(&pair[0][1]));
        (key, pair[1].as_u64().unwrap())
    });
    let unsettled = answers["moves_unsettled"].as_object().unwrap().iter();
    let unsettled = unsettled.map(|(kind, count)| {
        (
            (kind.clone(), "unsettled".to_owned()),
            count.as_u64().unwrap(),
        )
    });
    settled.chain(unsettled).collect()
}

/// What is told otherwise, and why.
const OTHERWISE: [(&str, &str); 1] = [(
    "kill_new_address",
    "who comes in a worker's place is that worker, and takes its own work; to the script it is another process",
)];

#[test]
fn every_recorded_move_is_counted() {
    let mut wrong = Vec::new();
    let mut compared: Counts = Counts::new();
    let mut otherwise = 0;
    for capture in captures() {
        let truth = capture.to_string_lossy().replace(".evk.gz", ".truth.json");
        let truth: TruthLog = serde_json::from_str(&fs::read_to_string(truth).unwrap()).unwrap();
        let mut real = Counts::new();
        for moved in &truth.costs().moves {
            *real.entry(key(moved)).or_default() += 1;
            *compared.entry(key(moved)).or_default() += 1;
        }
        let lines = lines(&replayed(&capture, true));
        let answers = lines.iter().find(|line| line["line"] == "answers").unwrap();
        let told = told(&answers["answers"]);
        let name = name(&capture);
        let known = OTHERWISE.iter().any(|(recording, _)| *recording == name);
        if known {
            assert_ne!(told, real, "{name} is told as it is, and still listed");
            otherwise += 1;
        } else if told != real {
            wrong.push(format!("{name}: {told:?}, not {real:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(otherwise, OTHERWISE.len());
    for need in ["required", "returned", "extra", "unsettled"] {
        for kind in ["connector", "task"] {
            let key = (kind.to_owned(), need.to_owned());
            assert!(
                compared.contains_key(&key),
                "nothing was compared of {key:?}"
            );
        }
    }
}
