//! Canaries: no secret of a raw input survives in anything that comes out.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::{Redacted, redact_config, redact_status};
use crate::wire::config_record::{ConfigRecord, ConfigValue};
use crate::wire::contents::Contents;
use crate::wire::encode::topics;
use crate::wire::status_record::StatusRecord;

/// Parts of secrets; each appears in at least one raw value below.
const CANARIES: [&str; 14] = [
    "S3cret",
    "hunter2",
    "jdbc",
    "user=u",
    "/run/s",
    "PlainLogin",
    "AKIA",
    "c2Vzc2lvbg",
    "HmacSHA256",
    "internal-topic",
    "my.own.setting",
    "SELECT",
    "tasks.properties",
    "not-whitelisted",
];

fn secret_properties() -> Vec<u8> {
    topics::properties([
        ("connector.class", Some("org.example.Sink")),
        ("connection.password", Some("S3cret!")),
        (
            "producer.override.sasl.jaas.config",
            Some("PlainLoginModule required password=\"hunter2\";"),
        ),
        (
            "connection.url",
            Some("jdbc:x://h/db?user=u&password=hunter2"),
        ),
        ("x", Some("${file:/run/s:pw}")),
        ("aws.secret.key", Some("AKIA0123")),
        ("topics", Some("internal-topic")),
        ("my.own.setting", Some("not-whitelisted")),
        ("my.null.setting", None),
        ("tasks.max", Some("${file:/run/s:tasks}")),
        ("consumer.override.group.id", Some("hunter2 and hunter2")),
        ("consumer.override.group.protocol", Some("S3cret!")),
    ])
}

