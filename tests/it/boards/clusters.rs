//! Two clusters whose groups, workers, pods and addresses have the same names: what is asked
//! of one is answered without the other, and while both are chosen every answer says whose it
//! is.

use std::collections::BTreeSet;

use evenkeel_testbed::grafana;
use evenkeel_testbed::history::{History, STEP_S};
use serde_json::Value;

use super::night::Night;
use super::series::foreign;

/// Something happens to connectors, tasks and workers in it.
const NIGHT: &str = "incident";

const TWIN: &str = "twin";

/// What the night's cluster shows, and what another would with other values; beside its
/// workers stands no agent.
fn samples(night: &Night) -> [String; 2] {
    let ours = night.samples.clone() + &foreign(night);
    let cluster = format!("cluster=\"{}\"", night.name);
    let line = |line: &str| {
        let (rest, at) = line.rsplit_once(' ').unwrap();
        let (series, value) = rest.rsplit_once(' ').unwrap();
        let value = 3.0 * value.parse::<f64>().unwrap() + 7.0;
        format!("{series} {value} {at}\n").replace(&cluster, &format!("cluster=\"{TWIN}\""))
    };
    let has_agents = |line: &&str| line.starts_with("evenkeel_sidecar_info");
    let theirs = ours.lines().filter(|line| !has_agents(line)).map(line);
    let theirs = theirs.collect();
    [ours, theirs]
}

fn prometheus(samples: &[&str]) -> History {
    History::of(&(samples.concat() + "# EOF\n")).unwrap()
}

#[test]
fn a_cluster_is_told_without_another_whose_names_are_the_same() {
    if let Some(obstacle) = History::obstacle() {
        println!("skipped: {obstacle}");
        return;
    }
    let night = &super::nights(&[NIGHT])[0];
    let [ours, theirs] = samples(night);
    let both = prometheus(&[&ours, &theirs]);
    let (mut answered, mut mixed) = (0, Vec::new());
    for (cluster, samples) in [(&*night.name, &*ours), (TWIN, &*theirs)] {
        let alone = prometheus(&[samples]);
        for board in grafana::boards(&super::root().join("dashboards")).unwrap() {
            let mut variables = board.everything(STEP_S, 3600);
            let (_, chosen) = variables
                .iter_mut()
                .find(|(name, _)| name == "cluster")
                .unwrap();
            cluster.clone_into(chosen);
            for question in board.questions() {
                let expr = grafana::filled(&question.expr, &variables).unwrap();
                let span = (night.from, night.recorded_to);
                let ask = |of: &History| series(&of.range(&expr, span, STEP_S).unwrap());
                let wanted = ask(&alone);
                answered += usize::from(!wanted.is_empty());
                if wanted != ask(&both) {
                    mixed.push(format!("{cluster}: {} {}", question.panel, question.name));
                }
            }
        }
    }
    assert!(answered > 100, "only {answered} have an answer");
    assert!(mixed.is_empty(), "{mixed:#?}");
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
    let night = &super::nights(&[NIGHT])[0];
    let [ours, theirs] = samples(night);
    let prometheus = prometheus(&[&ours, &theirs]);
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
