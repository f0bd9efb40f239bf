//! The whitelist: the only settings of connectors and tasks that are ever kept.
//!
//! Connector and task configurations hold credentials in any field, so nothing
//! is kept by default and nothing is masked: a setting is listed here with the
//! shape its value must have, or it does not exist for evenkeel.

use serde::{Deserialize, Serialize};

use super::json::{Scalar, is_word};

/// Longer texts are withheld. Kafka holds topic names to the same length.
const TEXT_CHARS_MAX: usize = 249;

/// A setting that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SettingName {
    /// `connector.class`
    #[serde(rename = "connector.class")]
    ConnectorClass,
    /// `tasks.max`
    #[serde(rename = "tasks.max")]
    TasksMax,
    /// `topics`: only whether it is set, which tells a sink.
    #[serde(rename = "topics")]
    Topics,
    /// `topics.regex`: only whether it is set.
    #[serde(rename = "topics.regex")]
    TopicsRegex,
    /// `consumer.override.group.id`
    #[serde(rename = "consumer.override.group.id")]
    ConsumerGroupId,
    /// `consumer.override.group.protocol`
    #[serde(rename = "consumer.override.group.protocol")]
    ConsumerGroupProtocol,
    /// `consumer.override.session.timeout.ms`
    #[serde(rename = "consumer.override.session.timeout.ms")]
    ConsumerSessionTimeoutMs,
    /// `consumer.override.heartbeat.interval.ms`
    #[serde(rename = "consumer.override.heartbeat.interval.ms")]
    ConsumerHeartbeatIntervalMs,
    /// `consumer.override.max.poll.interval.ms`
    #[serde(rename = "consumer.override.max.poll.interval.ms")]
    ConsumerMaxPollIntervalMs,
    /// `producer.override.delivery.timeout.ms`
    #[serde(rename = "producer.override.delivery.timeout.ms")]
    ProducerDeliveryTimeoutMs,
    /// `producer.override.request.timeout.ms`
    #[serde(rename = "producer.override.request.timeout.ms")]
    ProducerRequestTimeoutMs,
}

/// What a setting's value must look like to be kept.
#[derive(Debug, Clone, Copy)]
enum Shape {
    ClassName,
    GroupId,
    Word,
    Integer,
    Presence,
}

impl SettingName {
    /// All of them, in the order in which they are written.
    pub const ALL: [Self; 11] = [
        Self::ConnectorClass,
        Self::TasksMax,
        Self::Topics,
        Self::TopicsRegex,
        Self::ConsumerGroupId,
        Self::ConsumerGroupProtocol,
        Self::ConsumerSessionTimeoutMs,
        Self::ConsumerHeartbeatIntervalMs,
        Self::ConsumerMaxPollIntervalMs,
        Self::ProducerDeliveryTimeoutMs,
        Self::ProducerRequestTimeoutMs,
    ];

