//! The law of the mask: a masked record says what the record says, with the names
//! replaced, and none of its bytes is a name's; whatever the bytes are.

use std::sync::Arc;

use evenkeel_core::facts::group::{self, GroupFact};
use evenkeel_core::facts::ids::Names;
use evenkeel_core::facts::input::{Record, Topic};
use evenkeel_core::facts::observation::{ConfigFact, GroupSnapshot, StatusFact};
use evenkeel_core::facts::time::EventTime;
use evenkeel_core::facts::{config, mask, status};
use evenkeel_core::wire::Decoded;
use evenkeel_core::wire::config_record::{ConfigRecord, ConfigValue};
use evenkeel_core::wire::connect_protocol::{Assignment, Claim, Subscription};
use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::encode;
use evenkeel_core::wire::group_record::{GroupMetadata, Member};
use evenkeel_core::wire::mask::{Code, Mask, MaskedName};
use evenkeel_core::wire::redact::{redact_config, redact_status};
use evenkeel_core::wire::settings::{SettingName, SettingValue};
use evenkeel_core::wire::status_record::{State, StatusRecord, StatusValue};
use siphasher::sip::SipHasher24;

use crate::fixture::{Fixture, fixtures};

/// Shorter names are found in anything.
const SEARCHED_CHARS_MIN: usize = 4;

pub(crate) fn code(text: &[u8]) -> Code {
    let hash = SipHasher24::new_with_key(b"key of the tests").hash(text);
    hash.to_be_bytes()[..6].try_into().unwrap()
}

fn masked_name(name: &str) -> String {
    MaskedName::of(code(name.as_bytes())).to_string()
}

fn masked(record: &Record) -> Record {
    let mut masked = record.clone();
    mask::record(&mut masked, &mut Mask::new(&mut code));
    masked
}

/// What a record says, in words that two records can be compared by.
struct Said {
    fact: String,
    names: Vec<Arc<str>>,
    snapshot: Option<GroupSnapshot>,
}

fn say(record: &Record, before: Option<&GroupSnapshot>) -> Said {
    let mut names = Names::default();
    let (key, value) = (record.key.as_deref(), record.value.as_deref());
    let mut snapshot = None;
    let fact = match record.topic {
        Topic::Config => {
            let fact = config::decode(key, value, &mut names).map_err(|error| error.label());
            let swapped = fact == Ok(ConfigFact::Unknown) && config::is_status_key(key);
            let wire = ConfigRecord::decode(key.unwrap_or_default(), value).map(|r| r.value);
            format!("{fact:?} {swapped} {:?}", wire.map_err(|e| e.label()))
        }
        Topic::Status => {
            let fact = status::decode(key, value, &mut names).map_err(|error| error.label());
            let swapped = fact == Ok(StatusFact::Unknown) && status::is_config_key(key);
            let wire = StatusRecord::decode(key.unwrap_or_default(), value).map(|r| r.value);
            format!("{fact:?} {swapped} {:?}", wire.map_err(|e| e.label()))
        }
        Topic::Offsets => match group::is_group_key(key) {
            Ok(true) => match group::decode(value, 7, EventTime(8), before, &mut names) {
                Ok(GroupFact::Snapshot(mut found, problems)) => {
                    snapshot = Some((*found).clone());
                    found.bytes = 0;
                    for member in &mut found.members {
                        Arc::make_mut(member).fingerprint = 0;
                    }
                    let problems: Vec<_> = problems.iter().map(|error| error.label()).collect();
                    format!("{found:?} {problems:?}")
                }
                other => format!("{:?}", other.map_err(|error| error.label())),
            },
            other => format!("{:?}", other.map_err(|error| error.label())),
        },
    };
    Said {
        fact,
        names: names.into(),
        snapshot,
    }
}

/// Checks the law on a record, as it follows on `before`.
fn check(before: Option<&Record>, record: &Record) -> Result<(), String> {
    let after = masked(record);
    let (old, old_masked) = (before.cloned(), before.map(masked));
    let old = old.and_then(|old| say(&old, None).snapshot);
    let old_masked = old_masked.and_then(|old| say(&old, None).snapshot);
    // Members that stay the same are not read again: the names of both are compared where
    // everything is read.
    let (plain, hidden) = (say(record, None), say(&after, None));
    let renamed: Vec<String> = plain.names.iter().map(|name| masked_name(name)).collect();
    let hidden_names: Vec<&str> = hidden.names.iter().map(|name| &**name).collect();
    if renamed != hidden_names {
        return Err(format!("names {renamed:?}, masked {hidden_names:?}"));
    }
    let group_renamed = rename_group(&plain.fact, record);
    if group_renamed != hidden.fact {
        return Err(format!("says {group_renamed}\nmasked {}", hidden.fact));
    }
    if let (Some(old), Some(old_masked)) = (&old, &old_masked) {
        let (plain, hidden) = (say(record, Some(old)), say(&after, Some(old_masked)));
        // Numbers of names that only the new members brought.
        let counts = |said: &Said| (said.names.len(), said.fact.matches('{').count());
        let problems = |said: &Said| said.fact.rsplit_once(" [").map(|(_, p)| p.to_owned());
        if counts(&plain) != counts(&hidden) || problems(&plain) != problems(&hidden) {
            return Err(format!(
                "after another: {}\nmasked {}",
                plain.fact, hidden.fact
            ));
        }
    }
    leak(&plain.names, record, &after)
}

