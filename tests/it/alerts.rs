//! The alerting rules on what the recorded scenarios would have shown: each capture is derived
//! again, its exposition is taken once a second, and Prometheus' own tool evaluates the rules on
//! it. Scenarios wait some 20 s where people wait five minutes, so the times of the rules are
//! scaled. Two sidecars show the same; one of them is blind for a while.
//!
//! Skipped, with a line that says so, where there is no `promtool`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
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

mod recorded;
mod runbooks;
mod scraped;

use recorded::{AS_THE_ROUNDS, EVERYDAY, NO_STORMS, RAISED, UNRECORDED};

/// How often a sidecar is scraped: as often, by the scale of the scenarios, as every 15 s.
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

fn rules(args: &[&str]) -> String {
    let line = Line::parse_from(["rules"].iter().chain(args));
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
        let samples: Vec<Option<f64>> =
            scrapes.iter().map(|all| all.get(series).copied()).collect();
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

/// What the rules raised.
#[derive(Debug, Default)]
struct Fired {
    /// Every alert that fired at any time, with its severity.
    ever: BTreeSet<(String, String)>,
    /// The alerts that fire in the end.
    standing: BTreeSet<String>,
}

/// A question to promtool: nothing is expected, so that it prints all that there is.
fn question(expr: &str, end: usize) -> String {
    format!("      - expr: '{expr}'\n        eval_time: {end}s\n        exp_samples: []\n")
}

/// The value of a label in a series as promtool prints it.
fn label<'a>(series: &'a str, name: &str) -> &'a str {
    let start = format!("{name}=\"");
    let (_, rest) = series.split_once(&start).unwrap();
    rest.split_once('"').unwrap().0
}

/// The alerts that the rules raise on these scrapes.
fn fired(scrapes: &[Scrape], args: &[&str]) -> Fired {
    fired_by(scrapes, &rules(args))
}

fn fired_by(scrapes: &[Scrape], rules: &str) -> Fired {
    const EVER: &str = r#"count_over_time(ALERTS{alertstate="firing"}[1d])"#;
    const STANDING: &str = r#"ALERTS{alertstate="firing"}"#;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rules.yaml"), rules).unwrap();
    let mut test =
        "rule_files: [rules.yaml]\nevaluation_interval: 1s\ntests:\n  - interval: 1s\n    \
         input_series:\n"
            .to_owned();
    input_series(&mut test, "a:9790", scrapes);
    input_series(&mut test, "b:9790", &blind_for_a_while(scrapes));
    test.push_str("    promql_expr_test:\n");
    test.push_str(&question(EVER, scrapes.len() - 1));
    test.push_str(&question(STANDING, scrapes.len() - 1));
    fs::write(folder.path().join("test.yaml"), test).unwrap();
    let output = Command::new("promtool")
        .args(["test", "rules", "test.yaml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let mut found = Fired::default();
    let mut is_ever = true;
    for line in told.lines().map(str::trim_start) {
        if line.starts_with("expr:") {
            is_ever = line.contains("count_over_time");
        }
        let Some(got) = line.strip_prefix("got:") else {
            let expected = ["expr:", "exp:", "FAILED", "Unit Testing", ""];
            assert!(
                expected.iter().any(|word| line.starts_with(word)) && !line.contains("error"),
                "{told}"
            );
            continue;
        };
        for series in got.split('{').skip(1) {
            let alert = label(series, "alertname").to_owned();
            if is_ever {
                found
                    .ever
                    .insert((alert, label(series, "severity").to_owned()));
            } else {
                found.standing.insert(alert);
            }
        }
    }
    found
}

fn has_promtool() -> bool {
    let found = Command::new("promtool").arg("--version").output().is_ok();
    if !found {
        println!("skipped: there is no promtool (Debian: prometheus)");
    }
    found
}

fn capture(wanted: &str) -> PathBuf {
    captures()
        .into_iter()
        .find(|capture| name(capture) == wanted)
        .unwrap()
}

#[test]
fn nobody_is_woken_for_what_happens_every_day() {
    if !has_promtool() {
        return;
    }
    let mut wrong = Vec::new();
    for name in EVERYDAY {
        let found = fired(&scrapes(&capture(name)), &["--time-scale", AS_THE_ROUNDS]);
        let woken = found
            .ever
            .iter()
            .filter(|(_, severity)| severity == "critical");
        wrong.extend(woken.map(|(alert, _)| format!("{name}: {alert}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_alert_is_raised_by_a_recording_or_cannot_be() {
    let rules = rules(&[]);
    let lines = rules
        .lines()
        .map(|line| line.trim_start_matches([' ', '-']));
    let alerts: BTreeSet<&str> = lines
        .filter_map(|line| line.strip_prefix("alert: "))
        .collect();
    let listed = RAISED.iter().map(|raised| raised.0);
    let listed: BTreeSet<&str> = listed
        .chain(UNRECORDED.iter().map(|(alert, _)| *alert))
        .collect();
    assert_eq!(alerts, listed);
    assert_eq!(alerts.len(), RAISED.len() + UNRECORDED.len());
    if !has_promtool() {
        return;
    }
    let mut wrong = Vec::new();
    for (alert, name, args, is_over) in RAISED {
        let found = fired(&scrapes(&capture(name)), args);
        let raised = found.ever.iter().any(|(ever, _)| ever == alert);
        let stands = found.standing.contains(*alert);
        if !raised || stands == *is_over {
            wrong.push(format!("{alert} on {name}: {found:?}"));
        }
        for (unrecorded, _) in UNRECORDED {
            if found.ever.iter().any(|(ever, _)| ever == unrecorded) {
                wrong.push(format!("{unrecorded} was raised by {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// It is that workers left in good order which keeps the alert silent: without it, it fires.
#[test]
fn workers_restarted_in_good_order_are_no_storm() {
    if !has_promtool() {
        return;
    }
    let is_raised = |scrapes: &[Scrape], rules: &str| {
        let found = fired_by(scrapes, rules);
        let mut names = found.ever.iter().map(|(alert, _)| alert);
        names.any(|alert| alert == "EvenkeelRebalanceStorm")
    };
    let in_good_order = r#"(evenkeel_departed_workers{how=~"graceful|cut_short"})) >= 2"#;
    let storm = r#"evenkeel_pattern{group="connect",pattern="storm"}"#;
    let rules = rules(&["--time-scale", AS_THE_ROUNDS]);
    assert!(rules.contains(in_good_order));
    let without = rules.replace(in_good_order, &in_good_order.replace(">= 2", ">= 200"));
    for (name, would_be) in NO_STORMS {
        let scrapes = scrapes(&capture(name));
        let has_it = |scrape: &Scrape| scrape.get(storm).is_some_and(|value| *value > 0.0);
        assert!(scrapes.iter().any(has_it), "{name}");
        assert!(!is_raised(&scrapes, &rules), "{name}");
        assert_eq!(is_raised(&scrapes, &without), would_be, "{name}");
    }
}
