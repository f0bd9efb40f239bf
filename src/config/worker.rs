//! The settings of the worker beside the agent: its properties file and the `CONNECT_*`
//! variables over it become a connection, a group with its topics, the worker's name in the
//! group, and the clocks that no record shows. Only what the agent uses is read.

mod clocks;
mod environment;
mod jaas;
mod names;
mod odd;
pub(super) mod principal;
pub mod properties_file;
mod providers;
pub(super) mod rest;
mod sasl;
mod security;
mod settings;
mod stores;
mod subject;
mod tls;
mod translate;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use evenkeel_core::facts::input::WorkerSetting;

use super::mistake::Mistake;
use super::secret::Secret;
use super::typed::Config;
use settings::{Found, Settings};
use translate::Over;

pub(super) use environment::is_used;
pub(super) use translate::Translated;

/// A value that may be shown, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) value: String,
    pub(super) source: String,
}

/// What the settings of one worker say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Worker {
    /// `group.id`.
    pub(super) group: Option<Given>,
    /// `config.storage.topic`.
    pub(super) config_topic: Option<Given>,
    /// `status.storage.topic`.
    pub(super) status_topic: Option<Given>,
    /// `offset.storage.topic`, which is not read; how it is set is.
    pub(super) offset_topic: Option<Given>,
    /// `host:port` that it advertises.
    pub(super) own_worker: Option<Given>,
    /// Its clocks.
    pub(super) timings: Vec<WorkerSetting>,
    /// Names in its file that mean nothing to a worker of any release, or nothing that it can
    /// use. Their values are not kept.
    pub(super) odd: Vec<WorkerSetting>,
    /// How it reaches the cluster.
    pub(super) connection: Translated,
    /// Every file that was read, its own first.
    pub(super) files: Vec<PathBuf>,
    /// What may be wrong.
    pub(super) warnings: Vec<String>,
    /// Whether something is.
    pub(super) has_mistakes: bool,
    /// Whether its file could not be read: then nothing is known to be missing in it.
    pub(super) is_unread: bool,
}

/// Where a worker's settings come from, and what goes over them.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// Its file, and the key of the configuration that names it.
    pub(super) file: Option<(&'a Path, &'a str)>,
    /// The variables that count for it.
    pub(super) vars: &'a [(String, String)],
    /// All variables, for references.
    pub(super) env: &'a dyn Fn(&str) -> Option<String>,
    /// `kafka.properties`, looked up.
    pub(super) properties: &'a BTreeMap<String, Secret>,
    /// Whether `kafka.token_file` is set.
    pub(super) has_token_file: bool,
    /// Whether `kafka.bootstrap` is set.
    pub(super) has_brokers: bool,
    /// Keys of the group that a person set: theirs are not looked up.
    pub(super) set: &'a [&'a str],
}

/// Every file that the connections and workers' settings of a configuration were read from
/// or name: when one changes, what was loaded may no longer hold.
#[must_use]
pub fn files(config: &Config) -> Vec<PathBuf> {
    let groups = config.groups.iter();
    let files: BTreeSet<_> = groups
        .flat_map(|group| group.files.iter().cloned())
        .collect();
    files.into_iter().collect()
}

/// Reads the settings of one worker, with all mistakes in them.
pub(super) fn read(place: &Place<'_>) -> (Worker, Vec<Mistake>) {
    let mut settings = Settings::read(place.file, place.vars, place.env);
    let over = Over {
        properties: place.properties,
        has_token_file: place.has_token_file,
        has_brokers: place.has_brokers,
    };
    // A file that cannot be read says nothing about what it would hold.
    let is_read = settings.mistakes.is_empty();
    let connection = if is_read {
        translate::translate(&mut settings, over)
    } else {
        Translated::default()
    };
    let mut given = |key: &str, name: &str| {
        if place.set.contains(&key) {
            return None;
        }
        settings.text(name).map(Given::from)
    };
    let group = given("group", "group.id");
    let config_topic = given("config_topic", "config.storage.topic");
    let status_topic = given("status_topic", "status.storage.topic");
    let offset_topic = given("offset_topic", "offset.storage.topic");
    let own_worker = rest::own_worker(&mut settings).map(Given::from);
    let timings = clocks::read(&mut settings);
    let odd = odd::names(&settings);
    let worker = Worker {
        group,
        config_topic,
        status_topic,
        offset_topic,
        own_worker,
        timings,
        odd,
        connection,
        files: settings.files.into_iter().collect(),
        warnings: settings.warnings,
        has_mistakes: !settings.mistakes.is_empty(),
        is_unread: !is_read,
    };
    (worker, settings.mistakes)
}

// === impl Given ===

impl From<Found> for Given {
    fn from(found: Found) -> Self {
        Self {
            value: found.text().to_owned(),
            source: found.source,
        }
    }
}

#[cfg(test)]
mod tests;
