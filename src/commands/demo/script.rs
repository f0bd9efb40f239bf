//! What the demo plays: the records of a capture, each with the moment it is served at.
//!
//! Silences are cut, unless something that a metric shows is going on: a running delay
//! or unassigned work keeps its true length. Then all times are shifted, inside the
//! records too, so that counters count what is served.

use std::time::Duration;

use bytes::Bytes;
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{Input, InputKind, Record, Settings, Topic};
use evenkeel_core::facts::partition::group_partition;
use evenkeel_core::facts::time::ArrivalTime;
use evenkeel_core::wire::encode;
use evenkeel_core::wire::group_record::GroupMetadata;
use serde_json::{Map, Value};
use std::io::Read;
use thiserror::Error;

use crate::commands::demo::broker::{self, Broker, BrokerError, TopicSpec};
use crate::read::capture::{CaptureError, CaptureReader};
use crate::run::clock;

/// The longest silence that is kept, besides a session: one that a person can bear, and longer
/// than the pauses inside a rebalance.
const SILENCE_MS_MAX: i64 = 2_000;

/// Partitions of the offsets topic that are tried to find the one that was recorded.
const OFFSETS_PARTITIONS_MAX: i32 = 1_000;

/// Records to serve, and where.
#[derive(Debug)]
pub(super) struct Script {
    settings: Settings,
    recorded_on: Option<String>,
    offsets_partitions: i32,
    scenes: Vec<Scene>,
}

/// One record and its moment.
#[derive(Debug)]
struct Scene {
    /// When it is served, counted from the beginning.
    at_ms: i64,
    /// What has to be added to the times in the record, to count from the beginning.
    shift_ms: i64,
    record: Record,
}

/// Why a capture cannot be shown.
#[derive(Debug, Error)]
pub(super) enum ScriptError {
    /// The capture is damaged.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// It does not say what was watched.
    #[error("the capture has no settings: its first input must name the group and its topics")]
    NoSettings,
    /// It holds no records.
    #[error("the capture holds no records")]
    Empty,
    /// The partition is not one that the group hashes to.
    #[error("the capture names an offsets partition that its group cannot have")]
    Partition,
}

// === impl Script ===

impl Script {
    /// Makes a script of a capture.
    ///
    /// # Errors
    /// The capture is damaged, or holds nothing to show.
    pub(super) fn write<R: Read>(capture: CaptureReader<R>) -> Result<Self, ScriptError> {
        let header = capture.header().clone();
        let inputs = capture.collect::<Result<Vec<Input>, CaptureError>>()?;
        // What is watched becomes known bit by bit; the last word holds.
        let settings = inputs
            .iter()
            .rev()
            .find_map(|input| match &input.kind {
                InputKind::Settings(settings) => Some(settings.clone()),
                _ => None,
            })
            .ok_or(ScriptError::NoSettings)?;
        let offsets_partitions = (1..=OFFSETS_PARTITIONS_MAX)
            .find(|count| {
                group_partition(&settings.group, *count) == Some(settings.offsets_partition)
            })
            .filter(|count| *count > settings.offsets_partition)
            .ok_or(ScriptError::Partition)?;
        let scenes = scenes(inputs);
        if scenes.is_empty() {
            return Err(ScriptError::Empty);
        }
        let recorded_on = header
            .kafka
            .and_then(|kafka| kafka.broker)
            .map(|r| format!("Kafka {r}"));
        Ok(Self {
            settings,
            recorded_on,
            offsets_partitions,
            scenes,
        })
    }

    /// What the capture watched.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// On which Kafka it was recorded, if the capture says so.
    pub(super) fn recorded_on(&self) -> Option<&str> {
        self.recorded_on.as_deref()
    }

    /// The cluster id that the embedded broker tells.
    pub(super) fn cluster_id(&self) -> &str {
        self.settings
            .cluster_id
            .as_deref()
            .unwrap_or("evenkeel-demo")
    }

    /// How much of the silences is cut, all together.
    pub(super) fn cut_ms(&self) -> i64 {
        let scenes = self.scenes.first().zip(self.scenes.last());
        scenes.map_or(0, |(first, last)| {
            first.shift_ms.saturating_sub(last.shift_ms).max(0)
        })
    }

    /// From the first record to the last.
    pub(super) fn length_ms(&self) -> i64 {
        self.scenes.last().map_or(0, |scene| scene.at_ms)
    }

    /// The name of a topic.
    pub(super) fn topic_name(&self, topic: Topic) -> &str {
        match topic {
            Topic::Offsets => &self.settings.offsets_topic,
            Topic::Config => &self.settings.config_topic,
            Topic::Status => &self.settings.status_topic,
        }
    }

    /// The topics to create.
    pub(super) fn topics(&self) -> Vec<TopicSpec> {
        let partitions = |topic| match topic {
            Topic::Offsets => self.offsets_partitions,
            Topic::Config => self.settings.config_partitions.max(1),
            Topic::Status => self.settings.status_partitions.max(1),
        };
        let spec = |topic| TopicSpec {
            name: self.topic_name(topic).to_owned(),
            partitions: partitions(topic),
        };
        Topic::ALL.into_iter().map(spec).collect()
    }

