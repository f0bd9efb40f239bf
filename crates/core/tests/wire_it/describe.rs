//! What the decoders make of a fixture, as JSON to compare and to read.

use evenkeel_core::wire::config_record::{ConfigRecord, ConfigValue};
use evenkeel_core::wire::connect_protocol::{Assignment, Claim, ItemList, Subscription};
use evenkeel_core::wire::consumer_protocol::{ConsumerAssignment, ConsumerSubscription};
use evenkeel_core::wire::consumer_record::ConsumerGroupMetadata;
use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::group_record::{GroupMetadata, Member};
use evenkeel_core::wire::offset_commit::OffsetCommit;
use evenkeel_core::wire::offsets_key::OffsetsKey;
use evenkeel_core::wire::redact::{redact_config, redact_status};
use evenkeel_core::wire::status_record::{StatusRecord, StatusValue};
use evenkeel_core::wire::{DecodeError, Decoded};
use serde_json::{Value, json};

use crate::fixture::Fixture;

pub(crate) fn describe(fixture: &Fixture) -> Value {
    let (key, value) = (fixture.key(), fixture.value());
    let bytes = value.as_deref().unwrap_or_default();
    match fixture.kind.as_str() {
        "offsets" => offsets(&key, value.as_deref()),
        "config" => config(&key, value.as_deref()),
        "status" => status(&key, value.as_deref()),
        "connect_subscription" => subscription(bytes),
        "connect_assignment" => assignment(bytes),
        "consumer_subscription" => consumer_subscription(bytes),
        "consumer_assignment" => consumer_assignment(bytes),
        other => panic!("{}: kind {other:?} is not known", fixture.name),
    }
}

fn or_error<T>(result: Result<T, DecodeError>, show: impl FnOnce(T) -> Value) -> Value {
    match result {
        Ok(value) => show(value),
        Err(error) => json!({ "error": error.label(), "field": error.field() }),
    }
}

fn or_unknown<T>(result: Result<Decoded<T>, DecodeError>, show: impl FnOnce(T) -> Value) -> Value {
    or_error(result, |decoded| match decoded {
        Decoded::Known(value) => show(value),
        Decoded::Unknown(unknown) => {
            json!({ "unknown": unknown.input.label(), "version": unknown.version })
        }
    })
}

fn offsets(key: &[u8], value: Option<&[u8]>) -> Value {
    let read = OffsetsKey::decode(key);
    let value = match (read, value) {
        (_, None) => json!("tombstone"),
        (Ok(OffsetsKey::GroupMetadata { .. }), Some(value)) => {
            or_unknown(GroupMetadata::decode(value), group)
        }
        (Ok(OffsetsKey::OffsetCommit { .. }), Some(value)) => {
            or_unknown(OffsetCommit::decode(value), |read| {
                json!(format!("{read:?}"))
            })
        }
        (Ok(OffsetsKey::ConsumerGroup { record_type: 3, .. }), Some(value)) => {
            or_unknown(ConsumerGroupMetadata::decode(value), |read| {
                json!(format!("{read:?}"))
            })
        }
        (_, Some(_)) => json!("not looked at"),
    };
    json!({ "key": or_error(read, |read| json!(format!("{read:?}"))), "value": value })
}

fn group(read: GroupMetadata<'_>) -> Value {
    let member = |member: &Member<'_>| {
        let (subscription, assignment) = match read.protocol_type {
            "connect" => (
                subscription(member.subscription),
                assignment(member.assignment),
            ),
            _ => (
                consumer_subscription(member.subscription),
                consumer_assignment(member.assignment),
            ),
        };
        json!({
            "memberId": member.member_id,
            "groupInstanceId": member.group_instance_id,
            "clientId": member.client_id,
            "clientHost": member.client_host,
            "rebalanceTimeout": member.rebalance_timeout_ms,
            "sessionTimeout": member.session_timeout_ms,
            "subscription": subscription,
            "assignment": assignment,
        })
    };
    json!({
        "version": read.version,
        "protocolType": read.protocol_type,
        "generation": read.generation,
        "protocol": read.protocol,
        "leader": read.leader,
        "currentStateTimestamp": read.current_state_timestamp_ms,
        "members": read.members.iter().map(member).collect::<Vec<_>>(),
    })
}

fn subscription(bytes: &[u8]) -> Value {
    or_error(Subscription::decode(bytes), |read| {
        let claim = match &read.claim {
            Claim::Absent => json!("absent"),
            Claim::Null => json!("null"),
            Claim::ZeroLength => json!("zero length"),
            Claim::Held(held) => told(held),
            Claim::Broken(error) => json!({ "error": error.label(), "field": error.field() }),
        };
        json!({
            "version": read.version,
            "url": read.url,
            "configOffset": read.config_offset,
            "claim": claim,
        })
    })
}

fn assignment(bytes: &[u8]) -> Value {
    or_error(Assignment::decode(bytes), |read| {
        read.map_or(json!("nothing"), |read| told(&read))
    })
}

fn told(read: &Assignment<'_>) -> Value {
    let items = |list: &ItemList<'_>| -> Vec<String> {
        list.iter()
            .map(|(connector, task)| format!("{connector}:{task}"))
            .collect()
    };
    json!({
        "version": read.version,
        "error": read.error,
        "leader": read.leader,
        "leaderUrl": read.leader_url,
        "configOffset": read.config_offset,
        "assigned": items(&read.assigned),
        "revoked": items(&read.revoked),
        "delay": read.delay_ms,
    })
}

fn consumer_subscription(bytes: &[u8]) -> Value {
    or_error(ConsumerSubscription::decode(bytes), |read| {
        json!(format!("{read:?}"))
    })
}

fn consumer_assignment(bytes: &[u8]) -> Value {
    or_error(ConsumerAssignment::decode(bytes), |read| {
        json!(format!("{read:?}"))
    })
}

fn config(key: &[u8], value: Option<&[u8]>) -> Value {
    let mut contents = Contents::new(*b"key of fixtures.", 0);
    let redacted = redact_config(key, value, &mut contents);
    let read = ConfigRecord::decode(key, redacted.value());
    let decoded = or_error(read, |read| match read.value {
        ConfigValue::Properties { settings, content } => {
            json!({ "key": format!("{:?}", read.key), "settings": settings, "content": content })
        }
        value => json!({ "key": format!("{:?}", read.key), "value": format!("{value:?}") }),
    });
    json!({ "redacted": document(redacted.value()), "decoded": decoded })
}

fn status(key: &[u8], value: Option<&[u8]>) -> Value {
    let redacted = redact_status(key, value);
    let read = StatusRecord::decode(key, value);
    let decoded = or_error(read, |read| match read.value {
        StatusValue::Status(status) => json!({
            "key": format!("{:?}", read.key),
            "state": format!("{:?}", status.state),
            "workerId": status.worker_id,
            "generation": status.generation,
            "version": status.version,
            "errorClass": status.error_class,
        }),
        value => json!({ "key": format!("{:?}", read.key), "value": format!("{value:?}") }),
    });
    json!({ "redacted": document(redacted.value()), "decoded": decoded })
}

fn document(redacted: Option<&[u8]>) -> Value {
    redacted.map_or(json!("tombstone"), |bytes| {
        serde_json::from_slice(bytes).unwrap()
    })
}
