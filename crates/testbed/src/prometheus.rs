//! A real Prometheus: scrapes what a test names, evaluates its rules, and is asked over its
//! own API.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::cache;
use crate::folder::Folder;
use crate::ports::Port;
use crate::process::Process;
use crate::rest;
use crate::wait::wait_until;

/// Debian's package `prometheus` brings it, and promtool.
const PROGRAM: &str = "prometheus";

/// Longest start on a loaded machine.
const START_MAX: Duration = Duration::from_secs(60);
const ANSWER_MAX: Duration = Duration::from_secs(30);
const END_MAX: Duration = Duration::from_secs(20);

const CONFIG: &str = "prometheus.json";
/// Where its samples are.
pub(crate) const DATA: &str = "data";

/// What it scrapes and evaluates.
#[derive(Clone, Debug)]
pub struct PrometheusSpec {
    /// What is scraped, each `host:port` with its labels.
    pub targets: Vec<Target>,
    /// Rules that it evaluates, at the pace of the scrapes.
    pub rule_files: Vec<PathBuf>,
    /// The `host:port` that alerts are sent to.
    pub alertmanager: Option<String>,
    /// Time between two scrapes.
    pub scrape_every: Duration,
}

/// A server that shows metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub address: String,
    /// The label `job`.
    pub job: String,
    /// More labels.
    pub labels: Vec<(String, String)>,
}

/// A running Prometheus with exemplar storage.
#[derive(Debug)]
pub struct Prometheus {
    process: Process,
    port: Port,
    folder: Folder,
}

impl Default for PrometheusSpec {
    fn default() -> Self {
        PrometheusSpec {
            targets: Vec::new(),
            rule_files: Vec::new(),
            alertmanager: None,
            scrape_every: Duration::from_secs(1),
        }
    }
}

impl Target {
    /// A server on loopback.
    #[must_use]
    pub fn local(job: &str, port: u16) -> Target {
        Target {
            address: format!("{}:{port}", Ipv4Addr::LOCALHOST),
            job: job.to_owned(),
            labels: Vec::new(),
        }
    }
}

impl PrometheusSpec {
    /// Its configuration; Prometheus reads YAML, of which JSON is a part.
    fn config(&self) -> Value {
        let every = format!("{}ms", self.scrape_every.as_millis());
        let scrapes: Vec<Value> = self
            .jobs()
            .into_iter()
            .map(|job| {
                let of_it = self.targets.iter().filter(|target| target.job == job);
                let configs: Vec<Value> = of_it
                    .map(|target| {
                        let labels: serde_json::Map<String, Value> = target
                            .labels
                            .iter()
                            .map(|(name, value)| (name.clone(), json!(value)))
                            .collect();
                        json!({ "targets": [target.address], "labels": labels })
                    })
                    .collect();
                json!({ "job_name": job, "static_configs": configs })
            })
            .collect();
        let mut config = json!({
            "global": {
                "scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every,
            },
            "rule_files": self.rule_files,
            "scrape_configs": scrapes,
        });
        if let Some(address) = &self.alertmanager {
            config["alerting"] =
                json!({ "alertmanagers": [{ "static_configs": [{ "targets": [address] }] }] });
        }
        config
    }

    /// Each once, in their order.
    fn jobs(&self) -> Vec<&str> {
        let mut jobs: Vec<&str> = Vec::new();
        for target in &self.targets {
            if !jobs.contains(&target.job.as_str()) {
                jobs.push(&target.job);
            }
        }
        jobs
    }
}

impl Prometheus {
    /// Why it cannot be run on this machine; `None` if it can.
    #[must_use]
    pub fn obstacle() -> Option<String> {
        Prometheus::lacks(PROGRAM)
    }

