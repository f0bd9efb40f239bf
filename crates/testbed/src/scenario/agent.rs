//! evenkeel as a process: the sidecar, asked over HTTP, and the recorder.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::group::Group;
use crate::network::Room;
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
    host: Ipv4Addr,
    /// What it prints.
    output: PathBuf,
}

/// A reason of `/readyz`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Reason {
    pub input: Option<String>,
    pub reason: String,
    pub text: String,
}

/// A running `evenkeel capture`.
#[derive(Debug)]
pub struct Recorder {
    process: Process,
    file: PathBuf,
}

/// What a sidecar is told of the group that it is to watch.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// Brokers and names, as flags.
    Names(&'a str, &'a Group),
    /// A configuration file.
    File(&'a Path),
    /// The worker's properties file.
    WorkerFile(&'a Path),
}

impl Told<'_> {
    fn flags(self) -> Vec<OsString> {
        match self {
            Self::Names(bootstrap, group) => [
                ("--bootstrap", bootstrap),
                ("--group", &group.group_id),
                ("--config-topic", &group.config_topic),
                ("--status-topic", &group.status_topic),
                ("--log-level", "debug"),
            ]
            .into_iter()
            .flat_map(|(flag, value)| [flag.into(), value.into()])
            .collect(),
            Self::File(file) => vec!["--config".into(), file.into()],
            Self::WorkerFile(file) => vec!["--worker-properties".into(), file.into()],
        }
    }
}

impl Agent {
    /// Starts a sidecar, in the network namespace of a worker where one is given; its log
    /// goes to `folder`.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(
        program: &Path,
        name: &str,
        told: Told<'_>,
        (folder, locks): (&Path, &Path),
        room: Option<&Room>,
    ) -> anyhow::Result<Agent> {
        let port = Port::reserve(locks)?;
        let host = room.map_or(Ipv4Addr::LOCALHOST, Room::address);
        let mut command = Command::new(program);
        command.arg("run").args(told.flags());
        command.args(["--listen", &format!("{host}:{}", port.number())]);
        if let Some(room) = room {
            command = room.wrap(&command);
        }
        command.env_clear();
        let log = folder.join(format!("{name}.log"));
        let process = Process::start(name, command, &log)?;
        Ok(Agent {
            name: name.to_owned(),
            process,
            port,
            host,
            output: log.with_extension("out"),
        })
    }

    /// The port it serves at.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// What a path answers.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn get(&self, path: &str) -> anyhow::Result<rest::Response> {
        let address = SocketAddr::from((self.host, self.port.number()));
        rest::request_at(address, "GET", path, None, ANSWER_MAX)
    }

    /// What `/readyz` says is wrong with the one group: input, reason and words.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn reasons(&self) -> anyhow::Result<Vec<Reason>> {
        Ok(serde_json::from_value(self.readiness("reasons")?)?)
    }

    /// What `/readyz` says can be seen of the one group.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn mode(&self) -> anyhow::Result<String> {
        Ok(serde_json::from_value(self.readiness("mode")?)?)
    }

    fn readiness(&self, what: &str) -> anyhow::Result<Value> {
        // The status tells strict from lenient readiness; the body is the same.
        let body = self.get("/readyz")?.body;
        let answer: Value = serde_json::from_str(&body).with_context(|| body.clone())?;
        let found = answer.pointer(&format!("/groups/0/{what}"));
        found
            .cloned()
            .with_context(|| format!("no {what} in {body}"))
    }

    /// All that it printed so far.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn printed(&self) -> anyhow::Result<String> {
        let bytes = std::fs::read(&self.output)
            .with_context(|| format!("read {}", self.output.display()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether its process still runs.
    pub fn runs(&self) -> bool {
        !self.process.has_ended()
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// What `/api/v1/state` says of the one group.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn state(&self) -> anyhow::Result<Value> {
        let answer = self.get("/api/v1/state")?.json()?;
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
        Ok(self.get(path)?.status)
    }

    /// The exposition.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn metrics(&self) -> anyhow::Result<String> {
        Ok(self.get("/metrics")?.body)
    }

    /// The value of a series, given as it stands in the exposition; `None` if absent.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn series(&self, name: &str) -> anyhow::Result<Option<f64>> {
        value(&self.metrics()?, name)
    }

    /// Its exit code, if it has ended by itself; no code if a signal ended it.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn ended(&mut self) -> anyhow::Result<Option<Option<i32>>> {
        Ok(self.process.ended()?.map(|status| status.code()))
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
        command.args(Told::Names(bootstrap, group).flags());
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

/// The value of a series in an exposition, given as it stands there; `None` if absent.
pub(super) fn value(text: &str, name: &str) -> anyhow::Result<Option<f64>> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map(|value| value.parse().with_context(|| format!("{name} {value}")))
        .transpose()
}

fn end(process: &mut Process) -> anyhow::Result<()> {
    let status = process.terminate(Duration::from_secs(10))?;
    if !status.success() {
        bail!("{} ended with {status}", process.name());
    }
    Ok(())
}
