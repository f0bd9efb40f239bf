//! The files of the checkout that are, or would be, committed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

/// One text file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// From the root of the checkout, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

// === impl File ===

impl File {
    pub(crate) fn is(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|found| found == extension)
    }

    /// `tests.rs` and `tests/` beside a module, and integration tests.
    pub(crate) fn is_test(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.any(|part| part == "tests" || part == "tests.rs")
    }
}

/// All text files that git knows or would add, in order of their paths.
pub(crate) fn read(root: &Path) -> anyhow::Result<Vec<File>> {
    let listing = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .context("run git ls-files")?;
    ensure!(
        listing.status.success(),
        "git ls-files: {}",
        String::from_utf8_lossy(&listing.stderr).trim()
    );
    let listing = String::from_utf8(listing.stdout).context("a file name is not UTF-8")?;
    let mut paths: Vec<&str> = listing
        .split('\0')
        .filter(|path| !path.is_empty())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        // A file that was removed and not yet committed is listed, too.
        let Ok(bytes) = std::fs::read(root.join(path)) else {
            continue;
        };
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(File {
                path: path.to_owned(),
                text,
            });
        }
    }
    Ok(files)
}
