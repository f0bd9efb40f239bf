//! Kafka's records written the way Kafka writes them, for tests and the embedded
//! broker (feature `encode`). The agent itself writes nothing.

use thiserror::Error;

use super::connect_protocol::CONNECTOR_TASK;
use super::group_record::GroupMetadata;
use super::offset_commit::OffsetCommit;
use super::offsets_key::GROUP_METADATA_TYPE;

pub mod topics;
mod writer;

use writer::Writer;

/// A value that Kafka's types cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{field} is longer than its length prefix can say")]
pub struct EncodeError {
    /// The field.
    pub field: &'static str,
}

/// Work by connector: the name and its task ids, -1 for the connector itself.
pub type Items<'a> = Vec<(&'a str, Vec<i32>)>;

/// What the leader sends to one worker, or what a worker claims.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssignmentSpec<'a> {
    /// The protocol version; 0 writes neither `revoked` nor `delay_ms`.
    pub version: i16,
    /// 0 or `CONFIG_MISMATCH`.
    pub error: i16,
    /// The leader's member id.
    pub leader: &'a str,
    /// The leader's URL.
    pub leader_url: &'a str,
    /// The config offset.
    pub config_offset: i64,
    /// `None` writes null, which version 0 cannot express: it writes an empty list.
    pub assigned: Option<Items<'a>>,
    /// `None` writes null.
    pub revoked: Option<Items<'a>>,
    /// The scheduled delay.
    pub delay_ms: i32,
}

/// What a worker declares when it joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionSpec<'a> {
    /// The protocol version; 0 writes no claim.
    pub version: i16,
    /// The worker's URL.
    pub url: &'a str,
    /// The config offset.
    pub config_offset: i64,
    /// `None` writes null.
    pub claim: Option<AssignmentSpec<'a>>,
}

/// The key of a group's GroupMetadata record.
///
/// # Errors
/// A group id that is too long.
pub fn group_metadata_key(group: &str) -> Result<Vec<u8>, EncodeError> {
    group_key(GROUP_METADATA_TYPE, group)
}

/// A key of any record type whose only field is the group.
///
/// # Errors
/// A group id that is too long.
pub fn group_key(record_type: i16, group: &str) -> Result<Vec<u8>, EncodeError> {
    let mut writer = Writer::default();
    writer.i16(record_type);
    writer.string(group, "group");
    writer.finish()
}

/// The key of an OffsetCommit record (type 1).
///
/// # Errors
/// A group id or topic that is too long.
pub fn offset_commit_key(group: &str, topic: &str, partition: i32) -> Result<Vec<u8>, EncodeError> {
    let mut writer = Writer::default();
    writer.i16(1);
    writer.string(group, "group");
    writer.string(topic, "topic");
    writer.i32(partition);
    writer.finish()
}

/// An OffsetCommit value of the version the struct names.
///
/// # Errors
/// A metadata text that is too long.
pub fn offset_commit(value: &OffsetCommit<'_>) -> Result<Vec<u8>, EncodeError> {
    let mut writer = Writer::default();
    writer.i16(value.version);
    if value.version >= 4 {
        writer.set_flexible();
    }
    writer.i64(value.offset);
    if value.version >= 3 {
        writer.i32(value.leader_epoch.unwrap_or(-1));
    }
    writer.string(value.metadata, "metadata");
    writer.i64(value.commit_timestamp_ms);
    if value.version == 1 {
        writer.i64(value.expire_timestamp_ms.unwrap_or(-1));
    }
    writer.no_tagged_fields();
    writer.finish()
}

/// A GroupMetadata value of the version the struct names. Fields that the
/// version lacks are left out; unknown times are written as -1.
///
/// # Errors
/// A field that is too long.
pub fn group_metadata(value: &GroupMetadata<'_>) -> Result<Vec<u8>, EncodeError> {
    let version = value.version;
    let mut writer = Writer::default();
    writer.i16(version);
    if version >= 4 {
        writer.set_flexible();
    }
    writer.string(value.protocol_type, "protocolType");
    writer.i32(value.generation);
    writer.nullable_string(value.protocol, "protocol");
    writer.nullable_string(value.leader, "leader");
    if version >= 2 {
        writer.i64(value.current_state_timestamp_ms.unwrap_or(-1));
    }
    writer.array_len(value.members.len(), "members");
    for member in &value.members {
        writer.string(member.member_id, "memberId");
        if version >= 3 {
            writer.nullable_string(member.group_instance_id, "groupInstanceId");
        }
        writer.string(member.client_id, "clientId");
        writer.string(member.client_host, "clientHost");
        if version >= 1 {
            writer.i32(member.rebalance_timeout_ms.unwrap_or(-1));
        }
        writer.i32(member.session_timeout_ms);
        writer.bytes(member.subscription, "subscription");
        writer.bytes(member.assignment, "assignment");
        writer.no_tagged_fields();
    }
    writer.no_tagged_fields();
    writer.finish()
}

/// A Connect subscription.
///
/// # Errors
/// A field that is too long.
pub fn subscription(spec: &SubscriptionSpec<'_>) -> Result<Vec<u8>, EncodeError> {
    let mut writer = Writer::default();
    writer.i16(spec.version);
    writer.string(spec.url, "url");
    writer.i64(spec.config_offset);
    if spec.version > 0 {
        match &spec.claim {
            Some(claim) => writer.bytes(&assignment(claim)?, "allocation"),
            None => writer.i32(-1),
        }
    }
    writer.finish()
}

/// A Connect assignment.
///
/// # Errors
/// A field that is too long.
pub fn assignment(spec: &AssignmentSpec<'_>) -> Result<Vec<u8>, EncodeError> {
    let mut writer = Writer::default();
    writer.i16(spec.version);
    writer.i16(spec.error);
    writer.string(spec.leader, "leader");
    writer.string(spec.leader_url, "leader url");
    writer.i64(spec.config_offset);
    if spec.version == 0 {
        items(&mut writer, Some(spec.assigned.as_deref().unwrap_or(&[])));
    } else {
        items(&mut writer, spec.assigned.as_deref());
        items(&mut writer, spec.revoked.as_deref());
        writer.i32(spec.delay_ms);
    }
    writer.finish()
}

fn items(writer: &mut Writer, items: Option<&[(&str, Vec<i32>)]>) {
    let Some(items) = items else {
        return writer.i32(-1);
    };
    writer.array_len(items.len(), "connectors");
    for (connector, tasks) in items {
        writer.string(connector, "connector");
        writer.array_len(tasks.len(), "tasks");
        tasks.iter().for_each(|&task| writer.i32(task));
    }
}

/// Groups (connector, task) pairs by connector, in order of first appearance.
pub fn items_of<'a>(pairs: impl IntoIterator<Item = (&'a str, i32)>) -> Items<'a> {
    let mut items: Items<'a> = Vec::new();
    for (connector, task) in pairs {
        match items.iter_mut().find(|(name, _)| *name == connector) {
            Some((_, tasks)) => tasks.push(task),
            None => items.push((connector, vec![task])),
        }
    }
    items
}

/// The connector itself and its tasks 0 to `tasks - 1`.
pub fn whole_connector(connector: &str, tasks: i32) -> Items<'_> {
    vec![(
        connector,
        std::iter::once(CONNECTOR_TASK).chain(0..tasks).collect(),
    )]
}
