//! Which silences are cut, and that the agent reads of the demo what was recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_core::facts::input::{Ends, Start};
use evenkeel_core::facts::time::EventTime;
use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::encode::topics;
use evenkeel_core::wire::encode::{AssignmentSpec, SubscriptionSpec, items_of};
use evenkeel_core::wire::group_record::Member;
use evenkeel_core::wire::redact::redact_config;
use tokio::sync::mpsc;

use super::super::{INCIDENT, plan};
use super::*;
use crate::read::capture::{CaptureWriter, Header};
use crate::read::kafka;

/// When the recordings here begin.
const BASE_MS: i64 = 1_700_000_000_000;

/// No wait may last longer.
const DEADLINE: Duration = Duration::from_secs(60);

fn settings() -> Settings {
    Settings {
        group: "connect".to_owned(),
        offsets_topic: "__consumer_offsets".to_owned(),
        config_topic: "connect-configs".to_owned(),
        config_partitions: 1,
        status_topic: "connect-status".to_owned(),
        status_partitions: 1,
        ..Settings::default()
    }
}

/// Inputs, each with the second it was recorded at.
#[derive(Default)]
struct Recording {
    inputs: Vec<Input>,
    ends: BTreeMap<Topic, i64>,
}

impl Recording {
    /// Of a group whose connector `c` with one task is configured and read.
    fn new() -> Self {
        let mut recording = Self::default();
        recording.add(0.0, InputKind::Settings(settings()));
        for topic in Topic::ALL {
            let start = Start {
                topic,
                partition: 0,
                offset: 0,
                end: 0,
                anew: false,
            };
            recording.add(0.0, InputKind::Start(start));
        }
        let properties = topics::properties([("connector.class", Some("C"))]);
        recording.config(0.0, "connector-c", &properties);
        recording.config(0.0, "task-c-0", &properties);
        recording.config(0.0, "commit-c", &topics::commit(1));
        recording
    }

    fn add(&mut self, at_s: f64, kind: InputKind) {
        let at = ArrivalTime(BASE_MS + (at_s * 1000.0).round() as i64);
        self.inputs.push(Input { at, kind });
    }

    fn record(&mut self, at_s: f64, topic: Topic, key: Vec<u8>, value: Vec<u8>) {
        let end = self.ends.entry(topic).or_default();
        let offset = *end;
        *end += 1;
        let record = Record {
            topic,
            partition: 0,
            offset,
            leader_epoch: None,
            timestamp: Some(EventTime(BASE_MS + (at_s * 1000.0).round() as i64)),
            append_time: false,
            key: Some(key),
            value: Some(value),
        };
        self.add(at_s, InputKind::Record(record));
        for topic in Topic::ALL {
            let end = self.ends.get(&topic).copied().unwrap_or(0);
            let asked = ArrivalTime(BASE_MS + (at_s * 1000.0).round() as i64);
            let ends = vec![(0, end)];
            self.add(at_s, InputKind::Ends(Ends { topic, asked, ends }));
        }
    }

    fn config(&mut self, at_s: f64, key: &str, value: &[u8]) {
        let mut contents = Contents::new([7; 16], 0);
        let redacted = redact_config(key.as_bytes(), Some(value), &mut contents);
        let value = redacted.into_value().unwrap();
        self.record(at_s, Topic::Config, key.into(), value);
    }

    fn status(&mut self, at_s: f64) {
        let running = evenkeel_core::wire::status_record::State::Running;
        let value = topics::status(&running, "w:8083", 1, None);
        self.record(at_s, Topic::Status, b"status-connector-c".to_vec(), value);
    }

    /// One worker that runs these, after a round with this delay.
    fn group(&mut self, at_s: f64, generation: i32, delay_ms: i32, runs: &[i32]) {
        let items = || items_of(runs.iter().map(|task| ("c", *task)));
        let assignment = |assigned, delay_ms| AssignmentSpec {
            version: 2,
            leader: "m",
            leader_url: "http://w:8083/",
            config_offset: 3,
            assigned: Some(assigned),
            revoked: Some(Vec::new()),
            delay_ms,
            ..AssignmentSpec::default()
        };
        let subscription = encode::subscription(&SubscriptionSpec {
            version: 2,
            url: "http://w:8083/",
            config_offset: 3,
            claim: Some(assignment(items(), 0)),
        })
        .unwrap();
        let assigned = encode::assignment(&assignment(Vec::new(), delay_ms)).unwrap();
        let value = encode::group_metadata(&GroupMetadata {
            version: 3,
            protocol_type: "connect",
            generation,
            protocol: Some("sessioned"),
            leader: Some("m"),
            current_state_timestamp_ms: Some(BASE_MS + (at_s * 1000.0).round() as i64),
            members: vec![Member {
                member_id: "m",
                group_instance_id: None,
                client_id: "w",
                client_host: "/192.0.2.1",
                rebalance_timeout_ms: Some(60_000),
                session_timeout_ms: 10_000,
                subscription: &subscription,
                assignment: &assigned,
            }],
        })
        .unwrap();
        let key = encode::group_metadata_key("connect").unwrap();
        self.record(at_s, Topic::Offsets, key, value);
    }

