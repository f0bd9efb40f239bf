//! Environment variables of images of Connect, and the settings that they become.

use evenkeel_core::checks::releases::Release;
use evenkeel_core::checks::source::Source;
use evenkeel_core::checks::spelling::{DEBEZIUM, Spelling, VARIABLE_PREFIX};

use super::settings::Settings;

/// Images of Connect whose script ends where a variable is missing that Kafka demands, and sets
/// none of them itself.
const DEMANDING: [&str; 4] = [
    "confluentinc/cp-kafka-connect",
    "confluentinc/cp-kafka-connect-base",
    "confluentinc/cp-server-connect",
    "confluentinc/cp-server-connect-base",
];

/// Releases of Confluent Platform, and of the Kafka that is in them (Confluent's table of
/// versions and interoperability). It does not tell which patch of Kafka is in which of
/// theirs: the last one, so that no fault is told which theirs may have mended.
const OF_CONFLUENT: [(&str, Release); 17] = [
    ("5.4", Release::new(2, 4, 1)),
    ("5.5", Release::new(2, 5, 1)),
    ("6.0", Release::new(2, 6, 3)),
    ("6.1", Release::new(2, 7, 2)),
    ("6.2", Release::new(2, 8, 2)),
    ("7.0", Release::new(3, 0, 2)),
    ("7.1", Release::new(3, 1, 2)),
    ("7.2", Release::new(3, 2, 3)),
    ("7.3", Release::new(3, 3, 2)),
    ("7.4", Release::new(3, 4, 1)),
    ("7.5", Release::new(3, 5, 2)),
    ("7.6", Release::new(3, 6, 2)),
    ("7.7", Release::new(3, 7, 2)),
    ("7.8", Release::new(3, 8, 1)),
    ("7.9", Release::new(3, 9, 2)),
    ("8.0", Release::new(4, 0, 1)),
    ("8.1", Release::new(4, 1, 1)),
];

const OF_DEBEZIUM: &str = "debezium/connect";

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

/// The variable of Debezium's that counts with the prefix, too, where it is not set without.
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

/// What is said where variables tell what the image is.
pub(super) const GUESSED: &str =
    "variables without CONNECT_ are taken as Debezium's images take them";

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
    /// The kind of image, by its name: one that is called nearly so was made from another, and
    /// what it sets itself is not known.
    pub(super) fn named(image: Option<&str>) -> Self {
        let name = image.map(repository).unwrap_or_default();
        if name == OF_DEBEZIUM {
            Self::Debezium
        } else if DEMANDING.contains(&name) {
            Self::Demanding
        } else {
            Self::Plain
        }
    }

    /// As [`named`](Self::named), and whether it is a guess by the variables.
    pub(super) fn guessed<'a>(
        image: Option<&str>,
        variables: impl Iterator<Item = &'a str> + Clone,
    ) -> (Self, bool) {
        let named = Self::named(image);
        let has_prefix = variables.clone().any(|it| it.starts_with(VARIABLE_PREFIX));
        let is_near = image.is_some_and(|image| image.contains("debezium"));
        let is_guess =
            named == Self::Plain && (is_near || !has_prefix) && looks_like_debezium(variables);
        if is_guess {
            return (Self::Debezium, true);
        }
        (named, false)
    }

    /// The release of Kafka in it, where its tag tells.
    pub(super) fn release(image: Option<&str>) -> Option<Release> {
        let image = image.filter(|image| Self::named(Some(image)) == Self::Demanding)?;
        let (name, _) = image.split_once('@').unwrap_or((image, ""));
        let tag = name.rsplit('/').next()?.split_once(':')?.1;
        let mut parts = tag.split(['.', '-']);
        let (major, minor) = (parts.next()?, parts.next()?);
        let mut known = OF_CONFLUENT.iter();
        let found = known.find(|(of, _)| of.split_once('.') == Some((major, minor)));
        found.map(|(_, release)| *release)
    }

    /// What is said of it.
    pub(super) fn release_told(release: Release) -> String {
        format!("by its image of the line of Kafka {release}, whose settings and defaults count")
    }

    /// How settings are written for it.
    pub(super) fn spelling(self) -> Spelling {
        match self {
            Self::Plain | Self::Demanding => Spelling::Prefixed,
            Self::Debezium => Spelling::Debezium,
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

/// The last two parts of an image's name, without its registry, tag and digest.
fn repository(image: &str) -> &str {
    let (name, _) = image.split_once('@').unwrap_or((image, ""));
    let slash = name.rfind('/').map_or(0, |slash| slash + 1);
    let end = name[slash..]
        .find(':')
        .map_or(name.len(), |colon| slash + colon);
    let name = &name[..end];
    let mut slashes = name.rmatch_indices('/');
    match slashes.nth(1) {
        Some((slash, _)) => &name[slash + 1..],
        None => name,
    }
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
    use evenkeel_core::checks::releases::{Whose, tables};
    use evenkeel_core::checks::spelling::variable;

    use super::*;

    #[test]
    fn an_image_is_known_by_its_whole_name() {
        let demanding = [
            "confluentinc/cp-kafka-connect",
            "confluentinc/cp-kafka-connect:7.6.0",
            "docker.io/confluentinc/cp-kafka-connect-base@sha256:00",
            "registry.example:5000/mirror/confluentinc/cp-server-connect:7.6.0@sha256:00",
        ];
        for image in demanding {
            assert_eq!(Image::named(Some(image)), Image::Demanding, "{image}");
        }
        let debezium = Image::named(Some("quay.io/debezium/connect:3.0"));
        assert_eq!(debezium, Image::Debezium);
        for image in [
            "registry.example/confluentinc/cp-kafka-connect-orders:3",
            "registry.example/notconfluentinc/cp-kafka-connect",
            "registry.example/confluentinc/cp-kafka-connect/orders",
            "acme/debezium-connect:1",
            "debezium/connect-orders",
            "connect",
            "",
        ] {
            assert_eq!(Image::named(Some(image)), Image::Plain, "{image}");
        }
    }

    #[test]
    fn a_tag_of_confluents_tells_the_release_of_kafka() {
        let release = |image: &str| Image::release(Some(image)).map(|found| found.to_string());
        let told = |text: &str| Some(text.to_owned());
        for (image, expected) in [
            ("confluentinc/cp-kafka-connect:7.6.0", told("3.6.2")),
            (
                "confluentinc/cp-kafka-connect-base:7.6.1-1-ubi8",
                told("3.6.2"),
            ),
            (
                "registry.example:5000/confluentinc/cp-server-connect:5.5@sha256:00",
                told("2.5.1"),
            ),
            ("confluentinc/cp-kafka-connect:8.1.0", told("4.1.1")),
            ("confluentinc/cp-kafka-connect:7.60.0", None),
            ("confluentinc/cp-kafka-connect:latest", None),
            ("confluentinc/cp-kafka-connect:${TAG}", None),
            ("registry.example:5000/confluentinc/cp-kafka-connect", None),
            ("acme/cp-kafka-connect:7.6.0", None),
            ("confluentinc/cp-kafka-connect:9.9.0", None),
        ] {
            assert_eq!(release(image), expected, "{image}");
        }
    }

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
