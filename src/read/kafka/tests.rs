//! The reader against the embedded broker, which fails on demand: what the tests share.

mod faults;
mod inherited;
mod masked;
mod replaced;
mod sampling;
mod searching;
mod tailing;
mod throughput;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use evenkeel_core::facts::input::{
    Access, Ends, Input, InputKind, Record, Settings, Start, Topic, Trouble,
};
use evenkeel_core::facts::partition::group_partition;
use evenkeel_core::facts::time::ArrivalTime;
use tokio::sync::mpsc;

use super::search::Limits;
use super::{ReadSettings, ReaderHandle, start_within};
use crate::commands::demo::broker::{self, ApiKey, Broker, TopicSpec};
use crate::read::connection::{Connection, Hidden};

/// No wait may last longer.
const DEADLINE: Duration = Duration::from_secs(60);

const GROUP: &str = "connect-cluster";
const OFFSETS: &str = "__consumer_offsets";
const CONFIG: &str = "connect-configs";
const STATUS: &str = "connect-status";

/// Partitions of the offsets topic, and the one of [`GROUP`].
const OFFSETS_PARTITIONS: i32 = 3;

fn partition() -> i32 {
    group_partition(GROUP, OFFSETS_PARTITIONS).unwrap()
}

fn specs() -> Vec<TopicSpec> {
    [(OFFSETS, OFFSETS_PARTITIONS), (CONFIG, 1), (STATUS, 2)]
        .into_iter()
        .map(|(name, partitions)| TopicSpec {
            name: name.to_owned(),
            partitions,
        })
        .collect()
}

async fn broker() -> Broker {
    let listen = "127.0.0.1:0".parse().unwrap();
    Broker::start(listen, "embedded-test", &specs())
        .await
        .unwrap()
}

/// A record of our group; the reader does not look into its value.
fn own(value: &str) -> broker::Record {
    broker::Record {
        key: Some(Bytes::from(group_key(GROUP))),
        value: Some(Bytes::copy_from_slice(value.as_bytes())),
        timestamp_ms: 1_700_000_000_000,
        offset: None,
    }
}

fn group_key(group: &str) -> Vec<u8> {
    let len = u16::try_from(group.len()).unwrap().to_be_bytes();
    [&[0, 2], len.as_slice(), group.as_bytes()].concat()
}

/// An offset commit of another group, as most records of the partition are.
fn foreign() -> broker::Record {
    let mut key = vec![0, 1, 0, 12];
    key.extend_from_slice(b"sink-group-x");
    key.extend_from_slice(&[0, 5]);
    key.extend_from_slice(b"topic\0\0\0\x07");
    broker::Record {
        key: Some(Bytes::from(key)),
        value: Some(Bytes::from_static(&[
            0, 3, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0,
        ])),
        timestamp_ms: 1_700_000_000_000,
        offset: None,
    }
}

fn status(key: &str, generation: i32) -> broker::Record {
    let value = format!(
        r#"{{"state":"RUNNING","trace":null,"worker_id":"w:8083","generation":{generation}}}"#
    );
    keyed(key, &value)
}

fn keyed(key: &str, value: &str) -> broker::Record {
    broker::Record {
        key: Some(Bytes::copy_from_slice(key.as_bytes())),
        value: Some(Bytes::copy_from_slice(value.as_bytes())),
        timestamp_ms: 1_700_000_000_000,
        offset: None,
    }
}

fn at(offset: i64, record: broker::Record) -> broker::Record {
    broker::Record {
        offset: Some(offset),
        ..record
    }
}

/// A reader at work, and everything it said.
struct Reading {
    handle: ReaderHandle,
    inputs: mpsc::Receiver<Input>,
    seen: Vec<Input>,
}

fn settings(broker: &Broker) -> ReadSettings {
    let properties = [
        ("bootstrap.servers", broker.address().to_string()),
        // Tests wait for reconnects; users need not.
        ("reconnect.backoff.max.ms", "300".to_owned()),
        ("topic.metadata.propagation.max.ms", "1000".to_owned()),
    ];
    ReadSettings {
        connection: Connection {
            properties: properties
                .into_iter()
                .map(|(name, value)| (name.to_owned(), Hidden(value)))
                .collect(),
            token_file: None,
        },
        group: GROUP.to_owned(),
        offsets_topic: OFFSETS.to_owned(),
        config_topic: CONFIG.to_owned(),
        status_topic: STATUS.to_owned(),
        ..ReadSettings::default()
    }
}

#[allow(clippy::disallowed_methods)] // Tests hand in a clock, as the agent does.
fn now() -> ArrivalTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    ArrivalTime(i64::try_from(since.as_millis()).unwrap())
}

fn read(broker: &Broker) -> Reading {
    read_with(settings(broker), &Limits::default(), 1_000)
}

fn read_with(settings: ReadSettings, limits: &Limits, room: usize) -> Reading {
    let (sender, inputs) = mpsc::channel(room);
    Reading {
        handle: start_within(settings, Arc::new(now), sender, limits).unwrap(),
        inputs,
        seen: Vec::new(),
    }
}