    /// The capture, damaged by losing its last bytes if it is to be `cut`.
    fn script(self, cut: bool) -> Result<Script, ScriptError> {
        let mut writer = CaptureWriter::new(Vec::new(), &Header::new(BASE_MS, None)).unwrap();
        for input in &self.inputs {
            writer.write(input).unwrap();
        }
        let mut bytes = writer.finish().unwrap();
        if cut {
            bytes.truncate(bytes.len() - 40);
        }
        Script::write(CaptureReader::new(bytes.as_slice())?)
    }
}

/// How long the last record waits for the one before, in ms.
fn last_silence_ms(script: &Script) -> i64 {
    match script.scenes.as_slice() {
        [.., before, last] => last.at_ms - before.at_ms,
        _ => panic!("fewer than two records"),
    }
}

#[test]
fn silences_are_cut_while_nothing_shows() {
    for (silence_s, kept_ms) in [(0.5, 500), (12.0, 12_000), (12.1, 12_000), (600.0, 12_000)] {
        let mut recording = Recording::new();
        recording.group(1.0, 1, 0, &[-1, 0]);
        recording.status(1.0 + silence_s);
        let script = recording.script(false).unwrap();
        assert_eq!(last_silence_ms(&script), kept_ms, "{silence_s}");
        let recorded_ms = (silence_s * 1_000.0) as i64;
        assert_eq!(script.cut_ms(), recorded_ms - kept_ms, "{silence_s}");
    }
}

#[test]
fn work_without_an_owner_keeps_its_time() {
    let mut recording = Recording::new();
    recording.group(1.0, 1, 0, &[-1]);
    recording.status(61.0);
    let script = recording.script(false).unwrap();
    assert_eq!(last_silence_ms(&script), 60_000);
    assert_eq!(script.cut_ms(), 0);
}

/// Here everything has an owner: only the deadline shows.
#[test]
fn a_running_delay_keeps_its_time() {
    let mut recording = Recording::new();
    recording.group(1.0, 1, 30_000, &[-1, 0]);
    recording.status(31.0);
    let script = recording.script(false).unwrap();
    assert_eq!(last_silence_ms(&script), 30_000);
    assert_eq!(script.cut_ms(), 0);
}

#[test]
fn what_cannot_be_shown_is_said() {
    let nothing = Recording::default().script(false).unwrap_err();
    assert!(matches!(nothing, ScriptError::NoSettings), "{nothing}");
    let mut silent = Recording::default();
    silent.add(0.0, InputKind::Settings(settings()));
    let silent = silent.script(false).unwrap_err();
    assert!(matches!(silent, ScriptError::Empty), "{silent}");
    // `connect` is in partition 0 of any number up to its hash.
    for partition in [-1, OFFSETS_PARTITIONS_MAX] {
        let mut foreign = Recording::new();
        let kind = InputKind::Settings(Settings {
            offsets_partition: partition,
            ..settings()
        });
        foreign.add(1.0, kind);
        let foreign = foreign.script(false).unwrap_err();
        assert!(matches!(foreign, ScriptError::Partition), "{foreign}");
    }
    let cut = Recording::new().script(true).unwrap_err();
    assert!(matches!(cut, ScriptError::Capture(_)), "{cut}");
}

