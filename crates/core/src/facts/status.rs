//! A record of the status topic, in our words.

use std::sync::Arc;

use crate::facts::ids::{CONNECTOR_TASK, Names, WorkItem};
use crate::facts::observation::{RunState, Status, StatusFact};
use crate::wire::DecodeError;
use crate::wire::status_record::{State, StatusKey, StatusRecord, StatusValue};

/// Reads a record.
///
/// # Errors
/// A key or value that Connect does not write.
pub fn decode(
    key: Option<&[u8]>,
    value: Option<&[u8]>,
    names: &mut Names,
) -> Result<StatusFact, DecodeError> {
    let Some(key) = key else {
        return Ok(StatusFact::NoState);
    };
    let record = StatusRecord::decode(key, value)?;
    let item = match record.key {
        StatusKey::Connector { connector } => WorkItem {
            connector: names.intern(connector),
            task: CONNECTOR_TASK,
        },
        StatusKey::Task { connector, task } => WorkItem {
            connector: names.intern(connector),
            task,
        },
        StatusKey::TopicUsage { .. } => return Ok(StatusFact::NoState),
        StatusKey::Unknown => return Ok(StatusFact::Unknown),
    };
    Ok(match record.value {
        StatusValue::Tombstone => StatusFact::Destroyed(item),
        StatusValue::Status(status) => StatusFact::State(Status {
            item,
            state: match status.state {
                State::Unassigned => RunState::Unassigned,
                State::Running => RunState::Running,
                State::Paused => RunState::Paused,
                State::Failed => RunState::Failed,
                State::Destroyed => RunState::Destroyed,
                State::Restarting => RunState::Restarting,
                State::Stopped => RunState::Stopped,
                State::Other(_) => RunState::Unknown,
            },
            worker: Arc::from(status.worker_id),
            generation: status.generation,
        }),
        StatusValue::TopicUsage { .. } | StatusValue::Dropped => StatusFact::NoState,
    })
}

/// Whether a key is one that only the config topic has.
#[must_use]
pub fn is_config_key(key: Option<&[u8]>) -> bool {
    key.is_some_and(|key| {
        [&b"connector-"[..], b"task-", b"commit-", b"target-state-"]
            .iter()
            .any(|prefix| key.starts_with(prefix))
    })
}
