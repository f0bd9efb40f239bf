//! Every question of every dashboard, asked of a real Prometheus that holds what the agents
//! would have shown during recorded nights: none fails, and none has no answer in all of them.

mod draw;
mod night;
mod series;

use std::collections::BTreeMap;
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

/// Questions that no capture can answer, and why.
const UNANSWERED: &[(&str, &str, &str)] = &[];

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

#[test]
fn every_panel_of_every_dashboard_has_an_answer() {
    if let Some(obstacle) = History::obstacle() {
        println!("skipped: {obstacle}");
        return;
    }
    let nights = nights(NIGHTS);
    let prometheus = prometheus(&nights);
    let mut unanswered = Vec::new();
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    for board in grafana::boards(&root().join("dashboards")).unwrap() {
        let mut questions: Vec<(String, String, String)> = board
            .questions()
            .into_iter()
            .map(|each| (each.panel, each.name, each.expr))
            .collect();
        let annotations = board.annotations().into_iter();
        questions.extend(annotations.map(|(name, expr)| (name, "annotation".to_owned(), expr)));
        for (panel, name, expr) in questions {
            let mut answered = false;
            for night in &nights {
                let expr = grafana::filled(&expr, &variables(&board, night)).unwrap();
                let window = (night.from, night.to);
                let series = prometheus.range(&expr, window, STEP_S).unwrap();
                if series.iter().any(has_a_number) {
                    answered = true;
                    *said.entry(&night.name).or_default() += 1;
                }
            }
            if !answered {
                unanswered.push((board.file.clone(), panel, name));
            }
        }
    }
    println!("answers by night: {said:?}");
    let excused: Vec<(String, String, String)> = UNANSWERED
        .iter()
        .map(|(board, panel, _)| (*board, *panel))
        .map(|(board, panel)| (board.to_owned(), panel.to_owned(), "A".to_owned()))
        .collect();
    assert_eq!(unanswered, excused);
}

fn has_a_number(series: &Value) -> bool {
    let points = series["values"].as_array().unwrap();
    points.iter().any(|point| {
        let value = point[1].as_str().unwrap();
        value.parse::<f64>().unwrap().is_finite()
    })
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
    // Killed before 14 s, the delay of 20 s ends at about 26 s (docs of the capture).
    let during = night.from + 20;
    assert_eq!(says("Lost connectors and tasks", during), Some(3.0));
    let left = says("Scheduled delay ends in", during).unwrap();
    assert!((1.0..20.0).contains(&left), "{left}");
    assert_eq!(says("Rebalancing now", during), Some(0.0), "it only waits");
    let after = night.recorded_to + 60;
    assert_eq!(says("Lost connectors and tasks", after), Some(0.0));
    assert_eq!(says("Scheduled delay ends in", after), None);
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
