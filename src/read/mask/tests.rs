//! The codes, what is remembered of them, and polls; records have a law of their own in the
//! core.

use evenkeel_core::facts::poll::{Description, PollAnswer, PolledState};
use evenkeel_core::facts::time::ArrivalTime;
use evenkeel_core::wire::connect_protocol::{Assignment, Subscription};
use evenkeel_core::wire::encode::{self, AssignmentSpec, SubscriptionSpec, whole_connector};

use super::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Test cases 1, 2, 6 and 7 of RFC 4231: keys shorter than a block and longer.
#[test]
fn the_code_is_hmac_sha256() {
    let long_key = [0xaa; 131];
    let cases: [(&[u8], &[u8], &str); 4] = [
        (
            &[0x0b; 20],
            b"Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        ),
        (
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (
            &long_key,
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
        (
            &long_key,
            b"This is a test using a larger than block-size key and a larger than \
              block-size data. The key needs to be hashed before being used by the HMAC algorithm.",
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
        ),
    ];
    for (key, text, expected) in cases {
        assert_eq!(hex(&NameMask::new(key).0.hmac(text)), expected);
    }
    let name = NameMask::new(b"Jefe").name("what do ya want for nothing?");
    assert_eq!(name, "c-5bdcc146bf60");
}

#[test]
fn every_sidecar_with_the_key_gives_the_same_name() {
    let (one, another) = (NameMask::new(b"shared"), NameMask::new(b"shared"));
    for name in ["orders", "orders-0", "a", "naïve-🦀", "c-5bdcc146bf60"] {
        assert_eq!(one.name(name), another.name(name));
        assert_eq!(one.name(name), one.name(name), "remembered");
        assert_ne!(one.name(name), NameMask::new(b"other").name(name));
        assert_ne!(one.name(name), name);
    }
    assert!(!format!("{one:?}").contains("shared"));
}

#[test]
fn no_more_names_are_remembered_than_the_bound() {
    let mask = NameMask::new(b"key");
    let first = mask.name("name-0");
    for number in 1..=NAMES_MAX {
        drop(mask.name(&format!("name-{number}")));
    }
    assert!(mask.0.codes.lock().unwrap().0.len() <= NAMES_MAX);
    assert_eq!(mask.name("name-0"), first, "forgotten and given again");
    let before = mask.0.codes.lock().unwrap().0.len();
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    assert_eq!(mask.name(&long), mask.name(&long));
    assert_eq!(mask.0.codes.lock().unwrap().0.len(), before, "not kept");
}

#[test]
fn a_polled_member_is_masked_in_what_it_said_and_what_it_was_told() {
    let mask = NameMask::new(b"key");
    let told = AssignmentSpec {
        version: 2,
        leader: "w-1",
        leader_url: "http://w:8083/",
        config_offset: 7,
        assigned: Some(whole_connector("orders", 2)),
        revoked: None,
        ..AssignmentSpec::default()
    };
    let said = SubscriptionSpec {
        version: 2,
        url: "http://w:8083/",
        config_offset: 7,
        claim: Some(told.clone()),
    };
    let polled = |protocol_type: &str| Polled {
        asked: ArrivalTime(1),
        answer: PollAnswer::Described(Description {
            state: PolledState::Stable,
            protocol_type: protocol_type.to_owned(),
            protocol: "sessioned".to_owned(),
            members: vec![PolledMember {
                member_id: "w-1".to_owned(),
                instance_id: None,
                client_id: "w".to_owned(),
                client_host: "/192.0.2.1".to_owned(),
                metadata: encode::subscription(&said).unwrap(),
                assignment: encode::assignment(&told).unwrap(),
            }],
        }),
    };
    let member = |polled: &Polled| match &polled.answer {
        PollAnswer::Described(described) => described.members[0].clone(),
        other => panic!("{other:?}"),
    };
    let mut connect = polled("connect");
    mask.polled(&mut connect);
    let found = member(&connect);
    let name = mask.name("orders");
    let claim = Subscription::decode(&found.metadata).unwrap().claim;
    let expected = [(name.as_str(), -1), (&name, 0), (&name, 1)];
    assert!(claim.owned().unwrap().iter().eq(expected));
    let assignment = Assignment::decode(&found.assignment).unwrap().unwrap();
    assert!(assignment.assigned.iter().eq(expected));
    assert_eq!(assignment.leader_url, "http://w:8083/");
    let mut alone = member(&polled("connect"));
    mask.member(&mut alone);
    assert_eq!(alone, found);
    let mut foreign = polled("consumer");
    mask.polled(&mut foreign);
    assert_eq!(member(&foreign).metadata, b"");
    assert_eq!(member(&foreign).assignment, b"");
}