impl Reading {
    /// Takes inputs until `is_done` says so of all that were seen.
    #[track_caller]
    fn until(&mut self, what: &str, is_done: impl Fn(&Self) -> bool) -> Duration {
        let began = Instant::now();
        while !is_done(self) {
            match self.inputs.try_recv() {
                Ok(input) => self.seen.push(input),
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
            assert!(
                began.elapsed() < DEADLINE,
                "{what} did not happen in time; seen: {:#?}",
                self.seen
            );
        }
        began.elapsed()
    }

    /// Takes whatever comes for a while.
    fn rest(&mut self, wait: Duration) {
        let began = Instant::now();
        while began.elapsed() < wait {
            match self.inputs.try_recv() {
                Ok(input) => self.seen.push(input),
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Asks for ends, and takes inputs until everything that was answered to questions
    /// asked from now on is reached: what the engine's barrier waits for.
    #[track_caller]
    fn settle(&mut self) -> Duration {
        // A question of this millisecond may have been sent before what was just written.
        std::thread::sleep(Duration::from_millis(2));
        let asked = now();
        let began = Instant::now();
        self.handle.ask_ends();
        self.until("the barrier", |reading| {
            Topic::ALL
                .into_iter()
                .all(|topic| reading.is_reached_since(topic, asked))
        });
        began.elapsed()
    }

    fn is_reached_since(&self, topic: Topic, asked: ArrivalTime) -> bool {
        self.kinds().any(|kind| match kind {
            InputKind::Ends(ends) if ends.topic == topic && ends.asked >= asked => ends
                .ends
                .iter()
                .all(|&(partition, end)| self.reached(topic, partition) >= end),
            _ => false,
        })
    }

    /// How far the engine knows the partition to be read.
    fn reached(&self, topic: Topic, partition: i32) -> i64 {
        let mut reached = -1;
        for kind in self.kinds() {
            match kind {
                InputKind::Start(start) if start.topic == topic && start.partition == partition => {
                    reached = start.offset;
                }
                InputKind::Record(record)
                    if record.topic == topic && record.partition == partition =>
                {
                    reached = reached.max(record.offset + 1);
                }
                InputKind::Sampled(to) if topic == Topic::Offsets && to.partition == partition => {
                    reached = reached.max(to.offset);
                }
                InputKind::Reached(to) if to.topic == topic && to.partition == partition => {
                    reached = reached.max(to.offset);
                }
                _ => {}
            }
        }
        reached
    }

    fn kinds(&self) -> impl Iterator<Item = &InputKind> {
        self.seen.iter().map(|input| &input.kind)
    }

    fn settings(&self) -> Vec<&Settings> {
        self.kinds()
            .filter_map(|kind| match kind {
                InputKind::Settings(settings) => Some(settings),
                _ => None,
            })
            .collect()
    }

    fn starts(&self, topic: Topic) -> Vec<Start> {
        self.kinds()
            .filter_map(|kind| match kind {
                InputKind::Start(start) if start.topic == topic => Some(*start),
                _ => None,
            })
            .collect()
    }

    fn records(&self, topic: Topic) -> Vec<&Record> {
        self.kinds()
            .filter_map(|kind| match kind {
                InputKind::Record(record) if record.topic == topic => Some(record),
                _ => None,
            })
            .collect()
    }

    fn offsets(&self, topic: Topic) -> Vec<i64> {
        let records = self.records(topic);
        records.iter().map(|record| record.offset).collect()
    }

    fn troubles(&self, topic: Topic) -> Vec<Option<Trouble>> {
        self.kinds()
            .filter_map(|kind| match kind {
                InputKind::Access(Access {
                    topic: other,
                    trouble,
                    ..
                }) if *other == topic => Some(*trouble),
                _ => None,
            })
            .collect()
    }

    fn trouble(&self, topic: Topic) -> Option<Trouble> {
        self.troubles(topic).last().copied().flatten()
    }

    fn ends(&self, topic: Topic) -> Vec<&Ends> {
        self.kinds()
            .filter_map(|kind| match kind {
                InputKind::Ends(ends) if ends.topic == topic => Some(ends),
                _ => None,
            })
            .collect()
    }

    /// Stops the reader; it must end soon, whatever the broker does.
    #[track_caller]
    fn end(self) {
        let began = Instant::now();
        self.handle.join();
        assert!(
            began.elapsed() < Duration::from_secs(15),
            "{:?}",
            began.elapsed()
        );
    }
}

/// Whatever a test did, the reader never did more than read.
#[track_caller]
fn assert_only_observed(broker: &Broker) {
    let writes = [
        ApiKey::Produce,
        ApiKey::JoinGroup,
        ApiKey::SyncGroup,
        ApiKey::Heartbeat,
        ApiKey::LeaveGroup,
        ApiKey::OffsetCommit,
        ApiKey::OffsetFetch,
        ApiKey::CreateTopics,
    ];
    for api in writes {
        assert_eq!(broker.requests(api), 0, "{api:?}");
    }
}
