//! Subscriptions and assignments with every null, empty, missing and trailing form.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use super::{Assignment, CONFIG_MISMATCH, CONNECTOR_TASK, Claim, Subscription};
use crate::wire::DecodeError;
use crate::wire::encode::{self, AssignmentSpec, SubscriptionSpec, items_of, whole_connector};

const URL: &str = "http://worker-a:8083/";

fn spec(version: i16) -> AssignmentSpec<'static> {
    AssignmentSpec {
        version,
        leader: "w-1",
        leader_url: URL,
        config_offset: 29,
        assigned: Some(items_of([
            ("redis", CONNECTOR_TASK),
            ("redis", 0),
            ("jdbc", 3),
        ])),
        revoked: Some(items_of([("redis", 1)])),
        delay_ms: 300_000,
        error: 0,
    }
}

fn bytes_of(spec: &AssignmentSpec<'_>) -> Vec<u8> {
    encode::assignment(spec).unwrap()
}

fn assignment(bytes: &[u8]) -> Assignment<'_> {
    Assignment::decode(bytes).unwrap().unwrap()
}

fn subscription_bytes(version: i16, claim: Option<AssignmentSpec<'_>>) -> Vec<u8> {
    encode::subscription(&SubscriptionSpec {
        version,
        url: URL,
        config_offset: 29,
        claim,
    })
    .unwrap()
}

fn pairs<'a>(list: &super::ItemList<'a>) -> Vec<(&'a str, i32)> {
    list.iter().collect()
}

#[test]
fn versions_0_1_2_and_later_ones_round_trip() {
    // 3 stands for a version of the future: read with the layout of 1.
    for version in [0, 1, 2, 3] {
        let bytes = bytes_of(&spec(version));
        let read = assignment(&bytes);
        assert_eq!(
            (read.version, read.error, read.config_offset),
            (version, 0, 29)
        );
        assert_eq!((read.leader, read.leader_url), ("w-1", URL));
        assert_eq!(
            pairs(&read.assigned),
            [("redis", CONNECTOR_TASK), ("redis", 0), ("jdbc", 3)]
        );
        assert_eq!(read.assigned.len(), 3);
        assert_eq!(read.assigned.connectors().len(), 2);
        let eager = version == 0;
        assert_eq!(
            pairs(&read.revoked),
            if eager { vec![] } else { vec![("redis", 1)] }
        );
        assert_eq!(read.delay_ms, if eager { 0 } else { 300_000 });
    }
}

#[test]
fn null_lists_are_empty_from_version_1_and_refused_in_version_0() {
    let bytes = bytes_of(&AssignmentSpec {
        assigned: None,
        revoked: None,
        ..spec(2)
    });
    let read = assignment(&bytes);
    assert!(read.assigned.is_empty() && read.revoked.is_empty());
    assert_eq!(read.delay_ms, 300_000);

    let mut eager = bytes_of(&AssignmentSpec {
        assigned: None,
        ..spec(0)
    });
    let at = eager.len() - 4;
    eager[at..].copy_from_slice(&[0xff; 4]);
    let error = DecodeError::BadLength {
        field: "assigned",
        at,
        length: -1,
    };
    assert_eq!(Assignment::decode(&eager), Err(error));
}

#[test]
fn trailing_fields_may_be_missing_from_version_1() {
    let bytes = bytes_of(&AssignmentSpec {
        revoked: None,
        ..spec(1)
    });
    let without_delay = &bytes[..bytes.len() - 4];
    assert_eq!(assignment(without_delay).delay_ms, 0);
    let without_revoked = &without_delay[..without_delay.len() - 4];
    assert_eq!(assignment(without_revoked).assigned.len(), 3);
    let header = 2 + 2 + (2 + 3) + (2 + URL.len()) + 8;
    assert!(assignment(&bytes[..header]).assigned.is_empty());
    // A field that is cut is no missing field.
    let error = Assignment::decode(&bytes[..bytes.len() - 1]).unwrap_err();
    assert_eq!((error.field(), error.label()), ("delay", "truncated"));
    let eager = bytes_of(&spec(0));
    let error = Assignment::decode(&eager[..header]).unwrap_err();
    assert_eq!((error.field(), error.label()), ("assigned", "truncated"));
}

