//! A wall clock that is off, for one process: libfaketime, loaded before anything else.

use std::fs;
use std::path::{Path, PathBuf};

const FILE: &str = "libfaketime.so.1";

/// Where distributions put the library: in a folder of its own below a library folder, which
/// is named after the architecture on some.
pub(crate) fn library() -> Option<PathBuf> {
    ["/usr/lib", "/usr/lib64", "/usr/local/lib"]
        .into_iter()
        .flat_map(|root| {
            let below = fs::read_dir(root).into_iter().flatten();
            let below = below.filter_map(|entry| Some(entry.ok()?.path()));
            [PathBuf::from(root)].into_iter().chain(below)
        })
        .map(|folder| folder.join("faketime").join(FILE))
        .find(|file| file.exists())
}

/// What a process is started with: only the wall clock is off, timers and waits are not.
pub(crate) fn environment(library: &Path, skew_ms: i64) -> [(&'static str, String); 3] {
    let sign = if skew_ms < 0 { '-' } else { '+' };
    let (seconds, millis) = (skew_ms.abs() / 1_000, skew_ms.abs() % 1_000);
    [
        ("LD_PRELOAD", library.display().to_string()),
        ("FAKETIME", format!("{sign}{seconds}.{millis:03}")),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(skew_ms: i64, offset: &str) {
        let environment = environment(Path::new("/x"), skew_ms);
        assert_eq!(environment[1], ("FAKETIME", offset.to_owned()));
    }

    #[test]
    fn offsets() {
        check(-90_000, "-90.000");
        check(-50, "-0.050");
        check(1_500, "+1.500");
    }
}
