//! The folder that states are kept in.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::mistake::{Mistake, quoted};
use super::typed::StateConfig;

const PATH: &str = "state.dir";

// === impl StateConfig ===

impl StateConfig {
    /// The folder, where one is named, after a look at it: a file is made in it and removed.
    ///
    /// # Errors
    /// No folder, or one that cannot be written to.
    pub fn folder(&self) -> Result<Option<PathBuf>, Mistake> {
        let Some(dir) = &self.dir else {
            return Ok(None);
        };
        check(dir).map(|()| Some(dir.clone()))
    }
}

fn check(dir: &Path) -> Result<(), Mistake> {
    let wrong = |what: &str| {
        let found = format!("{}: {what}", quoted(&dir.to_string_lossy()));
        Mistake::new(PATH, found, "a folder that the agent may write to")
    };
    let about = match fs::metadata(dir) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let hint = "it is not made by itself: where a volume is not mounted, that should show";
            return Err(wrong("no such folder").hint(hint));
        }
        Err(error) => return Err(wrong(&error.to_string())),
    };
    if !about.is_dir() {
        return Err(wrong("no folder"));
    }
    // Who may write is not for modes alone to say: a file system may be read-only.
    let probe = dir.join(format!(".evenkeel-{}", std::process::id()));
    let made = OpenOptions::new().write(true).create_new(true).open(&probe);
    made.map_err(|error| {
        let hint = "chown it to the user that the agent runs as, or set fsGroup";
        wrong(&error.to_string()).hint(hint)
    })?;
    fs::remove_file(&probe).map_err(|error| wrong(&error.to_string()))
}

#[cfg(test)]
mod tests;
