//! The alerting rules on what the recorded scenarios would have shown: each capture is derived
//! again, its exposition is taken once a second, and Prometheus' own tool evaluates the rules on
//! it. Scenarios wait 20 s where people wait five minutes: all times of the rules are scaled by
//! as much. Two sidecars show the same; one of them is blind for a while.
//!
//! Skipped, with a line that says so, where there is no `promtool`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use clap::Parser;
use evenkeel::commands::rules::{RulesArgs, print};
use evenkeel::read::capture::CaptureReader;
use evenkeel::show::exposition::{Format, encode};
use evenkeel::show::families::families;
use evenkeel::show::view::View;
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::Input;
use evenkeel_core::facts::time::ArrivalTime;

use crate::replays::{captures, name};

/// The scheduled delay of the scenarios, in parts of the default of five minutes.
const SCALE: f64 = 20.0 / 300.0;

/// How often a sidecar is scraped, as often for its scale as every 15 s.
const STEP_MS: i64 = 1000;

/// Seconds after the end of a recording, in which nothing new is seen.
const QUIET_STEPS: i64 = 20;

/// Series and their values at one scrape.
type Scrape = BTreeMap<String, f64>;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    rules: RulesArgs,
}

fn rules(scale: f64) -> String {
    let line = Line::parse_from(["rules", "--time-scale", &scale.to_string()]);
    print(&line.rules).unwrap()
}

/// What a sidecar shows at `now_ms`; instants are told since `zero_ms`, which is when the test's
/// clock starts.
fn scrape(engine: &Engine, now_ms: i64, zero_ms: i64) -> Scrape {
    let view = View {
        groups: vec![Arc::new(engine.answers())],
        now: Some(ArrivalTime(now_ms)),
        ..View::default()
    };
    let text = encode(&families(&view), Format::Text);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let mut value: f64 = value.parse().unwrap();
        if series.contains("_timestamp_seconds{") {
            value -= zero_ms as f64 / 1000.0;
        }
        (series.to_owned(), value)
    };
    lines.map(sample).collect()
}

/// One scrape a second from the first input to a while after the last.
fn scrapes(capture: &Path) -> Vec<Scrape> {
    let reader = CaptureReader::open(capture).unwrap();
    let inputs: Vec<Input> = reader.map(Result::unwrap).collect();
    let zero_ms = inputs[0].at.0;
    let mut engine = Engine::new();
    let mut next_ms = zero_ms;
    let mut scrapes = Vec::new();
    for input in &inputs {
        while next_ms < input.at.0 {
            scrapes.push(scrape(&engine, next_ms, zero_ms));
            next_ms += STEP_MS;
        }
        engine.apply(input);
    }
    for _ in 0..QUIET_STEPS {
        scrapes.push(scrape(&engine, next_ms, zero_ms));
        next_ms += STEP_MS;
    }
    scrapes
}

/// Values in the notation of promtool, each run of equal ones once.
fn values(samples: &[Option<f64>]) -> String {
    let mut text = String::new();
    let mut rest = samples;
    let mut before = None;
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|next| *next == first).count();
        match first {
            Some(value) => write!(text, "{value}x{} ", run - 1).unwrap(),
            // What is missing in a scrape is stale at once, as Prometheus has it.
            None => {
                let stale = usize::from(before.is_some());
                text.push_str(&"stale ".repeat(stale));
                if run > stale {
                    write!(text, "_x{} ", run - stale).unwrap();
                }
            }
        }
        before = *first;
        rest = &rest[run..];
    }
    text
}

/// The series of one sidecar, in the notation of promtool.
fn input_series(out: &mut String, instance: &str, scrapes: &[Scrape]) {
    let names: BTreeSet<&String> = scrapes.iter().flat_map(BTreeMap::keys).collect();
    for series in names {
        let samples: Vec<Option<f64>> = scrapes.iter().map(|all| all.get(series).copied()).collect();
        let (metric, labels) = series.split_once('{').unwrap_or((series, "}"));
        let comma = if labels == "}" { "" } else { "," };
        let labels = format!("{metric}{{instance=\"{instance}\",job=\"evenkeel\"{comma}{labels}");
        writeln!(out, "      - series: '{labels}'").unwrap();
        writeln!(out, "        values: '{}'", values(&samples)).unwrap();
    }
}