#[test]
fn bytes_after_the_last_field_are_ignored() {
    for version in [0, 1, 2] {
        let bytes = bytes_of(&spec(version));
        let longer = [&bytes[..], &[0, 0, 0, 0]].concat();
        assert_eq!(assignment(&longer), assignment(&bytes));
        let bytes = subscription_bytes(version, Some(spec(version)));
        let longer = [&bytes[..], &[0, 0, 0, 0]].concat();
        let (read, expected) = (
            Subscription::decode(&longer).unwrap(),
            Subscription::decode(&bytes).unwrap(),
        );
        // In version 0 what follows is no claim: there is none.
        assert_eq!(read, expected);
    }
}

#[test]
fn claims_null_empty_missing_and_held_are_told_apart() {
    let read = |bytes: &[u8]| -> (bool, Option<usize>) {
        let read = Subscription::decode(bytes).unwrap();
        assert_eq!((read.url, read.config_offset), (URL, 29));
        (
            read.claim.is_null(),
            read.claim.owned().map(super::ItemList::len),
        )
    };
    let eager = subscription_bytes(0, None);
    assert_eq!(Subscription::decode(&eager).unwrap().claim, Claim::Absent);
    for version in [1, 2, 3] {
        let null = subscription_bytes(version, None);
        assert_eq!(Subscription::decode(&null).unwrap().claim, Claim::Null);
        assert_eq!(read(&null), (true, None));

        let missing = &null[..null.len() - 4];
        assert_eq!(Subscription::decode(missing).unwrap().claim, Claim::Absent);
        assert_eq!(read(missing), (true, None));

        let zero_length = [missing, &[0; 4]].concat();
        assert_eq!(
            Subscription::decode(&zero_length).unwrap().claim,
            Claim::ZeroLength
        );
        assert_eq!(read(&zero_length), (false, None));

        let empty = AssignmentSpec {
            assigned: Some(vec![]),
            revoked: Some(vec![]),
            ..spec(version)
        };
        assert_eq!(
            read(&subscription_bytes(version, Some(empty))),
            (false, Some(0))
        );
        assert_eq!(
            read(&subscription_bytes(version, Some(spec(version)))),
            (false, Some(3))
        );
    }
}

#[test]
fn a_broken_claim_leaves_url_and_offset_standing() {
    let bytes = subscription_bytes(2, Some(spec(2)));
    let cut = Subscription::decode(&bytes[..bytes.len() - 1]).unwrap();
    assert_eq!((cut.url, cut.config_offset), (URL, 29));
    assert!(matches!(
        cut.claim,
        Claim::Broken(DecodeError::Truncated {
            field: "allocation",
            ..
        })
    ));

    // An embedded error counts its position from the start of the subscription.
    let claim_at = 2 + 2 + URL.len() + 8 + 4;
    let mut version = bytes;
    version[claim_at..claim_at + 2].copy_from_slice(&[0xff, 0xff]);
    let read = Subscription::decode(&version).unwrap();
    let error = DecodeError::BadVersion {
        field: "assignment version",
        version: -1,
    };
    assert_eq!(read.claim, Claim::Broken(error));
    let short = [
        &subscription_bytes(2, None)[..claim_at - 4],
        &[0, 0, 0, 1, 0],
    ]
    .concat();
    let read = Subscription::decode(&short).unwrap();
    let error = DecodeError::Truncated {
        field: "assignment version",
        at: claim_at,
        needed: 2,
        left: 1,
    };
    assert_eq!(read.claim, Claim::Broken(error));
}

