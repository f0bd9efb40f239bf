//! Where secrets stop: raw values of the config and status topics in, small
//! documents without secrets out.
//!
//! Everything past this point, the engine, captures and logs, sees redacted
//! documents only. A document holds what is listed here by name and shape; a
//! value that cannot be read becomes a marker that says why, never the bytes.

use serde::de::MapAccess;
use serde_json::{Map, Value};

use super::config_record::{self, ConfigKey, ConfigRecord, ConfigValue};
use super::contents::{Content, Contents, PropertiesDigest};
use super::json::{Bytes, Fields, Scalar, Wanted, Within, read_object, wanted};
use super::settings::{SettingName, SettingValue, Settings};
use super::status_record::{StatusRecord, StatusValue};
use super::{DecodeError, JsonProblem};

/// The form of redacted documents, in their field `evenkeel`.
pub(super) const REDACTED_FORM: i64 = 1;

/// A value that holds no secrets. Only this module makes one.
#[derive(Clone, PartialEq, Eq)]
pub struct Redacted {
    document: Option<Vec<u8>>,
}

impl Redacted {
    /// The document, `None` for a tombstone.
    pub fn value(&self) -> Option<&[u8]> {
        self.document.as_deref()
    }

    /// The document, `None` for a tombstone.
    pub fn into_value(self) -> Option<Vec<u8>> {
        self.document
    }

    const TOMBSTONE: Self = Self { document: None };

    fn of(document: Map<String, Value>) -> Self {
        Self {
            document: Some(Value::Object(document).to_string().into_bytes()),
        }
    }

    /// Says why there is no value, and nothing else about it.
    fn marker(error: DecodeError) -> Self {
        let mut document = Map::new();
        document.insert("evenkeel".into(), REDACTED_FORM.into());
        document.insert("error".into(), error.label().into());
        Self::of(document)
    }

    /// Stands for the value of a key that is not Connect's.
    fn dropped() -> Self {
        let mut document = Map::new();
        document.insert("evenkeel".into(), REDACTED_FORM.into());
        Self::of(document)
    }
}

impl std::fmt::Debug for Redacted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.document {
            Some(document) => f.write_str(&String::from_utf8_lossy(document)),
            None => f.write_str("tombstone"),
        }
    }
}

/// Redacts a value of the config topic. Takes raw values only: a redacted
/// document given again is a raw one of the wrong shape.
pub fn redact_config(key: &[u8], value: Option<&[u8]>, contents: &mut Contents) -> Redacted {
    let Some(raw) = value else {
        return Redacted::TOMBSTONE;
    };
    let document = match ConfigKey::decode(key) {
        Err(error) => return Redacted::marker(error),
        Ok(ConfigKey::Unknown) => return Redacted::dropped(),
        Ok(ConfigKey::Connector { .. } | ConfigKey::Task { .. }) => properties(raw, contents),
        Ok(ConfigKey::SessionKey) => session_key(raw, contents),
        Ok(key) => config_record::open_value(key, raw).map(|value| open_document(&value)),
    };
    document.map_or_else(Redacted::marker, Redacted::of)
}

/// Redacts a value of the status topic. A redacted document given again comes
/// out as it was.
pub fn redact_status(key: &[u8], value: Option<&[u8]>) -> Redacted {
    match StatusRecord::decode(key, value) {
        Ok(StatusRecord { value, .. }) => status_document(&value),
        // The value is read only under a key that is Connect's.
        Err(error) => Redacted::marker(error),
    }
}

/// Writes a redacted value of the config topic anew, its consumer group as `group_id`
/// says. Whatever is not read from it is not in the result; of one that cannot be read
/// only the error remains.
pub(super) fn rewrite_config(
    key: &[u8],
    value: Option<&[u8]>,
    group_id: impl FnOnce(&str) -> String,
) -> Redacted {
    match ConfigRecord::decode(key, value) {
        Err(_) if value.is_none() => Redacted::TOMBSTONE,
        Err(error) => Redacted::marker(error),
        Ok(record) => match record.value {
            ConfigValue::Tombstone => Redacted::TOMBSTONE,
            ConfigValue::Dropped => Redacted::dropped(),
            ConfigValue::SessionKey { content } => Redacted::of(content_document(content)),
            ConfigValue::Properties {
                mut settings,
                content,
            } => {
                const GROUP_ID: SettingName = SettingName::ConsumerGroupId;
                if let Some(group) = settings.text(GROUP_ID).map(group_id) {
                    settings.set(GROUP_ID, Some(SettingValue::Text(group)));
                }
                Redacted::of(properties_document(content, &settings))
            }
            value => Redacted::of(open_document(&value)),
        },
    }
}

fn properties(raw: &[u8], contents: &mut Contents) -> Result<Map<String, Value>, DecodeError> {
    let inner = Properties {
        digest: contents.digest(),
        settings: Settings::default(),
    };
    let mut fields = Within {
        name: "properties",
        inner,
        found: false,
    };
    read_object(raw, &mut fields).map_err(|problem| problem.of("properties"))?;
    if !fields.found {
        return Err(JsonProblem::FieldMissing.of("properties"));
    }
    let Properties { digest, settings } = fields.inner;
    let content = contents.of_properties(digest);
    Ok(properties_document(content, &settings))
}

