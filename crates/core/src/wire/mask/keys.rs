//! Keys of the three topics, masked: to a key of the same kind about the connector that
//! stands for the one named. Keys of no known kind become one that tells only whether two
//! of them are the same.

use super::Mask;
use crate::wire::DecodeError;
use crate::wire::config_record::ConfigKey;
use crate::wire::offsets_key::OffsetsKey;
use crate::wire::status_record::StatusKey;

/// What Connect's keys of the config topic begin with.
const CONFIG_PREFIXES: [&str; 7] = [
    "target-state-",
    "connector-",
    "task-",
    "commit-",
    "restart-connector-",
    "tasks-fencing-",
    "logger-cluster-",
];

/// The same for the status topic.
const STATUS_PREFIXES: [&str; 3] = ["status-task-", "status-connector-", "status-topic-"];

/// A key that is no text, nor is it any key.
const NO_TEXT: &[u8] = &[0xff];

/// The masked form of a key of the config topic. Keys of the status topic, which are here
/// when the two topics were swapped, stay recognizable.
pub(super) fn config(mask: &mut Mask<'_>, key: &[u8]) -> Vec<u8> {
    match known_config(mask, key) {
        Ok(Some(key)) => key,
        Ok(None) => match known_status(mask, key) {
            Ok(Some(key)) => key,
            Ok(None) => unknown(mask, key),
            Err(_) => bad(&STATUS_PREFIXES, key),
        },
        Err(_) => bad(&CONFIG_PREFIXES, key),
    }
}

/// The masked form of a key of the status topic; keys of the config topic stay
/// recognizable.
pub(super) fn status(mask: &mut Mask<'_>, key: &[u8]) -> Vec<u8> {
    match known_status(mask, key) {
        Ok(Some(key)) => key,
        Ok(None) => match known_config(mask, key) {
            Ok(Some(key)) => key,
            Ok(None) => unknown(mask, key),
            Err(_) => bad(&CONFIG_PREFIXES, key),
        },
        Err(_) => bad(&STATUS_PREFIXES, key),
    }
}

/// The key of a GroupMetadata record as it is, without what may follow; or what stands for
/// another key.
pub(super) fn group_metadata(key: &[u8]) -> Result<Vec<u8>, Vec<u8>> {
    match OffsetsKey::decode(key) {
        Ok(OffsetsKey::GroupMetadata { group }) => {
            // The type, an int16 length, and the group.
            let end = group.len().saturating_add(4);
            Ok(key.get(..end).unwrap_or(key).to_vec())
        }
        Ok(OffsetsKey::Unknown(unknown)) => Err(unknown.version.to_be_bytes().to_vec()),
        // Not of the group that is watched: a marker says as little.
        Ok(_) => Err(vec![0, 0, 0, 0]),
        Err(DecodeError::BadLength { .. }) => Err(vec![0, 2, 0xff, 0xff]),
        Err(DecodeError::BadUtf8 { .. }) => Err(vec![0, 2, 0, 1, 0xff]),
        Err(_) => Err(Vec::new()),
    }
}

/// `None` for a key that is none of the config topic's.
fn known_config(mask: &mut Mask<'_>, key: &[u8]) -> Result<Option<Vec<u8>>, DecodeError> {
    let (prefix, connector, task) = match ConfigKey::decode(key)? {
        ConfigKey::TargetState { connector } => ("target-state-", connector, None),
        ConfigKey::Connector { connector } => ("connector-", connector, None),
        ConfigKey::Task { connector, task } => ("task-", connector, Some(task)),
        ConfigKey::Commit { connector } => ("commit-", connector, None),
        ConfigKey::Restart { connector } => ("restart-connector-", connector, None),
        ConfigKey::TasksFencing { connector } => ("tasks-fencing-", connector, None),
        ConfigKey::SessionKey | ConfigKey::LoggerCluster { .. } => return Ok(Some(key.to_vec())),
        ConfigKey::Unknown => return Ok(None),
    };
    Ok(Some(named(mask, prefix, connector, task)))
}

/// `None` for a key that is none of the status topic's.
fn known_status(mask: &mut Mask<'_>, key: &[u8]) -> Result<Option<Vec<u8>>, DecodeError> {
    Ok(Some(match StatusKey::decode(key)? {
        StatusKey::Connector { connector } => named(mask, "status-connector-", connector, None),
        StatusKey::Task { connector, task } => named(mask, "status-task-", connector, Some(task)),
        StatusKey::TopicUsage { topic, connector } => {
            let (topic, connector) = (mask.name(topic), mask.name(connector));
            format!("status-topic-{topic}:connector-{connector}").into_bytes()
        }
        StatusKey::Unknown => return Ok(None),
    }))
}

fn named(mask: &mut Mask<'_>, prefix: &str, connector: &str, task: Option<i32>) -> Vec<u8> {
    let connector = mask.name(connector);
    match task {
        Some(task) => format!("{prefix}{connector}-{task}").into_bytes(),
        None => format!("{prefix}{connector}").into_bytes(),
    }
}

fn unknown(mask: &mut Mask<'_>, key: &[u8]) -> Vec<u8> {
    let code = super::MaskedName::of(mask.digest(key));
    format!("masked-{code}").into_bytes()
}

/// A key that is as bad: what it begins with, and nothing behind it.
fn bad(prefixes: &[&'static str], key: &[u8]) -> Vec<u8> {
    let prefix = prefixes
        .iter()
        .find(|prefix| key.starts_with(prefix.as_bytes()));
    prefix.map_or(NO_TEXT, |prefix| prefix.as_bytes()).to_vec()
}
