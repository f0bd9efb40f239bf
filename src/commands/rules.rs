//! `evenkeel rules`: prints the bundled alerting rules, with the user's thresholds, and routes
//! that go with them.

mod resource;
mod settings;
mod template;

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use crate::commands::exit::Exit;
use crate::config::{Mistake, Mistakes};
use settings::Settings;

/// The templates of `alerts/rules/`, by file.
const TEMPLATES: [(&str, &str); 6] = [
    (
        "work.yaml",
        include_str!("../../alerts/templates/work.yaml"),
    ),
    (
        "rebalances.yaml",
        include_str!("../../alerts/templates/rebalances.yaml"),
    ),
    (
        "availability.yaml",
        include_str!("../../alerts/templates/availability.yaml"),
    ),
    (
        "connectors.yaml",
        include_str!("../../alerts/templates/connectors.yaml"),
    ),
    (
        "settings.yaml",
        include_str!("../../alerts/templates/settings.yaml"),
    ),
    (
        "agent.yaml",
        include_str!("../../alerts/templates/agent.yaml"),
    ),
];

/// The template of `alerts/alertmanager.example.yaml`.
const ROUTES: &str = include_str!("../../alerts/templates/alertmanager.yaml");

/// Where runbooks are read unless `--runbook-base` says otherwise.
const RUNBOOK_BASE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/runbooks");

/// No dashboard is anywhere until somebody puts it there: a name that leads nowhere.
const DASHBOARD_BASE: &str = "https://grafana.example/d";

/// Print the bundled alerting rules, with your thresholds
#[derive(Debug, Clone, Args)]
#[command(after_help = settings::help())]
pub struct RulesArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = RulesFormat::Prometheus)]
    pub format: RulesFormat,
    /// A threshold other than its default, each at most once; may come several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Labels by which the copies of one group's series differ, separated by commas
    #[arg(long, value_name = "LABELS", default_value = "instance,pod")]
    pub copies: String,
    /// Labels by which groups of the same name differ, separated by commas; those that series do
    /// not have may be named
    #[arg(long, value_name = "LABELS", default_value = "job,cluster,namespace")]
    pub cluster_labels: String,
    /// Where the runbooks are: `runbook_url` is this, the alert and `.md`
    #[arg(long, value_name = "URL", default_value = RUNBOOK_BASE)]
    pub runbook_base: String,
    /// Where the dashboards are: `dashboard_url` is this and the dashboard's uid
    #[arg(long, value_name = "URL", default_value = DASHBOARD_BASE)]
    pub dashboard_base: String,
    /// Multiplies all windows, holds and margins; below 1 to try the rules out
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    pub time_scale: String,
    /// Name of the `PrometheusRule`
    #[arg(long, value_name = "NAME", default_value = OWN_NAME)]
    pub name: String,
    /// Namespace of the `PrometheusRule`
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// A label of the `PrometheusRule`, as its Prometheus selects them; may come several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub label: Vec<String>,
}

/// How rules are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RulesFormat {
    /// A rule file
    Prometheus,
    /// A `PrometheusRule` of the Prometheus operator
    Kubernetes,
    /// Routes and inhibitions that go with the rules, for an Alertmanager that is there
    Alertmanager,
}

/// Prints the rules, or says what is wrong with the thresholds: all of it.
///
/// # Errors
/// What `out` says when it cannot be written to.
pub fn run(args: &RulesArgs, out: &mut impl Write) -> io::Result<Exit> {
    match print(args) {
        Ok(text) => out.write_all(text.as_bytes()).map(|()| Exit::Ok),
        Err(mistakes) => {
            for mistake in &mistakes.0 {
                eprintln!("error: {mistake}");
            }
            Ok(Exit::Usage)
        }
    }
}

