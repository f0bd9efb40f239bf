//! The config topic: keys, values, and that nothing raw gets through.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::{ConfigKey, ConfigRecord, ConfigValue, TargetState};
use crate::wire::contents::{Content, Contents};
use crate::wire::encode::topics;
use crate::wire::redact::redact_config;
use crate::wire::settings::{SettingName, SettingValue};
use crate::wire::{DecodeError, JsonProblem};

fn key(text: &str) -> Result<ConfigKey<'_>, DecodeError> {
    ConfigKey::decode(text.as_bytes())
}

/// What the engine sees of a raw record.
fn seen(key: &str, raw: Option<&[u8]>) -> Result<ConfigValue, DecodeError> {
    seen_with(&mut Contents::new([7; 16], 0), key, raw)
}

fn seen_with(
    contents: &mut Contents,
    key: &str,
    raw: Option<&[u8]>,
) -> Result<ConfigValue, DecodeError> {
    let redacted = redact_config(key.as_bytes(), raw, contents);
    ConfigRecord::decode(key.as_bytes(), redacted.value()).map(|record| record.value)
}

fn target(state: TargetState, state_before_v2: Option<TargetState>) -> ConfigValue {
    ConfigValue::TargetState {
        state,
        state_before_v2,
    }
}

#[test]
fn case_o_10_keys_split_at_the_last_dash() {
    let task = |connector, task| Ok(ConfigKey::Task { connector, task });
    assert_eq!(key("task-foo--0"), task("foo-", 0));
    assert_eq!(key("task-0-0"), task("0", 0));
    assert_eq!(key("task-foo-1-0"), task("foo-1", 0));
    assert_eq!(key("task-foo-1"), task("foo", 1));
    assert_eq!(key("task-cdc-load-test-3-49"), task("cdc-load-test-3", 49));
    assert_eq!(
        key("commit-task-foo-0"),
        Ok(ConfigKey::Commit {
            connector: "task-foo-0"
        })
    );
    let connector = ConfigKey::Connector {
        connector: "target-state-x",
    };
    assert_eq!(key("connector-target-state-x"), Ok(connector));
    assert_eq!(
        key("tasks-fencing-foo"),
        Ok(ConfigKey::TasksFencing { connector: "foo" })
    );
    let bad = Err(DecodeError::BadKey {
        field: "config key",
    });
    for text in [
        "task-foo-bar",
        "task-foo",
        "task-5",
        "task--0",
        "task-",
        "task-foo-+1",
    ] {
        assert_eq!(key(text), bad, "{text}");
    }
    for text in [
        "task-foo-",
        "task-foo-2147483648",
        "task-foo-٣",
        "connector-",
        "commit-",
    ] {
        assert_eq!(key(text), bad, "{text}");
    }
    assert_eq!(ConfigKey::decode(b"connector-\xff"), bad);
}

#[test]
fn other_keys_are_unknown_and_their_values_dropped() {
    for text in [
        "",
        "foo",
        "session-key-2",
        "tasks-foo-0",
        "Connector-a",
        "restart-foo",
    ] {
        assert_eq!(key(text), Ok(ConfigKey::Unknown), "{text}");
        assert_eq!(
            seen(text, Some(b"{\"password\":\"x\"}")),
            Ok(ConfigValue::Dropped)
        );
        assert_eq!(seen(text, None), Ok(ConfigValue::Tombstone));
    }
}

#[test]
fn keys_round_trip() {
    let connector = "a-1-b";
    for expected in [
        ConfigKey::TargetState { connector },
        ConfigKey::Connector { connector },
        ConfigKey::Task {
            connector,
            task: 12,
        },
        ConfigKey::Commit { connector },
        ConfigKey::Restart { connector },
        ConfigKey::TasksFencing { connector },
        ConfigKey::SessionKey,
        ConfigKey::LoggerCluster {
            logger: "org.apache.kafka",
        },
    ] {
        assert_eq!(key(&topics::config_key(&expected)), Ok(expected));
    }
}

