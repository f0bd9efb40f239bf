//! For tests: files that the code writes and the repository holds.

use std::path::Path;

/// Compares with a committed file, or writes it where `UPDATE_GOLDEN` is set.
#[track_caller]
pub(crate) fn committed(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "{} is out of date: run the tests with UPDATE_GOLDEN=1 and look at the difference\n{}",
        path.display(),
        first_difference(&found, text)
    );
}

fn first_difference(found: &str, made: &str) -> String {
    let mut lines = found.lines().zip(made.lines()).enumerate();
    match lines.find(|(_, (found, made))| found != made) {
        Some((line, (found, made))) => format!("line {}\n- {found}\n+ {made}", line + 1),
        None => format!(
            "{} lines there, {} made",
            found.lines().count(),
            made.lines().count()
        ),
    }
}