#[test]
fn negative_versions_are_refused() {
    let error = DecodeError::BadVersion {
        field: "subscription version",
        version: -1,
    };
    assert_eq!(Subscription::decode(&[0xff, 0xff, 0, 0]), Err(error));
    assert!(Assignment::decode(&[0xff, 0xff]).is_err());
}

#[test]
fn duplicates_and_connectors_without_tasks_are_kept_as_told() {
    let twice = AssignmentSpec {
        assigned: Some(vec![("a", vec![0, 0]), ("b", vec![]), ("a", vec![0])]),
        ..spec(2)
    };
    let bytes = bytes_of(&twice);
    let read = assignment(&bytes);
    assert_eq!(pairs(&read.assigned), [("a", 0), ("a", 0), ("a", 0)]);
    assert_eq!(read.assigned.connectors().len(), 3);
    assert_eq!(
        format!("{:?}", read.assigned),
        r#"[("a", 0), ("a", 0), ("a", 0)]"#
    );
    assert_eq!(
        format!("{:?}", read.assigned.connectors()[0]),
        r#""a": [0, 0]"#
    );
    assert!(!read.assigned.is_empty());
    let nothing = bytes_of(&AssignmentSpec {
        assigned: Some(vec![("b", vec![])]),
        ..spec(2)
    });
    assert!(assignment(&nothing).assigned.is_empty());
}

#[test]
fn case_o_01_assigned_is_an_increment_beside_the_claim() {
    // Generation 2: w1 claims three pieces and is told to give one up, nothing else.
    let claim = AssignmentSpec {
        assigned: Some(whole_connector("redis", 2)),
        revoked: Some(vec![]),
        delay_ms: 0,
        ..spec(2)
    };
    let joined = subscription_bytes(2, Some(claim));
    let told = bytes_of(&AssignmentSpec {
        assigned: Some(vec![]),
        revoked: Some(items_of([("redis", 0)])),
        delay_ms: 0,
        ..spec(2)
    });
    let joined = Subscription::decode(&joined).unwrap();
    let told = assignment(&told);
    let mut owned = pairs(joined.claim.owned().unwrap());
    owned.retain(|piece| !pairs(&told.revoked).contains(piece));
    owned.extend(told.assigned.iter());
    assert_eq!(owned, [("redis", CONNECTOR_TASK), ("redis", 1)]);
    assert_eq!((joined.config_offset, told.delay_ms), (29, 0));
}

#[test]
fn case_o_02_config_mismatch_comes_with_an_empty_assignment() {
    let told = bytes_of(&AssignmentSpec {
        error: CONFIG_MISMATCH,
        config_offset: 12,
        assigned: Some(vec![]),
        revoked: Some(vec![]),
        delay_ms: 0,
        ..spec(1)
    });
    let told = assignment(&told);
    assert_eq!((told.error, told.config_offset), (CONFIG_MISMATCH, 12));
    assert!(told.assigned.is_empty() && told.revoked.is_empty());
}

#[test]
fn case_o_49_zero_bytes_null_lists_and_trailing_bytes() {
    assert_eq!(Assignment::decode(b""), Ok(None));
    let nulls = bytes_of(&AssignmentSpec {
        assigned: None,
        revoked: None,
        ..spec(1)
    });
    assert!(assignment(&nulls).assigned.is_empty());
    let trailing = [&subscription_bytes(1, None)[..], &[0, 0, 0, 0]].concat();
    assert_eq!(Subscription::decode(&trailing).unwrap().claim, Claim::Null);
}

#[test]
fn case_o_53_a_claim_of_4200_tasks_is_read_whole() {
    let names: Vec<String> = (0..420).map(|n| format!("{n:0>40}")).collect();
    let items = names
        .iter()
        .map(|name| (name.as_str(), (0..10).collect()))
        .collect();
    let bytes = subscription_bytes(
        2,
        Some(AssignmentSpec {
            assigned: Some(items),
            ..spec(2)
        }),
    );
    let read = Subscription::decode(&bytes).unwrap();
    assert_eq!(read.claim.owned().unwrap().len(), 4_200);
}
