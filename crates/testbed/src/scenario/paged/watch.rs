//! The monitoring that a team would have: a Prometheus that scrapes the sidecars and has
//! evenkeel's rules, an Alertmanager with evenkeel's sample of routes, and who they tell.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::alertmanager::{Alertmanager, Notification, Notified, Webhook};
use crate::prometheus::{Prometheus, PrometheusSpec, Target};
use crate::scenario::stage::Stage;
use crate::wait::wait_until;

/// The routes and inhibitions that people are given.
const SAMPLE: &str = include_str!("../../../../../alerts/alertmanager.example.yaml");

/// Places of the sample at which messages are sent, by the names of its receivers.
const RECEIVERS: [&str; 3] = ["pager", "chat", "tickets"];

/// What is changed beside these: how long Alertmanager waits for more before it tells a
/// person. Minutes here would be waited for by a test.
const WAITS: [(&str, &str); 2] = [("group_wait:", "1s"), ("group_interval:", "2s")];

/// Longest wait for a message: the rule's own time, on a loaded machine.
const TOLD_MAX: Duration = Duration::from_secs(90);

/// All of it.
#[derive(Debug)]
pub(super) struct Watch {
    prometheus: Prometheus,
    alertmanager: Alertmanager,
    webhook: Webhook,
}

impl Watch {
    /// Starts it for these sidecars, with rules as these arguments want them.
    pub(super) fn start(
        stage: &Stage,
        targets: Vec<Target>,
        settings: &[&str],
    ) -> anyhow::Result<Watch> {
        let rules = stage.cluster.folder().join("rules.yaml");
        let printed = Command::new(stage.program())
            .env_clear()
            .arg("rules")
            .args(settings)
            .output()
            .context("evenkeel rules")?;
        let said = String::from_utf8_lossy(&printed.stderr);
        ensure!(printed.status.success(), "evenkeel rules: {said}");
        fs::write(&rules, printed.stdout)?;
        let webhook = Webhook::start()?;
        let alertmanager = Alertmanager::start(&config(&webhook)?)?;
        let prometheus = Prometheus::start(&PrometheusSpec {
            targets,
            rule_files: vec![rules],
            alertmanager: Some(alertmanager.address()),
            ..PrometheusSpec::default()
        })?;
        Ok(Watch {
            prometheus,
            alertmanager,
            webhook,
        })
    }

    /// Waits until that receiver is told that the alert fires.
    pub(super) fn told(&self, receiver: &str, alert: &str) -> anyhow::Result<Notified> {
        self.await_status(receiver, (alert, "firing"))
    }

    /// Waits until it is told that the alert is over.
    pub(super) fn over(&self, receiver: &str, alert: &str) -> anyhow::Result<Notified> {
        self.await_status(receiver, (alert, "resolved"))
    }

    fn await_status(
        &self,
        receiver: &str,
        (alert, status): (&str, &str),
    ) -> anyhow::Result<Notified> {
        let what = format!("{receiver} to be told that {alert} is {status}");
        wait_until(&what, TOLD_MAX, || {
            let messages = self.messages(receiver)?;
            let mut alerts = messages.into_iter().flat_map(|message| message.alerts);
            let found = alerts.find(|told| told.name() == alert && told.status == status);
            ensure!(found.is_some(), "alerts now: {}", self.now()?.join(", "));
            Ok(found)
        })
    }

    /// All that this receiver got, in order.
    pub(super) fn messages(&self, receiver: &str) -> anyhow::Result<Vec<Notification>> {
        let mut all = self.webhook.notifications()?;
        all.retain(|message| message.receiver == receiver);
        Ok(all)
    }

    /// Each message of this receiver in a line: its status, and the alerts with theirs.
    pub(super) fn lines(&self, receiver: &str) -> anyhow::Result<Vec<String>> {
        let line = |message: Notification| {
            let alerts = message.alerts.iter();
            let alerts: Vec<String> = alerts
                .map(|told| format!("{} {}", told.name(), told.status))
                .collect();
            format!("{}: {}", message.status, alerts.join(", "))
        };
        Ok(self.messages(receiver)?.into_iter().map(line).collect())
    }

    /// What is pending or fires now, in words.
    fn now(&self) -> anyhow::Result<Vec<String>> {
        let alerts = self.prometheus.alerts()?.into_iter();
        let alerts = alerts.map(|alert| {
            let name = alert.pointer("/labels/alertname").cloned();
            format!("{} {}", name.unwrap_or_default(), alert["state"])
        });
        Ok(alerts.collect())
    }

    /// Names and severities of all alerts that ever fired.
    pub(super) fn ever(&self) -> anyhow::Result<Vec<String>> {
        let ever =
            r#"count by (alertname, severity) (count_over_time(ALERTS{alertstate="firing"}[1h]))"#;
        let found = self.prometheus.query(ever)?.into_iter();
        let mut found: Vec<String> = found
            .map(|one| {
                let label =
                    |name: &str| one["metric"][name].as_str().unwrap_or_default().to_owned();
                format!("{} {}", label("severity"), label("alertname"))
            })
            .collect();
        found.sort_unstable();
        Ok(found)
    }

    /// Ends it.
    pub(super) fn stop(self) -> anyhow::Result<()> {
        self.prometheus.stop()?;
        self.alertmanager.stop()
    }
}

/// The sample, with these receivers at the webhook and short waits; a sample that has no such
/// places any more is an error.
fn config(webhook: &Webhook) -> anyhow::Result<String> {
    let mut text = SAMPLE.to_owned();
    for name in RECEIVERS {
        let example = format!("http://{name}.example/alerts");
        ensure!(text.contains(&example), "the sample has no {example}");
        text = text.replace(&example, &webhook.url(name));
    }
    let mut changed = [0; WAITS.len()];
    let lines = text.lines().map(|line| {
        for ((key, wait), changed) in WAITS.iter().zip(&mut changed) {
            if line.trim_start().starts_with(key) {
                *changed += 1;
                let (indent, _) = line.split_once(key).unwrap_or_default();
                return format!("{indent}{key} {wait}\n");
            }
        }
        format!("{line}\n")
    });
    let text = lines.collect();
    ensure!(!changed.contains(&0), "the sample has no waits any more");
    Ok(text)
}
