//! Records of the config topic: what should exist, and what was asked for.
//!
//! Keys and values: `KafkaConfigBackingStore.java`. The values of `connector-`,
//! `task-` and `session-key` records are read only in the form that
//! [`redact_config`](super::redact::redact_config) writes, so that a path
//! around redaction ends in a counted error and not in a leak.

use super::contents::Content;
use super::json::{Scalar, Wanted, Within, is_word, read_object, wanted};
use super::names::{connector_and_task, non_empty};
use super::redact::{self, REDACTED_FORM};
use super::settings::{SettingName, Settings};
use super::{DecodeError, JsonProblem};

/// A key of the config topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigKey<'a> {
    /// `target-state-<c>`
    TargetState {
        /// The connector.
        connector: &'a str,
    },
    /// `connector-<c>`
    Connector {
        /// The connector.
        connector: &'a str,
    },
    /// `task-<c>-<i>`
    Task {
        /// The connector.
        connector: &'a str,
        /// The task's index.
        task: i32,
    },
    /// `commit-<c>`
    Commit {
        /// The connector.
        connector: &'a str,
    },
    /// `restart-connector-<c>` (KIP-745)
    Restart {
        /// The connector.
        connector: &'a str,
    },
    /// `tasks-fencing-<c>` (KIP-618)
    TasksFencing {
        /// The connector.
        connector: &'a str,
    },
    /// `session-key` (KIP-507)
    SessionKey,
    /// `logger-cluster-<namespace>` (KIP-976)
    LoggerCluster {
        /// The logger.
        logger: &'a str,
    },
    /// None of the above: to count and skip. Its value is never looked at.
    Unknown,
}

impl<'a> ConfigKey<'a> {
    /// Reads a key, testing prefixes in the order Connect does.
    ///
    /// # Errors
    /// A known prefix with nothing usable behind it, or no UTF-8.
    pub fn decode(key: &'a [u8]) -> Result<Self, DecodeError> {
        let bad = DecodeError::BadKey {
            field: "config key",
        };
        let key = std::str::from_utf8(key).map_err(|_| bad)?;
        let known = if let Some(rest) = key.strip_prefix("target-state-") {
            non_empty(rest).map(|connector| Self::TargetState { connector })
        } else if let Some(rest) = key.strip_prefix("connector-") {
            non_empty(rest).map(|connector| Self::Connector { connector })
        } else if let Some(rest) = key.strip_prefix("task-") {
            connector_and_task(rest).map(|(connector, task)| Self::Task { connector, task })
        } else if let Some(rest) = key.strip_prefix("commit-") {
            non_empty(rest).map(|connector| Self::Commit { connector })
        } else if let Some(rest) = key.strip_prefix("restart-connector-") {
            non_empty(rest).map(|connector| Self::Restart { connector })
        } else if let Some(rest) = key.strip_prefix("tasks-fencing-") {
            non_empty(rest).map(|connector| Self::TasksFencing { connector })
        } else if key == "session-key" {
            Some(Self::SessionKey)
        } else if let Some(rest) = key.strip_prefix("logger-cluster-") {
            non_empty(rest).map(|logger| Self::LoggerCluster { logger })
        } else {
            Some(Self::Unknown)
        };
        known.ok_or(bad)
    }
}

/// A value of the config topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigValue {
    /// No value: the key's subject is gone.
    Tombstone,
    /// A connector's or task's configuration, as far as it is kept.
    Properties {
        /// The whitelisted settings.
        settings: Settings,
        /// Which content this was, all settings included.
        content: Content,
    },
    /// What a person asked a connector to be.
    TargetState {
        /// `state.v2` where it is set (KIP-875, 3.5), else `state`.
        state: TargetState,
        /// What `state` says beside a `state.v2`: what older workers act on.
        state_before_v2: Option<TargetState>,
    },
    /// The task configurations before this record are complete.
    Commit {
        /// How many tasks the connector has from here on.
        tasks: i32,
    },
    /// A request to restart a connector.
    Restart {
        /// Its tasks, too.
        include_tasks: bool,
        /// Only what has failed.
        only_failed: bool,
    },
    /// An exactly-once source fenced its predecessors.
    TasksFencing {
        /// The number of tasks fenced for.
        task_count: i32,
    },
    /// The key that signs internal requests was rotated.
    SessionKey {
        /// Which content this was.
        content: Content,
    },
    /// A log level was set on all workers.
    LoggerLevel {
        /// The level; `None` where it was unset.
        level: Option<String>,
    },
    /// The value of an unknown key.
    Dropped,
}

/// The target state of a connector (`TargetState.java`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetState {
    /// Running.
    Started,
    /// Instances stay, nothing is processed.
    Paused,
    /// No tasks at all (3.5).
    Stopped,
    /// A state of a later release.
    Other(String),
}

/// A record of the config topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigRecord<'a> {
    /// What it is about.
    pub key: ConfigKey<'a>,
    /// What it says.
    pub value: ConfigValue,
}

