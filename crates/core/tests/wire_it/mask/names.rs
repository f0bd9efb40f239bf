//! Names of every make under the mask, and what the mask leaves byte for byte.

use evenkeel_core::wire::Decoded;
use evenkeel_core::wire::connect_protocol::Assignment;
use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::encode;
use evenkeel_core::wire::group_record::GroupMetadata;
use evenkeel_core::wire::mask::Mask;
use evenkeel_core::wire::redact::{redact_config, redact_status};
use evenkeel_core::wire::status_record::State;

use super::{code, hold, masked_name, one_member};
use crate::fixture::{Fixture, fixtures};

/// Names that hold others, that look like a task, a code or a key, and that are no ASCII.
const NAMES: [&str; 12] = [
    "a",
    "a-0",
    "a-0-1",
    "orders",
    "orders-eu",
    "my-orders",
    "naïve-🦀",
    "c-000000000123",
    "connector-orders",
    "-",
    " spaced out ",
    "c-",
];

#[test]
fn names_of_every_make_are_replaced() {
    let fixture = |kind: &str| Fixture {
        kind: kind.to_owned(),
        ..fixtures()[0].clone()
    };
    let properties = encode::topics::properties([
        ("name", Some("orders")),
        ("tasks.max", Some("3")),
        ("consumer.override.group.id", Some("connect-orders")),
    ]);
    let status = encode::topics::status(&State::Running, "w:8083", 4, None);
    for name in NAMES {
        let config = [
            (format!("connector-{name}"), properties.clone()),
            (format!("task-{name}-3"), properties.clone()),
            (format!("commit-{name}"), encode::topics::commit(3)),
            (
                format!("target-state-{name}"),
                encode::topics::target_state("STOPPED"),
            ),
            (
                format!("restart-connector-{name}"),
                encode::topics::restart(true, true),
            ),
            (
                format!("tasks-fencing-{name}"),
                encode::topics::tasks_fencing(3),
            ),
            (format!("status-task-{name}-0"), status.clone()),
            (format!("some-other-{name}"), status.clone()),
        ];
        for (key, value) in config {
            hold(&fixture("config"), key.as_bytes(), Some(&value), &|| {
                key.clone()
            });
            hold(&fixture("config"), key.as_bytes(), None, &|| key.clone());
        }
        let usage = encode::topics::topic_usage("orders.eu", name, 0, 1);
        let statuses = [
            (format!("status-connector-{name}"), status.clone()),
            (format!("status-task-{name}-0"), status.clone()),
            (format!("status-topic-orders.eu:connector-{name}"), usage),
            (format!("commit-{name}"), encode::topics::commit(3)),
        ];
        for (key, value) in statuses {
            hold(&fixture("status"), key.as_bytes(), Some(&value), &|| {
                key.clone()
            });
            let masked = Mask::new(&mut code).status_record(Some(key.as_bytes()), None);
            let masked = String::from_utf8(masked.0.unwrap()).unwrap();
            assert!(masked.contains(&masked_name(name)), "{masked}");
            assert!(!masked.contains("orders.eu"), "{masked}");
        }
    }
    let items: encode::Items<'_> = NAMES.iter().map(|name| (*name, vec![-1, 0, 7])).collect();
    for version in 0..=2 {
        let told = encode::AssignmentSpec {
            version,
            leader: "w-1",
            leader_url: "http://w:8083/",
            assigned: Some(items.clone()),
            revoked: Some(items.clone()),
            delay_ms: 9,
            ..encode::AssignmentSpec::default()
        };
        let said = encode::SubscriptionSpec {
            version,
            url: "http://w:8083/",
            config_offset: 7,
            claim: Some(told.clone()),
        };
        let subscription = encode::subscription(&said).unwrap();
        let assignment = encode::assignment(&told).unwrap();
        let of = |kind: &str, bytes: &[u8]| hold(&fixture(kind), &[], Some(bytes), &|| kind.into());
        of("connect_subscription", &subscription);
        of("connect_assignment", &assignment);
        let masked = Mask::new(&mut code).assignment(&assignment);
        let masked = Assignment::decode(&masked).unwrap().unwrap();
        let names: Vec<_> = masked
            .assigned
            .connectors()
            .iter()
            .map(|c| c.connector)
            .collect();
        let expected: Vec<_> = NAMES.iter().map(|name| masked_name(name)).collect();
        assert_eq!(names, expected);
        assert_eq!(masked.delay_ms, if version == 0 { 0 } else { 9 });
    }
}

/// A redacted value holds at most one name, so the mask leaves all others byte for byte.
#[test]
fn values_without_a_name_stay_as_redaction_wrote_them() {
    let mut seen = 0;
    for fixture in fixtures() {
        let (key, value) = (fixture.key(), fixture.value());
        let mut contents = Contents::new([7; 16], 0);
        let (redacted, masked) = match fixture.kind.as_str() {
            "config" => {
                let redacted = redact_config(&key, value.as_deref(), &mut contents).into_value();
                let masked = Mask::new(&mut code).config_record(Some(&key), redacted.as_deref());
                (redacted, masked.1)
            }
            "status" => {
                let redacted = redact_status(&key, value.as_deref()).into_value();
                let masked = Mask::new(&mut code).status_record(Some(&key), redacted.as_deref());
                (redacted, masked.1)
            }
            _ => continue,
        };
        let has_group = fixture
            .expect
            .to_string()
            .contains("consumer.override.group.id");
        assert_eq!(redacted == masked, !has_group, "{}", fixture.name);
        seen += 1;
    }
    assert!(seen > 20);
}

/// What the coordinator wrote is copied, whatever the version; only lengths follow.
#[test]
fn a_mask_that_changes_no_length_changes_names_alone() {
    for name in ["fourteen-chars", "c-0123456789ab"] {
        let claim = encode::AssignmentSpec {
            version: 2,
            leader: "w-1",
            assigned: Some(vec![(name, vec![0])]),
            ..encode::AssignmentSpec::default()
        };
        let assignment = encode::assignment(&claim).unwrap();
        for version in 0..=4 {
            let value = one_member(&[], &assignment);
            let Ok(Decoded::Known(group)) = GroupMetadata::decode(&value) else {
                panic!("no group");
            };
            let value = encode::group_metadata(&GroupMetadata { version, ..group }).unwrap();
            let key = encode::group_metadata_key("cg").unwrap();
            let masked = Mask::new(&mut code).offsets_record(Some(&key), Some(&value));
            let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
            let expected = text(&value).replace(&text(name.as_bytes()), &masked_name(name));
            assert_eq!(text(&masked.1.unwrap()), expected);
            assert_eq!(masked.0.unwrap(), key);
        }
    }
}
