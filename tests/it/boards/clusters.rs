//! Two clusters whose groups, workers, pods and addresses have the same names: what is asked
//! of one is answered without the other, and while both are chosen every answer says whose it
//! is.

use std::collections::BTreeSet;

use evenkeel_testbed::grafana::{self, Board};
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

/// The variables of a board: a cluster, or all of them.
fn variables(board: &Board, cluster: Option<&str>) -> Vec<(String, String)> {
    let mut variables = board.everything(STEP_S, 3600);
    for (name, value) in &mut variables {
        if let Some(cluster) = cluster
            && name == "cluster"
        {
            cluster.clone_into(value);
        }
    }
    variables
}

/// The label of a series.
fn cluster_of(series: &Value) -> Option<&str> {
    series["metric"]["cluster"].as_str()
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
            for question in board.questions() {
                let ask = |of: &History, chosen: Option<&str>| {
                    let variables = variables(&board, chosen);
                    let expr = grafana::filled(&question.expr, &variables).unwrap();
                    // Other exporters' series are joined, which fails where that mixes clusters.
                    let span = (night.from, night.recorded_to);
                    of.range(&expr, span, STEP_S).unwrap()
                };
                let wanted = ask(&alone, Some(cluster));
                answered += usize::from(!wanted.is_empty());
                let chosen = ask(&both, Some(cluster));
                let all = ask(&both, None);
                let named = wanted.iter().all(|series| cluster_of(series).is_some());
                let of_it = all
                    .iter()
                    .filter(|series| cluster_of(series) == Some(cluster));
                if texts(&wanted) != texts(&chosen) || named && texts(&wanted) != texts(of_it) {
                    mixed.push(format!("{cluster}: {} {}", question.panel, question.name));
                }
                if all.iter().any(is_nameless) {
                    mixed.push(format!("whose? {} {}", question.panel, question.name));
                }
            }
        }
    }
    assert!(answered > 100, "only {answered} have an answer");
    assert!(mixed.is_empty(), "{mixed:#?}");
}

/// Series with their values, without the last digits: sums are added up in any order.
fn texts<'a>(answer: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    let text = |series: &Value| {
        let points = series["values"].as_array().unwrap().iter();
        let values: Vec<String> = points
            .map(|point| {
                let value: f64 = point[1].as_str().unwrap().parse().unwrap();
                format!("{} {value:.9e}", point[0])
            })
            .collect();
        format!("{} {values:?}", series["metric"])
    };
    answer.into_iter().map(text).collect()
}

/// What names a group or an agent names its cluster, too.
fn is_nameless(series: &Value) -> bool {
    let labels = &series["metric"];
    let names = |label: &str| labels.get(label).is_some();
    (names("group") || names("instance")) && !names("cluster")
}
