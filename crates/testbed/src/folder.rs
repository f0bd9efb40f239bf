//! The temporary folder of a cluster, removed whatever happens to its owner.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context;

use crate::clock::now_ms;

/// Removes the folder when its owner is gone, however it went (a pipe closes even after
/// SIGKILL). The brokers and workers die at the same moment (`PR_SET_PDEATHSIG`) but may
/// still write for an instant, hence the repetitions.
const JANITOR: &str = r#"trap '' INT TERM HUP
read -r _
for _ in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf -- "$1"
  [ -e "$1" ] || exit 0
  sleep 0.2
done"#;

/// A folder that lives as long as this value.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    janitor: Child,
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
        let mut command = Command::new("sh");
        command
            .args(["-c", JANITOR, "janitor"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A group of its own: Ctrl-C in the terminal must not reach the janitor.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let janitor = command.spawn().context("start the janitor")?;
        Ok(Folder { path, janitor })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.janitor.stdin.take() {
            stdin.write_all(b"\n").ok();
        }
        self.janitor.wait().ok();
    }
}