/// The consumer group of a sink is the one name in a value.
fn rename_group(fact: &str, record: &Record) -> String {
    let (Topic::Config, Some(key)) = (record.topic, record.key.as_deref()) else {
        return fact.to_owned();
    };
    let Ok(found) = ConfigRecord::decode(key, record.value.as_deref()) else {
        return fact.to_owned();
    };
    let ConfigValue::Properties { settings, .. } = found.value else {
        return fact.to_owned();
    };
    let Some(group) = settings.text(SettingName::ConsumerGroupId) else {
        return fact.to_owned();
    };
    let hidden = Mask::new(&mut code).consumer_group(group);
    let text = |group: &str| format!("{:?}", SettingValue::Text(group.to_owned()));
    fact.replace(&text(group), &text(&hidden))
}

/// The texts that are no names by what the record itself says.
fn kept_texts(record: &Record) -> Vec<String> {
    let (key, value) = (record.key.as_deref(), record.value.as_deref());
    let mut kept: Vec<&str> = Vec::new();
    let (status, group);
    match record.topic {
        Topic::Config => {}
        Topic::Status => {
            status = StatusRecord::decode(key.unwrap_or_default(), value);
            if let Ok(StatusRecord {
                value: StatusValue::Status(status),
                ..
            }) = &status
            {
                kept.push(&status.worker_id);
            }
        }
        Topic::Offsets => {
            group = GroupMetadata::decode(value.unwrap_or_default());
            if let Ok(Decoded::Known(group)) = &group {
                kept.extend([group.protocol_type]);
                kept.extend(group.protocol.iter().chain(&group.leader));
                for member in &group.members {
                    kept.extend([member.member_id, member.client_id, member.client_host]);
                    kept.extend(member.group_instance_id);
                    kept.extend(kept_of(member));
                }
            }
        }
    }
    kept.into_iter().map(str::to_owned).collect()
}

fn kept_of<'a>(member: &Member<'a>) -> Vec<&'a str> {
    let mut kept = Vec::new();
    if let Ok(said) = Subscription::decode(member.subscription) {
        kept.push(said.url);
        if let Claim::Held(claim) = said.claim {
            kept.extend([claim.leader, claim.leader_url]);
        }
    }
    if let Ok(Some(told)) = Assignment::decode(member.assignment) {
        kept.extend([told.leader, told.leader_url]);
    }
    kept
}

fn leak(names: &[Arc<str>], record: &Record, masked: &Record) -> Result<(), String> {
    let kept = kept_texts(record);
    // A damaged length made a text of what follows it, names or parts of names included.
    if kept.iter().any(|text| text.contains(char::is_control)) {
        return Ok(());
    }
    for name in names {
        let is_searched = name.len() >= SEARCHED_CHARS_MIN
            && !kept.iter().any(|text| text.contains(&**name))
            // What every such record holds is no sign.
            && !FORMAT.iter().any(|word| word.contains(&**name));
        let part = [&masked.key, &masked.value]
            .into_iter()
            .flatten()
            .find(|part| {
                is_searched
                    && part
                        .windows(name.len())
                        .any(|found| found == name.as_bytes())
            });
        if let Some(part) = part {
            return Err(format!("{name:?} in {:?}", String::from_utf8_lossy(part)));
        }
    }
    Ok(())
}

const FORMAT: &[&str] = &[
    "connect",
    "sessioned",
    "compatible",
    "default",
    "evenkeel",
    "content",
    "settings",
    "error",
    "target-state-c-",
    "restart-connector-c-",
    "tasks-fencing-c-",
    "status-topic-c-",
    ":connector-c-",
    "status-connector-c-",
    "commit-c-",
    "status-task-c-",
    "masked-c-",
    "json_truncated",
    "json_syntax",
    "json_not_an_object",
    "since",
    "json_too_large",
    "json_field_missing",
    "json_wrong_type",
    "json_out_of_bounds",
    "state",
    "json_bad_utf8",
    "not_redacted",
    "worker_id",
    "generation",
    "version",
    "RUNNING",
    "connect-",
];

