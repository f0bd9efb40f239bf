//! Environment variables of images of Connect, and the settings that they become.

use evenkeel_core::checks::source::Source;

use super::settings::Settings;

/// What images of the widespread kind make a worker's settings of.
const PREFIX: &str = "CONNECT_";

/// Variables with that prefix that are for scripts of those images, or that Kubernetes and
/// Docker set for a service called connect.
const NOT_SETTINGS: [&str; 8] = [
    "CUB_",
    "ENV_",
    "LOG4J",
    "PORT",
    "REST_HOST_NAME",
    "REST_PORT",
    "SERVICE_",
    "TOOLS_LOG4J",
];

/// Variables of Debezium's images, which have no prefix.
const DEBEZIUM: [(&str, &str); 10] = [
    ("ADVERTISED_HOST_NAME", "rest.advertised.host.name"),
    ("ADVERTISED_PORT", "rest.advertised.port"),
    ("BOOTSTRAP_SERVERS", "bootstrap.servers"),
    ("CONFIG_STORAGE_TOPIC", "config.storage.topic"),
    ("GROUP_ID", "group.id"),
    ("OFFSET_FLUSH_INTERVAL_MS", "offset.flush.interval.ms"),
    ("OFFSET_FLUSH_TIMEOUT_MS", "offset.flush.timeout.ms"),
    ("OFFSET_STORAGE_TOPIC", "offset.storage.topic"),
    ("SHUTDOWN_TIMEOUT", "task.shutdown.graceful.timeout.ms"),
    ("STATUS_STORAGE_TOPIC", "status.storage.topic"),
];

/// What Debezium's images set where nobody does.
const DEBEZIUM_DEFAULTS: [(&str, &str); 4] = [
    ("group.id", "1"),
    ("offset.flush.interval.ms", "60000"),
    ("offset.flush.timeout.ms", "5000"),
    ("task.shutdown.graceful.timeout.ms", "10000"),
];

/// Which variables count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Image {
    /// Those with the prefix.
    Plain,
    /// Those without, and those with it over them.
    Debezium,
}

// === impl Image ===

impl Image {
    /// The kind of image, by its name.
    pub(super) fn named(image: Option<&str>) -> Self {
        let is_debezium = image.is_some_and(|image| {
            image.contains("debezium/connect") || image.contains("debezium-connect")
        });
        if is_debezium {
            Self::Debezium
        } else {
            Self::Plain
        }
    }

    /// The setting that a variable becomes.
    pub(super) fn setting(self, variable: &str) -> Option<String> {
        if let Some(rest) = variable.strip_prefix(PREFIX) {
            let is_other = NOT_SETTINGS.iter().any(|other| rest.starts_with(other));
            return (!is_other && !rest.is_empty()).then(|| spelled(rest));
        }
        if self == Self::Plain {
            return None;
        }
        let known = DEBEZIUM.iter().find(|(known, _)| *known == variable);
        known.map(|(_, setting)| (*setting).to_owned())
    }

    /// What the image itself sets.
    pub(super) fn fill(self, settings: &mut Settings) {
        if self == Self::Debezium {
            for (setting, value) in DEBEZIUM_DEFAULTS {
                let name = "Debezium's image";
                settings.put_default(setting, value, Source::Platform { name });
            }
        }
    }
}

/// Whether variables without the prefix set up a worker in an image that is not known.
pub(super) fn looks_like_debezium<'a>(variables: impl IntoIterator<Item = &'a str>) -> bool {
    let needed = ["CONFIG_STORAGE_TOPIC", "OFFSET_STORAGE_TOPIC"];
    let found = variables
        .into_iter()
        .filter(|variable| needed.contains(variable));
    found.count() == needed.len()
}

/// Dots are underscores, dashes are two, underscores are three.
fn spelled(rest: &str) -> String {
    let text = rest
        .replace("___", "\u{1}")
        .replace("__", "-")
        .replace('_', ".");
    text.replace('\u{1}', "_").to_lowercase()
}
