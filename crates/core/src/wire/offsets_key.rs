//! Keys of `__consumer_offsets`: which record this is, and whose.
//!
//! A key starts with an int16 that names the record type; all keys use the
//! classic encoding in every version, and the group id comes right after the
//! type (`GroupCoordinatorRecordSerde` and the `*Key.json` message files). So
//! the filter that nearly every record meets compares a few bytes.

use super::cursor::Cursor;
use super::{DecodeError, Unknown, UnknownInput};

/// The record type of GroupMetadata.
pub const GROUP_METADATA_TYPE: i16 = 2;

/// Names in the order of their numbers (Kafka's message file names without
/// `Key`). Numbers 9 and 18 were only written by development builds and early
/// access releases; they are listed so that they are skipped by name.
const NAMES: [&str; 25] = [
    "LegacyOffsetCommit",
    "OffsetCommit",
    "GroupMetadata",
    "ConsumerGroupMetadata",
    "ConsumerGroupPartitionMetadata",
    "ConsumerGroupMemberMetadata",
    "ConsumerGroupTargetAssignmentMetadata",
    "ConsumerGroupTargetAssignmentMember",
    "ConsumerGroupCurrentMemberAssignment",
    "ShareGroupPartitionMetadata",
    "ShareGroupMemberMetadata",
    "ShareGroupMetadata",
    "ShareGroupTargetAssignmentMetadata",
    "ShareGroupTargetAssignmentMember",
    "ShareGroupCurrentMemberAssignment",
    "ShareGroupStatePartitionMetadata",
    "ConsumerGroupRegularExpression",
    "StreamsGroupMetadata",
    "StreamsGroupPartitionMetadata",
    "StreamsGroupMemberMetadata",
    "StreamsGroupTargetAssignmentMetadata",
    "StreamsGroupTargetAssignmentMember",
    "StreamsGroupCurrentMemberAssignment",
    "StreamsGroupTopology",
    "StreamsGroupTargetAssignmentResolvedTopicIds",
];

/// What a key of `__consumer_offsets` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetsKey<'a> {
    /// Types 0 and 1: a committed offset.
    OffsetCommit {
        /// The group that committed.
        group: &'a str,
        /// The topic.
        topic: &'a str,
        /// The partition.
        partition: i32,
    },
    /// Type 2: a classic group, Connect's among them.
    GroupMetadata {
        /// The group.
        group: &'a str,
    },
    /// Types 3 to 8 and 16: a group of the consumer protocol (KIP-848).
    ConsumerGroup {
        /// The record type.
        record_type: i16,
        /// The group.
        group: &'a str,
    },
    /// Types 9 to 15: a share group (KIP-932).
    ShareGroup {
        /// The record type.
        record_type: i16,
        /// The group.
        group: &'a str,
    },
    /// Types 17 to 24: a streams group (KIP-1071).
    StreamsGroup {
        /// The record type.
        record_type: i16,
        /// The group.
        group: &'a str,
    },
    /// A transaction marker that a client handed through: int16 version 0,
    /// int16 type 0 (abort) or 1 (commit), and no more.
    ControlMarker,
    /// A type this build does not know.
    Unknown(Unknown),
}

impl<'a> OffsetsKey<'a> {
    /// Reads a key. Bytes after the fields this crate uses are not looked at.
    ///
    /// # Errors
    /// A key that ends early or whose group or topic is no string.
    pub fn decode(key: &'a [u8]) -> Result<Self, DecodeError> {
        // A marker's key would read as an offset commit without a topic.
        if matches!(key, [0, 0, 0, 0 | 1]) {
            return Ok(Self::ControlMarker);
        }
        let mut cursor = Cursor::new(key);
        let record_type = cursor.i16("record type")?;
        let mut group = || cursor.string("group");
        Ok(match record_type {
            0 | 1 => Self::OffsetCommit {
                group: group()?,
                topic: cursor.string("topic")?,
                partition: cursor.i32("partition")?,
            },
            GROUP_METADATA_TYPE => Self::GroupMetadata { group: group()? },
            3..=8 | 16 => Self::ConsumerGroup {
                record_type,
                group: group()?,
            },
            9..=15 => Self::ShareGroup {
                record_type,
                group: group()?,
            },
            17..=24 => Self::StreamsGroup {
                record_type,
                group: group()?,
            },
            version => Self::Unknown(Unknown {
                input: UnknownInput::OffsetsKey,
                version,
            }),
        })
    }
}

/// Kafka's name of a record type of `__consumer_offsets`.
pub fn record_type_name(record_type: i16) -> Option<&'static str> {
    usize::try_from(record_type)
        .ok()
        .and_then(|index| NAMES.get(index))
        .copied()
}

/// Whether the key is that of the group's GroupMetadata record, without decoding it.
pub fn key_is_group_metadata_of(key: &[u8], group: &str) -> bool {
    match key {
        [0, 2, rest @ ..] => group_bytes(rest).is_some_and(|found| found == group.as_bytes()),
        _ => false,
    }
}

/// The group id of a key of a known type, without decoding the rest.
pub fn key_group(key: &[u8]) -> Option<&[u8]> {
    match key {
        [0, 0..=24, rest @ ..] => group_bytes(rest),
        _ => None,
    }
}

fn group_bytes(after_type: &[u8]) -> Option<&[u8]> {
    let (len, rest) = after_type.split_first_chunk::<2>()?;
    let len = usize::try_from(i16::from_be_bytes(*len)).ok()?;
    rest.get(..len)
}

#[cfg(test)]
mod tests;
