//! `evenkeel check --live` as a process: what it prints.

use std::ffi::OsStr;
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use super::stage::Stage;

/// What it says as JSON, and its exit code.
///
/// # Errors
/// When it cannot be started, or prints no report.
pub(super) fn check_live<S: AsRef<OsStr>>(
    stage: &Stage,
    args: impl IntoIterator<Item = S>,
) -> anyhow::Result<(Value, Option<i32>)> {
    let mut command = Command::new(stage.program());
    command
        .env_clear()
        .args(["check", "--live", "--format", "json"]);
    let output = command.args(args).output().context("check --live")?;
    let words = String::from_utf8_lossy(&output.stderr);
    let report = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("check --live: {}: {words}", output.status))?;
    Ok((report, output.status.code()))
}
