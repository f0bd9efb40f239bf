//! The classic consumer's embedded protocol, as members of sink groups speak it.
//!
//! Layouts: Kafka's `ConsumerProtocolSubscription.json` and
//! `ConsumerProtocolAssignment.json`, versions 0 to 3, never flexible. As Kafka's
//! clients do, higher versions are read with the layout of version 3.

use super::DecodeError;
use super::cursor::Cursor;

/// An int16 length and an int32 count: the least a topic takes in a list.
const TOPIC_BYTES_MIN: usize = 6;

/// What a consumer declares when it joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerSubscription<'a> {
    /// The protocol version.
    pub version: i16,
    /// The topics it wants.
    pub topics: Vec<&'a str>,
    /// What it owned (version 1, KIP-429); empty before.
    pub owned: TopicPartitions<'a>,
    /// The generation in which it owned that (version 2); `None` for -1 and before.
    pub generation: Option<i32>,
    /// Its rack (version 3, KIP-881).
    pub rack: Option<&'a str>,
}

/// What the leader sends to one consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerAssignment<'a> {
    /// The protocol version.
    pub version: i16,
    /// Everything the member owns from here on.
    pub assigned: TopicPartitions<'a>,
}

/// Partitions by topic.
pub type TopicPartitions<'a> = Vec<(&'a str, Vec<i32>)>;

impl<'a> ConsumerSubscription<'a> {
    /// Reads a member's subscription in a group of type `consumer`.
    ///
    /// # Errors
    /// Bytes that are no subscription.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(bytes);
        let version = version(&mut cursor)?;
        let count = cursor.array_len("topics", 2)?;
        let mut topics = Vec::with_capacity(count);
        for _ in 0..count {
            topics.push(cursor.string("topic")?);
        }
        cursor.nullable_bytes("userData")?;
        let owned = match version {
            0 => Vec::new(),
            _ => partitions(&mut cursor, "ownedPartitions")?,
        };
        let generation = match version {
            0 | 1 => None,
            _ => Some(cursor.i32("generationId")?).filter(|&generation| generation >= 0),
        };
        let rack = match version {
            0..=2 => None,
            _ => cursor.nullable_string("rackId")?,
        };
        Ok(Self {
            version,
            topics,
            owned,
            generation,
            rack,
        })
    }
}

impl<'a> ConsumerAssignment<'a> {
    /// Reads a member's assignment in a group of type `consumer`. Zero bytes are
    /// `None`: the leader did not mention the member.
    ///
    /// # Errors
    /// Bytes that are no assignment.
    pub fn decode(bytes: &'a [u8]) -> Result<Option<Self>, DecodeError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut cursor = Cursor::new(bytes);
        let version = version(&mut cursor)?;
        let assigned = partitions(&mut cursor, "assignedPartitions")?;
        cursor.nullable_bytes("userData")?;
        Ok(Some(Self { version, assigned }))
    }
}

fn version(cursor: &mut Cursor<'_>) -> Result<i16, DecodeError> {
    match cursor.i16("version")? {
        version if version < 0 => Err(DecodeError::BadVersion {
            field: "version",
            version,
        }),
        version => Ok(version),
    }
}

fn partitions<'a>(
    cursor: &mut Cursor<'a>,
    field: &'static str,
) -> Result<TopicPartitions<'a>, DecodeError> {
    let topics = cursor.array_len(field, TOPIC_BYTES_MIN)?;
    let mut list = Vec::with_capacity(topics);
    for _ in 0..topics {
        let topic = cursor.string("topic")?;
        let count = cursor.array_len("partitions", 4)?;
        let mut partitions = Vec::with_capacity(count);
        for _ in 0..count {
            partitions.push(cursor.i32("partition")?);
        }
        list.push((topic, partitions));
    }
    Ok(list)
}

#[cfg(test)]
mod tests;
