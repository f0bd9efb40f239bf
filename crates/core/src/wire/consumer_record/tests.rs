//! The epoch of a consumer-protocol group.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::ConsumerGroupMetadata;
use crate::wire::{Decoded, Unknown, UnknownInput};

#[test]
fn case_o_42_the_epoch_stands_beside_tagged_fields() {
    let known = |epoch, metadata_hash| {
        Ok(Decoded::Known(ConsumerGroupMetadata {
            epoch,
            metadata_hash,
        }))
    };
    assert_eq!(
        ConsumerGroupMetadata::decode(&[0, 0, 0, 0, 0, 5, 0]),
        known(5, 0)
    );
    let hash_and_creation_time = [
        0, 0, 0, 0, 0, 5, 2, 0, 8, 0, 0, 0, 0, 0, 0, 0, 9, 1, 8, 0, 0, 1, 0x8b, 0, 0, 0, 0,
    ];
    assert_eq!(
        ConsumerGroupMetadata::decode(&hash_and_creation_time),
        known(5, 9)
    );
    for end in 0..hash_and_creation_time.len() {
        assert!(ConsumerGroupMetadata::decode(&hash_and_creation_time[..end]).is_err());
    }
    let short_hash = [0, 0, 0, 0, 0, 5, 1, 0, 4, 0, 0, 0, 0];
    let error = ConsumerGroupMetadata::decode(&short_hash).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metadataHash at byte 9 needs 8 bytes, 4 are left"
    );
    let unknown = Unknown {
        input: UnknownInput::ConsumerGroupMetadata,
        version: 1,
    };
    assert_eq!(
        ConsumerGroupMetadata::decode(&[0, 1]),
        Ok(Decoded::Unknown(unknown))
    );
}
