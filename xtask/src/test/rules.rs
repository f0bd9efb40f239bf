//! The step that checks and tests the alerting rules: what they name, what each alert needs,
//! and, with the tools of Prometheus and Alertmanager, what they say, whom they reach, and what
//! their runbooks ask.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::{Context, Outcome, runbooks, setup, steps};
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
    for tool in ["promtool", "amtool"] {
        if !setup::is_there(tool) {
            return Ok(Outcome::Skipped(setup::missing(tool)));
        }
    }
    let tests = yaml_files(&context.root.join("alerts/tests"))?;
    ensure!(!tests.is_empty(), "alerts/tests tests none of the rules");
    routes(context, &rules)?;
    runbooks::check(&context.root, &files)?;
    promtool(context, &["check", "rules"], &rules)?;
    promtool(context, &["test", "rules"], &tests)
}

/// The sample of routes and inhibitions.
const ROUTES: &str = "alerts/alertmanager.example.yaml";

/// Who is told of an alert, by its severity.
const RECEIVERS: [(&str, &str); 3] = [
    ("critical", "pager"),
    ("warning", "chat"),
    ("info", "tickets"),
];

/// Alertmanager takes the sample, each alert reaches whom its severity wakes, and what others
/// raise wakes nobody by it.
fn routes(context: &Context, rules: &[PathBuf]) -> anyhow::Result<()> {
    let mut command = amtool(context, &["check-config", ROUTES]);
    told(&mut command, "takes the sample of routes")?;
    let mut alerts = Vec::new();
    for path in rules {
        let text = std::fs::read_to_string(path)?;
        alerts.extend(severities(&text));
    }
    for (severity, receiver) in RECEIVERS {
        ensure!(
            alerts.iter().any(|alert| alert.1 == severity),
            "no alert is {severity}"
        );
        for (alert, _) in alerts.iter().filter(|alert| alert.1 == severity) {
            reaches(context, alert, severity, receiver)?;
        }
    }
    let known: usize = RECEIVERS
        .iter()
        .map(|known| alerts.iter().filter(|alert| alert.1 == known.0).count())
        .sum();
    ensure!(known == alerts.len(), "a severity that nobody is told of");
    reaches(context, "NodeDown", "critical", "chat")?;
    let sample = std::fs::read_to_string(context.root.join(ROUTES))?;
    let names: Vec<&str> = alerts.iter().map(|(name, _)| name.as_str()).collect();
    let gone: Vec<String> = named(&sample)
        .into_iter()
        .filter(|named| !names.iter().any(|name| named.is_of(name)))
        .map(|named| named.text)
        .collect();
    ensure!(
        gone.is_empty(),
        "{ROUTES} names alerts that are none: {gone:?}"
    );
    Ok(())
}

fn reaches(context: &Context, alert: &str, severity: &str, receiver: &str) -> anyhow::Result<()> {
    let config = format!("--config.file={ROUTES}");
    let verify = format!("--verify.receivers={receiver}");
    let mut command = amtool(context, &["config", "routes", "test", &config, &verify]);
    command.args([
        format!("alertname={alert}"),
        format!("severity={severity}"),
        "group=connect".to_owned(),
    ]);
    told(&mut command, &format!("brings {alert} to {receiver}"))
}

fn amtool(context: &Context, args: &[&str]) -> Command {
    let mut command = Command::new("amtool");
    command.args(args).current_dir(&context.root);
    command
}

/// Runs it without a word, unless it fails.
fn told(command: &mut Command, what: &str) -> anyhow::Result<()> {
    let output = command.output().context("run amtool")?;
    let told = [output.stdout, output.stderr].concat();
    ensure!(
        output.status.success(),
        "Alertmanager's tool does not find that it {what}: {}",
        String::from_utf8_lossy(&told)
    );
    Ok(())
}

/// Each alert of a rule file with its severity.
fn severities(text: &str) -> Vec<(String, String)> {
    let mut alerts = Vec::new();
    let mut alert = None;
    for line in text.lines().map(|line| line.trim_start_matches([' ', '-'])) {
        if let Some(name) = line.strip_prefix("alert:") {
            alert = Some(name.trim().to_owned());
        } else if let Some(severity) = line.strip_prefix("severity:") {
            let severity = severity.trim().to_owned();
            alerts.extend(alert.take().map(|alert| (alert, severity)));
        }
    }
    alerts
}

/// An alert, or the beginning of the names of some, as a matcher of the sample names it.
struct Named {
    text: String,
    is_prefix: bool,
}

impl Named {
    fn is_of(&self, alert: &str) -> bool {
        alert == self.text || (self.is_prefix && alert.starts_with(&self.text))
    }
}

/// All that matchers of the sample name: `Evenkeel(A|B).*` names two beginnings.
fn named(sample: &str) -> Vec<Named> {
    const PRODUCT: &str = "Evenkeel";
    let mut all = Vec::new();
    for quoted in sample.split('"').filter(|text| text.starts_with(PRODUCT)) {
        let is_prefix = quoted.ends_with(".*");
        let rest = quoted.trim_end_matches(".*").trim_start_matches(PRODUCT);
        let rest = rest.trim_start_matches('(').trim_end_matches(')');
        all.extend(rest.split('|').map(|part| Named {
            text: format!("{PRODUCT}{part}"),
            is_prefix,
        }));
    }
    all
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_are_found_with_their_severities() {
        let rules = "groups:\n  - name: a\n    rules:\n      - record: x\n        expr: y\n      \
            - alert: A\n        labels:\n          severity: critical\n      - alert: B\n        \
            labels:\n          severity: info\n";
        let pair = |alert: &str, severity: &str| (alert.to_owned(), severity.to_owned());
        assert_eq!(
            severities(rules),
            [pair("A", "critical"), pair("B", "info")]
        );
    }

    #[test]
    fn what_a_matcher_names_is_taken_apart() {
        let sample = r#"- ['alertname = "EvenkeelGone"', 'severity = "critical"']
            - ['alertname =~ "Evenkeel(Work|Task).*"', 'alertname =~ "Evenkeel(One|Two)"']"#;
        let named = named(sample);
        let all: Vec<(&str, bool)> = named
            .iter()
            .map(|named| (named.text.as_str(), named.is_prefix))
            .collect();
        assert_eq!(
            all,
            [
                ("EvenkeelGone", false),
                ("EvenkeelWork", true),
                ("EvenkeelTask", true),
                ("EvenkeelOne", false),
                ("EvenkeelTwo", false),
            ]
        );
        assert!(named[1].is_of("EvenkeelWorkLost"));
        assert!(!named[3].is_of("EvenkeelOneMore"));
    }
}
