//! Records of the status topic: what runs where, as its owner wrote it.
//!
//! Keys and values: `KafkaStatusBackingStore.java`, `AbstractStatus.java`; topic
//! usage (KIP-558): `TopicStatus.java`. A trace is read only as far as the class
//! of the exception at its start and never kept: traces quote URLs, statements
//! and credentials.

use std::borrow::Cow;

use serde::de::MapAccess;

use super::json::{Bytes, Fields, Wanted, Within, is_word, read_object};
use super::names::{connector_and_task, non_empty};
use super::redact;
use super::{DecodeError, JsonProblem};

/// A host name takes 253 characters and a port 6; some advertise two addresses.
const WORKER_ID_BYTES_MAX: usize = 600;

/// Longer class names are not taken for one.
const ERROR_CLASS_BYTES_MAX: usize = 200;

/// A key of the status topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusKey<'a> {
    /// `status-connector-<c>`
    Connector {
        /// The connector.
        connector: &'a str,
    },
    /// `status-task-<c>-<i>`
    Task {
        /// The connector.
        connector: &'a str,
        /// The task's index.
        task: i32,
    },
    /// `status-topic-<t>:connector-<c>`
    TopicUsage {
        /// The topic.
        topic: &'a str,
        /// The connector that used it.
        connector: &'a str,
    },
    /// None of the above: to count and skip. Its value is never looked at.
    Unknown,
}

impl<'a> StatusKey<'a> {
    /// Reads a key.
    ///
    /// # Errors
    /// A known prefix with nothing usable behind it, or no UTF-8.
    pub fn decode(key: &'a [u8]) -> Result<Self, DecodeError> {
        let bad = DecodeError::BadKey {
            field: "status key",
        };
        let key = std::str::from_utf8(key).map_err(|_| bad)?;
        let known = if let Some(rest) = key.strip_prefix("status-task-") {
            connector_and_task(rest).map(|(connector, task)| Self::Task { connector, task })
        } else if let Some(rest) = key.strip_prefix("status-connector-") {
            non_empty(rest).map(|connector| Self::Connector { connector })
        } else if let Some(rest) = key.strip_prefix("status-topic-") {
            topic_usage_key(rest)
        } else {
            Some(Self::Unknown)
        };
        known.ok_or(bad)
    }
}

/// Topic names hold no colon, connector names may: the first one separates.
fn topic_usage_key(rest: &str) -> Option<StatusKey<'_>> {
    let (topic, rest) = rest.split_once(':')?;
    let connector = non_empty(rest.strip_prefix("connector-")?)?;
    non_empty(topic).map(|topic| StatusKey::TopicUsage { topic, connector })
}

/// A value of the status topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusValue {
    /// No value: the connector or task was destroyed.
    Tombstone,
    /// A connector's or task's status.
    Status(Status),
    /// A connector used a topic for the first time.
    TopicUsage {
        /// The task that did.
        task: i32,
        /// When, on the worker's clock.
        discover_timestamp_ms: i64,
    },
    /// The value of an unknown key.
    Dropped,
}

/// What a worker says of a connector or task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The state.
    pub state: State,
    /// The worker, as it names itself: mostly `host:port`, to be taken whole.
    pub worker_id: String,
    /// The generation the worker was in when it wrote this.
    pub generation: i32,
    /// The plugin's version (4.1); `None` where it is absent, null or no word.
    pub version: Option<String>,
    /// The exception class at the start of the trace.
    pub error_class: Option<String>,
}

/// A state (`AbstractStatus.State`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Stopped by its owner, without a new one yet.
    Unassigned,
    /// Started, or about to in releases before 3.1.
    Running,
    /// Paused.
    Paused,
    /// Failed.
    Failed,
    /// Not written as text by any release.
    Destroyed,
    /// Being restarted by request (3.0).
    Restarting,
    /// Stopped by request; connectors only (3.5).
    Stopped,
    /// A state of a later release.
    Other(String),
}

/// A record of the status topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusRecord<'a> {
    /// What it is about.
    pub key: StatusKey<'a>,
    /// What it says.
    pub value: StatusValue,
}

impl<'a> StatusRecord<'a> {
    /// Reads a record, raw or redacted; of both the same is kept.
    ///
    /// # Errors
    /// A key or value that Connect does not write.
    pub fn decode(key: &'a [u8], value: Option<&[u8]>) -> Result<Self, DecodeError> {
        let key = StatusKey::decode(key)?;
        let value = match value {
            None => StatusValue::Tombstone,
            Some(document) => match key {
                StatusKey::Connector { .. } | StatusKey::Task { .. } => {
                    StatusValue::Status(status(document)?)
                }
                StatusKey::TopicUsage { .. } => topic_usage(document)?,
                StatusKey::Unknown => StatusValue::Dropped,
            },
        };
        Ok(Self { key, value })
    }
}

