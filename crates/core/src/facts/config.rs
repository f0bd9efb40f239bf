//! A record of the config topic, in our words.

use std::sync::Arc;

use crate::facts::ids::{Names, WorkItem};
use crate::facts::observation::{Clients, ConfigFact, Override, SinkGroup, TargetState};
use crate::wire::DecodeError;
use crate::wire::config_record::{
    ConfigKey, ConfigRecord, ConfigValue, TargetState as WireTargetState,
};
use crate::wire::settings::{SettingName, SettingValue, Settings};

/// Reads a record whose value went through redaction.
///
/// # Errors
/// A key or value that Connect does not write, or one that was not redacted.
pub fn decode(
    key: Option<&[u8]>,
    value: Option<&[u8]>,
    names: &mut Names,
) -> Result<ConfigFact, DecodeError> {
    let Some(key) = key else {
        return Ok(ConfigFact::Unknown);
    };
    let record = ConfigRecord::decode(key, value)?;
    Ok(match (record.key, record.value) {
        (ConfigKey::Connector { connector }, ConfigValue::Properties { settings, content }) => {
            let clients = Clients {
                sink_group: sink_group(&settings),
                delivery_timeout_ms: number(&settings, SettingName::ProducerDeliveryTimeoutMs),
                request_timeout_ms: number(&settings, SettingName::ProducerRequestTimeoutMs),
            };
            ConfigFact::Connector(names.intern(connector), Some(content.ordinal), clients)
        }
        (ConfigKey::Connector { connector }, _) => {
            ConfigFact::ConnectorDeleted(names.intern(connector))
        }
        (ConfigKey::Task { connector, task }, value) => {
            let item = WorkItem {
                connector: names.intern(connector),
                task,
            };
            match value {
                ConfigValue::Properties { content, .. } => {
                    ConfigFact::Task(item, Some(content.ordinal))
                }
                _ => ConfigFact::TaskDeleted(item),
            }
        }
        (ConfigKey::Commit { connector }, ConfigValue::Commit { tasks }) => {
            ConfigFact::Commit(names.intern(connector), tasks)
        }
        (ConfigKey::Commit { connector }, _) => ConfigFact::CommitDeleted(names.intern(connector)),
        (ConfigKey::TargetState { connector }, ConfigValue::TargetState { state, .. }) => {
            let id = names.intern(connector);
            match state {
                WireTargetState::Started => ConfigFact::Target(id, TargetState::Started),
                WireTargetState::Paused => ConfigFact::Target(id, TargetState::Paused),
                WireTargetState::Stopped => ConfigFact::Target(id, TargetState::Stopped),
                // A state of a later release says nothing about configured work.
                WireTargetState::Other(_) => ConfigFact::NoWork,
            }
        }
        (ConfigKey::TargetState { connector }, _) => {
            ConfigFact::TargetDeleted(names.intern(connector))
        }
        (ConfigKey::SessionKey, ConfigValue::SessionKey { .. }) => ConfigFact::SessionKey,
        (
            ConfigKey::SessionKey
            | ConfigKey::Restart { .. }
            | ConfigKey::TasksFencing { .. }
            | ConfigKey::LoggerCluster { .. },
            _,
        ) => ConfigFact::NoWork,
        (ConfigKey::Unknown, _) => ConfigFact::Unknown,
    })
}

/// The group of a sink connector's consumers, where it is known. A connector with topics to
/// read is a sink.
fn sink_group(settings: &Settings) -> Option<SinkGroup> {
    let is_set = |name| settings.get(name).is_some();
    if !is_set(SettingName::Topics) && !is_set(SettingName::TopicsRegex) {
        return None;
    }
    match settings.get(SettingName::ConsumerGroupId) {
        None => Some(SinkGroup::ByName),
        Some(SettingValue::Text(group)) => Some(SinkGroup::Named(Arc::from(group.as_str()))),
        Some(_) => None,
    }
}

fn number(settings: &Settings, name: SettingName) -> Override {
    match settings.get(name) {
        None => Override::Unset,
        Some(SettingValue::Integer(number)) => Override::To(*number),
        Some(_) => Override::Untold,
    }
}

/// Whether a key is one that only the status topic has.
#[must_use]
pub fn is_status_key(key: Option<&[u8]>) -> bool {
    key.is_some_and(|key| key.starts_with(b"status-task-") || key.starts_with(b"status-connector-"))
}
