//! Every question of every dashboard, asked of a real Prometheus that holds what the agents
//! would have shown during recorded nights: none fails, and none has no answer in all of them.

mod clusters;
mod draw;
mod night;
mod series;

use std::path::{Path, PathBuf};

use evenkeel_testbed::grafana::{self, Board};
use evenkeel_testbed::history::{History, STEP_S};
use serde_json::Value;

use night::Night;

/// Captures that together have something to say in every panel.
const NIGHTS: &[&str] = &[
    "assignment_not_taken",
    "clock_behind",
    "connector_lifecycle",
    "eager_latecomer",
    "flapping_worker",
    "incident",
    "kill_never",
    "membership",
    "protocol_rolling",
    "rolling_upgrade_patient",
    "task_configs_changing",
    "task_fails_after_move",
    "task_ignores_stop",
    "zombie_returns",
];

/// Questions that no capture answers, or only with zero, and why.
const QUIET: &[(&str, &str, Said, &str)] = &[
    (
        "agent",
        "Agents that say different things A",
        Said::Zero,
        "all agents of a night have every record at the same instant",
    ),
    (
        "agent",
        "Records behind the end A",
        Said::Zero,
        "a scrape finds it behind only for moments",
    ),
    (
        "agent",
        "Questions that failed A",
        Said::Zero,
        "where the coordinator was away, it was asked again in time",
    ),
    (
        "agent",
        "Records that could not be decoded A",
        Said::Zero,
        "real workers and brokers write none",
    ),
    (
        "agent",
        "Series left out by a bound A",
        Said::Zero,
        "groups of three workers stay below every bound",
    ),
    (
        "now",
        "Records behind the end of each topic A",
        Said::Zero,
        "a scrape finds it behind only for moments",
    ),
    (
        "rebalances",
        "Assignments with an error A",
        Said::Zero,
        "no released worker could be made to write one",
    ),
    (
        "workers",
        "Above an even split A",
        Said::Zero,
        "Kafka splits evenly once it is left alone",
    ),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn nights(names: &[&str]) -> Vec<Night> {
    let captures = root().join("tests/captures");
    let capture = |name: &&str| night::night(&captures.join(format!("{name}.evk.gz")));
    names.iter().map(capture).collect()
}

/// A Prometheus that has them.
fn prometheus(nights: &[Night]) -> History {
    let mut samples = String::new();
    for night in nights {
        samples.push_str(&night.samples);
        samples.push_str(&series::foreign(night));
    }
    samples.push_str("# EOF\n");
    History::of(&samples).unwrap()
}

/// What the variables stand for during a night.
fn variables(board: &Board, night: &Night) -> Vec<(String, String)> {
    let mut variables = board.everything(STEP_S, 3600);
    for (name, value) in &mut variables {
        if name == "cluster" {
            night.name.clone_into(value);
        }
    }
    variables
}

/// What a question is answered in the nights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Nothing,
    /// Numbers, all of them zero.
    Zero,
    Something,
}

#[test]
fn every_panel_of_every_dashboard_has_an_answer() {
    if let Some(obstacle) = History::obstacle() {
        println!("skipped: {obstacle}");
        return;
    }
    let nights = nights(NIGHTS);
    let prometheus = prometheus(&nights);
    let mut quiet = Vec::new();
    for board in grafana::boards(&root().join("dashboards")).unwrap() {
        let questions = board.questions().into_iter();
        let mut asked: Vec<(String, String)> = questions
            .map(|each| (format!("{} {}", each.panel, each.name), each.expr))
            .collect();
        asked.extend(board.annotations());
        for (name, expr) in asked {
            let said = ask(&prometheus, &board, &nights, &expr);
            if said != Said::Something {
                quiet.push((board.file.clone(), name, said));
            }
        }
    }
    let known = QUIET
        .iter()
        .map(|(board, name, said, _)| (String::from(*board), String::from(*name), *said));
    assert_eq!(quiet, known.collect::<Vec<_>>());
}

/// Asked night by night, until one has something to say.
fn ask(prometheus: &History, board: &Board, nights: &[Night], expr: &str) -> Said {
    let mut said = Said::Nothing;
    for night in nights {
        let expr = grafana::filled(expr, &variables(board, night)).unwrap();
        let series = prometheus
            .range(&expr, (night.from, night.to), STEP_S)
            .unwrap();
        said = said.max(series.iter().map(in_a_word).max().unwrap_or(Said::Nothing));
        if said == Said::Something {
            break;
        }
    }
    said
}

fn in_a_word(series: &Value) -> Said {
    let points = series["values"].as_array().unwrap().iter();
    let number = |point: &Value| point[1].as_str().unwrap().parse::<f64>().unwrap();
    let numbers = points.map(number).filter(|number| number.is_finite());
    let said = numbers.map(|number| {
        if number == 0.0 {
            Said::Zero
        } else {
            Said::Something
        }
    });
    said.max().unwrap_or(Said::Nothing)
}

/// A worker is killed and nobody takes its place: during the delay the first board says what
/// is lost and until when; afterwards that nothing is.
#[test]
fn the_first_board_says_what_is_lost_and_until_when() {
    if let Some(obstacle) = History::obstacle() {
        println!("skipped: {obstacle}");
        return;
    }
    let nights = nights(&["incident"]);
    let prometheus = prometheus(&nights);
    let night = &nights[0];
    let boards = grafana::boards(&root().join("dashboards")).unwrap();
    let board = boards.iter().find(|board| board.file == "now").unwrap();
    let says = |panel: &str, at: i64| {
        let questions = board.questions();
        let question = questions.iter().find(|each| each.panel == panel).unwrap();
        let expr = grafana::filled(&question.expr, &variables(board, night)).unwrap();
        let series = prometheus.at(&expr, at).unwrap();
        assert!(series.len() <= 1, "copies are one: {series:?}");
        let value = series
            .first()
            .map(|one| one["value"][1].as_str().unwrap().to_owned());
        value.map(|value| value.parse::<f64>().unwrap())
    };
    // The record without the killed worker was written 19 s after the begin; the delay is 20 s.
    let during = night.from + 30;
    assert_eq!(says("Lost connectors and tasks", during), Some(3.0));
    let left = says("Scheduled delay ends in", during).unwrap();
    assert!((1.0..20.0).contains(&left), "{left}");
    assert_eq!(says("Rebalancing now", during), Some(0.0), "it only waits");
    // Nobody vouches for anything before the topics were read.
    assert_eq!(says("Lost connectors and tasks", night.from), None);
    let after = night.recorded_to + 60;
    assert_eq!(says("Lost connectors and tasks", after), Some(0.0));
    assert_eq!(says("Scheduled delay ends in", after), Some(0.0));
    assert_eq!(says("Tasks that should run and do not", after), Some(0.0));
}

/// `cargo xtask boards draw` asks for this.
#[test]
fn answers_are_kept_for_whoever_draws_them() {
    let Some(folder) = std::env::var_os("EVENKEEL_BOARDS_ANSWERS") else {
        println!("skipped: EVENKEEL_BOARDS_ANSWERS names no folder");
        return;
    };
    draw::write(Path::new(&folder));
}
