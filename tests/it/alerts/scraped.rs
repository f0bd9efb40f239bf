//! The rules in a real Prometheus that scrapes the demo: what promtool cannot show, that a
//! scrape, a rule, a query in its words and an alert that ends go together.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use evenkeel_testbed::{request, wait_until};
use serde_json::{Value, json};

use super::rules;

const WAIT_MAX: Duration = Duration::from_secs(90);

/// A program that does not outlive its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        if let Err(error) = ended {
            eprintln!("a program is left behind: {error}");
        }
    }
}

fn get(port: u16, path: &str) -> anyhow::Result<Value> {
    let answer = request(port, "GET", path, None, Duration::from_secs(5))?;
    Ok(serde_json::from_str(&answer.body)?)
}

/// The alert of that name, as Prometheus shows it.
fn alert(port: u16, name: &str) -> anyhow::Result<Option<Value>> {
    let told = get(port, "/api/v1/alerts")?;
    let alerts = told["data"]["alerts"].as_array().into_iter().flatten();
    let mut wanted = alerts.filter(|alert| alert["labels"]["alertname"] == name);
    Ok(wanted.next().cloned())
}

#[test]
fn a_real_prometheus_raises_an_alert_and_ends_it() {
    let is_there = Command::new("prometheus").arg("--version").output().is_ok();
    if !is_there {
        println!("skipped: there is no prometheus (Debian: prometheus)");
        return;
    }
    let mut demo = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    demo.args(["demo", "--listen", "127.0.0.1:0"]);
    let mut demo = Running(demo.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(demo.0.stdout.take().unwrap()).lines();
    let address = lines.by_ref().find_map(|line| {
        let line = line.unwrap();
        let address = line.trim().strip_prefix("page")?.trim();
        Some(
            address
                .strip_prefix("http://")?
                .trim_end_matches('/')
                .to_owned(),
        )
    });

    let folder = tempfile::tempdir().unwrap();
    // A third of the work is lost for the twenty seconds of the recorded delay.
    let rules = rules(&["--set", "most_share=0.1", "--set", "most_for=1s"]);
    fs::write(folder.path().join("rules.yaml"), rules).unwrap();
    let config = json!({
        "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": [{"job_name": "evenkeel", "static_configs": [{"targets": [address.unwrap()]}]}],
    });
    // JSON is a part of YAML.
    fs::write(folder.path().join("prometheus.yaml"), config.to_string()).unwrap();
    // The port is free again before Prometheus takes it; whoever was faster makes it end at once.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut prometheus = Command::new("prometheus");
    prometheus
        .args([
            "--config.file=prometheus.yaml",
            "--storage.tsdb.path=data",
            "--log.level=warn",
        ])
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .current_dir(folder.path());
    let _prometheus = Running(prometheus.spawn().unwrap());

    let name = "EvenkeelMostWorkUnassigned";
    let raised = wait_until("the alert", WAIT_MAX, || {
        // Until it listens there is nobody to ask.
        let alert = alert(port, name).ok().flatten();
        Ok(alert.filter(|alert| alert["state"] == "firing"))
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
        Ok(alert(port, name)?.is_none().then_some(()))
    })
    .unwrap();
    let told = get(port, "/api/v1/rules").unwrap();
    let groups = told["data"]["groups"].as_array().unwrap();
    let all = groups
        .iter()
        .flat_map(|group| group["rules"].as_array().unwrap());
    let unwell: Vec<&Value> = all.filter(|rule| rule["health"] != "ok").collect();
    assert!(unwell.is_empty(), "{unwell:#?}");
}
