//! evenkeel as a process: the sidecar, asked over HTTP, and the recorder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::group::Group;
use crate::ports::Port;
use crate::process::Process;
use crate::rest;
use crate::version::Version;

const ANSWER_MAX: Duration = Duration::from_secs(5);

/// A running sidecar.
#[derive(Debug)]
pub struct Agent {
    name: String,
    process: Process,
    port: Port,
}

/// A running `evenkeel capture`.
#[derive(Debug)]
pub struct Recorder {
    process: Process,
    file: PathBuf,
}

fn command(program: &Path, bootstrap: &str, group: &Group) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for (flag, value) in [
        ("--bootstrap", bootstrap),
        ("--group", &group.group_id),
        ("--config-topic", &group.config_topic),
        ("--status-topic", &group.status_topic),
        ("--log-level", "debug"),
    ] {
        command.arg(flag).arg(value);
    }
    command
}

impl Agent {
    /// Starts a sidecar; its log goes to `folder`.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(
        program: &Path,
        name: &str,
        (bootstrap, group): (&str, &Group),
        (folder, locks): (&Path, &Path),
    ) -> anyhow::Result<Agent> {
        let port = Port::reserve(locks)?;
        let mut command = command(program, bootstrap, group);
        let listen = format!("127.0.0.1:{}", port.number());
        command.args(["--listen", &listen]);
        let mut with_verb = Command::new(program);
        with_verb.env_clear().arg("run").args(command.get_args());
        let log = folder.join(format!("{name}.log"));
        let process = Process::start(name, with_verb, &log)?;
        Ok(Agent {
            name: name.to_owned(),
            process,
            port,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// What `/api/v1/state` says of the one group.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn state(&self) -> anyhow::Result<Value> {
        let port = self.port.number();
        let answer = rest::request(port, "GET", "/api/v1/state", None, ANSWER_MAX)?.json()?;
        answer
            .pointer("/groups/0")
            .cloned()
            .context("no group in the answer")
    }

    /// The HTTP status of a path.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn status(&self, path: &str) -> anyhow::Result<u16> {
        Ok(rest::request(self.port.number(), "GET", path, None, ANSWER_MAX)?.status)
    }

    /// The exposition.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn metrics(&self) -> anyhow::Result<String> {
        Ok(rest::request(self.port.number(), "GET", "/metrics", None, ANSWER_MAX)?.body)
    }

    /// The value of a series, given as it stands in the exposition; `None` if absent.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn series(&self, name: &str) -> anyhow::Result<Option<f64>> {
        let text = self.metrics()?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(|value| value.parse().with_context(|| format!("{name} {value}")))
            .transpose()
    }

    /// SIGKILL.
    ///
    /// # Errors
    /// When the process cannot be ended.
    pub fn kill(mut self) -> anyhow::Result<()> {
        self.process.kill()?;
        Ok(())
    }

    /// SIGTERM, and its end within the deadline.
    ///
    /// # Errors
    /// When it does not end in time or not well.
    pub fn stop(mut self) -> anyhow::Result<()> {
        end(&mut self.process)
    }
}

impl Recorder {
    /// Starts recording to `file`.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(
        program: &Path,
        scenario: &str,
        (bootstrap, group): (&str, &Group),
        (broker, workers): (Version, Version),
        (folder, file): (&Path, &Path),
    ) -> anyhow::Result<Recorder> {
        let mut command = Command::new(program);
        command
            .env_clear()
            .arg("capture")
            .arg(file)
            .args(["--scenario", scenario]);
        command.args(["--recorder", "evenkeel testbed"]);
        command.arg("--broker-release").arg(broker.to_string());
        command.arg("--worker-release").arg(workers.to_string());
        command.args(self::command(program, bootstrap, group).get_args());
        let process = Process::start("recorder", command, &folder.join("recorder.log"))?;
        Ok(Recorder {
            process,
            file: file.to_owned(),
        })
    }

    /// Ends the recording; gives the file.
    ///
    /// # Errors
    /// When the recorder does not end in time or not well.
    pub fn finish(mut self) -> anyhow::Result<PathBuf> {
        end(&mut self.process)?;
        Ok(self.file)
    }
}

fn end(process: &mut Process) -> anyhow::Result<()> {
    let status = process.terminate(Duration::from_secs(10))?;
    if !status.success() {
        bail!("{} ended with {status}", process.name());
    }
    Ok(())
}
