//! From the configuration to what the agent takes: the one place where a configured
//! group becomes settings of a reader.

use std::collections::BTreeMap;

use crate::config::{Config, ConfigFlags, GroupConfig, Loaded, Mistakes, load};
use crate::read::kafka::{Hidden, ReadSettings};

/// Loads the configuration for a command.
///
/// # Errors
/// All mistakes in it.
pub fn configuration(flags: &ConfigFlags) -> Result<Loaded, Mistakes> {
    let vars: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    load(flags, &vars)
}

/// The settings of a reader for each configured group.
///
/// # Errors
/// References to secrets that lead nowhere any more.
pub fn readers(config: &Config) -> Result<Vec<ReadSettings>, Mistakes> {
    let mut properties: BTreeMap<String, Hidden> = config
        .kafka
        .properties
        .resolved(&|name| std::env::var(name).ok())
        .map_err(Mistakes)?
        .into_iter()
        .map(|(name, value)| (name, Hidden(value.expose().to_owned())))
        .collect();
    properties.insert(
        "bootstrap.servers".to_owned(),
        Hidden(config.kafka.bootstrap.clone()),
    );
    Ok(config
        .groups
        .iter()
        .map(|group| reader(group, properties.clone()))
        .collect())
}

fn reader(group: &GroupConfig, properties: BTreeMap<String, Hidden>) -> ReadSettings {
    ReadSettings {
        properties,
        group: group.group.clone(),
        offsets_topic: group.offsets_topic.clone(),
        config_topic: group.config_topic.clone(),
        status_topic: group.status_topic.clone(),
        worker_release: group.worker_release.clone(),
        own_worker: group.own_worker.clone(),
    }
}