#[test]
fn case_o_11_records_that_are_no_configuration_are_told_apart() {
    let raw = topics::session_key("c2VjcmV0", 1_700_000_000_000);
    let content = Content {
        ordinal: 0,
        since: 0,
    };
    assert_eq!(
        seen("session-key", Some(&raw)),
        Ok(ConfigValue::SessionKey { content })
    );
    let expected = ConfigValue::Restart {
        include_tasks: true,
        only_failed: false,
    };
    assert_eq!(
        seen("restart-connector-foo", Some(&topics::restart(true, false))),
        Ok(expected)
    );
    let expected = ConfigValue::LoggerLevel {
        level: Some("DEBUG".to_owned()),
    };
    let logger = "logger-cluster-org.apache.kafka.connect";
    assert_eq!(
        seen(logger, Some(&topics::logger_level("DEBUG"))),
        Ok(expected)
    );
    let expected = target(TargetState::Paused, Some(TargetState::Paused));
    assert_eq!(
        seen("target-state-foo", Some(&topics::target_state("PAUSED"))),
        Ok(expected)
    );
    let expected = ConfigValue::TasksFencing { task_count: 3 };
    assert_eq!(
        seen("tasks-fencing-foo", Some(&topics::tasks_fencing(3))),
        Ok(expected)
    );
}

#[test]
fn case_o_22_and_o_28_tombstones_commits_and_contents_of_a_reborn_connector() {
    let mut contents = Contents::new([7; 16], 0);
    let [old, new] = ["v1", "v2"].map(|v| topics::properties([("table", Some(v))]));
    let mut see = |key, raw: Option<&[u8]>| match seen_with(&mut contents, key, raw) {
        Ok(ConfigValue::Properties { content, .. }) => format!("content {}", content.ordinal),
        Ok(ConfigValue::Commit { tasks }) => format!("commit {tasks}"),
        Ok(ConfigValue::Tombstone) => "tombstone".to_owned(),
        other => panic!("unexpected {other:?}"),
    };
    assert_eq!(see("task-foo-0", Some(&old)), "content 0");
    assert_eq!(see("task-foo-1", Some(&old)), "content 0");
    assert_eq!(see("commit-foo", Some(&topics::commit(2))), "commit 2");
    assert_eq!(see("connector-foo", None), "tombstone");
    assert_eq!(see("target-state-foo", None), "tombstone");
    assert_eq!(see("connector-foo", Some(&new)), "content 1");
    assert_eq!(see("task-foo-0", Some(&new)), "content 1");
    assert_eq!(see("commit-foo", Some(&topics::commit(1))), "commit 1");
}

#[test]
fn case_o_29_state_v2_is_read_first() {
    let stopped = target(TargetState::Stopped, Some(TargetState::Paused));
    assert_eq!(
        seen("target-state-c", Some(&topics::target_state("STOPPED"))),
        Ok(stopped)
    );
    let before_3_5 = br#"{"state":"PAUSED"}"#;
    assert_eq!(
        seen("target-state-c", Some(before_3_5)),
        Ok(target(TargetState::Paused, None))
    );
    let null_v2 = br#"{"state":"STARTED","state.v2":null}"#;
    assert_eq!(
        seen("target-state-c", Some(null_v2)),
        Ok(target(TargetState::Started, None))
    );
    let later = br#"{"state":"PAUSED","state.v2":"DRAINED"}"#;
    let other = TargetState::Other("DRAINED".to_owned());
    assert_eq!(
        seen("target-state-c", Some(later)),
        Ok(target(other, Some(TargetState::Paused)))
    );
    assert_eq!(
        seen("commit-c", Some(b"{\"tasks\":0}")),
        Ok(ConfigValue::Commit { tasks: 0 })
    );
}

#[test]
fn case_o_60_names_are_taken_as_they_are() {
    for connector in ["team/a", "a b", "a%2Fb", "a?x=1#y", "größe"] {
        let expected = ConfigKey::Connector { connector };
        assert_eq!(key(&topics::config_key(&expected)), Ok(expected));
    }
}

