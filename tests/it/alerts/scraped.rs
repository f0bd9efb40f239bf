//! The rules in a real Prometheus that scrapes the demo: what promtool cannot show, that a
//! scrape, a rule, a query in its words and an alert that ends go together.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use evenkeel_testbed::{Prometheus, PrometheusSpec, Target, request, wait_until};
use serde_json::Value;

use super::rules;

const WAIT_MAX: Duration = Duration::from_secs(90);

/// The demo: it does not outlive its test.
pub(super) struct Demo {
    /// Where it is asked.
    pub(super) address: String,
    process: Child,
    /// Kept open: whoever tells something to nobody may end.
    _told: Lines<BufReader<ChildStdout>>,
}

impl Drop for Demo {
    fn drop(&mut self) {
        let ended = self.process.kill().and_then(|()| self.process.wait());
        if let Err(error) = ended {
            eprintln!("a program is left behind: {error}");
        }
    }
}

/// Starts it at a port that is free.
pub(super) fn demo() -> Demo {
    let mut process = Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args(["demo", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let page = lines.by_ref().find_map(|line| {
        let line = line.unwrap();
        Some(line.trim().strip_prefix("page")?.trim().to_owned())
    });
    let page = page.unwrap();
    let address = page.strip_prefix("http://").unwrap().trim_end_matches('/');
    Demo {
        address: address.to_owned(),
        process,
        _told: lines,
    }
}

/// The alert of that name, as Prometheus shows it.
fn alert(prometheus: &Prometheus, name: &str) -> anyhow::Result<Option<Value>> {
    let mut alerts = prometheus.alerts()?.into_iter();
    Ok(alerts.find(|alert| alert["labels"]["alertname"] == name))
}

#[test]
fn a_real_prometheus_raises_an_alert_and_ends_it() {
    if let Some(obstacle) = Prometheus::obstacle() {
        println!("skipped: {obstacle}");
        return;
    }
    let demo = demo();
    let folder = tempfile::tempdir().unwrap();
    // A third of the work is lost for the twenty seconds of the recorded delay.
    let rules = rules(&["--set", "most_share=0.1", "--set", "most_for=1s"]);
    let file = folder.path().join("rules.yaml");
    fs::write(&file, rules).unwrap();
    let spec = PrometheusSpec {
        targets: vec![Target {
            address: demo.address.clone(),
            job: "evenkeel".to_owned(),
            labels: Vec::new(),
        }],
        rule_files: vec![file],
        scrape_every: Duration::from_millis(500),
        ..PrometheusSpec::default()
    };
    let prometheus = Prometheus::start(&spec).unwrap();

    let name = "EvenkeelMostWorkUnassigned";
    let raised = wait_until("the alert", WAIT_MAX, || {
        Ok(alert(&prometheus, name)?.filter(|alert| alert["state"] == "firing"))
    });
    let raised = raised.unwrap();
    assert_eq!(raised["labels"]["group"], "connect", "{raised}");
    assert_eq!(raised["labels"]["severity"], "critical", "{raised}");
    assert_eq!(raised["labels"]["instance"], Value::Null, "{raised}");
    let words = raised["annotations"]["description"].as_str().unwrap();
    assert!(
        words.contains("of connect have no owner. Members: 2. Reasons: lost."),
        "{words}"
    );
    assert!(
        words.ends_with("Trust: 1 of 1 sidecars are sure of all they see."),
        "{words}"
    );
    wait_until("the end of the alert", WAIT_MAX, || {
        Ok(alert(&prometheus, name)?.is_none().then_some(()))
    })
    .unwrap();
    let answer = request(
        prometheus.port(),
        "GET",
        "/api/v1/rules",
        None,
        Duration::from_secs(5),
    );
    let told: Value = serde_json::from_str(&answer.unwrap().body).unwrap();
    let groups = told["data"]["groups"].as_array().unwrap();
    let all = groups
        .iter()
        .flat_map(|group| group["rules"].as_array().unwrap());
    let unwell: Vec<&Value> = all.filter(|rule| rule["health"] != "ok").collect();
    assert!(unwell.is_empty(), "{unwell:#?}");
}
