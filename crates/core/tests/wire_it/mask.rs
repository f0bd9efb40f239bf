//! The law of the mask: a masked record says what the record says, with the names
//! replaced, and none of its bytes is a name's; whatever the bytes are.

mod names;

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
use evenkeel_core::wire::status_record::{StatusRecord, StatusValue};
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
