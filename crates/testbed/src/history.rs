//! A Prometheus over series that were written beforehand, instants included: what a night
//! looked like, asked of the real thing.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::folder::Folder;
use crate::prometheus::{DATA, Prometheus, PrometheusSpec};

/// Prometheus' own tool, of the same package.
const TOOL: &str = "promtool";

/// Seconds between two samples of a series.
pub const STEP_S: u64 = 5;

/// A running Prometheus that scrapes nothing.
#[derive(Debug)]
pub struct History(Prometheus);

impl History {
    /// Why it cannot be run on this machine; `None` if it can.
    #[must_use]
    pub fn obstacle() -> Option<String> {
        Prometheus::obstacle().or_else(|| Prometheus::lacks(TOOL))
    }

    /// Starts it over these samples: OpenMetrics, each line with its instant, those of a
    /// series in order.
    ///
    /// # Errors
    /// When the samples are refused, or it does not get ready.
    pub fn of(samples: &str) -> anyhow::Result<History> {
        let folder = Folder::create()?;
        fill(folder.path(), samples)?;
        let more = [
            // What was recorded long ago is not too old.
            "--storage.tsdb.retention.time=100y".to_owned(),
            // What is written has no marks where a series ends: it is gone with the next one.
            format!("--query.lookback-delta={STEP_S}s"),
        ];
        Prometheus::start_in(folder, &PrometheusSpec::default(), &more).map(History)
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
        let times = (from as f64, to as f64);
        let told = self.0.query_range(expr, times, Duration::from_secs(step));
        told.with_context(|| expr.to_owned())
    }

    /// The series that answer an expression at an instant.
    ///
    /// # Errors
    /// What Prometheus says of the expression.
    pub fn at(&self, expr: &str, at: i64) -> anyhow::Result<Vec<Value>> {
        let told = self.0.query_at(expr, at as f64);
        told.with_context(|| expr.to_owned())
    }
}

/// Writes the samples as Prometheus keeps them.
fn fill(folder: &Path, samples: &str) -> anyhow::Result<()> {
    let file = folder.join("samples.txt");
    fs::write(&file, samples)?;
    let output = Command::new(TOOL)
        .args(["tsdb", "create-blocks-from", "openmetrics", "--quiet"])
        .args([&file, &folder.join(DATA)])
        .output()
        .with_context(|| format!("run {TOOL}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "{TOOL} tsdb create-blocks-from: {told}"
    );
    Ok(())
}