/// The rules as the arguments want them.
///
/// # Errors
/// All that is wrong with the arguments.
pub fn print(args: &RulesArgs) -> Result<String, Mistakes> {
    let mut mistakes = Vec::new();
    let settings = Settings::of(args, &mut mistakes);
    let labels = labels(&args.label, &mut mistakes);
    if !resource::is_name(&args.name) {
        let expected = "the name of a resource: lower case letters, digits, dots and dashes";
        mistakes.push(settings::mistake("--name", &args.name, expected));
    }
    if let Some(namespace) = args
        .namespace
        .as_deref()
        .filter(|it| !resource::is_part(it))
    {
        let expected = "a namespace: up to 63 lower case letters, digits and dashes";
        mistakes.push(settings::mistake("--namespace", namespace, expected));
    }
    unused(args, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(Mistakes(mistakes));
    }
    let groups = || -> String {
        let rendered = |(_, text): &(_, &str)| groups(&template::render(text, &settings));
        TEMPLATES.iter().map(rendered).collect()
    };
    Ok(match args.format {
        RulesFormat::Prometheus => {
            let groups = groups();
            format!("# Written by `evenkeel rules`.\ngroups:\n{groups}")
        }
        RulesFormat::Kubernetes => rule_resource(args, &labels, &groups()),
        RulesFormat::Alertmanager => {
            let routes = template::render(ROUTES, &settings);
            format!("# Written by `evenkeel rules --format alertmanager`.\n{routes}")
        }
    })
}

fn rule_resource(args: &RulesArgs, labels: &[(&str, &str)], groups: &str) -> String {
    let mut text = "# Written by `evenkeel rules --format kubernetes`.\n".to_owned();
    text.push_str("apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n");
    text.push_str(&format!("  name: {}\n", args.name));
    if let Some(namespace) = &args.namespace {
        text.push_str(&format!("  namespace: {namespace}\n"));
    }
    text.push_str(&format!("  labels:\n    {OWN_LABEL}: evenkeel\n"));
    for (name, value) in labels {
        text.push_str(&format!("    {name}: {value:?}\n"));
    }
    text.push_str("spec:\n  groups:\n");
    for line in groups.lines() {
        if !line.is_empty() {
            text.push_str("  ");
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

/// The comment and the groups of a rule file, without the line that begins the list.
fn groups(file: &str) -> String {
    let (comment, groups) = file.split_once("groups:\n").unwrap_or(("", file));
    let comment: String = comment.lines().map(|line| format!("  {line}\n")).collect();
    format!("{comment}{groups}")
}

/// The label that every resource has.
const OWN_LABEL: &str = "app.kubernetes.io/name";

/// What the resource is called unless it is told another name.
const OWN_NAME: &str = "evenkeel";

fn labels<'a>(given: &'a [String], mistakes: &mut Vec<Mistake>) -> Vec<(&'a str, &'a str)> {
    let mut labels: Vec<(&str, &str)> = Vec::new();
    for label in given {
        let pair = label.split_once('=');
        let pair = pair.filter(|(name, value)| resource::is_label(name, value));
        let Some((name, value)) = pair else {
            let expected = "NAME=VALUE, as Kubernetes takes labels";
            mistakes.push(settings::mistake("--label", label, expected));
            continue;
        };
        if name == OWN_LABEL || labels.iter().any(|(known, _)| *known == name) {
            mistakes.push(settings::mistake("--label", label, "each label once"));
        }
        labels.push((name, value));
    }
    labels
}

/// What is given and would change nothing in this format.
fn unused(args: &RulesArgs, mistakes: &mut Vec<Mistake>) {
    let mut say = |flag: &str, found: &str, expected: &str| {
        mistakes.push(Mistake {
            hint: Some("leave it out, or choose another --format".to_owned()),
            ..settings::mistake(flag, found, expected)
        });
    };
    if args.format != RulesFormat::Kubernetes {
        let only = "to be given with --format kubernetes";
        let name = Some(args.name.as_str()).filter(|name| *name != OWN_NAME);
        for (flag, found) in [
            ("--name", name),
            ("--namespace", args.namespace.as_deref()),
            ("--label", args.label.first().map(String::as_str)),
        ] {
            if let Some(found) = found {
                say(flag, found, only);
            }
        }
    }
    if args.format == RulesFormat::Alertmanager
        && let Some(first) = args.set.first()
    {
        say(
            "--set",
            first,
            "to be given for rules: routes have no thresholds",
        );
    }
}

#[cfg(test)]
mod tests;
