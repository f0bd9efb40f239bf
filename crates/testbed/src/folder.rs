//! The temporary folder of a cluster, removed whatever happens to its owner.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context;

use crate::clock::now_ms;

/// The brokers and workers die at the same moment as their owner (`PR_SET_PDEATHSIG`) but may
/// still write for an instant, hence the repetitions.
const REMOVE: &str = r#"for _ in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf -- "$1"
  [ -e "$1" ] || exit 0
  sleep 0.2
done"#;

/// A shell that does something when its owner is gone, however it went: a pipe closes even
/// after SIGKILL. Dropped, it does it at once and is waited for.
#[derive(Debug)]
pub(crate) struct Janitor {
    child: Child,
}

impl Janitor {
    /// Will run `script` with these arguments.
    pub(crate) fn start(script: &str, args: &[&str]) -> anyhow::Result<Janitor> {
        let script = format!("trap '' INT TERM HUP\nread -r _\n{script}");
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, "janitor"])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A group of its own: Ctrl-C in the terminal must not reach the janitor.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().context("start the janitor")?;
        Ok(Janitor { child })
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.child.stdin.take() {
            stdin.write_all(b"\n").ok();
        }
        self.child.wait().ok();
    }
}

/// A folder that lives as long as this value.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _janitor: Janitor,
}

impl Folder {
    pub(crate) fn create() -> anyhow::Result<Folder> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let path = std::env::temp_dir().join(format!(
            "evenkeel-testbed-{}-{}-{}",
            std::process::id(),
            now_ms(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        ));
        fs::create_dir(&path).with_context(|| format!("create {}", path.display()))?;
        let janitor = Janitor::start(REMOVE, &[&path.display().to_string()])?;
        Ok(Folder {
            path,
            _janitor: janitor,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
