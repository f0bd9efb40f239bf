//! The folder that outlives clusters: each entry is made once, whole or not at all.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Names the cache folder; the default is `evenkeel` in the user's cache folder.
const CACHE_VARIABLE: &str = "EVENKEEL_TESTBED_CACHE";

/// The cache folder of this user.
pub(crate) fn root() -> anyhow::Result<PathBuf> {
    if let Some(root) = std::env::var_os(CACHE_VARIABLE) {
        return Ok(PathBuf::from(root));
    }
    let caches = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let caches = caches.with_context(|| format!("neither HOME nor {CACHE_VARIABLE} is set"))?;
    Ok(caches.join("evenkeel"))
}

/// The folder in which ports are reserved, for all clusters and programs of this user.
///
/// # Errors
/// When there is no home folder.
pub fn port_locks() -> anyhow::Result<PathBuf> {
    Ok(root()?.join("ports"))
}

/// Makes `relative` once: under a lock, in a folder beside it that is renamed when
/// complete, so that concurrent and interrupted runs never see half of it.
pub(crate) fn once(
    root: &Path,
    relative: &str,
    make: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<PathBuf> {
    let target = root.join(relative);
    if target.is_dir() {
        return Ok(target);
    }
    let parent = target.parent().context("cache entry without a folder")?;
    fs::create_dir_all(parent).with_context(|| format!("create {}", parent.display()))?;
    let beside = |suffix: &str| {
        let mut name = target.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    };
    let lock_path = beside(".lock");
    let lock =
        File::create(&lock_path).with_context(|| format!("create {}", lock_path.display()))?;
    lock.lock()
        .with_context(|| format!("lock {}", lock_path.display()))?;
    if target.is_dir() {
        return Ok(target);
    }
    let partial = beside(".partial");
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    fs::create_dir(&partial).with_context(|| format!("create {}", partial.display()))?;
    make(&partial)?;
    fs::rename(&partial, &target)
        .with_context(|| format!("move {} into place", partial.display()))?;
    Ok(target)
}
