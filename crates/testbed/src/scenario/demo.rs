//! `evenkeel demo` as a stand-in for a cluster: it plays a capture to whoever connects to its
//! broker, at the pace at which it was recorded, long silences cut.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};

use crate::cache;
use crate::ports::Port;
use crate::process::Process;
use crate::rest;
use crate::wait::wait_until;

const ANSWER_MAX: Duration = Duration::from_secs(5);

/// A demo that is prepared, or plays.
#[derive(Debug)]
pub struct Demo {
    broker: Port,
    page: Port,
    process: Option<Process>,
}

impl Demo {
    /// Takes ports; nothing listens yet, so that sidecars can be started before it plays.
    ///
    /// # Errors
    /// When there is no free port.
    pub fn prepare() -> anyhow::Result<Demo> {
        let locks = cache::port_locks()?;
        Ok(Demo {
            broker: Port::reserve(&locks)?,
            page: Port::reserve(&locks)?,
            process: None,
        })
    }

    /// Plays `capture` from now on; what it prints goes to `folder`.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn play(&mut self, program: &Path, capture: &Path, folder: &Path) -> anyhow::Result<()> {
        let mut command = Command::new(program);
        command.env_clear().arg("demo");
        command.arg("--capture").arg(capture);
        command.args(["--broker-port", &self.broker.number().to_string()]);
        let page = format!("{}:{}", Ipv4Addr::LOCALHOST, self.page.number());
        command.args(["--listen", &page]);
        self.process = Some(Process::start("demo", command, &folder.join("demo.log"))?);
        Ok(())
    }

    /// The address of its broker.
    pub fn bootstrap(&self) -> String {
        format!("{}:{}", Ipv4Addr::LOCALHOST, self.broker.number())
    }

    /// The properties file of a worker of the capture, by the port of its URL, as it would lie
    /// beside that worker now.
    pub fn worker_properties(&self, worker_port: u16) -> String {
        let lines = [
            ("bootstrap.servers", self.bootstrap()),
            ("group.id", "connect".to_owned()),
            ("config.storage.topic", "connect-configs".to_owned()),
            ("status.storage.topic", "connect-status".to_owned()),
            ("offset.storage.topic", "connect-offsets".to_owned()),
            (
                "listeners",
                format!("http://{}:{worker_port}", Ipv4Addr::LOCALHOST),
            ),
        ];
        let lines = lines.map(|(name, value)| format!("{name}={value}\n"));
        lines.concat()
    }

    /// What its own sidecar says of the group.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn state(&self) -> anyhow::Result<Value> {
        let port = self.page.number();
        let answer = rest::request(port, "GET", "/api/v1/state", None, ANSWER_MAX)?.json()?;
        let group = answer.pointer("/groups/0").cloned();
        group.context("no group in the answer")
    }

    /// Waits until its own sidecar knows this generation.
    ///
    /// # Errors
    /// When that takes longer, or the demo has ended.
    pub fn await_generation(&mut self, generation: i64, at_most: Duration) -> anyhow::Result<()> {
        let what = format!("the demo to play generation {generation}");
        wait_until(&what, at_most, || {
            let process = self.process.as_mut().context("the demo does not play")?;
            if process.ended()?.is_some() {
                // No use in waiting on; the error is the value.
                return Ok(Some(process.must_run()));
            }
            let state = self.state()?;
            let told = state.pointer("/group/generation");
            let is_there = told.unwrap_or(&json!(0)).as_i64() >= Some(generation);
            Ok(is_there.then_some(Ok(())))
        })?
    }
}
