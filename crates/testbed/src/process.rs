//! One child process: started, signalled, measured, and gone when dropped.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, SyncSender};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};

use crate::os;
use crate::wait::wait_until;

/// Lines of each kind that an error message quotes.
const LAST_LINES: usize = 8;

type Order = (Command, SyncSender<io::Result<Child>>);

/// Starts a command on a thread that lives as long as this process.
///
/// The kernel ties `PR_SET_PDEATHSIG` to the *thread* that forked: a cluster started by a
/// test thread and kept in a static would die with that thread.
pub(crate) fn spawn(mut command: Command) -> anyhow::Result<Child> {
    static SPAWNER: OnceLock<SyncSender<Order>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (orders, inbox) = mpsc::sync_channel::<Order>(0);
        thread::spawn(move || {
            for (mut command, reply) in inbox {
                // Whoever asked may be gone; then the child has no owner and must not live.
                if let Err(mpsc::SendError(Ok(mut orphan))) = reply.send(command.spawn())
                    && orphan.kill().is_ok()
                {
                    orphan.wait().ok();
                }
            }
        });
        orders
    });
    os::die_with_parent(&mut command);
    let program = command.get_program().to_string_lossy().into_owned();
    let (reply, answer) = mpsc::sync_channel(0);
    spawner
        .send((command, reply))
        .map_err(|_| anyhow!("the thread that starts processes has ended"))?;
    answer
        .recv()
        .context("the thread that starts processes has ended")?
        .with_context(|| format!("start {program}"))
}

/// A running broker, worker or helper.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    /// What it prints, and what it logs: a JVM that dies early says why in either.
    output: PathBuf,
    log: PathBuf,
    frozen: bool,
}

impl Process {
    /// Starts `command`, which logs to `log`; what it prints is appended to a file beside it.
    pub(crate) fn start(name: &str, mut command: Command, log: &Path) -> anyhow::Result<Process> {
        let output = log.with_extension("out");
        let open = || -> anyhow::Result<File> {
            File::options()
                .create(true)
                .append(true)
                .open(&output)
                .with_context(|| format!("open {}", output.display()))
        };
        command.stdin(Stdio::null()).stdout(open()?).stderr(open()?);
        Ok(Process {
            name: name.to_owned(),
            child: spawn(command)?,
            output,
            log: log.to_owned(),
            frozen: false,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The exit status, if the process has ended.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        self.child
            .try_wait()
            .with_context(|| format!("look at {}", self.name))
    }

    /// An error if the process has ended, with the end of what it printed.
    pub(crate) fn must_run(&mut self) -> anyhow::Result<()> {
        match self.ended()? {
            None => Ok(()),
            Some(status) => Err(anyhow!(
                "{} ended with {status}{}",
                self.name,
                self.last_words()
            )),
        }
    }

    /// The end of what it printed and of what it logged as an error.
    pub(crate) fn last_words(&self) -> String {
        let printed = fs::read_to_string(&self.output).unwrap_or_default();
        let logged = fs::read_to_string(&self.log).unwrap_or_default();
        // An error and the exceptions under it, without their frames.
        let mut within_error = false;
        let errors = logged
            .lines()
            .filter(|line| {
                if line.starts_with(|first: char| first.is_ascii_digit()) {
                    within_error = line.contains(" ERROR ");
                }
                within_error && !line.starts_with('\t')
            })
            .collect::<Vec<_>>();
        let printed = printed.lines().collect::<Vec<_>>();
        let mut words = String::new();
        for lines in [printed, errors] {
            for line in &lines[lines.len().saturating_sub(LAST_LINES)..] {
                words.push_str("\n  ");
                words.push_str(line);
            }
        }
        words
    }

    /// Whether it has ended, without taking its exit status.
    pub fn has_ended(&self) -> bool {
        // "pid (name) state ...", where the name may hold anything, even a parenthesis.
        fs::read_to_string(format!("/proc/{}/stat", self.pid()))
            .ok()
            .and_then(|stat| Some(stat.rsplit_once(") ")?.1.starts_with('Z')))
            .unwrap_or(true)
    }

    /// SIGTERM, then waits for the end.
    pub(crate) fn terminate(&mut self, at_most: Duration) -> anyhow::Result<ExitStatus> {
        self.signal(os::SIGTERM)?;
        let name = self.name.clone();
        wait_until(&format!("{name} to end after SIGTERM"), at_most, || {
            self.ended()
        })
    }

    /// SIGTERM, without waiting.
    pub(crate) fn ask_to_end(&mut self) -> anyhow::Result<()> {
        self.signal(os::SIGTERM)
    }

    /// SIGKILL, then waits for the end.
    pub(crate) fn kill(&mut self) -> anyhow::Result<ExitStatus> {
        self.signal(os::SIGKILL)?;
        self.child
            .wait()
            .with_context(|| format!("wait for the end of {}", self.name))
    }

    /// SIGSTOP: the process keeps its sockets and does nothing.
    pub(crate) fn freeze(&mut self) -> anyhow::Result<()> {
        self.signal(os::SIGSTOP)?;
        self.frozen = true;
        Ok(())
    }

    /// SIGCONT.
    pub(crate) fn thaw(&mut self) -> anyhow::Result<()> {
        self.signal(os::SIGCONT)?;
        self.frozen = false;
        Ok(())
    }

    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    fn signal(&mut self, signal: i32) -> anyhow::Result<()> {
        // A reaped pid may belong to someone else by now.
        self.must_run()?;
        os::send_signal(self.pid(), signal)
            .with_context(|| format!("send signal {signal} to {}", self.name))
    }

    /// Resident memory now, in KiB.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn rss_kib(&self) -> anyhow::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()))
            .with_context(|| format!("read the memory of {}", self.name))?;
        status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.trim().trim_end_matches(" kB").trim().parse().ok())
            .with_context(|| format!("no memory figure for {}", self.name))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) && self.child.kill().is_ok() {
            self.child.wait().ok();
        }
    }
}