fn status(document: &[u8]) -> Result<Status, DecodeError> {
    let names = [
        "state",
        "worker_id",
        "generation",
        "version",
        "error_class",
        "evenkeel",
        "error",
    ];
    let mut fields = StatusFields {
        wanted: Wanted::new(names),
        trace_start: None,
    };
    read_object(document, &mut fields).map_err(|problem| problem.of("value"))?;
    let [
        state,
        worker_id,
        generation,
        version,
        error_class,
        form,
        error,
    ] = &fields.wanted.found;
    redact::refuse_error(form, error)?;
    let from_trace = fields.trace_start.as_deref().and_then(leading_error_class);
    let from_redacted = error_class.text("error_class", |_| true).ok();
    let from_redacted = from_redacted.and_then(|text| leading_error_class(text.as_bytes()));
    Ok(Status {
        state: State::from_word(state.text("state", is_word)?),
        worker_id: worker_id.text("worker_id", is_worker_id)?.to_owned(),
        generation: generation.i32("generation")?,
        version: version.text("version", is_word).ok().map(str::to_owned),
        error_class: from_trace.or(from_redacted).map(str::to_owned),
    })
}

struct StatusFields<'de, const N: usize> {
    wanted: Wanted<'de, N>,
    trace_start: Option<Cow<'de, [u8]>>,
}

impl<'de, const N: usize> Fields<'de> for StatusFields<'de, N> {
    fn field<A: MapAccess<'de>>(&mut self, name: &[u8], map: &mut A) -> Result<(), A::Error> {
        match name {
            b"trace" => {
                // One more than the longest name shows that a name goes on.
                let keep_max = ERROR_CLASS_BYTES_MAX.saturating_add(1);
                self.trace_start = map.next_value_seed(Bytes { keep_max })?;
                Ok(())
            }
            name => self.wanted.field(name, map),
        }
    }
}

fn topic_usage(document: &[u8]) -> Result<StatusValue, DecodeError> {
    redact::refuse_marker(document)?;
    let inner = Wanted::new(["task", "discoverTimestamp"]);
    let mut fields = Within {
        name: "topic",
        inner,
        found: false,
    };
    read_object(document, &mut fields).map_err(|problem| problem.of("value"))?;
    if !fields.found {
        return Err(JsonProblem::FieldMissing.of("topic"));
    }
    let [task, discovered] = &fields.inner.found;
    Ok(StatusValue::TopicUsage {
        task: task.i32("task")?,
        discover_timestamp_ms: discovered.i64("discoverTimestamp")?,
    })
}

/// The exception class a Java stack trace starts with: a dotted identifier that
/// ends in Exception, Error or Throwable, followed by nothing or by what Java
/// prints after it.
fn leading_error_class(trace: &[u8]) -> Option<&str> {
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._$".contains(byte);
    let end = trace
        .iter()
        .position(|byte| !in_name(byte))
        .unwrap_or(trace.len());
    let (name, rest) = trace.split_at_checked(end)?;
    let ends_well = matches!(
        rest.first(),
        None | Some(b':' | b'\n' | b'\r' | b' ' | b'\t')
    );
    let name = std::str::from_utf8(name).ok()?;
    let starts_part = |part: &str| part.starts_with(|c: char| !c.is_ascii_digit());
    let (package, class) = name.rsplit_once('.')?;
    let identifier = package.split('.').all(starts_part) && starts_part(class);
    let kinds = ["Exception", "Error", "Throwable"];
    let is_error = kinds.iter().any(|kind| class.ends_with(kind));
    let fits = name.len() <= ERROR_CLASS_BYTES_MAX;
    (ends_well && identifier && is_error && fits).then_some(name)
}

fn is_worker_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= WORKER_ID_BYTES_MAX && !text.chars().any(char::is_control)
}

impl State {
    fn from_word(word: &str) -> Self {
        match word {
            "UNASSIGNED" => Self::Unassigned,
            "RUNNING" => Self::Running,
            "PAUSED" => Self::Paused,
            "FAILED" => Self::Failed,
            "DESTROYED" => Self::Destroyed,
            "RESTARTING" => Self::Restarting,
            "STOPPED" => Self::Stopped,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The state as Connect spells it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unassigned => "UNASSIGNED",
            Self::Running => "RUNNING",
            Self::Paused => "PAUSED",
            Self::Failed => "FAILED",
            Self::Destroyed => "DESTROYED",
            Self::Restarting => "RESTARTING",
            Self::Stopped => "STOPPED",
            Self::Other(word) => word,
        }
    }
}

#[cfg(test)]
mod tests;