/// What was left out stays out, but contents that were equal are, and others are not.
#[test]
fn contents_stay_equal_or_different() {
    let redacted = |content: u32| {
        let document = serde_json::json!({
            "evenkeel": 1, "content": content,
            "settings": {"connector.class": "C", "tasks.max": 3},
        });
        Record {
            topic: Topic::Config,
            partition: 0,
            offset: 0,
            leader_epoch: None,
            timestamp: None,
            append_time: false,
            key: Some(b"connector-c".to_vec()),
            value: Some(document.to_string().into_bytes()),
        }
    };
    let mut contents = Contents::new([7; 16], 0);
    let mut again = |content| {
        let raw = restored(redacted(content)).value.unwrap();
        let text = String::from_utf8(raw.clone()).unwrap();
        assert!(text.contains(r#""tasks.max":"3""#), "as Connect: {text}");
        let read = redact_config(b"connector-c", Some(&raw), &mut contents);
        serde_json::from_slice::<Value>(read.value().unwrap()).unwrap()
    };
    let (first, other, same) = (again(4), again(5), again(4));
    assert_eq!(first, same);
    assert_ne!(first["content"], other["content"]);
    assert_eq!(first["settings"], other["settings"]);
    assert_eq!(first["settings"]["tasks.max"], 3);
}

/// The shipped incident, through the embedded broker and the real reader: every time is
/// shifted by the same as its record, those inside records too, and all else is equal.
#[tokio::test(flavor = "multi_thread")]
async fn the_agent_reads_what_was_recorded() {
    let script = Script::write(CaptureReader::new(INCIDENT).unwrap()).unwrap();
    let listen = "127.0.0.1:0".parse().unwrap();
    let broker = Broker::start(listen, script.cluster_id(), &script.topics())
        .await
        .unwrap();
    let settings = plan(&script, broker.address()).groups.remove(0);
    let (sender, mut inputs) = mpsc::channel(4096);
    let reader = kafka::start(settings, Arc::new(clock::now), sender).unwrap();
    // Long ago: everything is served at once.
    let begin = ArrivalTime(BASE_MS);
    script.serve(&broker, begin).await.unwrap();
    let mut read: BTreeMap<(Topic, i32, i64), Record> = BTreeMap::new();
    while read.len() < script.scenes.len() {
        let input = tokio::time::timeout(DEADLINE, inputs.recv()).await;
        if let InputKind::Record(record) = input.unwrap().unwrap().kind {
            read.insert((record.topic, record.partition, record.offset), record);
        }
    }
    tokio::task::spawn_blocking(move || reader.join())
        .await
        .unwrap();
    broker.shutdown().await;

    let recorded = CaptureReader::new(INCIDENT).unwrap().map(Result::unwrap);
    let recorded = recorded.filter_map(|input| match input.kind {
        InputKind::Record(record) => Some((input.at, record)),
        _ => None,
    });
    let mut pairs = BTreeSet::new();
    let mut groups = 0;
    for ((at, recorded), scene) in recorded.zip(&script.scenes) {
        let shift_ms = begin.0 + scene.at_ms - at.0;
        let place = (recorded.topic, recorded.partition, recorded.offset);
        let read = &read[&place];
        assert_eq!(read.key, recorded.key);
        let shifted = recorded.timestamp.map(|at| EventTime(at.0 + shift_ms));
        assert_eq!(read.timestamp, shifted, "{place:?}");
        let (Some(was), Some(is)) = (&recorded.value, &read.value) else {
            assert_eq!(recorded.value, read.value, "{place:?}");
            continue;
        };
        match recorded.topic {
            Topic::Offsets => {
                let mut was = GroupMetadata::decode(was).unwrap().known().unwrap();
                let state_ms = &mut was.current_state_timestamp_ms;
                *state_ms = state_ms.map(|at| at + shift_ms);
                let is = GroupMetadata::decode(is).unwrap().known().unwrap();
                assert_eq!(is, was);
                groups += 1;
            }
            Topic::Config => {
                let (was, was_content) = without_content(was);
                let (is, is_content) = without_content(is);
                assert_eq!(is, was);
                pairs.insert((was_content, is_content));
            }
            Topic::Status => assert_eq!(is, was),
        }
    }
    assert!(groups > 5, "{groups} group records compared");
    let (was, is): (BTreeSet<_>, BTreeSet<_>) = pairs.iter().cloned().unzip();
    assert!(pairs.len() > 3, "{pairs:?}");
    assert_eq!(
        (was.len(), is.len()),
        (pairs.len(), pairs.len()),
        "one to one"
    );
}

fn without_content(document: &[u8]) -> (Map<String, Value>, Option<String>) {
    let mut document: Map<String, Value> = serde_json::from_slice(document).unwrap();
    let content = document
        .remove("content")
        .map(|content| content.to_string());
    (document, content)
}
