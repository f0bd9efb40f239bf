//! What each recorded scenario cost: interruptions, hand-overs and downtime that are counted,
//! held against the runs of work that the workers' logs show.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::replays::{captures, lines, name, replayed};

/// Counts by kind and reason, or by kind and how.
type Counts = BTreeMap<(String, String), i64>;

/// What statuses do not show, with the reason: beginning of the recording's name, what, and of
/// which reason or how; empty where it is all.
const UNSEEN: [(&str, &str, &str, &str); 6] = [
    (
        "eager_latecomer",
        "",
        "",
        "work that an eager round moved runs on where it was: an orphan that no status tells of",
    ),
    (
        "connector_holds_up",
        "interrupted",
        "lost",
        "what runs apart from the thread that is held up goes on while its worker is out of the group; \
         statuses show no more of it than of one that is frozen",
    ),
    (
        "zombie_returns",
        "",
        "",
        "a worker that thaws runs its work beside who has it now, and writes nothing until it \
         stops it",
    ),
    (
        "flapping_worker",
        "down",
        "lost",
        "who wrote no stop was down before the group missed it, a session later",
    ),
    (
        "stops_overrun",
        "",
        "",
        "what a worker was told to hand over and still stops when it is out of the group is lost to \
         the group from then on: statuses do not show that it stopped as it was told",
    ),
    (
        "stops_given_up",
        "down",
        "lost",
        "a worker that ends writes no stop of tasks that it gives up: they were down before the \
         group missed it",
    ),
];

/// How much later a stop is written than it is over, at most on an average.
const STATUS_MS: i64 = 20;

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Pairs of a counter as JSON shows it.
fn told(counters: &Value, name: &str) -> Counts {
    let pairs = counters[name].as_array().unwrap();
    let pair = |pair: &Value| {
        let key = (text(&pair[0][0]), text(&pair[0][1]));
        (key, pair[1].as_i64().unwrap())
    };
    pairs.iter().map(pair).collect()
}

fn count(all: &Value, key: impl Fn(&Value) -> Option<(String, String)>) -> Counts {
    let mut counts = Counts::new();
    for one in all.as_array().unwrap() {
        if let Some(key) = key(one) {
            *counts.entry(key).or_default() += 1;
        }
    }
    counts
}

/// Milliseconds by reason, connectors together, and of how many stretches; what somebody wanted
/// is no downtime.
fn down_ms(costs: &Value) -> BTreeMap<String, (i64, i64)> {
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for stretch in costs["downtime"].as_array().unwrap() {
        let reason = text(&stretch["reason"]);
        let (from, to) = (stretch["from_ms"].as_i64(), stretch["to_ms"].as_i64());
        let wanted = ["paused", "stopped", "deleted"].contains(&&*reason);
        if let (Some(from), Some(to), false) = (from, to, wanted) {
            let (ms, stretches) = sums.entry(reason).or_default();
            *ms += to - from;
            *stretches += 1;
        }
    }
    sums
}

#[test]
fn every_recorded_cost_is_counted() {
    let mut wrong = Vec::new();
    let mut unseen = BTreeSet::new();
    let mut compared = 0;
    for capture in captures() {
        let truth = capture.to_string_lossy().replace(".evk.gz", ".truth.json");
        let truth: Value = serde_json::from_str(&fs::read_to_string(truth).unwrap()).unwrap();
        let costs = &truth["costs"];
        if costs.is_null() {
            continue;
        }
        let capture_name = name(&capture);
        let lines = lines(&replayed(&capture, true));
        let answers = lines.iter().find(|line| line["line"] == "answers").unwrap();
        let counters = &answers["answers"]["counters"];
        let mut differ = |what: &str, by: &str, said: String| {
            compared += 1;
            let known = UNSEEN.iter().position(|(recording, thing, reason, _)| {
                capture_name.starts_with(recording)
                    && [*thing, ""].contains(&what)
                    && [*reason, ""].contains(&by)
                    || capture_name.starts_with(recording) && thing.is_empty()
            });
            match known {
                Some(place) => drop(unseen.insert(place)),
                None => wrong.push(format!("{capture_name}: {said}")),
            }
        };
        let interrupted = count(&costs["interruptions"], |one| {
            Some((text(&one["item"]["kind"]), text(&one["reason"])))
        });
        let handed_over = count(&costs["handovers"], |one| {
            let how = if one["clean"] == true {
                "clean"
            } else {
                "unclean"
            };
            let moved = one["from"] != one["to"];
            moved.then(|| (text(&one["item"]["kind"]), how.to_owned()))
        });
        for (what, told, real) in [
            ("interrupted", told(counters, "interruptions"), interrupted),
            ("handed over", told(counters, "handovers"), handed_over),
        ] {
            for key in told.keys().chain(real.keys()).collect::<BTreeSet<_>>() {
                let (told, real) = (told.get(key), real.get(key));
                if told != real {
                    differ(
                        what,
                        &key.1,
                        format!("{what} {key:?}: {told:?}, not {real:?}"),
                    );
                }
            }
        }
        let mut told_ms: BTreeMap<String, i64> = BTreeMap::new();
        for ((_, reason), ms) in told(counters, "unavailable_ms") {
            *told_ms.entry(reason).or_default() += ms;
        }
        let real_ms = down_ms(costs);
        for reason in told_ms
            .keys()
            .chain(real_ms.keys())
            .collect::<BTreeSet<_>>()
        {
            let told = told_ms.get(reason).copied().unwrap_or(0);
            let (real, stretches) = real_ms.get(reason).copied().unwrap_or_default();
            // A status is written some milliseconds after what it tells of: where stretches are
            // many and short, each time.
            let many = capture_name.starts_with("task_configs_storm");
            let each_ms = if many { STATUS_MS * stretches } else { 0 };
            if (told - real).abs() > (real / 20 + 100).max(each_ms) {
                differ(
                    "down",
                    reason,
                    format!("down {reason}: {told} ms, not {real}"),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(
        unseen.len(),
        UNSEEN.len(),
        "seen, and still listed as unseen"
    );
    println!("{compared} differ, all of them listed");
}
