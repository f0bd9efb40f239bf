//! The ConsumerGroupMetadata value: the epoch of a group of the consumer protocol.
//!
//! Layout: Kafka's `ConsumerGroupMetadataValue.json`, version 0, flexible. Tag 0
//! is the metadata hash (4.1, KIP-1101). A sink connector's group can be of this
//! kind; the worker group never is.

use super::cursor::Cursor;
use super::{DecodeError, Decoded, Unknown, UnknownInput};

const METADATA_HASH_TAG: u32 = 0;

/// What a ConsumerGroupMetadata value says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsumerGroupMetadata {
    /// The group's epoch: the consumer protocol's generation.
    pub epoch: i32,
    /// The hash of the subscribed topics' metadata; 0 where it is absent.
    pub metadata_hash: i64,
}

impl ConsumerGroupMetadata {
    /// Reads a value that is no tombstone. Other tagged fields are skipped.
    ///
    /// # Errors
    /// A value that ends early.
    pub fn decode(value: &[u8]) -> Result<Decoded<Self>, DecodeError> {
        let mut cursor = Cursor::new(value);
        let version = cursor.i16("version")?;
        if version != 0 {
            let input = UnknownInput::ConsumerGroupMetadata;
            return Ok(Decoded::Unknown(Unknown { input, version }));
        }
        cursor.set_flexible();
        let epoch = cursor.i32("epoch")?;
        let mut metadata_hash = 0;
        cursor.tagged_fields("tagged fields", |tag, mut payload| {
            if tag == METADATA_HASH_TAG {
                metadata_hash = payload.i64("metadataHash")?;
            }
            Ok(())
        })?;
        Ok(Decoded::Known(Self {
            epoch,
            metadata_hash,
        }))
    }
}

#[cfg(test)]
mod tests;
