//! Rules, their runbooks and dashboards: they name only metrics of the catalogue.

use std::collections::BTreeSet;

use super::Problem;
use super::tree::File;

/// The catalogue in words; `cargo xtask docs --check` holds it to the one in the code.
const CATALOGUE: &str = "docs/metrics.md";
const FOLDERS: [&str; 2] = ["alerts/", "dashboards/"];
const RUNBOOKS: &str = "docs/runbooks/";
const PREFIX: &str = "evenkeel_";

/// What a histogram's series end in.
const SUFFIXES: [&str; 3] = ["_bucket", "_sum", "_count"];

pub(crate) fn check(files: &[File]) -> Vec<Problem> {
    let bundled: Vec<&File> = files
        .iter()
        .filter(|file| {
            let is_in = |folder: &&str| file.path.starts_with(folder);
            (FOLDERS.iter().any(is_in) && !file.is("md")) || is_in(&RUNBOOKS)
        })
        .collect();
    if bundled.is_empty() {
        return Vec::new();
    }
    let Some(catalogue) = files.iter().find(|file| file.path == CATALOGUE) else {
        return vec![Problem::new(
            CATALOGUE,
            "is not there; `cargo xtask docs` writes it".to_owned(),
        )];
    };
    let known: BTreeSet<&str> = catalogue
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'))
        .collect();
    let mut problems = Vec::new();
    for file in bundled {
        problems.extend(metrics(file, &known));
    }
    problems
}

fn metrics(file: &File, known: &BTreeSet<&str>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        for name in line.split(|c: char| !(c == '_' || c == ':' || c.is_ascii_alphanumeric())) {
            // A colon makes it the name of a recording rule, which promtool resolves.
            let ours = name.starts_with(PREFIX) && !name.contains(':');
            let base = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix));
            if ours && !known.contains(name) && !base.is_some_and(|base| known.contains(base)) {
                let told = format!("{name} is not in the catalogue");
                problems.push(Problem::at(&file.path, number + 1, told));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests;
