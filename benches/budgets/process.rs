//! The built program as a process of its own, and what the system says of it.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use evenkeel_testbed::request;

use crate::stage::WAIT_MAX;

/// A running `evenkeel run`; killed when dropped.
pub(crate) struct Agent {
    child: Child,
    address: SocketAddr,
}

/// Memory of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) resident_kib: f64,
    pub(crate) peak_kib: f64,
    /// Of the resident part, what only this process has: its heap and its stacks.
    pub(crate) own_kib: f64,
}

// === impl Agent ===

impl Agent {
    pub(crate) fn start(args: &[&str]) -> anyhow::Result<Agent> {
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = Command::new(env!("CARGO_BIN_EXE_evenkeel"))
            .env_clear()
            .arg("run")
            .args(args)
            .args(["--log-level", "warn", "--listen", &address.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Agent { child, address })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What a path answers.
    pub(crate) fn get(&self, path: &str) -> anyhow::Result<String> {
        let answer = request(
            self.address.port(),
            "GET",
            path,
            None,
            Duration::from_secs(10),
        )?;
        Ok(answer.body)
    }

    /// Waits until nothing stands against what it says of its group.
    pub(crate) fn until_trusted(&mut self) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let mut last = String::new();
        while began.elapsed() < WAIT_MAX {
            if let Some(status) = self.child.try_wait()? {
                bail!("evenkeel ended with {status}");
            }
            last = self.get("/readyz").unwrap_or_default();
            let answer: serde_json::Value = serde_json::from_str(&last).unwrap_or_default();
            if answer.pointer("/groups/0/trusted") == Some(&true.into()) {
                return Ok(began.elapsed());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!("evenkeel has no true answers: {last}")
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if self.child.kill().and_then(|()| self.child.wait()).is_err() {
            eprintln!("   evenkeel could not be ended");
        }
    }
}

/// `VmRSS`, `VmHWM` and `RssAnon`.
pub(crate) fn memory(pid: u32) -> anyhow::Result<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kib = |name: &str| -> anyhow::Result<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|rest| rest.split_whitespace().next());
        Ok(number.with_context(|| format!("no {name}"))?.parse()?)
    };
    Ok(Memory {
        resident_kib: kib("VmRSS:")?,
        peak_kib: kib("VmHWM:")?,
        own_kib: kib("RssAnon:")?,
    })
}

/// Seconds of processor that all threads of a process used, to the nanosecond. Threads
/// that ended are missing: only for processes that start none meanwhile.
pub(crate) fn cpu_s(pid: u32) -> anyhow::Result<f64> {
    let mut nanos = 0.0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        let first = text
            .split_whitespace()
            .next()
            .context("schedstat is empty")?;
        nanos += first.parse::<f64>()?;
    }
    ensure!(nanos > 0.0, "the kernel counts no processor time by thread");
    Ok(nanos / 1e9)
}
