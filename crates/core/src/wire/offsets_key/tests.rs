//! Every record type, the filters beside the full reader, and markers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{OffsetsKey, key_group, key_is_group_metadata_of, record_type_name};
use crate::wire::encode::{group_key, group_metadata_key, offset_commit_key};
use crate::wire::{DecodeError, Unknown, UnknownInput};

#[test]
fn all_record_types_are_told_apart() {
    for record_type in 0..=24 {
        assert!(record_type_name(record_type).is_some(), "{record_type}");
        let mut key = group_key(record_type, "cg").unwrap();
        if record_type < 2 {
            key = offset_commit_key("cg", "t", 7).unwrap();
            key[1] = u8::try_from(record_type).unwrap();
        }
        let group = "cg";
        let expected = match record_type {
            0 | 1 => OffsetsKey::OffsetCommit {
                group,
                topic: "t",
                partition: 7,
            },
            2 => OffsetsKey::GroupMetadata { group },
            3..=8 | 16 => OffsetsKey::ConsumerGroup { record_type, group },
            9..=15 => OffsetsKey::ShareGroup { record_type, group },
            _ => OffsetsKey::StreamsGroup { record_type, group },
        };
        assert_eq!(OffsetsKey::decode(&key), Ok(expected));
        assert_eq!(key_group(&key), Some(&b"cg"[..]));
        assert_eq!(key_is_group_metadata_of(&key, "cg"), record_type == 2);
    }
    assert_eq!(record_type_name(2), Some("GroupMetadata"));
    assert_eq!(record_type_name(16), Some("ConsumerGroupRegularExpression"));
    assert_eq!(
        record_type_name(24),
        Some("StreamsGroupTargetAssignmentResolvedTopicIds")
    );
    assert_eq!((record_type_name(25), record_type_name(-1)), (None, None));
}

#[test]
fn unknown_types_are_values_to_count() {
    for version in [25, 26, i16::MAX, -1, i16::MIN] {
        let key = group_key(version, "cg").unwrap();
        let unknown = Unknown {
            input: UnknownInput::OffsetsKey,
            version,
        };
        assert_eq!(OffsetsKey::decode(&key), Ok(OffsetsKey::Unknown(unknown)));
        assert_eq!(key_group(&key), None);
        assert!(!key_is_group_metadata_of(&key, "cg"));
    }
}

#[test]
fn the_filter_wants_exactly_this_group() {
    let key = group_metadata_key("connect-cluster").unwrap();
    assert!(key_is_group_metadata_of(&key, "connect-cluster"));
    assert!(!key_is_group_metadata_of(&key, "connect-cluste"));
    assert!(!key_is_group_metadata_of(&key, "connect-cluster-1"));
    assert!(!key_is_group_metadata_of(&key, ""));
    assert!(!key_is_group_metadata_of(
        &key[..key.len() - 1],
        "connect-cluster"
    ));
    assert!(key_is_group_metadata_of(
        &group_metadata_key("").unwrap(),
        ""
    ));
    assert!(key_is_group_metadata_of(
        &group_metadata_key("größe").unwrap(),
        "größe"
    ));
}

#[test]
fn broken_keys_name_the_field() {
    for (key, field, label) in [
        (&[][..], "record type", "truncated"),
        (&[0], "record type", "truncated"),
        (&[0, 2], "group", "truncated"),
        (&[0, 2, 0, 5, b'c'], "group", "truncated"),
        (&[0, 2, 0xff, 0xff], "group", "bad_length"),
        (&[0, 2, 0, 1, 0xff], "group", "bad_utf8"),
        (&[0, 1, 0, 1, b'c'], "topic", "truncated"),
        (
            &[0, 1, 0, 1, b'c', 0, 1, b't', 0, 0],
            "partition",
            "truncated",
        ),
    ] {
        let error = OffsetsKey::decode(key).unwrap_err();
        assert_eq!((error.field(), error.label()), (field, label), "{key:02x?}");
        assert!(!key_is_group_metadata_of(key, "c"));
    }
    assert_eq!(key_group(&[0, 2, 0, 5, b'c']), None);
    assert_eq!(key_group(&[0, 2, 0xff, 0xff]), None);
    assert_eq!(
        OffsetsKey::decode(&[0, 2, 0xff, 0xff]),
        Err(DecodeError::BadLength {
            field: "group",
            at: 2,
            length: -1
        })
    );
}

#[test]
fn case_o_48_transaction_markers_are_no_records() {
    for marker in [[0, 0, 0, 1], [0, 0, 0, 0]] {
        assert_eq!(OffsetsKey::decode(&marker), Ok(OffsetsKey::ControlMarker));
        assert!(!key_is_group_metadata_of(&marker, ""));
    }
}

#[test]
fn case_o_44_streams_and_regex_record_types_are_skipped_by_name() {
    for (record_type, name) in [
        (16, "ConsumerGroupRegularExpression"),
        (17, "StreamsGroupMetadata"),
        (24, "StreamsGroupTargetAssignmentResolvedTopicIds"),
    ] {
        assert_eq!(record_type_name(record_type), Some(name));
        assert!(OffsetsKey::decode(&group_key(record_type, "streams-app").unwrap()).is_ok());
    }
}
