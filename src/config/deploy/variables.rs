//! Environment variables of images of Connect, and the settings that they become.

use evenkeel_core::checks::known::VARIABLE_PREFIX;
use evenkeel_core::checks::source::Source;

use super::settings::Settings;

/// Images of Connect whose script ends where a variable is missing that Kafka demands, and sets
/// none of them itself.
const DEMANDING: [&str; 2] = [
    "confluentinc/cp-kafka-connect",
    "confluentinc/cp-server-connect",
];

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
const DEBEZIUM: [(&str, &str); 12] = [
    ("ADVERTISED_HOST_NAME", "rest.advertised.host.name"),
    ("ADVERTISED_PORT", "rest.advertised.port"),
    ("BOOTSTRAP_SERVERS", "bootstrap.servers"),
    ("CONFIG_STORAGE_TOPIC", "config.storage.topic"),
    ("GROUP_ID", "group.id"),
    ("KEY_CONVERTER", "key.converter"),
    ("OFFSET_FLUSH_INTERVAL_MS", "offset.flush.interval.ms"),
    ("OFFSET_FLUSH_TIMEOUT_MS", "offset.flush.timeout.ms"),
    ("OFFSET_STORAGE_TOPIC", "offset.storage.topic"),
    ("SHUTDOWN_TIMEOUT", "task.shutdown.graceful.timeout.ms"),
    ("STATUS_STORAGE_TOPIC", STATUS_TOPIC),
    ("VALUE_CONVERTER", "value.converter"),
];

/// The one of these that counts with the prefix, too, where it is not set without.
const STATUS_TOPIC: &str = "status.storage.topic";

const JSON: &str = "org.apache.kafka.connect.json.JsonConverter";

/// What Debezium's images set where nobody does.
const DEBEZIUM_DEFAULTS: [(&str, &str); 7] = [
    ("group.id", "1"),
    ("key.converter", JSON),
    (STATUS_TOPIC, "connect-status"),
    ("value.converter", JSON),
    ("offset.flush.interval.ms", "60000"),
    ("offset.flush.timeout.ms", "5000"),
    ("task.shutdown.graceful.timeout.ms", "10000"),
];

/// Which variables count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Image {
    /// Those with the prefix; what else the image sets is not known.
    Plain,
    /// Those with the prefix, and nothing else.
    Demanding,
    /// Those without, and those with it that have no other name.
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
        } else if image.is_some_and(|image| DEMANDING.iter().any(|known| image.contains(known))) {
            Self::Demanding
        } else {
            Self::Plain
        }
    }

    /// Whether what the image sets itself is known.
    pub(super) fn is_known(self) -> bool {
        self != Self::Plain
    }

    /// Why a variable does nothing, although it has the prefix.
    pub(super) fn overruled(self, variable: &str) -> Option<String> {
        let rest = variable.strip_prefix(VARIABLE_PREFIX)?;
        let setting = spelled(rest);
        let mut known = DEBEZIUM.iter();
        let (own, _) = known.find(|(_, known)| *known == setting && *known != STATUS_TOPIC)?;
        (self == Self::Debezium).then(|| {
            format!("{variable}: Debezium's images set it from {own}, whatever stands there")
        })
    }

    /// The setting that a variable becomes.
    pub(super) fn setting(self, variable: &str) -> Option<String> {
        if let Some(rest) = variable.strip_prefix(VARIABLE_PREFIX) {
            let is_other = NOT_SETTINGS.iter().any(|other| rest.starts_with(other))
                || self.overruled(variable).is_some();
            return (!is_other && !rest.is_empty()).then(|| spelled(rest));
        }
        if self != Self::Debezium {
            return None;
        }
        let known = DEBEZIUM.iter().find(|(known, _)| *known == variable);
        known.map(|(_, setting)| (*setting).to_owned())
    }

    /// What the image itself sets.
    pub(super) fn fill(self, settings: &mut Settings) {
        if self == Self::Debezium {
            let source = || Source::Platform {
                name: "Debezium's image",
            };
            for (setting, value) in DEBEZIUM_DEFAULTS {
                settings.put_default(setting, value, source());
            }
            // Of a container that is linked, else an address where nothing listens.
            settings.put_unknown("bootstrap.servers", source());
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

#[cfg(test)]
mod tests {
    use evenkeel_core::checks::known::variable;
    use evenkeel_core::checks::releases::{Whose, tables};

    use super::*;

    #[test]
    fn a_variable_and_its_setting_go_both_ways() {
        for name in tables().names(Whose::Worker).chain(["a_b-c.d"]) {
            let variable = variable(name);
            let setting = Image::Plain.setting(&variable);
            if NOT_SETTINGS
                .iter()
                .all(|other| !variable["CONNECT_".len()..].starts_with(other))
            {
                assert_eq!(setting.as_deref(), Some(name), "{variable}");
            }
        }
    }
}
