//! The step that checks and tests the alerting rules: what they name, what each alert needs,
//! and, with Prometheus' own tool, what they say.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::{Context, Outcome, setup, steps};
use crate::tidy::{alerts, names, tree};

pub(crate) fn run(context: &Context) -> anyhow::Result<Outcome> {
    let rules = yaml_files(&context.root.join("alerts/rules"))?;
    if rules.is_empty() {
        return Ok(Outcome::Skipped("alerts/rules holds no rules".to_owned()));
    }
    let files = tree::read(&context.root)?;
    let problems = names::check(&files).into_iter();
    let problems: Vec<String> = problems
        .chain(alerts::check(&files))
        .map(|problem| problem.to_string())
        .collect();
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    if !setup::is_there("promtool") {
        return Ok(Outcome::Skipped(setup::missing("promtool")));
    }
    let tests = yaml_files(&context.root.join("alerts/tests"))?;
    ensure!(!tests.is_empty(), "alerts/tests tests none of the rules");
    promtool(context, &["check", "rules"], &rules)?;
    promtool(context, &["test", "rules"], &tests)
}

fn promtool(context: &Context, args: &[&str], files: &[PathBuf]) -> anyhow::Result<Outcome> {
    let mut command = Command::new("promtool");
    command.args(args).args(files).current_dir(&context.root);
    steps::run(command)
}

/// The files of a folder, none where there is no folder.
fn yaml_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let read = || format!("read {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(read)? {
        let path = entry.with_context(read)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
