//! The status topic: keys, states, dirty traces, topic usage.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::{State, Status, StatusKey, StatusRecord, StatusValue, leading_error_class};
use crate::wire::encode::topics;
use crate::wire::redact::redact_status;
use crate::wire::{DecodeError, JsonProblem};

fn key(text: &str) -> Result<StatusKey<'_>, DecodeError> {
    StatusKey::decode(text.as_bytes())
}

/// Decodes raw and redacted, which must agree.
#[track_caller]
fn seen(key: &str, raw: Option<&[u8]>) -> Result<StatusValue, DecodeError> {
    let key = key.as_bytes();
    let redacted = redact_status(key, raw);
    let again = redact_status(key, redacted.value());
    assert_eq!(again, redacted, "redacting twice is redacting once");
    let plain = StatusRecord::decode(key, raw).map(|record| record.value);
    let through = StatusRecord::decode(key, redacted.value()).map(|record| record.value);
    assert_eq!(
        plain.as_ref().map_err(DecodeError::label),
        through.as_ref().map_err(DecodeError::label)
    );
    plain
}

#[track_caller]
fn status(raw: &[u8]) -> Status {
    match seen("status-task-foo-0", Some(raw)) {
        Ok(StatusValue::Status(status)) => status,
        other => panic!("no status: {other:?}"),
    }
}

#[test]
fn case_o_10_task_keys_split_at_the_last_dash() {
    let task = |connector, task| Ok(StatusKey::Task { connector, task });
    assert_eq!(key("status-task-foo-1-0"), task("foo-1", 0));
    assert_eq!(key("status-task-foo-1"), task("foo", 1));
    assert_eq!(
        key("status-task-cdc-load-test-3-49"),
        task("cdc-load-test-3", 49)
    );
    assert_eq!(
        key("status-task-s3-logs.vec-v1-1"),
        task("s3-logs.vec-v1", 1)
    );
    assert_eq!(key("status-task-status-task-x-2"), task("status-task-x", 2));
    let bad = Err(DecodeError::BadKey {
        field: "status key",
    });
    for text in [
        "status-task-foo-bar",
        "status-task-foo",
        "status-task--1",
        "status-connector-",
    ] {
        assert_eq!(key(text), bad, "{text}");
    }
    assert_eq!(StatusKey::decode(b"status-connector-\xff"), bad);
    for text in ["", "status", "connector-foo", "status-other-x"] {
        assert_eq!(key(text), Ok(StatusKey::Unknown), "{text}");
        assert_eq!(seen(text, Some(b"secret")), Ok(StatusValue::Dropped));
    }
}

#[test]
fn case_o_59_topic_usage_shares_the_topic() {
    let usage = |topic, connector| Ok(StatusKey::TopicUsage { topic, connector });
    assert_eq!(
        key("status-topic-orders:connector-foo"),
        usage("orders", "foo")
    );
    assert_eq!(
        key("status-topic-t:connector-a:connector-b"),
        usage("t", "a:connector-b")
    );
    let bad = Err(DecodeError::BadKey {
        field: "status key",
    });
    for text in [
        "status-topic-orders",
        "status-topic-:connector-a",
        "status-topic-t:connector-",
    ] {
        assert_eq!(key(text), bad, "{text}");
    }
    assert_eq!(key("status-topic-t:foo"), bad);
    let raw = topics::topic_usage("orders", "foo", 0, 1_579_297_899);
    let expected = StatusValue::TopicUsage {
        task: 0,
        discover_timestamp_ms: 1_579_297_899,
    };
    assert_eq!(
        seen("status-topic-orders:connector-foo", Some(&raw)),
        Ok(expected)
    );
    let missing = seen("status-topic-orders:connector-foo", Some(b"{}"));
    assert_eq!(missing, Err(JsonProblem::FieldMissing.of("topic")));
}

#[test]
fn keys_round_trip() {
    for expected in [
        StatusKey::Connector {
            connector: "team/a",
        },
        StatusKey::Connector { connector: "a b" },
        StatusKey::Task {
            connector: "a-1",
            task: 7,
        },
        StatusKey::TopicUsage {
            topic: "t",
            connector: "a-1",
        },
    ] {
        assert_eq!(key(&topics::status_key(&expected)), Ok(expected));
    }
}

#[test]
fn all_states_round_trip() {
    use State::{Destroyed, Failed, Other, Paused, Restarting, Running, Stopped, Unassigned};
    let later = Other("DRAINING".to_owned());
    for state in [
        Unassigned, Running, Paused, Failed, Destroyed, Restarting, Stopped, later,
    ] {
        let read = status(&topics::status(&state, "worker-a:8083", 7, None));
        assert_eq!((&read.state, read.generation), (&state, 7));
    }
}

