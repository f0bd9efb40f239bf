//! One line of a capture and back: the field names and how bytes are written.

mod polled;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evenkeel_core::facts::cluster::Cluster;
use evenkeel_core::facts::input::{
    Access, Ends, Input, InputKind, Reached, Record, Sampled, Settings, Start, Topic,
};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use polled::{POLLED_FIELDS, PolledBody};

/// A line as written; the fields of the kind follow `at` and `kind`.
#[derive(Serialize)]
struct Line<'a, B> {
    at: i64,
    kind: &'a str,
    #[serde(flatten)]
    body: B,
}

/// A record as written. Absent fields are the usual ones: no epoch, no timestamp,
/// stamped by its writer, no key, a tombstone.
#[derive(Serialize, Deserialize)]
struct RecordBody {
    topic: Topic,
    partition: i32,
    offset: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epoch: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ts: Option<i64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    append_time: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

#[derive(Serialize)]
struct EndBody {
    inputs: u64,
}

#[derive(Serialize)]
struct NoBody {}

/// What a line turned out to be.
#[derive(Debug)]
pub(super) enum Parsed {
    /// An input, and how many of its fields this release does not know.
    Input(Box<Input>, u64),
    /// A kind that this release does not know.
    UnknownKind,
    /// The end marker, and how many inputs it counts.
    End(u64),
}

/// The line of an input, without its line end.
pub(super) fn write(input: &Input) -> serde_json::Result<Vec<u8>> {
    let at = input.at.0;
    match &input.kind {
        InputKind::Settings(body) => encode(at, "settings", body),
        InputKind::Start(body) => encode(at, "start", body),
        InputKind::Record(record) => encode(at, "record", RecordBody::from(record)),
        InputKind::Reached(body) => encode(at, "reached", body),
        InputKind::Sampled(body) => encode(at, "sampled", body),
        InputKind::Ends(body) => encode(at, "ends", body),
        InputKind::Access(body) => encode(at, "access", body),
        InputKind::Polled(polled) => encode(at, "polled", PolledBody::from(polled)),
        InputKind::Cluster(body) => encode(at, "cluster", body),
        InputKind::Tick => encode(at, "tick", NoBody {}),
    }
}

/// The end marker's line.
pub(super) fn write_end(at: i64, inputs: u64) -> serde_json::Result<Vec<u8>> {
    encode(at, "end", EndBody { inputs })
}

/// Reads a line. The reason of a failure names the field but repeats no value.
pub(super) fn parse(line: &[u8]) -> Result<Parsed, String> {
    let mut fields: Map<String, Value> = serde_json::from_slice(line)
        .map_err(|error| format!("not a JSON object ({:?})", error.classify()))?;
    let at = take_i64(&mut fields, "at")?;
    let Some(Value::String(kind)) = fields.remove("kind") else {
        return Err("field kind is missing or no string".to_owned());
    };
    let (kind, unknown) = match kind.as_str() {
        "settings" => {
            let unknown = drop_unknown(&mut fields, SETTINGS_FIELDS);
            (InputKind::Settings(decode::<Settings>(fields)?), unknown)
        }
        "start" => {
            let unknown = drop_unknown(&mut fields, START_FIELDS);
            (InputKind::Start(decode::<Start>(fields)?), unknown)
        }
        "record" => {
            let unknown = drop_unknown(&mut fields, RECORD_FIELDS);
            let body = decode::<RecordBody>(fields)?;
            (InputKind::Record(body.into_record()?), unknown)
        }
        "reached" => {
            let unknown = drop_unknown(&mut fields, REACHED_FIELDS);
            (InputKind::Reached(decode::<Reached>(fields)?), unknown)
        }
        "sampled" => {
            let unknown = drop_unknown(&mut fields, SAMPLED_FIELDS);
            (InputKind::Sampled(decode::<Sampled>(fields)?), unknown)
        }
        "ends" => {
            let unknown = drop_unknown(&mut fields, ENDS_FIELDS);
            (InputKind::Ends(decode::<Ends>(fields)?), unknown)
        }
        "access" => {
            let unknown = drop_unknown(&mut fields, ACCESS_FIELDS);
            (InputKind::Access(decode::<Access>(fields)?), unknown)
        }
        "polled" => {
            let unknown = drop_unknown(&mut fields, POLLED_FIELDS);
            let body = decode::<PolledBody>(fields)?;
            (InputKind::Polled(body.into_polled()?), unknown)
        }
        "cluster" => {
            let unknown = drop_unknown(&mut fields, CLUSTER_FIELDS);
            (InputKind::Cluster(decode::<Cluster>(fields)?), unknown)
        }
        "tick" => (InputKind::Tick, drop_unknown(&mut fields, &[])),
        "end" => {
            let inputs = take_i64(&mut fields, "inputs")?;
            return Ok(Parsed::End(inputs.unsigned_abs()));
        }
        _ => return Ok(Parsed::UnknownKind),
    };
    let at = ArrivalTime(at);
    Ok(Parsed::Input(Box::new(Input { at, kind }), unknown))
}

const SETTINGS_FIELDS: &[&str] = &[
    "cluster_id",
    "group",
    "offsets_topic",
    "offsets_partition",
    "config_topic",
    "config_partitions",
    "status_topic",
    "status_partitions",
    "worker_release",
    "own_worker",
    "own_addresses",
    "worker_settings",
    "masked",
];
const START_FIELDS: &[&str] = &["topic", "partition", "offset", "end", "anew"];
const RECORD_FIELDS: &[&str] = &[
    "topic",
    "partition",
    "offset",
    "epoch",
    "ts",
    "append_time",
    "key",
    "value",
];
const REACHED_FIELDS: &[&str] = &["topic", "partition", "offset"];
const SAMPLED_FIELDS: &[&str] = &["partition", "offset", "on"];
const ENDS_FIELDS: &[&str] = &["topic", "asked", "ends"];
const ACCESS_FIELDS: &[&str] = &["topic", "trouble", "asked"];
const CLUSTER_FIELDS: &[&str] = &["brokers", "coordinator", "topics"];

fn encode<B: Serialize>(at: i64, kind: &str, body: B) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Line { at, kind, body })
}

