//! Committed offsets in all versions.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use super::OffsetCommit;
use crate::wire::encode::offset_commit;
use crate::wire::{Decoded, Unknown, UnknownInput};

fn sample(version: i16) -> OffsetCommit<'static> {
    OffsetCommit {
        version,
        offset: 42,
        leader_epoch: (version >= 3).then_some(7),
        metadata: "from me",
        commit_timestamp_ms: 1_700_000_000_000,
        expire_timestamp_ms: (version == 1).then_some(1_700_000_600_000),
    }
}

#[test]
fn every_version_round_trips_and_its_prefixes_are_errors() {
    for version in 0..=4 {
        let bytes = offset_commit(&sample(version)).unwrap();
        assert_eq!(
            OffsetCommit::decode(&bytes),
            Ok(Decoded::Known(sample(version)))
        );
        for end in 0..bytes.len() {
            assert!(
                OffsetCommit::decode(&bytes[..end]).is_err(),
                "version {version}, {end}"
            );
        }
    }
}

#[test]
fn case_o_12_offset_commit_v4() {
    let hex = "0004000000000021d4a8ffffffff010000019964f2d83600";
    let bytes: Vec<u8> = (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect();
    let expected = OffsetCommit {
        version: 4,
        offset: 2_217_128,
        leader_epoch: None,
        metadata: "",
        commit_timestamp_ms: 1_758_335_260_726,
        expire_timestamp_ms: None,
    };
    assert_eq!(OffsetCommit::decode(&bytes), Ok(Decoded::Known(expected)));

    // The same with the topic id as tagged field 0.
    let (body, trailer) = bytes.split_at(bytes.len() - 1);
    assert_eq!(trailer, [0]);
    let with_topic_id = [body, &[1, 0, 16], &[0xab; 16]].concat();
    assert_eq!(
        OffsetCommit::decode(&with_topic_id),
        Ok(Decoded::Known(expected))
    );

    for version in [5, -1] {
        let unknown = Unknown {
            input: UnknownInput::OffsetCommit,
            version,
        };
        let bytes = [&version.to_be_bytes()[..], b"whatever"].concat();
        assert_eq!(OffsetCommit::decode(&bytes), Ok(Decoded::Unknown(unknown)));
    }
}
