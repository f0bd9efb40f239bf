//! Keys and raw values of the config and status topics, in the JSON that
//! Connect's converter writes.

use serde_json::json;

use crate::wire::config_record::ConfigKey;
use crate::wire::status_record::{State, StatusKey};

/// The text of a config topic key; empty for [`ConfigKey::Unknown`].
pub fn config_key(key: &ConfigKey<'_>) -> String {
    match key {
        ConfigKey::TargetState { connector } => format!("target-state-{connector}"),
        ConfigKey::Connector { connector } => format!("connector-{connector}"),
        ConfigKey::Task { connector, task } => format!("task-{connector}-{task}"),
        ConfigKey::Commit { connector } => format!("commit-{connector}"),
        ConfigKey::Restart { connector } => format!("restart-connector-{connector}"),
        ConfigKey::TasksFencing { connector } => format!("tasks-fencing-{connector}"),
        ConfigKey::SessionKey => "session-key".to_owned(),
        ConfigKey::LoggerCluster { logger } => format!("logger-cluster-{logger}"),
        ConfigKey::Unknown => String::new(),
    }
}

/// The text of a status topic key; empty for [`StatusKey::Unknown`].
pub fn status_key(key: &StatusKey<'_>) -> String {
    match key {
        StatusKey::Connector { connector } => format!("status-connector-{connector}"),
        StatusKey::Task { connector, task } => format!("status-task-{connector}-{task}"),
        StatusKey::TopicUsage { topic, connector } => {
            format!("status-topic-{topic}:connector-{connector}")
        }
        StatusKey::Unknown => String::new(),
    }
}

/// The raw value of a connector's or task's configuration.
pub fn properties<'a>(pairs: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Vec<u8> {
    let properties: serde_json::Map<_, _> = pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    json!({ "properties": properties }).to_string().into_bytes()
}

/// A target state as releases since 3.5 write it; `STOPPED` is `PAUSED` to older ones.
pub fn target_state(state: &str) -> Vec<u8> {
    let before = if state == "STOPPED" { "PAUSED" } else { state };
    json!({ "state": before, "state.v2": state })
        .to_string()
        .into_bytes()
}

/// The commit of a connector's task configurations.
pub fn commit(tasks: i32) -> Vec<u8> {
    json!({ "tasks": tasks }).to_string().into_bytes()
}

/// A restart request.
pub fn restart(include_tasks: bool, only_failed: bool) -> Vec<u8> {
    let value = json!({ "include-tasks": include_tasks, "only-failed": only_failed });
    value.to_string().into_bytes()
}

/// A fencing record of an exactly-once source.
pub fn tasks_fencing(task_count: i32) -> Vec<u8> {
    json!({ "task-count": task_count }).to_string().into_bytes()
}

/// The raw value of a session key record.
pub fn session_key(key_base64: &str, creation_timestamp_ms: i64) -> Vec<u8> {
    let value = json!({
        "key": key_base64,
        "algorithm": "HmacSHA256",
        "creation-timestamp": creation_timestamp_ms,
    });
    value.to_string().into_bytes()
}

/// A log level set on all workers.
pub fn logger_level(level: &str) -> Vec<u8> {
    json!({ "level": level }).to_string().into_bytes()
}

/// The raw value of a status.
pub fn status(state: &State, worker_id: &str, generation: i32, trace: Option<&str>) -> Vec<u8> {
    let value = json!({
        "state": state.as_str(),
        "trace": trace,
        "worker_id": worker_id,
        "generation": generation,
    });
    value.to_string().into_bytes()
}

/// The raw value of a topic usage record.
pub fn topic_usage(topic: &str, connector: &str, task: i32, discover_timestamp_ms: i64) -> Vec<u8> {
    let usage = json!({
        "name": topic,
        "connector": connector,
        "task": task,
        "discoverTimestamp": discover_timestamp_ms,
    });
    json!({ "topic": usage }).to_string().into_bytes()
}