fn decode<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, String> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        // The inner text may quote the value, which may be a record's.
        let path = error.path().to_string();
        match error.into_inner().to_string() {
            text if text.starts_with("missing field") => text,
            _ => format!("field {path} is not what it should be"),
        }
    })
}

fn drop_unknown(fields: &mut Map<String, Value>, known: &[&str]) -> u64 {
    let before = fields.len();
    fields.retain(|name, _| known.contains(&name.as_str()));
    u64::try_from(before - fields.len()).unwrap_or(u64::MAX)
}

fn take_i64(fields: &mut Map<String, Value>, name: &str) -> Result<i64, String> {
    fields
        .remove(name)
        .and_then(|value| value.as_i64())
        .ok_or_else(|| format!("field {name} is missing or no integer"))
}

/// Bytes as a string: `t:` and the text where it is printable, else `b:` and base64,
/// so that most of a capture can be read by a person and all of it comes back.
fn bytes_to_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => format!("t:{text}"),
        _ => format!("b:{}", STANDARD.encode(bytes)),
    }
}

fn text_to_bytes(text: &str, field: &str) -> Result<Vec<u8>, String> {
    match text.split_at_checked(2) {
        Some(("t:", text)) => Ok(text.as_bytes().to_vec()),
        Some(("b:", text)) => STANDARD
            .decode(text)
            .map_err(|_| format!("field {field} is not base64")),
        _ => Err(format!("field {field} begins with neither t: nor b:")),
    }
}

// === impl RecordBody ===

impl From<&Record> for RecordBody {
    fn from(record: &Record) -> Self {
        Self {
            topic: record.topic,
            partition: record.partition,
            offset: record.offset,
            epoch: record.leader_epoch,
            ts: record.timestamp.map(|time| time.0),
            append_time: record.append_time,
            key: record.key.as_deref().map(bytes_to_text),
            value: record.value.as_deref().map(bytes_to_text),
        }
    }
}

impl RecordBody {
    fn into_record(self) -> Result<Record, String> {
        let key = self.key.map(|text| text_to_bytes(&text, "key"));
        let value = self.value.map(|text| text_to_bytes(&text, "value"));
        Ok(Record {
            topic: self.topic,
            partition: self.partition,
            offset: self.offset,
            leader_epoch: self.epoch,
            timestamp: self.ts.map(EventTime),
            append_time: self.append_time,
            key: key.transpose()?,
            value: value.transpose()?,
        })
    }
}
