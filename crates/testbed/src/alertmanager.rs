//! A real Alertmanager: takes alerts from a Prometheus, and sends what its configuration says
//! to a webhook of the testbed.

mod webhook;

use std::fs;
use std::net::Ipv4Addr;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;

pub use webhook::{Notification, Notified, Webhook};

use crate::cache;
use crate::folder::Folder;
use crate::ports::Port;
use crate::process::Process;
use crate::rest;
use crate::wait::wait_until;

/// Debian's package of that name brings it.
const PROGRAM: &str = "prometheus-alertmanager";

/// Longest start on a loaded machine.
const START_MAX: Duration = Duration::from_secs(30);
const ANSWER_MAX: Duration = Duration::from_secs(10);
const END_MAX: Duration = Duration::from_secs(20);

/// A running Alertmanager, alone: no others to agree with.
#[derive(Debug)]
pub struct Alertmanager {
    process: Process,
    port: Port,
    // Removed after the process that writes to it has ended.
    _folder: Folder,
}

impl Alertmanager {
    /// Why it cannot be run on this machine; `None` if it can.
    #[must_use]
    pub fn obstacle() -> Option<String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = std::env::split_paths(&path).any(|folder| folder.join(PROGRAM).is_file());
        (!is_there)
            .then(|| format!("{PROGRAM} is not installed; as root: apt-get install -y {PROGRAM}"))
    }

    /// Starts it with this configuration, and waits until it is ready.
    ///
    /// # Errors
    /// When it is not there, refuses the configuration, or does not get ready.
    pub fn start(config: &str) -> anyhow::Result<Alertmanager> {
        let folder = Folder::create()?;
        let port = Port::reserve(&cache::port_locks()?)?;
        let file = folder.path().join("alertmanager.yaml");
        fs::write(&file, config).context("write the configuration of Alertmanager")?;
        let mut command = Command::new(PROGRAM);
        command
            .arg(format!("--config.file={}", file.display()))
            .arg(format!(
                "--storage.path={}",
                folder.path().join("data").display()
            ))
            .arg(format!(
                "--web.listen-address={}:{}",
                Ipv4Addr::LOCALHOST,
                port.number()
            ))
            // No port for others.
            .args(["--cluster.listen-address=", "--log.level=warn"]);
        let log = folder.path().join("alertmanager.log");
        let mut alertmanager = Alertmanager {
            process: Process::start(PROGRAM, command, &log)?,
            port,
            _folder: folder,
        };
        wait_until("Alertmanager to be ready", START_MAX, || {
            if alertmanager.process.ended()?.is_some() {
                // No use in waiting on; the error is the value.
                return Ok(Some(alertmanager.process.must_run()));
            }
            alertmanager.call("/-/ready")?.ok()?;
            Ok(Some(Ok(())))
        })??;
        Ok(alertmanager)
    }

    /// The `host:port` that a Prometheus sends to.
    pub fn address(&self) -> String {
        format!("{}:{}", Ipv4Addr::LOCALHOST, self.port.number())
    }

    /// The alerts that it has, as its API shows them, those that are inhibited, too.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn alerts(&self) -> anyhow::Result<Vec<Value>> {
        let answer = self.call("/api/v2/alerts")?.json()?;
        let alerts = answer.as_array().cloned();
        alerts.with_context(|| format!("no list: {answer}"))
    }

    /// Ends it.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.process.terminate(END_MAX)?;
        Ok(())
    }

    fn call(&self, path: &str) -> anyhow::Result<rest::Response> {
        rest::request(self.port.number(), "GET", path, None, ANSWER_MAX)
    }
}

#[cfg(test)]
mod tests;