    /// Serves every record at its moment, counted from `begin`.
    ///
    /// # Errors
    /// The broker does not take a record.
    pub(super) async fn serve(
        &self,
        broker: &Broker,
        begin: ArrivalTime,
    ) -> Result<(), BrokerError> {
        for scene in &self.scenes {
            let wait_ms = begin.plus_ms(scene.at_ms).since_ms(clock::now());
            if let Ok(wait_ms) = u64::try_from(wait_ms) {
                tokio::time::sleep(Duration::from_millis(wait_ms)).await;
            }
            let record = &scene.record;
            let shift_ms = begin.0.saturating_add(scene.shift_ms);
            let served = broker::Record {
                key: record.key.clone().map(Bytes::from),
                value: record
                    .value
                    .as_deref()
                    .map(|value| Bytes::from(dated(record.topic, value, shift_ms))),
                timestamp_ms: record
                    .timestamp
                    .map_or(0, |at| at.0.saturating_add(shift_ms)),
                offset: Some(record.offset),
            };
            broker.append(self.topic_name(record.topic), record.partition, served)?;
        }
        Ok(())
    }
}

/// The records of a capture, silences cut.
fn scenes(inputs: Vec<Input>) -> Vec<Scene> {
    let mut engine = Engine::new();
    let mut scenes: Vec<Scene> = Vec::new();
    // When the record before was recorded, and when it is served.
    let mut before: Option<(ArrivalTime, i64)> = None;
    for input in inputs {
        if !matches!(input.kind, InputKind::Record(_)) {
            engine.apply(&input);
            continue;
        }
        let at_ms = before.map_or(0, |(recorded, served_ms)| {
            let silence_ms = input.at.since_ms(recorded).max(0);
            // What shows is what is so before this record.
            let kept_max = SILENCE_MS_MAX.saturating_add(session_ms_max(&engine));
            let kept_ms = if silence_ms > kept_max && !something_shows(&engine) {
                kept_max
            } else {
                silence_ms
            };
            served_ms.saturating_add(kept_ms)
        });
        engine.apply(&input);
        let InputKind::Record(record) = input.kind else {
            continue;
        };
        before = Some((input.at, at_ms));
        let shift_ms = at_ms.saturating_sub(input.at.0);
        scenes.push(Scene {
            at_ms,
            shift_ms,
            record: restored(record),
        });
    }
    scenes
}

/// The longest session of the members: how long somebody was silent says how it left.
fn session_ms_max(engine: &Engine) -> i64 {
    let group = engine.answers().group;
    let members = group.map(|group| group.members).unwrap_or_default();
    let sessions = members
        .iter()
        .filter_map(|member| member.session_timeout_ms);
    sessions.max().map_or(0, i64::from)
}

/// Whether time itself can be seen in a metric.
fn something_shows(engine: &Engine) -> bool {
    let answers = engine.answers();
    answers.deadline.is_some() || !answers.without_owner().is_empty()
}

/// The value with the times inside it shifted: a group record holds the end of its join
/// phase. A value that is none stays as it is.
fn dated(topic: Topic, value: &[u8], shift_ms: i64) -> Vec<u8> {
    if topic != Topic::Offsets {
        return value.to_vec();
    }
    let shifted = GroupMetadata::decode(value)
        .ok()
        .and_then(|decoded| decoded.known())
        .and_then(|mut group| {
            let at_ms = group.current_state_timestamp_ms?;
            group.current_state_timestamp_ms = Some(at_ms.saturating_add(shift_ms));
            encode::group_metadata(&group).ok()
        });
    shifted.unwrap_or_else(|| value.to_vec())
}

/// A configuration in the form that Connect writes: captures hold it redacted. What was
/// left out stays out; equal contents stay equal and different ones different.
fn restored(mut record: Record) -> Record {
    if record.topic == Topic::Config
        && let Some(value) = record.value.as_deref()
        && let Some(raw) = unredacted(value)
    {
        record.value = Some(raw.to_string().into_bytes());
    }
    record
}

fn unredacted(value: &[u8]) -> Option<Value> {
    let document: Map<String, Value> = serde_json::from_slice(value).ok()?;
    let content = document
        .get("evenkeel")
        .and(document.get("content"))?
        .to_string();
    let Some(settings) = document.get("settings").and_then(Value::as_object) else {
        return Some(serde_json::json!({
            "key": content, "algorithm": "HmacSHA256", "creation-timestamp": 0,
        }));
    };
    let mut properties: Map<String, Value> = settings
        .iter()
        .map(|(name, value)| {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), Value::String(text))
        })
        .collect();
    properties.insert("demo.content".to_owned(), Value::String(content));
    Some(serde_json::json!({ "properties": properties }))
}

#[cfg(test)]
mod tests;