impl<'a> ConfigRecord<'a> {
    /// Reads a record whose value went through redaction.
    ///
    /// # Errors
    /// A key or value that Connect does not write, or one that was not redacted
    /// although its key is among those that hold secrets.
    pub fn decode(key: &'a [u8], redacted: Option<&[u8]>) -> Result<Self, DecodeError> {
        let key = ConfigKey::decode(key)?;
        let value = match redacted {
            None => ConfigValue::Tombstone,
            Some(document) => match key {
                ConfigKey::Connector { .. } | ConfigKey::Task { .. } => {
                    let content = content(document)?;
                    ConfigValue::Properties {
                        settings: settings(document)?,
                        content,
                    }
                }
                ConfigKey::SessionKey => ConfigValue::SessionKey {
                    content: content(document)?,
                },
                _ => {
                    redact::refuse_marker(document)?;
                    open_value(key, document)?
                }
            },
        };
        Ok(Self { key, value })
    }
}

/// The value under a key that holds no secrets, raw or redacted: one form.
pub(super) fn open_value(key: ConfigKey<'_>, document: &[u8]) -> Result<ConfigValue, DecodeError> {
    let bad = |problem: JsonProblem| problem.of("value");
    Ok(match key {
        ConfigKey::TargetState { .. } => {
            let [state, v2] = wanted(document, ["state", "state.v2"]).map_err(bad)?;
            let read = |field, scalar: &Scalar<'_>| match scalar.is_none() {
                true => Ok(None),
                false => scalar
                    .text(field, is_word)
                    .map(TargetState::from_word)
                    .map(Some),
            };
            match (read("state", &state)?, read("state.v2", &v2)?) {
                (state_before_v2, Some(state)) => ConfigValue::TargetState {
                    state,
                    state_before_v2,
                },
                (Some(state), None) => ConfigValue::TargetState {
                    state,
                    state_before_v2: None,
                },
                (None, None) => return Err(JsonProblem::FieldMissing.of("state")),
            }
        }
        ConfigKey::Commit { .. } => {
            let [tasks] = wanted(document, ["tasks"]).map_err(bad)?;
            ConfigValue::Commit {
                tasks: count(&tasks, "tasks")?,
            }
        }
        ConfigKey::Restart { .. } => {
            let names = ["include-tasks", "only-failed"];
            let [tasks, failed] = wanted(document, names).map_err(bad)?;
            // Connect, too, takes anything that is no boolean as false (`restartRequest`).
            let (include_tasks, only_failed) = (tasks.is_true(), failed.is_true());
            ConfigValue::Restart {
                include_tasks,
                only_failed,
            }
        }
        ConfigKey::TasksFencing { .. } => {
            let [tasks] = wanted(document, ["task-count"]).map_err(bad)?;
            ConfigValue::TasksFencing {
                task_count: count(&tasks, "task-count")?,
            }
        }
        ConfigKey::LoggerCluster { .. } => {
            let [level] = wanted(document, ["level"]).map_err(bad)?;
            let level = match level.is_none() {
                true => None,
                false => Some(level.text("level", is_word)?.to_owned()),
            };
            ConfigValue::LoggerLevel { level }
        }
        ConfigKey::Connector { .. } | ConfigKey::Task { .. } | ConfigKey::SessionKey => {
            return Err(bad(JsonProblem::NotRedacted));
        }
        ConfigKey::Unknown => ConfigValue::Dropped,
    })
}

fn count(tasks: &Scalar<'_>, field: &'static str) -> Result<i32, DecodeError> {
    match tasks.i32(field)? {
        tasks if tasks < 0 => Err(JsonProblem::OutOfBounds.of(field)),
        tasks => Ok(tasks),
    }
}

/// The content of a redacted document; a raw one is refused.
fn content(document: &[u8]) -> Result<Content, DecodeError> {
    redact::refuse_marker(document)?;
    let fields = wanted(document, ["evenkeel", "content", "since"]);
    let [form, ordinal, since] = fields.map_err(|problem| problem.of("value"))?;
    if !matches!(form, Scalar::Int(REDACTED_FORM)) {
        return Err(JsonProblem::NotRedacted.of("value"));
    }
    let number = |scalar: &Scalar<'_>, field| {
        let outside = JsonProblem::OutOfBounds.of(field);
        u32::try_from(scalar.i64(field)?).map_err(|_| outside)
    };
    let since = if since.is_none() {
        0
    } else {
        number(&since, "since")?
    };
    Ok(Content {
        ordinal: number(&ordinal, "content")?,
        since,
    })
}

fn settings(document: &[u8]) -> Result<Settings, DecodeError> {
    let inner = Wanted::new(SettingName::ALL.map(SettingName::as_str));
    let mut fields = Within {
        name: "settings",
        inner,
        found: false,
    };
    read_object(document, &mut fields).map_err(|problem| problem.of("settings"))?;
    let mut settings = Settings::default();
    for (name, kept) in SettingName::ALL.into_iter().zip(&fields.inner.found) {
        settings.set(name, name.keep_again(kept));
    }
    Ok(settings)
}

impl TargetState {
    fn from_word(word: &str) -> Self {
        match word {
            "STARTED" => Self::Started,
            "PAUSED" => Self::Paused,
            "STOPPED" => Self::Stopped,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The state as Connect spells it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Started => "STARTED",
            Self::Paused => "PAUSED",
            Self::Stopped => "STOPPED",
            Self::Other(word) => word,
        }
    }
}

#[cfg(test)]
mod tests;
