//! Values of Helm charts, at the places where charts have settings of Connect workers. A
//! chart's templates may set more: what values do not say is not known.

use evenkeel_core::checks::known::Worker;
use evenkeel_core::checks::source::{Source, Value as Known};
use serde_yaml::Value;

use super::document::Reading;
use super::settings::{Dialect, Settings, at, scalar, text};
use super::variables::Image;
use super::{Format, Unread, is_own};
use crate::config::mistake::Mistake;

/// Maps of settings by Kafka's names: confluentinc/cp-helm-charts.
const BY_NAME: [&str; 1] = ["configurationOverrides"];

/// What the templates of that chart set themselves, besides nothing but what values say.
const BY_TEMPLATE: [&str; 6] = [
    "bootstrap.servers",
    "config.storage.topic",
    "group.id",
    "offset.storage.topic",
    "rest.advertised.host.name",
    "status.storage.topic",
];

/// Maps or lists of variables: confluentinc/cp-helm-charts, licenseware/charts, and what
/// charts commonly call them.
const BY_VARIABLE: [&str; 6] = [
    "customEnv",
    "configMapPairs",
    "env",
    "environment",
    "extraEnv",
    "extraEnvVars",
];

/// Single values: redpanda-data/helm-charts, chart connectors.
const CONNECTORS: [(&[&str], &str); 8] = [
    (&["bootstrapServers"], "bootstrap.servers"),
    (&["groupID"], "group.id"),
    (&["storage", "topic", "config"], "config.storage.topic"),
    (&["storage", "topic", "offset"], "offset.storage.topic"),
    (&["storage", "topic", "status"], "status.storage.topic"),
    (
        &["storage", "replicationFactor", "config"],
        "config.storage.replication.factor",
    ),
    (
        &["storage", "replicationFactor", "offset"],
        "offset.storage.replication.factor",
    ),
    (
        &["storage", "replicationFactor", "status"],
        "status.storage.replication.factor",
    ),
];

pub(super) fn read(reading: &mut Reading<'_>, value: &Value) -> Result<(), Unread> {
    reading.deployed.format = Format::Helm;
    read_chart(reading, value, &[]);
    // Charts of a chart have their values behind their names.
    for (name, section) in value.as_mapping().into_iter().flatten() {
        let Some(name) = name.as_str() else { continue };
        let is_place = BY_NAME.contains(&name) || BY_VARIABLE.contains(&name);
        if section.is_mapping() && !is_place {
            read_chart(reading, section, &[name]);
        }
    }
    if reading.deployed.workers.is_empty() {
        let (found, hint) = misplaced(value);
        return Err(Unread::Malformed(
            Mistake::new("", found, "settings of Connect workers").hint(hint),
        ));
    }
    let told = "values only: what the chart's templates set besides is not known";
    reading.deployed.notes.push(told.to_owned());
    Ok(())
}

/// What a document is in which nothing was found, and what to do about it.
fn misplaced(value: &Value) -> (&'static str, &'static str) {
    let has = |value: &Value, name: &str| value.get(name).is_some();
    let of_connector = |value: &Value| has(value, "connector.class");
    if of_connector(value) || value.get("config").is_some_and(of_connector) {
        let found = "the configuration of a connector, not of a worker";
        return (found, "name the files that workers are started with");
    }
    if has(value, "group.id") || has(value, "config.storage.topic") {
        let found = "settings of a worker in a form that no worker reads";
        return (
            found,
            "properties are read from a file with another ending than .yaml or .json",
        );
    }
    let found = "no settings of a Connect worker at a place that is known";
    (found, super::document::HINT)
}

fn read_chart(reading: &mut Reading<'_>, chart: &Value, path: &[&str]) {
    let mut settings = Settings::default();
    for place in BY_NAME {
        for (key, value) in chart
            .get(place)
            .and_then(Value::as_mapping)
            .into_iter()
            .flatten()
        {
            let Some(key) = key.as_str() else { continue };
            let line = reading.lines.line_of(&[path, &[place]].concat(), key);
            if let Some(text) = scalar(value, Dialect::Kubernetes) {
                settings.put(key, text, at(reading.file, line));
            }
        }
    }
    for place in BY_VARIABLE {
        for (variable, value) in variables(chart.get(place)) {
            if let Some(setting) = Image::Plain.setting(&variable) {
                let line = reading.lines.line_of(&[path, &[place]].concat(), &variable);
                if let Some(text) = scalar(&value, Dialect::Kubernetes) {
                    settings.put_variable(&setting, &variable, text, at(reading.file, line));
                }
            }
        }
    }
    if let Some(connectors) = chart.get("connectors").filter(|value| value.is_mapping()) {
        read_connectors(reading, &mut settings, connectors, path);
    }
    if settings.map.is_empty() {
        return;
    }
    let is_whole = BY_NAME.iter().any(|place| chart.get(place).is_some());
    // Charts of brokers have the same place for theirs.
    if is_whole && settings.map.keys().any(|name| is_own(name)) {
        for setting in BY_TEMPLATE {
            settings.put_unknown(setting, Source::Platform { name: "the chart" });
        }
    }
    let name = if path.is_empty() {
        String::new()
    } else {
        format!(" ({})", path.join(".").escape_debug())
    };
    let replicas = ["replicaCount", "replicas"].iter().find_map(|key| {
        let count = text(chart, key)?.parse().ok()?;
        Some(Known::new(
            count,
            at(reading.file, reading.lines.line_of(path, key)),
        ))
    });
    let worker = Worker {
        name: format!("{}{name}", reading.file),
        settings: settings.map,
        spelling: Image::Plain.spelling(),
        is_complete: is_whole,
        replicas,
        ..Worker::default()
    };
    reading.deployed.workers.push(worker);
}

/// `NAME: value`, or `- name: NAME` with `value: …`.
fn variables(place: Option<&Value>) -> Vec<(String, Value)> {
    match place {
        Some(Value::Mapping(map)) => map
            .iter()
            .filter_map(|(name, value)| Some((name.as_str()?.to_owned(), value.clone())))
            .collect(),
        Some(Value::Sequence(items)) => items
            .iter()
            .filter_map(|item| {
                let value = item.get("value").cloned().unwrap_or(Value::Null);
                Some((text(item, "name")?.to_owned(), value))
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn read_connectors(
    reading: &mut Reading<'_>,
    settings: &mut Settings,
    connectors: &Value,
    path: &[&str],
) {
    for (keys, setting) in CONNECTORS {
        let found = keys
            .iter()
            .try_fold(connectors, |value, key| value.get(*key));
        let (Some(value), Some((leaf, above))) = (found.and_then(Value::as_str), keys.split_last())
        else {
            continue;
        };
        if !value.is_empty() {
            let parents = [path, &["connectors"], above].concat();
            let line = reading.lines.line_of(&parents, leaf);
            settings.put(
                setting,
                Dialect::Kubernetes.text(value),
                at(reading.file, line),
            );
        }
    }
    let more = text(connectors, "additionalConfiguration").unwrap_or_default();
    let line = reading
        .lines
        .line_of(&[path, &["connectors"]].concat(), "additionalConfiguration");
    let entries = crate::config::worker::properties_file::parse(more).unwrap_or_default();
    for entry in entries {
        let text = Dialect::Kubernetes.text(entry.value.expose());
        // The text of a block begins in the line after its key.
        let inner = line.map(|line| line + entry.line).filter(|line| {
            let line = reading.text.lines().nth(line - 1);
            line.is_some_and(|line| line.trim_start().starts_with(&entry.name))
        });
        settings.put(entry.name, text, at(reading.file, inner.or(line)));
    }
}