#[test]
fn kept_settings_reach_the_engine() {
    let raw = topics::properties([
        ("connector.class", Some("org.example.JdbcSink")),
        ("tasks.max", Some("4")),
        ("topics", Some("a,b")),
        ("topics.regex", None),
        (
            "consumer.override.session.timeout.ms",
            Some("${env:TIMEOUT}"),
        ),
        ("connection.password", Some("hunter2")),
    ]);
    let Ok(ConfigValue::Properties { settings, .. }) = seen("connector-foo", Some(&raw)) else {
        panic!("not decoded");
    };
    assert_eq!(
        settings.text(SettingName::ConnectorClass),
        Some("org.example.JdbcSink")
    );
    assert_eq!(settings.integer(SettingName::TasksMax), Some(4));
    assert!(settings.is_sink());
    assert_eq!(settings.get(SettingName::TopicsRegex), None);
    let placeholder = settings.get(SettingName::ConsumerSessionTimeoutMs);
    assert_eq!(placeholder, Some(&SettingValue::Withheld));
    assert_eq!(settings.iter().count(), 4);
}

#[test]
fn raw_values_are_refused_under_keys_that_hold_secrets() {
    let raw = topics::properties([("connection.password", Some("hunter2"))]);
    for key in ["connector-a", "task-a-0", "session-key"] {
        let result = ConfigRecord::decode(key.as_bytes(), Some(&raw));
        assert_eq!(result, Err(JsonProblem::NotRedacted.of("value")), "{key}");
        // A later form is no form that this build can vouch for.
        let later = br#"{"evenkeel":2,"content":1,"settings":{}}"#;
        let result = ConfigRecord::decode(key.as_bytes(), Some(later));
        assert_eq!(result, Err(JsonProblem::NotRedacted.of("value")), "{key}");
    }
}

#[test]
fn a_redacted_document_with_more_in_it_gives_no_more() {
    let forged = br#"{"evenkeel":1,"content":3,"since":2,"properties":{"a":"b"},
        "settings":{"tasks.max":2,"password":"hunter2","connector.class":"pass word"}}"#;
    let record = ConfigRecord::decode(b"connector-a", Some(forged)).unwrap();
    assert!(!format!("{record:?}").contains("hunter2"));
    let ConfigValue::Properties { settings, content } = record.value else {
        panic!()
    };
    assert_eq!(
        content,
        Content {
            ordinal: 3,
            since: 2
        }
    );
    assert_eq!(
        settings.get(SettingName::ConnectorClass),
        Some(&SettingValue::Withheld)
    );
    assert_eq!(settings.integer(SettingName::TasksMax), Some(2));
    for bad in [r#"{"evenkeel":1}"#, r#"{"evenkeel":1,"content":-1}"#] {
        assert!(
            ConfigRecord::decode(b"connector-a", Some(bad.as_bytes())).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn values_that_connect_does_not_write_are_errors_with_a_field() {
    for (key, raw, field, label) in [
        ("commit-a", r#"{"tasks":"2"}"#, "tasks", "json_wrong_type"),
        ("commit-a", r#"{"tasks":-1}"#, "tasks", "json_out_of_bounds"),
        (
            "commit-a",
            r#"{"tasks":2147483648}"#,
            "tasks",
            "json_out_of_bounds",
        ),
        ("commit-a", r#"{}"#, "tasks", "json_field_missing"),
        (
            "tasks-fencing-a",
            r#"{"task-count":null}"#,
            "task-count",
            "json_field_missing",
        ),
        ("target-state-a", r#"{}"#, "state", "json_field_missing"),
        (
            "target-state-a",
            r#"{"state":"not a word"}"#,
            "state",
            "json_out_of_bounds",
        ),
        (
            "target-state-a",
            r#"{"state.v2":3}"#,
            "state.v2",
            "json_wrong_type",
        ),
        (
            "logger-cluster-a",
            r#"{"level":{}}"#,
            "level",
            "json_wrong_type",
        ),
        ("commit-a", r#"7"#, "value", "json_not_an_object"),
    ] {
        let error = ConfigRecord::decode(key.as_bytes(), Some(raw.as_bytes())).unwrap_err();
        assert_eq!((error.field(), error.label()), (field, label), "{raw}");
        // Redaction keeps the kind and only the kind.
        let error = seen(key, Some(raw.as_bytes())).unwrap_err();
        assert_eq!((error.field(), error.label()), ("value", label), "{raw}");
    }
    let restart = seen("restart-connector-a", Some(br#"{"only-failed":"yes"}"#));
    assert_eq!(
        restart,
        Ok(ConfigValue::Restart {
            include_tasks: false,
            only_failed: false
        })
    );
}