fn raw_config_values() -> Vec<Vec<u8>> {
    let whole = secret_properties();
    let text = String::from_utf8(whole.clone()).unwrap();
    let mut values = vec![
        whole.clone(),
        topics::session_key("c2Vzc2lvbg==", 1_700_000_000_000),
        text.replace("properties", "tasks.properties").into_bytes(),
        format!(r#"{{"schema":{{"n":"S3cret"}},"payload":{text}}}"#).into_bytes(),
        format!(r#"{{"evenkeel":1,"content":1,"settings":{{"password":"S3cret"}},"x":{text}}}"#)
            .into_bytes(),
        format!("[{text}]").into_bytes(),
        format!("{text} S3cret").into_bytes(),
        br#""S3cret""#.to_vec(),
        br#"{"properties":"S3cret"}"#.to_vec(),
        br#"{"properties":{"S3cret":7}}"#.to_vec(),
        br#"{"properties":{"tasks.max":{"S3cret":"hunter2"}}}"#.to_vec(),
        b"{\"properties\":{\"S3cret\xff\":\"hunter2\xff\"}}".to_vec(),
        b"S3cret".to_vec(),
        b"\xffS3cret".to_vec(),
        br#"{"state":"S3cret hunter2","state.v2":"S3cret hunter2"}"#.to_vec(),
        br#"{"level":"S3cret hunter2","tasks":"S3cret"}"#.to_vec(),
    ];
    values.extend(
        (0..whole.len())
            .step_by(7)
            .map(|end| whole.get(..end).unwrap().to_vec()),
    );
    values
}

#[track_caller]
fn assert_silent(what: &str) {
    for canary in CANARIES {
        assert!(!what.contains(canary), "{canary:?} survives in {what}");
    }
}

const CONFIG_KEYS: [&str; 11] = [
    "connector-foo",
    "task-foo-0",
    "session-key",
    "target-state-foo",
    "commit-foo",
    "restart-connector-foo",
    "tasks-fencing-foo",
    "logger-cluster-foo",
    "unknown",
    "task-foo-bar",
    "",
];

#[test]
fn case_o_57_no_secret_of_the_config_topic_survives() {
    let mut contents = Contents::new([7; 16], 0);
    let raws = raw_config_values();
    let all: String = raws
        .iter()
        .map(|raw| String::from_utf8_lossy(raw).into_owned())
        .collect();
    for canary in CANARIES.iter().filter(|canary| **canary != "SELECT") {
        assert!(all.contains(canary), "{canary:?} is in no raw value");
    }
    for key in CONFIG_KEYS {
        for raw in &raws {
            let redacted = redact_config(key.as_bytes(), Some(raw), &mut contents);
            let document = redacted.value().unwrap();
            serde_json::from_slice::<serde_json::Value>(document).unwrap();
            assert_silent(std::str::from_utf8(document).unwrap());
            assert_silent(&format!("{redacted:?}"));
            let decoded = ConfigRecord::decode(key.as_bytes(), Some(document));
            assert_silent(&format!("{decoded:?}"));
            // Around redaction: refused, and silent about it.
            let decoded = ConfigRecord::decode(key.as_bytes(), Some(raw));
            assert_silent(&format!("{decoded:?}"));
            if let Err(error) = decoded {
                assert_silent(&error.to_string());
            }
        }
    }
    assert_silent(&format!("{contents:?}"));
}

#[test]
fn case_o_56_no_text_of_a_trace_survives() {
    let traces = [
        "java.sql.SQLException: jdbc:x://h/db?user=u&password=hunter2\n\tat SELECT",
        "SELECT S3cret",
        "S3cret.hunter2: x",
        "a.S3cret.jdbc Exception",
    ];
    for trace in traces {
        let json = serde_json::to_string(trace).unwrap();
        for raw in [
            format!(
                r#"{{"state":"FAILED","trace":{json},"worker_id":"a:1","generation":2,"my.own.setting":{json}}}"#
            ),
            format!(
                r#"{{"payload":{{"state":"FAILED","trace":{json},"worker_id":"a:1","generation":2}}}}"#
            ),
            format!(
                r#"{{"state":"FAILED","worker_id":"a:1","generation":2,"error_class":{json},"version":{json}}}"#
            ),
            format!(r#"{{"state":{json},"worker_id":"a:1","generation":2}}"#),
            format!(r#"{{"state":"FAILED","trace":[{json}],"worker_id":"a:1","generation":2}}"#),
            format!(
                r#"{{"topic":{{"name":{json},"connector":{json},"task":0,"discoverTimestamp":1}}}}"#
            ),
            format!(r#"{{"state":"FAILED","trace":{json}"#),
            json.clone(),
        ] {
            for key in [
                "status-task-foo-0",
                "status-connector-foo",
                "status-topic-t:connector-c",
                "other",
                "status-task-x",
            ] {
                let redacted = redact_status(key.as_bytes(), Some(raw.as_bytes()));
                assert_silent(&format!("{redacted:?}"));
                let decoded = StatusRecord::decode(key.as_bytes(), Some(raw.as_bytes()));
                assert_silent(&format!("{decoded:?}"));
            }
        }
    }
    let raw = topics::status(
        &crate::wire::status_record::State::Failed,
        "a:1",
        2,
        Some(traces[0]),
    );
    let redacted = redact_status(b"status-task-foo-0", Some(&raw));
    let expected = r#"{"error_class":"java.sql.SQLException","generation":2,"state":"FAILED","worker_id":"a:1"}"#;
    assert_eq!(format!("{redacted:?}"), expected);
}

#[test]
fn redacted_documents_hold_the_whitelist_and_the_content() {
    let mut contents = Contents::new([7; 16], 0);
    let redacted = redact_config(b"connector-foo", Some(&secret_properties()), &mut contents);
    let document: serde_json::Value = serde_json::from_slice(redacted.value().unwrap()).unwrap();
    let expected = serde_json::json!({
        "evenkeel": 1,
        "content": 0,
        "settings": {
            "connector.class": "org.example.Sink",
            "tasks.max": null,
            "topics": true,
            "consumer.override.group.id": null,
            "consumer.override.group.protocol": null,
        },
    });
    assert_eq!(document, expected);
}

#[test]
fn case_o_06_unchanged_and_changed_contents_are_told_apart() {
    let mut contents = Contents::new([7; 16], 0);
    let mut content = |value: &str| {
        let raw = topics::properties([("dummy", Some(value)), ("other", Some("x"))]);
        let redacted = redact_config(b"task-foo-0", Some(&raw), &mut contents);
        match ConfigRecord::decode(b"task-foo-0", redacted.value())
            .unwrap()
            .value
        {
            ConfigValue::Properties { content, .. } => content,
            other => panic!("{other:?}"),
        }
    };
    let [first, same, changed, back] = ["a", "a", "b", "a"].map(&mut content);
    assert_eq!(same.same_as_before(first), Some(true));
    assert_eq!(changed.same_as_before(same), Some(false));
    assert_eq!(
        (back.same_as_before(changed), back.ordinal),
        (Some(false), first.ordinal)
    );
}

#[test]
fn order_and_spacing_of_properties_do_not_matter() {
    let mut contents = Contents::new([7; 16], 0);
    let mut document = |raw: &str| {
        redact_config(b"connector-a", Some(raw.as_bytes()), &mut contents)
            .into_value()
            .unwrap()
    };
    let one = document(r#"{"properties":{"a":"1","b":null}}"#);
    assert_eq!(
        document(r#" { "properties" : { "b" : null, "\u0061" : "1" } } "#),
        one
    );
    assert_ne!(document(r#"{"properties":{"a":"1","b":""}}"#), one);
}

#[test]
fn undecodable_values_become_markers_that_keep_the_kind() {
    let large = vec![b' '; crate::wire::VALUE_BYTES_MAX + 1];
    for (raw, label) in [
        (&b"{\"properties\":{"[..], "json_truncated"),
        (b"[1]", "json_not_an_object"),
        (b"{\"properties\":{}} x", "json_syntax"),
        (b"{} \xff", "json_bad_utf8"),
        (b"{\"properties\":7}", "json_wrong_type"),
        (b"{\"properties\":{\"a\":7}}", "json_wrong_type"),
        (b"{}", "json_field_missing"),
        (&large, "json_too_large"),
    ] {
        let mut contents = Contents::new([7; 16], 0);
        let redacted = redact_config(b"connector-a", Some(raw), &mut contents);
        assert_eq!(
            format!("{redacted:?}"),
            format!(r#"{{"error":"{label}","evenkeel":1}}"#)
        );
        let error = ConfigRecord::decode(b"connector-a", redacted.value()).unwrap_err();
        assert_eq!((error.label(), error.field()), (label, "value"));
        assert_eq!(contents.next_ordinal(), 0);
    }
    // A label this build does not know is an error all the same.
    let later = br#"{"evenkeel":1,"error":"json_of_the_future"}"#;
    let error = ConfigRecord::decode(b"commit-a", Some(later)).unwrap_err();
    assert_eq!(error.label(), "json_out_of_bounds");
}

#[test]
fn tombstones_stay_tombstones() {
    let mut contents = Contents::new([7; 16], 0);
    for key in CONFIG_KEYS {
        assert_eq!(
            redact_config(key.as_bytes(), None, &mut contents),
            Redacted::TOMBSTONE
        );
    }
    assert_eq!(
        format!("{:?}", redact_status(b"status-task-a-0", None)),
        "tombstone"
    );
}

#[test]
fn values_without_secrets_keep_their_fields() {
    let mut contents = Contents::new([7; 16], 0);
    let mut document = |key: &str, raw: &[u8]| {
        format!(
            "{:?}",
            redact_config(key.as_bytes(), Some(raw), &mut contents)
        )
    };
    let stopped = r#"{"state":"PAUSED","state.v2":"STOPPED"}"#;
    assert_eq!(
        document("target-state-a", &topics::target_state("STOPPED")),
        stopped
    );
    assert_eq!(
        document("target-state-a", br#"{"state":"PAUSED","z":1}"#),
        r#"{"state":"PAUSED"}"#
    );
    assert_eq!(
        document("commit-a", br#"{"tasks":3,"password":"x"}"#),
        r#"{"tasks":3}"#
    );
    let restart = r#"{"include-tasks":true,"only-failed":false}"#;
    assert_eq!(
        document("restart-connector-a", &topics::restart(true, false)),
        restart
    );
    assert_eq!(
        document("tasks-fencing-a", &topics::tasks_fencing(2)),
        r#"{"task-count":2}"#
    );
    assert_eq!(
        document("logger-cluster-a", br#"{"level":null}"#),
        r#"{"level":null}"#
    );
    assert_eq!(document("unknown", b"anything"), r#"{"evenkeel":1}"#);
}
