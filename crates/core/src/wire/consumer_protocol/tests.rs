//! Consumer subscriptions and assignments by version.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{ConsumerAssignment, ConsumerSubscription};

/// Topics [t], no user data; then owned t-0, generation 7, rack "r" as far as asked for.
fn subscription(version: i16) -> Vec<u8> {
    let mut bytes = version.to_be_bytes().to_vec();
    bytes.extend([0, 0, 0, 1, 0, 1, b't', 0xff, 0xff, 0xff, 0xff]);
    if version >= 1 {
        bytes.extend([0, 0, 0, 1, 0, 1, b't', 0, 0, 0, 1, 0, 0, 0, 0]);
    }
    if version >= 2 {
        bytes.extend([0, 0, 0, 7]);
    }
    if version >= 3 {
        bytes.extend([0, 1, b'r']);
    }
    bytes
}

#[test]
fn fields_come_with_their_versions() {
    for version in 0..=4 {
        let bytes = subscription(version);
        let read = ConsumerSubscription::decode(&bytes).unwrap();
        assert_eq!(
            (read.version, read.topics.as_slice()),
            (version, &["t"][..])
        );
        let owned = if version >= 1 {
            vec![("t", vec![0])]
        } else {
            vec![]
        };
        assert_eq!(read.owned, owned);
        assert_eq!(read.generation, (version >= 2).then_some(7));
        assert_eq!(read.rack, (version >= 3).then_some("r"));
        for end in 0..bytes.len() {
            assert!(
                ConsumerSubscription::decode(&bytes[..end]).is_err(),
                "{version} {end}"
            );
        }
    }
    assert!(ConsumerSubscription::decode(&[0xff, 0xff]).is_err());
}

#[test]
fn case_o_49_zero_bytes_and_trailing_bytes_of_consumers() {
    assert_eq!(ConsumerAssignment::decode(b""), Ok(None));
    let trailing = [&subscription(1)[..], &[0, 0, 0, 0]].concat();
    let read = ConsumerSubscription::decode(&trailing);
    assert_eq!(read, ConsumerSubscription::decode(&subscription(1)));
    assert!(read.is_ok());
}
