//! GroupMetadata in all its versions.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use super::{GroupMetadata, Member};
use crate::wire::encode::group_metadata;
use crate::wire::{DecodeError, Decoded, Unknown, UnknownInput};

fn known(value: &[u8]) -> GroupMetadata<'_> {
    match GroupMetadata::decode(value) {
        Ok(Decoded::Known(value)) => value,
        other => panic!("not decoded: {other:?}"),
    }
}

fn member(version: i16) -> Member<'static> {
    Member {
        member_id: "connect-1-0a1b",
        group_instance_id: (version >= 3).then_some("pod-0"),
        client_id: "connect-1",
        client_host: "/10.1.2.3",
        rebalance_timeout_ms: (version >= 1).then_some(60_000),
        session_timeout_ms: 10_000,
        subscription: b"sub",
        assignment: b"",
    }
}

fn sample(version: i16) -> GroupMetadata<'static> {
    GroupMetadata {
        version,
        protocol_type: "connect",
        generation: 7,
        protocol: Some("sessioned"),
        leader: Some("connect-1-0a1b"),
        current_state_timestamp_ms: (version >= 2).then_some(1_700_000_000_000),
        members: vec![
            member(version),
            Member {
                assignment: b"asg",
                ..member(version)
            },
        ],
    }
}

#[test]
fn every_version_round_trips_with_the_fields_it_has() {
    for version in 0..=4 {
        let value = sample(version);
        assert_eq!(
            known(&group_metadata(&value).unwrap()),
            value,
            "version {version}"
        );
    }
}

#[test]
fn an_empty_group_has_null_protocol_and_leader() {
    for version in 0..=4 {
        let value = GroupMetadata {
            protocol: None,
            leader: None,
            members: vec![],
            ..sample(version)
        };
        assert_eq!(
            known(&group_metadata(&value).unwrap()),
            value,
            "version {version}"
        );
    }
}

#[test]
fn unknown_times_are_none_and_the_session_timeout_stands_in() {
    let bytes = group_metadata(&GroupMetadata {
        current_state_timestamp_ms: None,
        members: vec![Member {
            rebalance_timeout_ms: None,
            ..member(3)
        }],
        ..sample(3)
    });
    let bytes = bytes.unwrap();
    let value = known(&bytes);
    assert_eq!(value.current_state_timestamp_ms, None);
    assert_eq!(value.members[0].rebalance_timeout_ms, None);
    assert_eq!(value.members[0].effective_rebalance_timeout_ms(), 10_000);
    assert_eq!(member(3).effective_rebalance_timeout_ms(), 60_000);
}

#[test]
fn version_4_tolerates_tagged_fields_in_members_and_at_the_end() {
    let plain = group_metadata(&GroupMetadata {
        members: vec![member(4)],
        ..sample(4)
    })
    .unwrap();
    let (body, trailers) = plain.split_at(plain.len() - 2);
    assert_eq!(trailers, [0, 0]);
    let mut tagged = body.to_vec();
    tagged.extend([1, 0, 3, 9, 9, 9]); // the member's: tag 0, three bytes
    tagged.extend([2, 0, 1, 7, 130, 1, 0]); // the value's: tag 0, one byte; tag 130, none
    assert_eq!(known(&tagged), known(&plain));
}

#[test]
fn unknown_versions_are_values_to_count() {
    for version in [5, i16::MAX, -1] {
        let bytes = [&version.to_be_bytes()[..], &[1, 2, 3]].concat();
        let unknown = Unknown {
            input: UnknownInput::GroupMetadata,
            version,
        };
        assert_eq!(GroupMetadata::decode(&bytes), Ok(Decoded::Unknown(unknown)));
    }
}

#[test]
fn bytes_after_the_value_are_ignored_and_missing_ones_named() {
    let mut bytes = group_metadata(&sample(3)).unwrap();
    let whole = bytes.clone();
    bytes.extend([1, 2, 3]);
    assert_eq!(known(&bytes), known(&whole));
    for end in 0..whole.len() {
        let error = GroupMetadata::decode(&whole[..end]).unwrap_err();
        assert_eq!(error.label(), "truncated", "prefix of {end}");
    }
    let error = GroupMetadata::decode(&whole[..whole.len() - 1]).unwrap_err();
    assert_eq!(error.field(), "assignment");
}

#[test]
fn a_member_count_from_outside_allocates_nothing() {
    let mut bytes = group_metadata(&GroupMetadata {
        members: vec![],
        ..sample(3)
    })
    .unwrap();
    let at = bytes.len();
    bytes[at - 4..].copy_from_slice(&i32::MAX.to_be_bytes());
    let needed = usize::try_from(i32::MAX).unwrap() * super::MEMBER_BYTES_MIN;
    let error = DecodeError::Truncated {
        field: "members",
        at,
        needed,
        left: 0,
    };
    assert_eq!(GroupMetadata::decode(&bytes), Err(error));
}

#[test]
fn debug_shows_lengths_for_byte_fields() {
    let text = format!("{:?}", member(3));
    assert!(text.contains("subscription_bytes: 3"), "{text}");
}

#[test]
fn case_o_13_connect_groups_are_read_like_any_other_in_every_version() {
    let first = GroupMetadata {
        generation: 1,
        protocol: Some("default"),
        current_state_timestamp_ms: Some(1_553_520_383_214),
        ..sample(2)
    };
    let second = GroupMetadata {
        generation: 2,
        current_state_timestamp_ms: Some(1_553_520_384_339),
        ..first.clone()
    };
    let bytes = [
        group_metadata(&first).unwrap(),
        group_metadata(&second).unwrap(),
    ];
    let [first, second] = [known(&bytes[0]), known(&bytes[1])];
    assert_eq!(
        (first.protocol_type, first.protocol),
        ("connect", Some("default"))
    );
    let apart = |value: &GroupMetadata<'_>| value.current_state_timestamp_ms.unwrap();
    assert_eq!(apart(&second) - apart(&first), 1_125);

    let sink = GroupMetadata {
        protocol_type: "consumer",
        members: vec![Member {
            group_instance_id: None,
            ..member(3)
        }],
        ..sample(3)
    };
    let bytes = group_metadata(&sink).unwrap();
    assert_eq!(known(&bytes).protocol_type, "consumer");
    assert_eq!(known(&bytes).members[0].group_instance_id, None);
}

#[test]
fn case_o_50_an_emptied_group_and_a_first_generation() {
    let emptied = GroupMetadata {
        generation: 57,
        protocol: None,
        leader: None,
        members: vec![],
        ..sample(3)
    };
    let bytes = group_metadata(&emptied).unwrap();
    let value = known(&bytes);
    assert_eq!(
        (value.generation, value.protocol, value.leader),
        (57, None, None)
    );
    let again = group_metadata(&GroupMetadata {
        generation: 1,
        ..sample(3)
    })
    .unwrap();
    assert_eq!(
        (known(&again).generation, known(&again).members.len()),
        (1, 2)
    );
}
