//! Reads a recording as far as the assignor's law needs it: rounds, and the config topic.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evenkeel_core::wire::connect_protocol::{Assignment, Subscription};
use evenkeel_core::wire::group_record::GroupMetadata;
use evenkeel_sim::assignor::Delta;
use evenkeel_sim::item::{CONNECTOR, Item, Work, minus};
use flate2::read::MultiGzDecoder;
use serde_json::Value;

/// One recording.
pub(super) struct Capture {
    pub(super) name: String,
    /// The workers' release.
    pub(super) workers: String,
    /// Rounds with members, in order.
    pub(super) rounds: Vec<Recorded>,
    /// All generations that left a record, in order; `None` is a tombstone.
    pub(super) generations: Vec<Option<(i32, usize)>>,
    /// By offset: key and value.
    config: BTreeMap<i64, (String, Option<Value>)>,
}

/// One group record with members.
pub(super) struct Recorded {
    pub(super) generation: i32,
    pub(super) recorded_ms: i64,
    pub(super) leader: String,
    pub(super) eager: bool,
    pub(super) mismatch: bool,
    pub(super) config_offset: i64,
    pub(super) delay_ms: i64,
    pub(super) claims: BTreeMap<String, Work>,
    pub(super) deltas: BTreeMap<String, Delta>,
}

impl Recorded {
    pub(super) fn owned(&self, member: &str) -> Work {
        let delta = &self.deltas[member];
        let claim = if self.eager {
            Work::new()
        } else {
            self.claims[member].clone()
        };
        let mut owned = minus(&claim, &delta.revoked);
        owned.extend(delta.assigned.iter().cloned());
        owned
    }
}

impl Capture {
    /// What the config topic names below an offset, by the rules that workers apply.
    pub(super) fn configured(&self, below: i64) -> Work {
        let mut connectors: BTreeMap<&str, i32> = BTreeMap::new();
        for (key, value) in self.config.range(..below).map(|(_, record)| record) {
            if let Some(name) = key.strip_prefix("connector-") {
                match value {
                    Some(_) => {
                        connectors.entry(name).or_insert(0);
                    }
                    None => {
                        connectors.remove(name);
                    }
                }
            } else if let Some(name) = key.strip_prefix("commit-")
                && let Some(tasks) = connectors.get_mut(name)
            {
                let told = value.as_ref().and_then(|value| value["tasks"].as_i64());
                *tasks = i32::try_from(told.unwrap_or(0)).unwrap();
            }
        }
        connectors
            .into_iter()
            .flat_map(|(name, tasks)| (CONNECTOR..tasks).map(move |task| Item::new(name, task)))
            .collect()
    }
}

/// All recordings of the repository.
pub(super) fn all() -> Vec<Capture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "gz"))
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Capture {
    let file = std::fs::File::open(path).unwrap();
    let mut lines = BufReader::new(MultiGzDecoder::new(file)).lines();
    let header: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let mut capture = Capture {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        workers: header["kafka"]["workers"].as_str().unwrap().to_owned(),
        rounds: Vec::new(),
        generations: Vec::new(),
        config: BTreeMap::new(),
    };
    let mut groups: BTreeMap<i64, (i64, Option<Vec<u8>>)> = BTreeMap::new();
    for line in lines {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if line["kind"] != "record" {
            continue;
        }
        let offset = line["offset"].as_i64().unwrap();
        let (key, value) = (bytes(&line["key"]), bytes(&line["value"]));
        if line["topic"] == "config" {
            let key = String::from_utf8(key.unwrap()).unwrap();
            let value = value.map(|value| serde_json::from_slice(&value).unwrap());
            capture.config.insert(offset, (key, value));
        } else if line["topic"] == "offsets" && key.is_some_and(|key| key.starts_with(&[0, 2])) {
            groups.insert(offset, (line["ts"].as_i64().unwrap(), value));
        }
    }
    for (recorded_ms, value) in groups.values() {
        let Some(value) = value else {
            capture.generations.push(None);
            continue;
        };
        let record = GroupMetadata::decode(value).unwrap().known().unwrap();
        let round = round(&record, *recorded_ms);
        capture
            .generations
            .push(Some((record.generation, record.members.len())));
        capture
            .rounds
            .extend(Some(round).filter(|round| !round.claims.is_empty()));
    }
    capture
}

fn bytes(field: &Value) -> Option<Vec<u8>> {
    let text = field.as_str()?;
    Some(match text.split_at(2) {
        ("t:", text) => text.as_bytes().to_vec(),
        (_, text) => STANDARD.decode(text).unwrap(),
    })
}

fn round(record: &GroupMetadata<'_>, recorded_ms: i64) -> Recorded {
    let mut round = Recorded {
        generation: record.generation,
        recorded_ms,
        leader: record.leader.unwrap_or_default().to_owned(),
        eager: record.protocol == Some("default"),
        mismatch: false,
        config_offset: 0,
        delay_ms: 0,
        claims: BTreeMap::new(),
        deltas: BTreeMap::new(),
    };
    for member in &record.members {
        let id = member.member_id.to_owned();
        let said = Subscription::decode(member.subscription).unwrap();
        let claim = said.claim.owned().map(work).unwrap_or_default();
        round.claims.insert(id.clone(), claim);
        let mut delta = Delta::default();
        if let Some(told) = Assignment::decode(member.assignment).unwrap() {
            round.mismatch |= told.error != 0;
            round.config_offset = told.config_offset;
            round.delay_ms = i64::from(told.delay_ms);
            delta.assigned = work(&told.assigned);
            delta.revoked = work(&told.revoked);
        }
        round.deltas.insert(id, delta);
    }
    round
}

fn work(items: &evenkeel_core::wire::connect_protocol::ItemList<'_>) -> Work {
    items
        .iter()
        .map(|(name, task)| Item::new(name, task))
        .collect()
}
