//! Kubernetes: Strimzi's KafkaConnect, and workloads whose containers have variables of
//! Connect, as `helm template` prints them.

use evenkeel_core::checks::known::Worker;
use evenkeel_core::checks::source::{Source, Value as Known};
use serde_yaml::Value;

use super::document::Reading;
use super::settings::{Dialect, Settings, at, is_there, scalar, text};
use super::variables::{GUESSED, Image};

/// What Kubernetes waits for a pod to end (`terminationGracePeriodSeconds`).
const GRACE_MS: i64 = 30_000;

/// Workloads, and where the pod stands in them.
const WORKLOADS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// What Strimzi calls these settings in `spec` itself.
const STRIMZI: [(&str, &str); 5] = [
    ("bootstrapServers", "bootstrap.servers"),
    ("groupId", "group.id"),
    ("configStorageTopic", "config.storage.topic"),
    ("offsetStorageTopic", "offset.storage.topic"),
    ("statusStorageTopic", "status.storage.topic"),
];

/// What Strimzi leaves out of `spec.config` by what it begins with, since it sets that itself.
const STRIMZI_IGNORES: [&str; 10] = [
    "bootstrap.servers",
    "consumer.interceptor.classes",
    "listeners",
    "plugin.path",
    "producer.interceptor.classes",
    "prometheus.metrics.reporter.",
    "rest.",
    "sasl.",
    "security.",
    "ssl.",
];

/// What it takes nevertheless.
const STRIMZI_TAKES: [&str; 4] = [
    "ssl.cipher.suites",
    "ssl.enabled.protocols",
    "ssl.endpoint.identification.algorithm",
    "ssl.protocol",
];

/// What Strimzi sets where nobody does.
const STRIMZI_CONVERTERS: [&str; 2] = ["key.converter", "value.converter"];

/// What it sets besides in its versions before `v1`.
const STRIMZI_DEFAULTS: [(&str, &str); 4] = [
    ("group.id", "connect-cluster"),
    ("config.storage.topic", "connect-cluster-configs"),
    ("offset.storage.topic", "connect-cluster-offsets"),
    ("status.storage.topic", "connect-cluster-status"),
];

pub(super) fn read(reading: &mut Reading<'_>, value: &Value) {
    let kind = text(value, "kind").unwrap_or_default();
    let of_strimzi =
        text(value, "apiVersion").is_some_and(|version| version.starts_with("kafka.strimzi.io/"));
    let items = value.get("items").and_then(Value::as_sequence);
    if let ("List", Some(items)) = (kind, items) {
        items.iter().for_each(|item| read(reading, item));
    } else if kind == "KafkaConnect" && of_strimzi {
        read_connect(reading, value);
    } else if WORKLOADS.contains(&kind) {
        read_workload(reading, value);
    } else {
        let kind = kind.escape_debug();
        let told = format!("a resource of kind {kind}: not read");
        if !reading.deployed.notes.contains(&told) {
            reading.deployed.notes.push(told);
        }
    }
}

fn read_connect(reading: &mut Reading<'_>, value: &Value) {
    let spec = value.get("spec").unwrap_or(&Value::Null);
    let name = name(value);
    let mut settings = Settings::default();
    for (key, setting) in STRIMZI {
        if let Some(text) = text(spec, key) {
            let line = reading.lines.line_of(&["spec"], key);
            settings.put(
                setting,
                Dialect::Kubernetes.text(text),
                at(reading.file, line),
            );
        }
    }
    let config = spec.get("config").and_then(Value::as_mapping);
    for (key, value) in config.into_iter().flatten() {
        let Some(key) = key.as_str() else { continue };
        if is_ignored(key) {
            reading.deployed.notes.push(format!(
                "{name}: {}: Strimzi's operator ignores it in spec.config and sets its own",
                key.escape_debug()
            ));
            continue;
        }
        // The fields are what the operator reads first.
        if let Some((field, _)) = STRIMZI.iter().find(|(_, setting)| *setting == key)
            && settings.map.contains_key(key)
        {
            let told = format!("{name}: {key}: spec.{field} stands, not what spec.config says");
            reading.deployed.notes.push(told);
            continue;
        }
        let line = reading.lines.line_of(&["spec", "config"], key);
        match scalar(value, Dialect::Kubernetes) {
            Some(text) => settings.put(key, text, at(reading.file, line)),
            None => reading
                .deployed
                .notes
                .push(format!("{}: not a text, not read", key.escape_debug())),
        }
    }
    for setting in STRIMZI_CONVERTERS {
        let converter = "org.apache.kafka.connect.json.JsonConverter";
        settings.put_default(setting, converter, Source::Platform { name: "Strimzi" });
    }
    let is_v1 = text(value, "apiVersion") == Some("kafka.strimzi.io/v1");
    if !is_v1 {
        for (setting, value) in STRIMZI_DEFAULTS {
            settings.put_default(setting, value, Source::Platform { name: "Strimzi" });
        }
    }
    let release = text(spec, "version").and_then(|text| text.parse().ok());
    let version_line = reading.lines.line_of(&["spec"], "version");
    let pod = spec
        .get("template")
        .and_then(|template| template.get("pod"));
    let worker = Worker {
        name: format!("{} ({name})", reading.file),
        release: release.map(|release| Known::new(release, at(reading.file, version_line))),
        settings: settings.map,
        is_complete: true,
        is_started_so: true,
        replicas: replicas(reading, spec),
        deployment: Some(Known::new(
            name,
            at(reading.file, reading.lines.line_of(&["metadata"], "name")),
        )),
        grace_ms: pod_grace(reading, pod, &["spec", "template", "pod"]),
        ..Worker::default()
    };
    reading.deployed.workers.push(worker);
}