    /// The setting's name in a connector's configuration.
    pub const fn as_str(self) -> &'static str {
        self.describe().0
    }

    const fn describe(self) -> (&'static str, Shape) {
        match self {
            Self::ConnectorClass => ("connector.class", Shape::ClassName),
            Self::TasksMax => ("tasks.max", Shape::Integer),
            Self::Topics => ("topics", Shape::Presence),
            Self::TopicsRegex => ("topics.regex", Shape::Presence),
            Self::ConsumerGroupId => ("consumer.override.group.id", Shape::GroupId),
            Self::ConsumerGroupProtocol => ("consumer.override.group.protocol", Shape::Word),
            Self::ConsumerSessionTimeoutMs => {
                ("consumer.override.session.timeout.ms", Shape::Integer)
            }
            Self::ConsumerHeartbeatIntervalMs => {
                ("consumer.override.heartbeat.interval.ms", Shape::Integer)
            }
            Self::ConsumerMaxPollIntervalMs => {
                ("consumer.override.max.poll.interval.ms", Shape::Integer)
            }
            Self::ProducerDeliveryTimeoutMs => {
                ("producer.override.delivery.timeout.ms", Shape::Integer)
            }
            Self::ProducerRequestTimeoutMs => {
                ("producer.override.request.timeout.ms", Shape::Integer)
            }
        }
    }

    pub(super) fn from_bytes(name: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|setting| setting.as_str().as_bytes() == name)
    }

    /// The value of a raw property. `None` for null, which Connect treats as not set.
    pub(super) fn keep(self, raw: Option<&[u8]>) -> Option<SettingValue> {
        let text = std::str::from_utf8(raw?).unwrap_or_default();
        Some(self.shaped(text).unwrap_or(SettingValue::Withheld))
    }

    /// The value of a redacted document, held to the same shapes.
    pub(super) fn keep_again(self, kept: &Scalar<'_>) -> Option<SettingValue> {
        let shaped = match (kept, self.describe().1) {
            (Scalar::Absent, _) => return None,
            (Scalar::Bool(true), Shape::Presence) => Some(SettingValue::Present),
            (Scalar::Int(value), Shape::Integer) => Some(SettingValue::Integer(*value)),
            (Scalar::Text(text), Shape::ClassName | Shape::GroupId | Shape::Word) => {
                self.shaped(text)
            }
            _ => None,
        };
        Some(shaped.unwrap_or(SettingValue::Withheld))
    }

    fn shaped(self, text: &str) -> Option<SettingValue> {
        let of = |allowed: &[u8]| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || allowed.contains(&byte);
            let fits = !text.is_empty() && text.len() <= TEXT_CHARS_MAX;
            let fits = fits && text.bytes().all(allowed);
            fits.then(|| SettingValue::Text(text.to_owned()))
        };
        match self.describe().1 {
            Shape::Presence => Some(SettingValue::Present),
            // `ConfigDef` trims what it parses.
            Shape::Integer => text.trim().parse().ok().map(SettingValue::Integer),
            Shape::ClassName => of(b"._$-"),
            Shape::GroupId => of(b"._-"),
            Shape::Word => is_word(text).then(|| SettingValue::Text(text.to_owned())),
        }
    }
}

/// The value of a kept setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SettingValue {
    /// A class name, group id or word.
    Text(String),
    /// A number.
    Integer(i64),
    /// Set; the value is not kept.
    Present,
    /// Set to something of another shape, such as a config provider's
    /// placeholder: not the default, and not known here.
    Withheld,
}

/// The kept settings of a connector or task. What is not in it is not set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings(Vec<(SettingName, SettingValue)>);

impl Settings {
    /// The setting's value, `None` where it is not set.
    pub fn get(&self, name: SettingName) -> Option<&SettingValue> {
        self.0
            .iter()
            .find(|(found, _)| *found == name)
            .map(|(_, value)| value)
    }

    /// The setting's text, where it is set to one.
    pub fn text(&self, name: SettingName) -> Option<&str> {
        match self.get(name) {
            Some(SettingValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The setting's number, where it is set to one.
    pub fn integer(&self, name: SettingName) -> Option<i64> {
        match self.get(name) {
            Some(SettingValue::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    /// Whether a sink's topics are set, by list or by pattern.
    pub fn is_sink(&self) -> bool {
        self.get(SettingName::Topics).is_some() || self.get(SettingName::TopicsRegex).is_some()
    }

    /// All that are set, in the order of [`SettingName::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (SettingName, &SettingValue)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// Sets a value; the last one of a name counts.
    pub(super) fn set(&mut self, name: SettingName, value: Option<SettingValue>) {
        let place = self.0.binary_search_by_key(&name, |(found, _)| *found);
        match (place, value) {
            (Ok(at), None) => _ = self.0.remove(at),
            (Ok(at), Some(value)) => {
                if let Some(entry) = self.0.get_mut(at) {
                    entry.1 = value;
                }
            }
            (Err(_), None) => {}
            (Err(at), Some(value)) => self.0.insert(at, (name, value)),
        }
    }
}

#[cfg(test)]
mod tests;
