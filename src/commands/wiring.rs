//! From the configuration to what the agent takes: the one place where a configured
//! group becomes settings of a reader.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{
    Config, ConfigFlags, ConnectionConfig, GroupConfig, HttpConfig, Loaded, Mistakes, Secret, load,
};
use crate::read::connection::{Connection, Hidden, Properties};
use crate::read::kafka::{self, ReadError, ReadSettings};
use crate::run::web::Web;

/// Loads the configuration for a command.
///
/// # Errors
/// All mistakes in it.
pub fn configuration(flags: &ConfigFlags) -> Result<Loaded, Mistakes> {
    let vars: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    load(flags, &vars, judged)
}

/// librdkafka judges its own properties, without connecting anywhere.
fn judged(config: &ConnectionConfig) -> Vec<(Option<String>, String)> {
    let mistakes = kafka::mistakes(&connection(config)).into_iter();
    mistakes
        .map(|mistake| match mistake {
            ReadError::Property { name, reason } => (Some(name), reason),
            ReadError::NotAllowed { name, reason } => (Some(name), reason.to_owned()),
            ReadError::Client { reason } => (None, reason),
        })
        .collect()
}

fn connection(config: &ConnectionConfig) -> Connection {
    let ConnectionConfig {
        properties,
        token_file,
    } = config;
    Connection {
        properties: hidden(properties),
        token_file: token_file.clone(),
    }
}

fn hidden(properties: &BTreeMap<String, Secret>) -> Properties {
    let hide = |value: &Secret| Hidden(value.expose().to_owned());
    let properties = properties.iter();
    properties
        .map(|(name, value)| (name.clone(), hide(value)))
        .collect()
}

/// The web configuration, where there is one.
///
/// # Errors
/// All mistakes in it and in the files it names.
pub fn web(config: &HttpConfig) -> Result<Option<Web>, Mistakes> {
    let path = config.web_config_file.as_deref();
    path.map(|path| Web::load(path, config.probes)).transpose()
}

/// The settings of a reader for each configured group.
#[must_use]
pub fn readers(config: &Config) -> Vec<ReadSettings> {
    let own_addresses = own_addresses();
    let groups = config.groups.iter();
    groups
        .map(|group| ReadSettings {
            own_addresses: own_addresses.clone(),
            ..reader(group)
        })
        .collect()
}

fn reader(group: &GroupConfig) -> ReadSettings {
    ReadSettings {
        connection: connection(&group.connection),
        group: group.group.clone(),
        offsets_topic: group.offsets_topic.clone(),
        config_topic: group.config_topic.clone(),
        status_topic: group.status_topic.clone(),
        worker_release: group.worker_release.clone(),
        own_worker: group.own_worker.clone(),
        own_addresses: Vec::new(),
        worker_settings: group.worker_settings.clone(),
    }
}

/// The addresses of this machine, without those that only it can reach; in order, so that
/// they are the same each time. None where the system does not say.
fn own_addresses() -> Vec<String> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_else(|error| {
        tracing::warn!(%error, "addresses of this machine not known");
        Vec::new()
    });
    let addresses = interfaces.iter().filter(|found| !found.is_loopback());
    let addresses: BTreeSet<_> = addresses.map(|found| found.ip().to_string()).collect();
    addresses.into_iter().collect()
}

#[cfg(test)]
mod tests;
