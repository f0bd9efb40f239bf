//! The names of all settings that are read from a worker.

use super::{clocks, security};

/// Who the worker is, where its state is, and how it is reached.
const PLAIN: [&str; 10] = [
    "bootstrap.servers",
    "config.providers",
    "config.storage.topic",
    "group.id",
    "listeners",
    "rest.advertised.host.name",
    "rest.advertised.listener",
    "rest.advertised.port",
    "rest.host.name",
    "status.storage.topic",
];

/// Before Kafka 3.0 the port of the only listener.
const REST_PORT: &str = "rest.port";

/// Every name but those of providers, which hold an alias.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    let security = security::SETTINGS.iter().map(|(name, _)| *name);
    PLAIN
        .into_iter()
        .chain([REST_PORT])
        .chain(clocks::names())
        .chain(security)
}

/// Whether a name is one of those.
pub(super) fn is_read(name: &str) -> bool {
    name.starts_with("config.providers.") || all().any(|known| known == name)
}

/// Whether a name decides how a client reaches a broker, or as whom.
pub(super) fn is_security(name: &str) -> bool {
    ["security.", "ssl.", "sasl."]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}
