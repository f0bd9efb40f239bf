//! What a person set: thresholds, labels, links; every mistake in it is told.

mod thresholds;
mod times;

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_core::checks::near::nearest;

use super::RulesArgs;
use crate::config::Mistake;
use crate::show::catalog;
use thresholds::THRESHOLDS;
pub(super) use thresholds::help;
pub(super) use times::{millis, written};

/// A value that a template names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Setting {
    /// Milliseconds, not scaled yet.
    Time(u64),
    /// Any other number.
    Number(f64),
}

/// Everything that a template is a function of.
#[derive(Debug)]
pub(super) struct Settings {
    values: BTreeMap<&'static str, Setting>,
    /// Labels by which the copies of one group's series differ.
    pub(super) copies: Vec<String>,
    /// Labels that tell one group from any other: `group` first.
    pub(super) same: Vec<String>,
    pub(super) runbook_base: String,
    pub(super) dashboard_base: String,
    /// What times are multiplied by.
    pub(super) scale: f64,
}

// === impl Setting ===

impl Setting {
    /// To compare two of the same kind.
    fn size(self) -> f64 {
        match self {
            Self::Time(ms) => ms as f64,
            Self::Number(number) => number,
        }
    }
}

// === impl Settings ===

impl Settings {
    /// What the arguments say; what is wrong with them goes to `mistakes`.
    pub(super) fn of(args: &RulesArgs, mistakes: &mut Vec<Mistake>) -> Self {
        let values = values(&args.set, mistakes);
        let copies = labels("--copies", &args.copies, mistakes);
        let clusters = labels("--cluster-labels", &args.cluster_labels, mistakes);
        if copies.is_empty() {
            mistakes.push(mistake("--copies", &args.copies, "at least one label"));
        }
        if let Some(label) = clusters.iter().find(|label| copies.contains(label)) {
            let expected = "labels that all copies of a group share";
            mistakes.push(Mistake {
                hint: Some(format!("--copies has {label}: leave it out of one of them")),
                ..mistake("--cluster-labels", label, expected)
            });
        }
        let scale = args.time_scale.parse().ok();
        let scale = scale.filter(|scale: &f64| (0.0001..=1000.0).contains(scale));
        if scale.is_none() {
            let expected = "a number from 0.0001 to 1000";
            mistakes.push(mistake("--time-scale", &args.time_scale, expected));
        }
        Self {
            values,
            copies: copies.iter().map(ToString::to_string).collect(),
            same: [GROUP]
                .iter()
                .chain(&clusters)
                .map(ToString::to_string)
                .collect(),
            runbook_base: base("--runbook-base", &args.runbook_base, mistakes),
            dashboard_base: base("--dashboard-base", &args.dashboard_base, mistakes),
            scale: scale.unwrap_or(1.0),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Setting> {
        self.values.get(name).copied()
    }
}

/// The label of every series of a group.
const GROUP: &str = "group";

/// All thresholds: those that are set, and the defaults of the others.
fn values(given: &[String], mistakes: &mut Vec<Mistake>) -> BTreeMap<&'static str, Setting> {
    let mut values = BTreeMap::new();
    for known in &THRESHOLDS {
        if let Some(value) = known.default() {
            values.insert(known.name, value);
        }
    }
    let mut seen = BTreeSet::new();
    for given in given {
        let Some((name, text)) = given.split_once('=') else {
            mistakes.push(mistake("--set", given, "NAME=VALUE"));
            continue;
        };
        let Some(known) = THRESHOLDS.iter().find(|known| known.name == name) else {
            mistakes.push(unknown(name));
            continue;
        };
        if !seen.insert(known.name) {
            mistakes.push(Mistake {
                hint: Some("leave all but one of them out".to_owned()),
                ..mistake(name, text, "to be set once")
            });
            continue;
        }
        match known.read(text) {
            Some(value) => {
                values.insert(known.name, value);
            }
            None => mistakes.push(Mistake {
                hint: Some(known.why.to_owned()),
                ..mistake(name, text, &known.expected())
            }),
        }
    }
    values
}

/// Labels of scrape targets, separated by commas.
fn labels<'a>(flag: &str, given: &'a str, mistakes: &mut Vec<Mistake>) -> Vec<&'a str> {
    let labels = given.split(',').map(str::trim);
    let labels: Vec<&str> = labels.filter(|label| !label.is_empty()).collect();
    if !labels.iter().all(|label| is_label(label)) {
        let expected = "names of labels, separated by commas";
        mistakes.push(mistake(flag, given, expected));
    } else if let Some(label) = labels.iter().find(|label| is_told(label)) {
        let expected = "labels of scrape targets; this one is of what is told";
        mistakes.push(mistake(flag, label, expected));
    } else if labels.iter().collect::<BTreeSet<_>>().len() < labels.len() {
        mistakes.push(mistake(flag, given, "each label once"));
    }
    labels
}

/// A mistake of the command line.
pub(super) fn mistake(path: &str, found: &str, expected: &str) -> Mistake {
    const CHARS_MAX: usize = 60;
    Mistake {
        path: path.to_owned(),
        found: format!("{:?}", found.chars().take(CHARS_MAX).collect::<String>()),
        expected: expected.to_owned(),
        hint: None,
        origin: None,
    }
}

fn unknown(name: &str) -> Mistake {
    let names = THRESHOLDS.iter().map(|known| known.name);
    let near = nearest(name, names);
    Mistake {
        hint: Some(near.map_or_else(
            || "`evenkeel rules --help` lists them".to_owned(),
            |near| format!("did you mean {near}?"),
        )),
        ..mistake("--set", name, "the name of a threshold")
    }
}

/// The start of a link, without the slash at its end.
fn base(flag: &str, given: &str, mistakes: &mut Vec<Mistake>) -> String {
    let is_link = given.starts_with("http://") || given.starts_with("https://");
    // It goes into YAML and into a template of Prometheus as it is.
    let is_plain = given
        .chars()
        .all(|c| c.is_ascii_graphic() && !"\"'`{}#\\".contains(c));
    if !is_link || !is_plain {
        mistakes.push(mistake(
            flag,
            given,
            "a link that begins with http:// or https://",
        ));
    }
    given.trim_end_matches('/').to_owned()
}

/// Whether evenkeel's own series have that label, or its alerts: without it they would be mixed up.
fn is_told(name: &str) -> bool {
    let labels = catalog::ALL.iter().flat_map(|family| family.labels);
    ["alertname", "severity", "le"].contains(&name) || labels.map(|of| of.name).any(|of| of == name)
}

/// Prometheus keeps names that begin with two underscores for itself.
fn is_label(name: &str) -> bool {
    let mut chars = name.chars();
    let is_start = |c: char| c == '_' || c.is_ascii_alphabetic();
    !name.starts_with("__")
        && chars.next().is_some_and(is_start)
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// The name and the limits of each threshold.
#[cfg(test)]
pub(super) fn limits() -> impl Iterator<Item = (&'static str, [&'static str; 2])> {
    THRESHOLDS.iter().map(|known| (known.name, known.limits()))
}
