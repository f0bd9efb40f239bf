//! Two clusters whose groups, workers, pods and addresses have the same names: what is asked
//! of one is answered without the other, and while both are chosen every answer says whose it
//! is.

use std::collections::BTreeSet;

use evenkeel_testbed::grafana;
use evenkeel_testbed::history::{History, STEP_S};
use serde_json::Value;

use super::night::Night;

/// Something happens to connectors, tasks and workers in it.
const NIGHT: &str = "incident";

/// The same series of another cluster, with other values.
fn twin(night: &Night) -> Night {
    let ours = format!("cluster=\"{}\"", night.name);
    let line = |line: &str| {
        let (rest, at) = line.rsplit_once(' ').unwrap();
        let (series, value) = rest.rsplit_once(' ').unwrap();
        let value = 3.0 * value.parse::<f64>().unwrap() + 7.0;
        format!("{series} {value} {at}\n").replace(&ours, "cluster=\"twin\"")
    };
    Night {
        name: "twin".to_owned(),
        samples: night.samples.lines().map(line).collect(),
        ..*night
    }
}

#[test]
fn a_cluster_is_told_without_another_whose_names_are_the_same() {
    if let Some(obstacle) = History::obstacle() {
        println!("skipped: {obstacle}");
        return;
    }
    let mut nights = super::nights(&[NIGHT]);
    let alone = super::prometheus(&nights);
    nights.push(twin(&nights[0]));
    let both = super::prometheus(&nights);
    let night = &nights[0];
    let (mut answered, mut mixed) = (0, Vec::new());
    for board in grafana::boards(&super::root().join("dashboards")).unwrap() {
        for question in board.questions() {
            let expr = grafana::filled(&question.expr, &super::variables(&board, night)).unwrap();
            let ask = |prometheus: &History| {
                let span = (night.from, night.recorded_to);
                prometheus.range(&expr, span, STEP_S).unwrap()
            };
            let wanted = ask(&alone);
            answered += usize::from(!wanted.is_empty());
            if series(&wanted) != series(&ask(&both)) {
                mixed.push((board.file.clone(), question.panel, question.name));
            }
        }
    }
    assert!(answered > 50, "the night answers only {answered}");
    assert_eq!(mixed, []);
}

fn series(answer: &[Value]) -> BTreeSet<String> {
    answer.iter().map(Value::to_string).collect()
}

#[test]
fn what_names_a_group_or_an_agent_names_its_cluster_too() {
    if let Some(obstacle) = History::obstacle() {
        println!("skipped: {obstacle}");
        return;
    }
    let mut nights = super::nights(&[NIGHT]);
    nights.push(twin(&nights[0]));
    let prometheus = super::prometheus(&nights);
    let night = &nights[0];
    let mut nameless = Vec::new();
    for board in grafana::boards(&super::root().join("dashboards")).unwrap() {
        for question in board.questions() {
            let variables = board.everything(STEP_S, 3600);
            let expr = grafana::filled(&question.expr, &variables).unwrap();
            // Other exporters' series are joined, which fails where that mixes clusters.
            let answer = prometheus
                .range(&expr, (night.from, night.recorded_to), STEP_S)
                .unwrap();
            let metrics = answer.iter().map(|series| &series["metric"]);
            let mut named = metrics
                .filter(|metric| metric.get("group").is_some() || metric.get("instance").is_some());
            if named.any(|metric| metric.get("cluster").is_none()) {
                nameless.push((board.file.clone(), question.panel, question.name));
            }
        }
    }
    assert_eq!(nameless, []);
}
