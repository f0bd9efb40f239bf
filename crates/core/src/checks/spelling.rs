//! What a setting is called where a worker is set up: in a file its own name, and for an image
//! the variable that its script makes that setting of.

/// What variables begin with that images of the widespread kind make settings of.
pub const VARIABLE_PREFIX: &str = "CONNECT_";

/// Variables of Debezium's images, which have no prefix.
pub const DEBEZIUM: [(&str, &str); 12] = [
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
    ("STATUS_STORAGE_TOPIC", "status.storage.topic"),
    ("VALUE_CONVERTER", "value.converter"),
];

/// How settings are written for a worker: its image decides it, not what is written already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Spelling {
    /// By their own names.
    #[default]
    Names,
    /// As variables with the prefix.
    Prefixed,
    /// As variables of Debezium's images: with the prefix where there is none without.
    Debezium,
}

/// The variable that becomes a setting in images of the widespread kind: a dot is an underscore,
/// a dash two, an underscore three.
#[must_use]
pub fn variable(name: &str) -> String {
    let name = name.replace('_', "___").replace('-', "__");
    format!("{VARIABLE_PREFIX}{}", name.replace('.', "_").to_uppercase())
}

// === impl Spelling ===

impl Spelling {
    /// A setting as it would be written.
    #[must_use]
    pub fn of(self, name: &str) -> String {
        let own = DEBEZIUM.iter().find(|(_, setting)| *setting == name);
        match (self, own) {
            (Self::Names, _) => name.to_owned(),
            (Self::Debezium, Some((own, _))) => (*own).to_owned(),
            (Self::Prefixed | Self::Debezium, _) => variable(name),
        }
    }
}
