//! Tests of the embedded broker: what its clients share.

mod consume;
mod faults;
mod groups;
mod hostile;
mod limits;
mod wire;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use bytes::Bytes;
use kafka_protocol::messages::{RequestHeader, ResponseHeader};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes};
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::Message;
use rdkafka::{Offset, TopicPartitionList};

use super::{Broker, Record, TopicSpec};

/// No wait in these tests may last longer.
const DEADLINE: Duration = Duration::from_secs(20);

const TOPIC: &str = "connect-status";

fn topic(name: &str, partitions: i32) -> TopicSpec {
    TopicSpec {
        name: name.to_owned(),
        partitions,
    }
}

/// A broker with one topic of two partitions.
async fn broker() -> Broker {
    let listen = "127.0.0.1:0".parse().unwrap();
    Broker::start(listen, "embedded-test", &[topic(TOPIC, 2)])
        .await
        .unwrap()
}

fn record(key: &str, value: &str, timestamp_ms: i64) -> Record {
    Record {
        key: Some(Bytes::copy_from_slice(key.as_bytes())),
        value: Some(Bytes::copy_from_slice(value.as_bytes())),
        timestamp_ms,
        offset: None,
    }
}

fn at(offset: i64, record: Record) -> Record {
    Record {
        offset: Some(offset),
        ..record
    }
}

/// A consumer with the agent's settings.
fn consumer(broker: &Broker, more: &[(&str, &str)]) -> BaseConsumer {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", broker.address().to_string())
        .set("group.id", "evenkeel-observer")
        .set("enable.auto.commit", "false")
        .set("enable.auto.offset.store", "false")
        .set("enable.partition.eof", "true")
        // With the default, a denied or failed search for the beginning continues at the end.
        .set("auto.offset.reset", "earliest")
        .set("queued.max.messages.kbytes", "1024")
        .set("queued.min.messages", "1000")
        .set("fetch.queue.backoff.ms", "5")
        .set("fetch.message.max.bytes", "65536")
        .set("fetch.max.bytes", "1048576")
        .set("isolation.level", "read_uncommitted")
        .set("reconnect.backoff.max.ms", "200");
    for (key, value) in more {
        config.set(*key, *value);
    }
    config.create().unwrap()
}

fn assign(consumer: &BaseConsumer, topic: &str, partition: i32, from: Offset) {
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, partition, from).unwrap();
    consumer.assign(&list).unwrap();
}

/// What a test compares of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    offset: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    timestamp_ms: Option<i64>,
}

/// The next event that is not a transport hiccup, within the deadline.
fn next(consumer: &BaseConsumer) -> Result<Seen, KafkaError> {
    let started = Instant::now();
    loop {
        assert!(started.elapsed() < DEADLINE, "no event in time");
        match consumer.poll(Duration::from_millis(50)) {
            None => {}
            Some(Err(error)) => return Err(error),
            Some(Ok(message)) => {
                return Ok(Seen {
                    offset: message.offset(),
                    key: message.key().map(<[u8]>::to_vec),
                    value: message.payload().map(<[u8]>::to_vec),
                    timestamp_ms: message.timestamp().to_millis(),
                });
            }
        }
    }
}

/// The next record, whatever ends and errors come before it.
fn next_record(consumer: &BaseConsumer) -> Seen {
    loop {
        if let Ok(seen) = next(consumer) {
            return seen;
        }
    }
}

/// Everything up to the end of the partition.
fn drain(consumer: &BaseConsumer) -> Vec<Seen> {
    let mut all = Vec::new();
    loop {
        match next(consumer) {
            Ok(seen) => all.push(seen),
            Err(KafkaError::PartitionEOF(_)) => return all,
            Err(error) => panic!("{error}"),
        }
    }
}

fn offsets(seen: &[Seen]) -> Vec<i64> {
    seen.iter().map(|seen| seen.offset).collect()
}

/// Waits until `holds`, asking every 5 ms.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < DEADLINE, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A client that speaks the protocol itself, one request at a time.
struct RawClient {
    stream: TcpStream,
}

impl RawClient {
    fn connect(broker: &Broker) -> Self {
        let stream = TcpStream::connect(broker.address()).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream }
    }

    fn call<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        self.send(&frame(version, request));
        let mut answer = self.answer().unwrap();
        let header_version = R::Response::header_version(version);
        let header = ResponseHeader::decode(&mut answer, header_version).unwrap();
        assert_eq!(header.correlation_id, CORRELATION_ID);
        let response = R::Response::decode(&mut answer, version).unwrap();
        assert!(answer.is_empty(), "bytes after the answer");
        response
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next answer without its length; `None` if the broker closes the connection.
    fn answer(&mut self) -> Option<Bytes> {
        let mut size = [0; 4];
        match self.stream.read_exact(&mut size) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("no answer in time"),
            Err(_) => return None,
        }
        let mut answer = vec![0; usize::try_from(u32::from_be_bytes(size)).unwrap()];
        self.stream.read_exact(&mut answer).unwrap();
        Some(answer.into())
    }
}

const CORRELATION_ID: i32 = 4_711;

/// The bytes of a request as a client sends them.
fn frame<R: Request>(version: i16, request: &R) -> Vec<u8> {
    let mut body = Vec::new();
    RequestHeader::default()
        .with_request_api_key(R::KEY)
        .with_request_api_version(version)
        .with_correlation_id(CORRELATION_ID)
        .with_client_id(Some(StrBytes::from_static_str("raw")))
        .encode(&mut body, R::header_version(version))
        .unwrap();
    request.encode(&mut body, version).unwrap();
    let mut frame = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
    frame.extend_from_slice(&body);
    frame
}