fn properties_document(content: Content, settings: &Settings) -> Map<String, Value> {
    let mut document = content_document(content);
    let settings = settings.iter().map(|(name, value)| {
        let value = match value {
            SettingValue::Text(text) => Value::from(text.as_str()),
            SettingValue::Integer(number) => Value::from(*number),
            SettingValue::Present => Value::Bool(true),
            SettingValue::Withheld => Value::Null,
        };
        (name.as_str().to_owned(), value)
    });
    document.insert("settings".into(), settings.collect());
    document
}

/// The properties of a connector or task: all are hashed, few are kept.
struct Properties {
    digest: PropertiesDigest,
    settings: Settings,
}

impl<'de> Fields<'de> for Properties {
    fn field<A: MapAccess<'de>>(&mut self, name: &[u8], map: &mut A) -> Result<(), A::Error> {
        let value = map.next_value_seed(Bytes {
            keep_max: usize::MAX,
        })?;
        self.digest.add(name, value.as_deref());
        if let Some(setting) = SettingName::from_bytes(name) {
            self.settings.set(setting, setting.keep(value.as_deref()));
        }
        Ok(())
    }
}

fn session_key(raw: &[u8], contents: &mut Contents) -> Result<Map<String, Value>, DecodeError> {
    // No field is wanted; this only tells whether it is an object at all.
    read_object(raw, &mut Wanted::new([])).map_err(|problem| problem.of("value"))?;
    Ok(content_document(contents.of_bytes(raw)))
}

fn content_document(content: Content) -> Map<String, Value> {
    let mut document = Map::new();
    document.insert("evenkeel".into(), REDACTED_FORM.into());
    document.insert("content".into(), content.ordinal.into());
    if content.since != 0 {
        document.insert("since".into(), content.since.into());
    }
    document
}

/// A value without secrets, in Kafka's own field names.
fn open_document(value: &ConfigValue) -> Map<String, Value> {
    let mut document = Map::new();
    match value {
        ConfigValue::TargetState {
            state,
            state_before_v2,
        } => match state_before_v2 {
            None => _ = document.insert("state".into(), state.as_str().into()),
            Some(before) => {
                document.insert("state".into(), before.as_str().into());
                document.insert("state.v2".into(), state.as_str().into());
            }
        },
        ConfigValue::Commit { tasks } => {
            document.insert("tasks".into(), (*tasks).into());
        }
        ConfigValue::Restart {
            include_tasks,
            only_failed,
        } => {
            document.insert("include-tasks".into(), (*include_tasks).into());
            document.insert("only-failed".into(), (*only_failed).into());
        }
        ConfigValue::TasksFencing { task_count } => {
            document.insert("task-count".into(), (*task_count).into());
        }
        ConfigValue::LoggerLevel { level } => {
            document.insert("level".into(), level.clone().into());
        }
        ConfigValue::Tombstone
        | ConfigValue::Properties { .. }
        | ConfigValue::SessionKey { .. }
        | ConfigValue::Dropped => {}
    }
    document
}

fn status_document(value: &StatusValue) -> Redacted {
    let mut document = Map::new();
    match value {
        StatusValue::Tombstone => return Redacted::TOMBSTONE,
        StatusValue::Dropped => return Redacted::dropped(),
        StatusValue::Status(status) => {
            document.insert("state".into(), status.state.as_str().into());
            document.insert("worker_id".into(), status.worker_id.as_str().into());
            document.insert("generation".into(), status.generation.into());
            if let Some(version) = &status.version {
                document.insert("version".into(), version.as_str().into());
            }
            if let Some(class) = &status.error_class {
                document.insert("error_class".into(), class.as_str().into());
            }
        }
        StatusValue::TopicUsage {
            task,
            discover_timestamp_ms,
        } => {
            let mut topic = Map::new();
            topic.insert("task".into(), (*task).into());
            topic.insert("discoverTimestamp".into(), (*discover_timestamp_ms).into());
            document.insert("topic".into(), Value::Object(topic));
        }
    }
    Redacted::of(document)
}

/// Turns a marker back into the error it stands for.
pub(super) fn refuse_marker(document: &[u8]) -> Result<(), DecodeError> {
    match wanted(document, ["evenkeel", "error"]) {
        Ok([form, error]) => refuse_error(&form, &error),
        Err(problem) => Err(problem.of("value")),
    }
}

/// The same on fields that were read already.
pub(super) fn refuse_error(form: &Scalar<'_>, error: &Scalar<'_>) -> Result<(), DecodeError> {
    match (form, error) {
        (Scalar::Int(REDACTED_FORM), Scalar::Text(label)) => {
            let known = JsonProblem::ALL
                .into_iter()
                .find(|problem| problem.label() == label);
            Err(known.unwrap_or(JsonProblem::OutOfBounds).of("value"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
