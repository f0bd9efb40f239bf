//! A Prometheus over series that were written beforehand, instants included: what a night
//! looked like, asked of the real thing.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::JarCache;
use crate::folder::Folder;
use crate::ports::Port;
use crate::process::Process;
use crate::rest;
use crate::wait::wait_until;

/// Debian's package `prometheus` brings both.
const PROGRAMS: [&str; 2] = ["prometheus", "promtool"];
/// Longest start on a loaded machine.
const START_MAX: Duration = Duration::from_secs(60);
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Seconds between two samples of a series.
pub const STEP_S: u64 = 5;

/// A running Prometheus that scrapes nothing.
#[derive(Debug)]
pub struct History {
    _process: Process,
    port: Port,
    _folder: Folder,
}

impl History {
    /// Why it cannot be run on this machine; `None` if it can.
    #[must_use]
    pub fn obstacle() -> Option<String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let lacks = |program: &&&str| {
            !std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
        };
        let missing = PROGRAMS.iter().find(lacks)?;
        Some(format!(
            "{missing} is not installed; as root: apt-get install -y prometheus"
        ))
    }

    /// Starts it over these samples: OpenMetrics, each line with its instant, those of a
    /// series in order.
    ///
    /// # Errors
    /// When the samples are refused, or it does not get ready.
    pub fn of(samples: &str) -> anyhow::Result<History> {
        let folder = Folder::create()?;
        let data = folder.path().join("data");
        fill(folder.path(), &data, samples)?;
        let config = folder.path().join("prometheus.yml");
        fs::write(&config, "scrape_configs: []\n")?;
        let port = Port::reserve(&JarCache::open()?.root().join("ports"))?;
        let mut command = Command::new("prometheus");
        command
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", data.display()))
            // What was recorded long ago is not too old.
            .arg("--storage.tsdb.retention.time=100y")
            .arg(format!(
                "--web.listen-address={}:{}",
                Ipv4Addr::LOCALHOST,
                port.number()
            ))
            // What is written has no marks where a series ends: it is gone with the next one.
            .arg(format!("--query.lookback-delta={STEP_S}s"))
            .arg("--log.level=warn");
        let log = folder.path().join("prometheus.log");
        let mut process = Process::start("prometheus", command, &log)?;
        wait_until("Prometheus to be ready", START_MAX, || {
            process.must_run()?;
            rest::request(port.number(), "GET", "/-/ready", None, ANSWER_MAX)?.ok()?;
            Ok(Some(()))
        })?;
        Ok(History {
            _process: process,
            port,
            _folder: folder,
        })
    }

    /// The series that answer an expression between two instants, a point each `step`
    /// seconds.
    ///
    /// # Errors
    /// What Prometheus says of the expression.
    pub fn range(
        &self,
        expr: &str,
        (from, to): (i64, i64),
        step: u64,
    ) -> anyhow::Result<Vec<Value>> {
        let path = format!(
            "/api/v1/query_range?query={}&start={from}&end={to}&step={step}",
            escape(expr)
        );
        self.ask(&path).with_context(|| expr.to_owned())
    }

    /// The series that answer an expression at an instant.
    ///
    /// # Errors
    /// What Prometheus says of the expression.
    pub fn at(&self, expr: &str, at: i64) -> anyhow::Result<Vec<Value>> {
        let path = format!("/api/v1/query?query={}&time={at}", escape(expr));
        self.ask(&path).with_context(|| expr.to_owned())
    }

    fn ask(&self, path: &str) -> anyhow::Result<Vec<Value>> {
        let answer = rest::request(self.port.number(), "GET", path, None, ANSWER_MAX)?.json()?;
        let result = answer["data"]["result"].as_array();
        Ok(result
            .with_context(|| format!("no result: {answer}"))?
            .clone())
    }
}

fn fill(folder: &Path, data: &Path, samples: &str) -> anyhow::Result<()> {
    let file = folder.join("samples.txt");
    fs::write(&file, samples)?;
    let output = Command::new("promtool")
        .args(["tsdb", "create-blocks-from", "openmetrics", "--quiet"])
        .args([&file, data])
        .output()
        .context("run promtool")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "promtool tsdb create-blocks-from: {told}"
    );
    Ok(())
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