/// Checks the law on these bytes in the place that the fixture has them from. Raw values
/// of the config and status topics are redacted first; that others are not let through
/// either is the same law.
pub(crate) fn law(fixture: &Fixture, key: &[u8], value: Option<&[u8]>) -> Result<(), String> {
    let mut contents = Contents::new([7; 16], 0);
    let record = |topic, key: &[u8], value: Option<Vec<u8>>| Record {
        topic,
        partition: 0,
        offset: 7,
        leader_epoch: Some(3),
        timestamp: Some(EventTime(8)),
        append_time: true,
        key: Some(key.to_vec()),
        value,
    };
    let raw = value.map(<[u8]>::to_vec);
    let bytes = value.unwrap_or_default();
    match fixture.kind.as_str() {
        "config" => {
            let redacted = redact_config(key, value, &mut contents).into_value();
            check(None, &record(Topic::Config, key, redacted))?;
            check(None, &record(Topic::Config, key, raw.clone()))?;
            // As it is found when the two topics were swapped.
            let redacted = redact_status(key, value).into_value();
            check(None, &record(Topic::Status, key, redacted))
        }
        "status" => {
            let redacted = redact_status(key, value).into_value();
            check(None, &record(Topic::Status, key, redacted))?;
            let redacted = redact_config(key, value, &mut contents).into_value();
            check(None, &record(Topic::Config, key, redacted))
        }
        "connect_subscription" | "connect_assignment" => {
            let group = encode::group_metadata_key("cg").unwrap();
            let in_record = |bytes| match fixture.kind.as_str() {
                "connect_subscription" => one_member(bytes, &[]),
                _ => one_member(&[], bytes),
            };
            let whole = fixture.value().unwrap_or_default();
            let before = record(Topic::Offsets, &group, Some(in_record(&whole)));
            check(
                Some(&before),
                &record(Topic::Offsets, &group, Some(in_record(bytes))),
            )
        }
        "offsets" => {
            let before = record(Topic::Offsets, &fixture.key(), fixture.value());
            check(Some(&before), &record(Topic::Offsets, key, raw))
        }
        _ => Ok(()),
    }
}

fn one_member(subscription: &[u8], assignment: &[u8]) -> Vec<u8> {
    let member = Member {
        member_id: "connect-1",
        group_instance_id: None,
        client_id: "connect",
        client_host: "/192.0.2.1",
        rebalance_timeout_ms: Some(60_000),
        session_timeout_ms: 10_000,
        subscription,
        assignment,
    };
    let group = GroupMetadata {
        version: 3,
        protocol_type: "connect",
        generation: 1,
        protocol: Some("sessioned"),
        leader: Some("connect-1"),
        current_state_timestamp_ms: Some(1),
        members: vec![member],
    };
    encode::group_metadata(&group).unwrap()
}

#[track_caller]
pub(crate) fn hold(fixture: &Fixture, key: &[u8], value: Option<&[u8]>, how: &dyn Fn() -> String) {
    if let Err(broken) = law(fixture, key, value) {
        panic!(
            "{}, {}: {broken}\nkey {key:02x?}\nvalue {value:02x?}",
            fixture.name,
            how()
        );
    }
}

#[test]
fn every_fixture_says_the_same_under_the_mask() {
    let mut names = 0;
    for fixture in fixtures() {
        let value = fixture.value();
        hold(&fixture, &fixture.key(), value.as_deref(), &|| {
            "whole".into()
        });
        let text = fixture.expect.to_string();
        names += usize::from(text.contains("redis") || text.contains("orders"));
    }
    assert!(names > 5, "{names} fixtures with names prove nothing");
}

#[test]
fn every_cut_and_bent_fixture_says_the_same_under_the_mask() {
    for fixture in fixtures() {
        let (key, value) = (fixture.key(), fixture.value().unwrap_or_default());
        for end in 0..value.len() {
            hold(&fixture, &key, Some(&value[..end]), &|| {
                format!("cut to {end}")
            });
        }
        for end in 0..key.len() {
            hold(&fixture, &key[..end], Some(&value), &|| {
                format!("key cut to {end}")
            });
        }
        for at in 0..value.len() {
            for byte in [0x00, 0xff, value[at] ^ 1] {
                let mut bent = value.clone();
                bent[at] = byte;
                hold(&fixture, &key, Some(&bent), &|| {
                    format!("byte {at} is {byte:02x}")
                });
            }
        }
    }
}

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
