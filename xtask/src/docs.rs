//! `cargo xtask docs`: writes what is generated from the code, or checks that it is there.

use std::path::Path;

use anyhow::{Context, ensure};
use clap::Args;

use crate::tidy::{self, Problem, map, tree};
use crate::{boards, cargo};

/// The tests that hold committed documents to the code, and write them where
/// `UPDATE_GOLDEN` is set: `docs/metrics.md`, `docs/configuration.md` and
/// `config/evenkeel.yaml`, `docs/checks.md`, `alerts/rules/` and `alerts/kubernetes/`.
const GOLDEN_TESTS: [&str; 4] = [
    "show::catalog::tests::the_document_is_up_to_date",
    "config::reference::tests::the_committed_files_are_up_to_date",
    "show::checks::tests::the_document_is_up_to_date",
    "commands::rules::tests::the_committed_rules_are_the_defaults",
];

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
    tidy::end_with(&problems);
    Ok(())
}

/// Which documents of the agent are not as the agent writes them.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let told = golden(root, false)?;
    let stale = told
        .lines()
        .filter_map(|line| line.split_once(" is out of date"));
    let problem = |(path, _): (&str, &str)| {
        let path = path.trim_start_matches(&*root.to_string_lossy());
        let told = "is out of date; `cargo xtask docs` writes it".to_owned();
        Problem::new(path.trim_start_matches('/'), told)
    };
    let mut problems: Vec<Problem> = stale.map(problem).collect();
    problems.extend(boards::stale(root)?);
    Ok(problems)
}

fn write(root: &Path) -> anyhow::Result<()> {
    golden(root, true)?;
    // Their document names what is new in the catalogue.
    boards::write(root)?;
    // Without the document, or the markers in it, `tidy` says what is missing.
    let path = root.join(map::DOCUMENT);
    let document = std::fs::read_to_string(&path).unwrap_or_default();
    match map::replace(&document, &tree::read(root)?) {
        Some(text) => {
            std::fs::write(&path, text).with_context(|| format!("write {}", map::DOCUMENT))
        }
        None => Ok(()),
    }
}

/// Runs the tests that compare, or write if `update`, and gives what they told.
fn golden(root: &Path, update: bool) -> anyhow::Result<String> {
    // The whole workspace, so that what the step `build` compiled is used as it is.
    let args = ["test", "--quiet", "--workspace", "--lib", "--", "--exact"];
    let mut test = cargo::command(root, &[&args[..], &GOLDEN_TESTS].concat());
    if update {
        test.env("UPDATE_GOLDEN", "1");
    } else {
        test.env_remove("UPDATE_GOLDEN");
    }
    let output = test.output().context("run cargo test")?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    // A test that was renamed would pass by not being there.
    ensure!(
        ran(&told) == GOLDEN_TESTS.len(),
        "not all of {} ran: {}",
        GOLDEN_TESTS.join(", "),
        String::from_utf8_lossy(&output.stderr)
    );
    let compared = output.status.success() || told.contains(" is out of date");
    ensure!(compared && (output.status.success() || !update), "{told}");
    Ok(told)
}

/// How many tests passed or failed, from the lines that end each program's tests.
fn ran(told: &str) -> usize {
    let ends = told
        .lines()
        .filter(|line| line.starts_with("test result: "));
    let count = |word: &str| word.parse::<usize>().unwrap_or_default();
    ends.map(|line| {
        let words: Vec<&str> = line.split([' ', ';']).collect();
        let pairs = words.windows(2);
        pairs
            .filter(|pair| pair[1] == "passed" || pair[1] == "failed")
            .map(|pair| count(pair[0]))
            .sum::<usize>()
    })
    .sum()
}

#[cfg(test)]
mod tests {
    use super::ran;

    #[test]
    fn tests_that_ran_are_counted() {
        let told = "running 1 test\n.\n\
            test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n\
            test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(ran(told), 4);
        assert_eq!(ran("running 0 tests\n"), 0);
    }
}
