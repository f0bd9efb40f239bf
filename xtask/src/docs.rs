//! `cargo xtask docs`: writes what is generated from the code, or checks that it is there.

use std::path::Path;

use anyhow::{Context, ensure};
use clap::Args;

use crate::cargo;
use crate::tidy::map;
use crate::tidy::{Problem, tree};

/// The test that holds `config/evenkeel.yaml` and `docs/configuration.md` to the
/// declarations, and writes them where `UPDATE_GOLDEN` is set.
const CONFIGURATION_TEST: &str = "config::reference::tests::the_committed_files_are_up_to_date";

const METRICS: &str = "docs/metrics.md";

#[derive(Args)]
pub(crate) struct Docs {
    /// Writes nothing; fails if something is out of date
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Docs) -> anyhow::Result<()> {
    let root = cargo::root()?;
    if !args.check {
        return write(&root);
    }
    let mut problems = check(&root)?;
    problems.extend(map::check(&tree::read(&root)?));
    for problem in &problems {
        eprintln!("{problem}");
    }
    ensure!(problems.is_empty(), "{} problems", problems.len());
    Ok(())
}

/// Which documents of the agent are not as the agent writes them.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let found = std::fs::read_to_string(root.join(METRICS)).unwrap_or_default();
    if let Some(line) = difference(&found, &metrics(root)?) {
        problems.push(Problem::at(METRICS, line, out_of_date()));
    }
    if !configuration(root, false)? {
        problems.push(Problem::new(
            "docs/configuration.md or config/evenkeel.yaml",
            out_of_date(),
        ));
    }
    Ok(problems)
}

fn write(root: &Path) -> anyhow::Result<()> {
    let put = |path: &str, text: &str| {
        std::fs::write(root.join(path), text).with_context(|| format!("write {path}"))
    };
    put(METRICS, &metrics(root)?)?;
    ensure!(configuration(root, true)?, "{CONFIGURATION_TEST} failed");
    // Without the document, or the markers in it, `tidy` says what is missing.
    let document = std::fs::read_to_string(root.join(map::DOCUMENT)).unwrap_or_default();
    match map::replace(&document, &tree::read(root)?) {
        Some(text) => put(map::DOCUMENT, &text),
        None => Ok(()),
    }
}

fn metrics(root: &Path) -> anyhow::Result<String> {
    let program = [
        "run",
        "--quiet",
        "--package",
        "evenkeel",
        "--bin",
        "evenkeel",
        "--",
    ];
    cargo::output(
        root,
        &[&program[..], &["metrics", "--format", "markdown"]].concat(),
    )
}

/// Whether the committed files are as they should be; makes them so if `update`.
fn configuration(root: &Path, update: bool) -> anyhow::Result<bool> {
    let args = [
        "test",
        "--quiet",
        "--package",
        "evenkeel",
        "--lib",
        "--",
        "--exact",
    ];
    let mut test = cargo::command(root, &[&args[..], &[CONFIGURATION_TEST]].concat());
    if update {
        test.env("UPDATE_GOLDEN", "1");
    } else {
        test.env_remove("UPDATE_GOLDEN");
    }
    let output = test.output().context("run cargo test")?;
    let told = String::from_utf8_lossy(&output.stdout);
    let ran = told.contains("1 passed") || told.contains("1 failed");
    ensure!(
        ran,
        "{CONFIGURATION_TEST} did not run: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.status.success())
}

fn out_of_date() -> String {
    "is out of date; `cargo xtask docs` writes it".to_owned()
}

/// The first line, counted from one, in which two texts differ.
fn difference(found: &str, wanted: &str) -> Option<usize> {
    if found == wanted {
        return None;
    }
    let same = found
        .lines()
        .zip(wanted.lines())
        .take_while(|(a, b)| a == b)
        .count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn the_first_line_that_differs_is_told() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(difference("a\n", "a\nb\n"), Some(2));
        assert_eq!(difference("a\nb", "a\nb\n"), Some(3));
        assert_eq!(difference("", "a\n"), Some(1));
    }
}
