//! The OffsetCommit value: evidence that a sink task is alive.
//!
//! Layout: Kafka's `OffsetCommitValue.json`, versions 0 to 4. Version 1 alone has
//! an expire timestamp, 3 added the leader epoch, 4 is flexible (brokers from 4.1
//! write it) and may carry the topic id as a tagged field.

use super::cursor::Cursor;
use super::{DecodeError, Decoded, Unknown, UnknownInput};

/// The newest version this build reads.
pub const VERSION_MAX: i16 = 4;

/// What an OffsetCommit value says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetCommit<'a> {
    /// The value's version, 0 to 4.
    pub version: i16,
    /// The offset to continue at.
    pub offset: i64,
    /// The leader epoch of the last record consumed; `None` for -1 and before version 3.
    pub leader_epoch: Option<i32>,
    /// What the client wrote beside it.
    pub metadata: &'a str,
    /// When, on the coordinator's clock.
    pub commit_timestamp_ms: i64,
    /// When the offset expires; version 1 only, `None` for -1.
    pub expire_timestamp_ms: Option<i64>,
}

impl<'a> OffsetCommit<'a> {
    /// Reads a value that is no tombstone. Bytes after the last field are not
    /// looked at.
    ///
    /// # Errors
    /// A value that ends early or has a length its type does not allow.
    pub fn decode(value: &'a [u8]) -> Result<Decoded<Self>, DecodeError> {
        let mut cursor = Cursor::new(value);
        let version = cursor.i16("version")?;
        if !(0..=VERSION_MAX).contains(&version) {
            let input = UnknownInput::OffsetCommit;
            return Ok(Decoded::Unknown(Unknown { input, version }));
        }
        if version >= 4 {
            cursor.set_flexible();
        }
        let offset = cursor.i64("offset")?;
        let leader_epoch = match version {
            0..=2 => None,
            _ => Some(cursor.i32("leaderEpoch")?).filter(|&epoch| epoch >= 0),
        };
        let metadata = cursor.string("metadata")?;
        let commit_timestamp_ms = cursor.i64("commitTimestamp")?;
        let expire_timestamp_ms = match version {
            1 => Some(cursor.i64("expireTimestamp")?).filter(|&ms| ms >= 0),
            _ => None,
        };
        cursor.skip_tagged_fields("tagged fields")?;
        Ok(Decoded::Known(Self {
            version,
            offset,
            leader_epoch,
            metadata,
            commit_timestamp_ms,
            expire_timestamp_ms,
        }))
    }
}

#[cfg(test)]
mod tests;