#[test]
fn case_o_56_dirty_traces_and_null_fields() {
    let read = status(
        br#"{"state":"UNASSIGNED","trace":null,"worker_id":"192.0.2.7:8083","generation":16}"#,
    );
    assert_eq!(
        (read.state, read.generation, read.error_class),
        (State::Unassigned, 16, None)
    );

    let start = r"org.apache.kafka.connect.errors.ConnectException: rows failed\n\t<!DOCTYPE html>";
    let rest = r#"\u2028 \ud800 \"quoted\" "#.repeat(30_000);
    let raw =
        format!(r#"{{"state":"FAILED","trace":"{start}{rest}","worker_id":"a","generation":16}}"#);
    assert!(raw.len() > 700_000);
    let read = status(raw.as_bytes());
    let class = read.error_class.as_deref();
    assert_eq!(
        class,
        Some("org.apache.kafka.connect.errors.ConnectException")
    );
    assert!(
        redact_status(b"status-task-foo-0", Some(raw.as_bytes()))
            .value()
            .unwrap()
            .len()
            < 200
    );

    let read = status(br#"{"state":"RUNNING","worker_id":"a","generation":3}"#);
    assert_eq!((read.worker_id.as_str(), read.error_class), ("a", None));
    let envelope = br#"{"schema":{"type":"struct"},"payload":{"state":"RUNNING","worker_id":"a","generation":3}}"#;
    assert_eq!(status(envelope).state, State::Running);
    let truncated = seen("status-task-foo-0", Some(br#"{"state":"RUNNING""#));
    assert_eq!(truncated, Err(JsonProblem::Truncated.of("value")));
}

#[test]
fn error_classes_are_dotted_names_of_throwables() {
    let class = |trace: &str| leading_error_class(trace.as_bytes()).map(str::to_owned);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        class("java.lang.OutOfMemoryError: heap"),
        some("java.lang.OutOfMemoryError")
    );
    assert_eq!(
        class("java.lang.NullPointerException"),
        some("java.lang.NullPointerException")
    );
    assert_eq!(class("a.B$CException\n\tat x"), some("a.B$CException"));
    assert_eq!(class("x.Throwable\r\n"), some("x.Throwable"));
    let long = format!("{}.Error", "p".repeat(194));
    assert_eq!(class(&long), Some(long.clone()));
    for none in [
        "",
        "NullPointerException: x",
        "password=hunter2.Error",
        "jdbc:x://h.Error",
        "java.lang.String: x",
        "a..Exception: x",
        ".Exception",
        "1a.Exception",
        "a.Exception@host",
        "Caused by: a.BException",
        &format!("p{long}"),
        &format!("{}.Error: x", "p".repeat(2_000)),
    ] {
        assert_eq!(class(none), None, "{none}");
    }
}

#[test]
fn the_plugin_version_of_4_1_is_kept_where_it_is_a_word() {
    let read = |version: &str| {
        status(
            format!(r#"{{"state":"RUNNING","worker_id":"a","generation":3,"version":{version}}}"#)
                .as_bytes(),
        )
        .version
    };
    assert_eq!(read("\"4.1.0\""), Some("4.1.0".to_owned()));
    for none in ["null", "7", "\"\"", "\"a b\"", "{}"] {
        assert_eq!(read(none), None, "{none}");
    }
}

#[test]
fn case_o_46_and_o_47_worker_ids_are_taken_whole() {
    for worker_id in [
        "null:-1",
        "192.0.2.5 2001:db8::5:8083",
        "2001:db8::5:8083",
        "[2001:db8::5]:8083",
        "worker-a.ns.svc:8083",
    ] {
        let read = status(&topics::status(&State::Running, worker_id, 1, None));
        assert_eq!(read.worker_id, worker_id);
    }
    let long = "w".repeat(601);
    for bad in ["", "a\nb", &long] {
        let raw = topics::status(&State::Running, bad, 1, None);
        let error = seen("status-connector-a", Some(&raw)).unwrap_err();
        assert_eq!(error, JsonProblem::OutOfBounds.of("worker_id"));
    }
}

#[test]
fn missing_fields_are_named() {
    for (raw, field, label) in [
        (
            r#"{"worker_id":"a","generation":1}"#,
            "state",
            "json_field_missing",
        ),
        (
            r#"{"state":"RUNNING","generation":1}"#,
            "worker_id",
            "json_field_missing",
        ),
        (
            r#"{"state":"RUNNING","worker_id":"a"}"#,
            "generation",
            "json_field_missing",
        ),
        (
            r#"{"state":"RUNNING","worker_id":"a","generation":1.5}"#,
            "generation",
            "json_wrong_type",
        ),
        (
            r#"{"state":"no word!","worker_id":"a","generation":1}"#,
            "state",
            "json_out_of_bounds",
        ),
        (
            r#"{"state":"FAILED","trace":7}"#,
            "value",
            "json_wrong_type",
        ),
        (
            r#"{"state":"RUNNING","payload":[]}"#,
            "value",
            "json_wrong_type",
        ),
    ] {
        let error = seen("status-task-foo-0", Some(raw.as_bytes())).unwrap_err();
        assert_eq!((error.field(), error.label()), (field, label), "{raw}");
    }
}

#[test]
fn case_o_29_tombstones_say_destroyed() {
    assert_eq!(seen("status-task-c-0", None), Ok(StatusValue::Tombstone));
    assert_eq!(
        seen("status-topic-t:connector-c", None),
        Ok(StatusValue::Tombstone)
    );
}