/// The copy that is blind for the second third of the recording.
fn blind_for_a_while(scrapes: &[Scrape]) -> Vec<Scrape> {
    let third = scrapes.len() / 3;
    let mut copy = scrapes.to_vec();
    for scrape in &mut copy[third..2 * third] {
        let group = r#"group="connect""#;
        *scrape = Scrape::from([
            (format!(r#"evenkeel_mode{{{group},mode="blind"}}"#), 1.0),
            (format!("evenkeel_trust{{{group}}}"), 0.0),
        ]);
    }
    copy
}

/// Seconds for which each alert fired, and the alerts that fire in the end.
#[derive(Debug, PartialEq)]
struct Fired {
    seconds: BTreeMap<String, f64>,
    standing: BTreeSet<String>,
}

/// The alerts that the rules raise on these scrapes.
fn fired(scrapes: &[Scrape], scale: f64) -> Fired {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rules.yaml"), rules(scale)).unwrap();
    let mut test = "rule_files: [rules.yaml]\nevaluation_interval: 1s\ntests:\n  - interval: 1s\n    \
         input_series:\n"
        .to_owned();
    input_series(&mut test, "a:9790", scrapes);
    input_series(&mut test, "b:9790", &blind_for_a_while(scrapes));
    let end = scrapes.len() - 1;
    // What promtool expected in vain it prints: nothing is expected, to see everything.
    for expr in [
        r#"max by (alertname) (count_over_time(ALERTS{alertstate="firing"}[1d]))"#,
        r#"max by (alertname) (ALERTS{alertstate="firing"})"#,
    ] {
        writeln!(test, "{}", EXPRESSION.replace("EXPR", expr).replace("END", &end.to_string())).unwrap();
    }
    let test = test.replacen("    promql_expr_test:\n", "    PROMQL\n", 1);
    let test = test.replace("    promql_expr_test:\n", "").replace("PROMQL", "promql_expr_test:");
    fs::write(folder.path().join("test.yaml"), test).unwrap();
    let output = Command::new("promtool")
        .args(["test", "rules", "test.yaml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let mut found = Fired {
        seconds: BTreeMap::new(),
        standing: BTreeSet::new(),
    };
    let mut is_seconds = true;
    for line in told.lines() {
        if line.trim_start().starts_with("expr:") {
            is_seconds = line.contains("count_over_time");
        }
        let Some(got) = line.trim_start().strip_prefix("got:") else {
            assert!(!line.contains("rror"), "{told}");
            continue;
        };
        for part in got.split(r#"{alertname=""#).skip(1) {
            let (alert, rest) = part.split_once(r#""}"#).unwrap();
            let value = rest.trim().trim_end_matches(',').parse().unwrap();
            if is_seconds {
                found.seconds.insert(alert.to_owned(), value);
            } else {
                found.standing.insert(alert.to_owned());
            }
        }
    }
    found
}

const EXPRESSION: &str = "    promql_expr_test:\n      - expr: 'EXPR'\n        eval_time: ENDs\n        exp_samples: []";

#[test]
fn survey() {
    for capture in captures() {
        let found = fired(&scrapes(&capture), std::env::var("SCALE").map_or(SCALE, |s| s.parse().unwrap()));
        println!("{}: {:?} standing {:?}", name(&capture), found.seconds, found.standing);
    }
}

#[test]
fn dump() {
    let Ok(wanted) = std::env::var("DUMP") else { return };
    let metrics = std::env::var("METRICS").unwrap();
    for capture in captures().iter().filter(|c| wanted.split(',').any(|w| w == name(c))) {
        println!("== {}", name(capture));
        let all = scrapes(capture);
        let mut before = BTreeMap::new();
        for (second, scrape) in all.iter().enumerate() {
            let now: BTreeMap<&String, f64> = scrape
                .iter()
                .filter(|(series, value)| **value != 0.0 && metrics.split(',').any(|m| series.contains(m)))
                .map(|(series, value)| (series, *value))
                .collect();
            if now != before {
                let told: Vec<String> = now.iter().map(|(s, v)| format!("{}={v}", s.replace("evenkeel_", "").replace("group=\"connect\",", ""))).collect();
                println!("{second:4} {}", told.join(" "));
                before = now;
            }
        }
    }
}