    /// What brings a program of its package, where that is not there.
    pub(crate) fn lacks(program: &str) -> Option<String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
        (!is_there)
            .then(|| format!("{program} is not installed; as root: apt-get install -y {PROGRAM}"))
    }

    /// Starts it and waits until it is ready.
    ///
    /// # Errors
    /// When it is not there, refuses the configuration, or does not get ready.
    pub fn start(spec: &PrometheusSpec) -> anyhow::Result<Prometheus> {
        Prometheus::start_in(Folder::create()?, spec, &[])
    }

    /// Starts it in a folder in which its samples may lie, with more arguments.
    pub(crate) fn start_in(
        folder: Folder,
        spec: &PrometheusSpec,
        more: &[String],
    ) -> anyhow::Result<Prometheus> {
        let port = Port::reserve(&cache::port_locks()?)?;
        write_config(folder.path(), spec)?;
        let mut command = Command::new(PROGRAM);
        command
            .arg(format!(
                "--config.file={}",
                folder.path().join(CONFIG).display()
            ))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.path().join(DATA).display()
            ))
            .arg(format!(
                "--web.listen-address={}:{}",
                Ipv4Addr::LOCALHOST,
                port.number()
            ))
            .args(["--web.enable-lifecycle", "--log.level=warn"])
            .arg("--enable-feature=exemplar-storage")
            .args(more);
        let log = folder.path().join("prometheus.log");
        let mut prometheus = Prometheus {
            process: Process::start(PROGRAM, command, &log)?,
            port,
            folder,
        };
        wait_until("Prometheus to be ready", START_MAX, || {
            if prometheus.process.ended()?.is_some() {
                // No use in waiting on; the error is the value.
                return Ok(Some(prometheus.process.must_run()));
            }
            prometheus.call("GET", "/-/ready")?.ok()?;
            Ok(Some(Ok(())))
        })??;
        Ok(prometheus)
    }

    /// Its port on loopback.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// From now on it does what `spec` says.
    ///
    /// # Errors
    /// When it refuses the configuration.
    pub fn reload(&self, spec: &PrometheusSpec) -> anyhow::Result<()> {
        write_config(self.folder.path(), spec)?;
        self.call("POST", "/-/reload")?
            .ok()
            .context("reload Prometheus")
    }

    /// The result of an instant query: a list of `{metric, value}`.
    ///
    /// # Errors
    /// When it refuses the expression.
    pub fn query(&self, expression: &str) -> anyhow::Result<Vec<Value>> {
        let data = self.ask("query", &[("query", expression)])?;
        list(&data["result"])
    }

    /// As [`Prometheus::query`], at an instant in seconds since 1970.
    ///
    /// # Errors
    /// When it refuses the expression.
    pub fn query_at(&self, expression: &str, at: f64) -> anyhow::Result<Vec<Value>> {
        let asked = [("query", expression), ("time", &at.to_string())];
        list(&self.ask("query", &asked)?["result"])
    }

    /// The result of a query over a time, in seconds since 1970: a list of `{metric, values}`.
    ///
    /// # Errors
    /// When it refuses the expression.
    pub fn query_range(
        &self,
        expression: &str,
        (from, to): (f64, f64),
        step: Duration,
    ) -> anyhow::Result<Vec<Value>> {
        let (from, to) = (from.to_string(), to.to_string());
        let step = step.as_secs_f64().to_string();
        let asked = [
            ("query", expression),
            ("start", &from),
            ("end", &to),
            ("step", &step),
        ];
        let data = self.ask("query_range", &asked)?;
        list(&data["result"])
    }

    /// The exemplars of a time, in seconds since 1970: a list of `{seriesLabels, exemplars}`.
    ///
    /// # Errors
    /// When it refuses the expression.
    pub fn query_exemplars(
        &self,
        expression: &str,
        (from, to): (f64, f64),
    ) -> anyhow::Result<Vec<Value>> {
        let (from, to) = (from.to_string(), to.to_string());
        let asked = [("query", expression), ("start", &from), ("end", &to)];
        list(&self.ask("query_exemplars", &asked)?)
    }

    /// The alerts that are pending or fire: a list of `{labels, annotations, state, …}`.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn alerts(&self) -> anyhow::Result<Vec<Value>> {
        list(&self.ask("alerts", &[])?["alerts"])
    }

    /// The targets: a list of `{labels, health, lastError, …}`.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn targets(&self) -> anyhow::Result<Vec<Value>> {
        list(&self.ask("targets", &[("state", "active")])?["activeTargets"])
    }

    /// Ends it.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.process.terminate(END_MAX)?;
        Ok(())
    }

    /// The field `data` of what an endpoint of the API answers.
    fn ask(&self, endpoint: &str, arguments: &[(&str, &str)]) -> anyhow::Result<Value> {
        let pairs: Vec<String> = arguments
            .iter()
            .map(|(name, value)| format!("{name}={}", encoded(value)))
            .collect();
        let path = format!("/api/v1/{endpoint}?{}", pairs.join("&"));
        let mut answer = self.call("GET", &path)?.json()?;
        ensure!(answer["status"] == "success", "{endpoint}: {answer}");
        Ok(answer["data"].take())
    }

    fn call(&self, method: &str, path: &str) -> anyhow::Result<rest::Response> {
        rest::request(self.port.number(), method, path, None, ANSWER_MAX)
    }
}

fn write_config(folder: &Path, spec: &PrometheusSpec) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(&spec.config())?;
    fs::write(folder.join(CONFIG), text).context("write the configuration of Prometheus")
}

fn list(value: &Value) -> anyhow::Result<Vec<Value>> {
    let list = value.as_array().cloned();
    list.with_context(|| format!("no list: {value}"))
}

/// A value of a query string: all but letters and digits as `%XX`.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It scrapes itself, evaluates a rule, and takes another configuration while it runs.
    #[test]
    fn it_scrapes_evaluates_and_reloads() {
        if let Some(obstacle) = Prometheus::obstacle() {
            println!("skipped: {obstacle}");
            return;
        }
        let prometheus = Prometheus::start(&PrometheusSpec::default()).unwrap();
        let rules = prometheus.folder.path().join("rules.yaml");
        fs::write(
            &rules,
            "groups:\n- name: g\n  rules:\n  - alert: Up\n    expr: up{side=\"own\"} == 1\n",
        )
        .unwrap();
        let mut own = Target::local("self", prometheus.port());
        own.labels.push(("side".to_owned(), "own".to_owned()));
        let spec = PrometheusSpec {
            targets: vec![own],
            rule_files: vec![rules],
            ..PrometheusSpec::default()
        };
        prometheus.reload(&spec).unwrap();
        let alert = wait_until("the alert", START_MAX, || {
            Ok(prometheus.alerts()?.into_iter().next())
        })
        .unwrap();
        assert_eq!(alert["labels"]["alertname"], "Up");
        assert_eq!(
            prometheus.targets().unwrap()[0]["labels"]["job"],
            json!("self")
        );
        let up = prometheus.query("up{job=\"self\"}").unwrap();
        assert_eq!(up[0]["value"][1], "1");
        let at = up[0]["value"][0].as_f64().unwrap();
        let range = prometheus.query_range("up", (at - 5.0, at), Duration::from_secs(1));
        assert!(!range.unwrap().is_empty());
        let none = prometheus.query_exemplars("up", (at - 5.0, at)).unwrap();
        assert!(none.is_empty());
        assert!(prometheus.query("up{").is_err());
        prometheus.stop().unwrap();
    }
}
