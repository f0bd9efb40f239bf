//! Alerting rules: each alert has a runbook, and tests in which it fires and in which it is
//! silent; no runbook and no test is of an alert that is gone.

use std::collections::{BTreeMap, BTreeSet};

use super::Problem;
use super::tree::File;

const RULES: &str = "alerts/rules/";
const TESTS: &str = "alerts/tests/";
const RUNBOOKS: &str = "docs/runbooks/";

/// The page that all runbooks share.
const SHARED: &str = "docs/runbooks/README.md";

/// What the tests have seen of an alert.
#[derive(Default)]
struct Tested {
    fires: bool,
    silent: bool,
}

pub(crate) fn check(files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let tested = tested(files);
    let mut alerts = BTreeSet::new();
    for (file, number, alert) in named(files, RULES, "alert:") {
        alerts.insert(alert);
        let mut tell = |told: String| problems.push(Problem::at(&file.path, number, told));
        let runbook = format!("{RUNBOOKS}{alert}.md");
        if !files.iter().any(|file| file.path == runbook) {
            tell(format!("{alert} has no {runbook}"));
        }
        let tested = tested.get(alert);
        if !tested.is_some_and(|tested| tested.fires) {
            tell(format!("{alert} fires in no test of {TESTS}"));
        }
        if !tested.is_some_and(|tested| tested.silent) {
            tell(format!("{alert} is silent in no test of {TESTS}"));
        }
    }
    for (file, number, alert) in named(files, TESTS, "alertname:") {
        if !alerts.contains(alert) {
            let told = format!("{alert} is no alert of {RULES}");
            problems.push(Problem::at(&file.path, number, told));
        }
    }
    for file in files {
        let alert = file.path.strip_prefix(RUNBOOKS);
        let alert = alert.and_then(|name| name.strip_suffix(".md"));
        if file.path != SHARED && alert.is_some_and(|alert| !alerts.contains(alert)) {
            problems.push(Problem::new(
                &file.path,
                format!("is of no alert of {RULES}"),
            ));
        }
    }
    problems
}

/// Every place below `folder` that names an alert after `key`, with its line.
fn named<'a>(
    files: &'a [File],
    folder: &'a str,
    key: &'a str,
) -> impl Iterator<Item = (&'a File, usize, &'a str)> {
    let files = files
        .iter()
        .filter(move |file| file.path.starts_with(folder) && file.is("yaml"));
    files.flat_map(move |file| {
        let lines = file.text.lines().enumerate();
        lines.filter_map(move |(number, line)| {
            let alert = item(line).strip_prefix(key)?;
            Some((file, number + 1, alert.trim()))
        })
    })
}

/// The line without what begins an item of a list.
fn item(line: &str) -> &str {
    line.trim_start_matches([' ', '-'])
}

fn tested(files: &[File]) -> BTreeMap<&str, Tested> {
    let mut all: BTreeMap<&str, Tested> = BTreeMap::new();
    for (file, number, alert) in named(files, TESTS, "alertname:") {
        let one = all.entry(alert).or_default();
        // What is expected stands in the lines that follow, and nothing where it is silent.
        let follows = file.text.lines().nth(number).map_or("", item);
        if follows.starts_with("exp_alerts:") && !follows.contains("[]") {
            one.fires = true;
        } else {
            one.silent = true;
        }
    }
    all
}

#[cfg(test)]
mod tests;