/// Whether it does not reach the worker from `spec.config`.
fn is_ignored(setting: &str) -> bool {
    let setting = setting.to_lowercase();
    let begins = |prefix: &&str| setting.starts_with(*prefix);
    STRIMZI_IGNORES.iter().any(&begins) && !STRIMZI_TAKES.iter().any(begins)
}

fn read_workload(reading: &mut Reading<'_>, value: &Value) {
    let spec = value.get("spec").unwrap_or(&Value::Null);
    let pod = spec
        .get("template")
        .and_then(|template| template.get("spec"));
    let containers = pod.and_then(|pod| pod.get("containers"));
    let containers = containers.and_then(Value::as_sequence);
    for container in containers.into_iter().flatten() {
        let variables = container.get("env").and_then(Value::as_sequence);
        let names = variables.into_iter().flatten();
        let names = names.filter_map(|variable| text(variable, "name"));
        let (image, is_guess) = Image::guessed(text(container, "image"), names);
        let mut settings = Settings::default();
        for variable in variables.into_iter().flatten() {
            let Some(name) = text(variable, "name") else {
                continue;
            };
            let Some(setting) = image.setting(name) else {
                let told = image.overruled(name);
                reading.deployed.notes.extend(told);
                continue;
            };
            let parents = ["spec", "template", "spec", "containers", "env"];
            let line = reading.lines.line_of(&parents, name);
            // Without a value it comes from a secret, a config map or the pod itself.
            let value = variable.get("value").unwrap_or(&Value::Null);
            if let Some(text) = scalar(value, Dialect::Kubernetes) {
                settings.put_variable(&setting, name, text, at(reading.file, line));
            }
        }
        if settings.map.is_empty() {
            continue;
        }
        let name = name(value);
        if is_guess {
            reading.deployed.notes.push(format!("{name}: {GUESSED}"));
        } else {
            image.fill(&mut settings);
        }
        let has_others = is_there(container, "envFrom");
        if has_others {
            reading.deployed.notes.push(format!(
                "{name}: envFrom is not read; what it may set is not known"
            ));
        }
        // What is started is not the image's script, or more than that.
        let is_other = ["command", "args"]
            .iter()
            .any(|key| is_there(container, key));
        let release = Image::release(text(container, "image"));
        if let Some(release) = release {
            let told = Image::release_told(release);
            reading.deployed.notes.push(format!("{name}: {told}"));
        }
        let worker = Worker {
            name: format!("{} ({name})", reading.file),
            settings: settings.map,
            spelling: image.spelling(),
            is_complete: !has_others && !is_guess,
            is_started_so: image.is_known() && !is_guess && !is_other,
            release: release.map(|release| {
                let parents = ["spec", "template", "spec", "containers"];
                // Of several containers the first one's line would be found.
                let is_only = containers.is_some_and(|all| all.len() == 1);
                let line = reading.lines.line_of(&parents, "image");
                Known::new(release, at(reading.file, line.filter(|_| is_only)))
            }),
            replicas: replicas(reading, spec),
            grace_ms: pod_grace(reading, pod, &["spec", "template", "spec"]),
            ..Worker::default()
        };
        reading.deployed.workers.push(worker);
    }
}

fn name(value: &Value) -> String {
    let about = value.get("metadata").unwrap_or(&Value::Null);
    let name = text(about, "name").unwrap_or("no name").escape_debug();
    match text(about, "namespace") {
        Some(namespace) => format!("{}/{name}", namespace.escape_debug()),
        None => name.to_string(),
    }
}

fn replicas(reading: &Reading<'_>, spec: &Value) -> Option<Known<i64>> {
    let count = text(spec, "replicas")?.parse().ok()?;
    let line = reading.lines.line_of(&["spec"], "replicas");
    Some(Known::new(count, at(reading.file, line)))
}

fn pod_grace(reading: &Reading<'_>, pod: Option<&Value>, parents: &[&str]) -> Option<Known<i64>> {
    let leaf = "terminationGracePeriodSeconds";
    let Some(seconds) = pod.and_then(|pod| text(pod, leaf)) else {
        let name = "Kubernetes";
        return Some(Known::new(GRACE_MS, Source::Platform { name }));
    };
    let seconds: i64 = seconds.parse().ok()?;
    let line = reading.lines.line_of(parents, leaf);
    Some(Known::new(
        seconds.checked_mul(1_000)?,
        at(reading.file, line),
    ))
}
