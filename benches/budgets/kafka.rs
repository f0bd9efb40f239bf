//! The broker that a benchmark reads from, embedded or real: the topics of one group, and
//! records written to them alike.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bytes::Bytes;
use evenkeel::commands::demo::broker::{Broker, GroupSpec, Record, TopicSpec};
use evenkeel::read::connection::{Connection, Hidden};
use evenkeel::read::kafka::ReadSettings;
use evenkeel::run::clock;
use evenkeel_core::facts::input::Topic;
use evenkeel_core::facts::partition::group_partition;
use evenkeel_testbed::{self as testbed, BrokerSpec, Cluster, TopicVerb};
use rdkafka::ClientConfig;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use tokio::runtime::Runtime;

use crate::Scale;
use crate::fleet::{Fleet, GROUP, KeyValue};
use crate::scan::Log;
use crate::stage;

/// Stands for the offsets topic on a real broker, which lets nobody write to that.
const LOG: &str = "bench-offsets";
const OFFSETS: &str = "__consumer_offsets";
const CONFIG: &str = "connect-configs";
const STATUS: &str = "connect-status";

const STATUS_PARTITIONS: i32 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// In this process.
    Embedded,
    Real,
}

/// A broker with the three topics of a group: few partitions, since only one is read.
pub(crate) struct Kafka {
    side: Side,
    /// Of the log that stands for the offsets topic, the one that holds the group.
    partition: i32,
}

enum Side {
    Embedded(Broker),
    Real(Box<Cluster>, ThreadedProducer<DefaultProducerContext>),
}

// === impl Kind ===

impl Kind {
    /// What this run may use, the cheap one first.
    pub(crate) fn of(scale: Scale) -> &'static [Kind] {
        if scale.real {
            &[Kind::Embedded, Kind::Real]
        } else {
            &[Kind::Embedded]
        }
    }

    pub(crate) fn told(self) -> &'static str {
        match self {
            Kind::Embedded => "embedded broker",
            Kind::Real => "real broker",
        }
    }

    pub(crate) fn start(self, runtime: &Runtime) -> anyhow::Result<Kafka> {
        match self {
            Kind::Embedded => runtime.block_on(embedded()),
            Kind::Real => real(),
        }
    }
}

// === impl Kafka ===

impl Kafka {
    pub(crate) fn settings(&self) -> ReadSettings {
        ReadSettings {
            connection: Connection {
                properties: [("bootstrap.servers".to_owned(), Hidden(self.bootstrap()))].into(),
                token_file: None,
            },
            group: GROUP.to_owned(),
            offsets_topic: self.topic(Topic::Offsets).to_owned(),
            config_topic: CONFIG.to_owned(),
            status_topic: STATUS.to_owned(),
            ..ReadSettings::default()
        }
    }

    /// The same, as `evenkeel run` takes it.
    pub(crate) fn flags(&self) -> Vec<String> {
        let bootstrap = self.bootstrap();
        let flags = [
            ("--bootstrap", bootstrap.as_str()),
            ("--group", GROUP),
            ("--offsets-topic", self.topic(Topic::Offsets)),
            ("--config-topic", CONFIG),
            ("--status-topic", STATUS),
        ];
        let words = flags.iter().flat_map(|(flag, value)| [*flag, *value]);
        words.map(str::to_owned).collect()
    }

    /// The log of the group's records, for a bare client.
    pub(crate) fn log(&self, records: u64) -> Log {
        Log {
            topic: self.topic(Topic::Offsets),
            partition: self.partition,
            records,
        }
    }

    /// Writes records, in their order; they can be read when it is done. Statuses are
    /// spread over the partitions of their topic.
    pub(crate) fn write(
        &self,
        topic: Topic,
        records: impl IntoIterator<Item = KeyValue>,
    ) -> anyhow::Result<()> {
        let name = self.topic(topic);
        let (first, count) = match topic {
            Topic::Offsets => (self.partition, 1),
            Topic::Config => (0, 1),
            Topic::Status => (0, STATUS_PARTITIONS),
        };
        let partitions = (first..first + count).cycle();
        match &self.side {
            Side::Embedded(broker) => {
                let records = records.into_iter().map(record);
                if count == 1 {
                    broker.append_many(name, first, records)?;
                } else {
                    // Few enough to be a batch each.
                    let mut each = partitions.zip(records);
                    each.try_for_each(|(partition, record)| {
                        broker.append(name, partition, record).map(drop)
                    })?;
                }
            }
            Side::Real(_, producer) => {
                for (partition, (key, value)) in partitions.zip(records) {
                    let mut record = BaseRecord::to(name)
                        .partition(partition)
                        .key(&key)
                        .payload(&value);
                    while let Err((error, back)) = producer.send(record) {
                        let full = Some(RDKafkaErrorCode::QueueFull);
                        ensure!(error.rdkafka_error_code() == full, "not written: {error}");
                        std::thread::sleep(Duration::from_millis(5));
                        record = back;
                    }
                }
                until_delivered(producer)?;
            }
        }
        Ok(())
    }

    /// Writes so many records of other groups.
    pub(crate) fn fill(&self, count: u64) -> anyhow::Result<()> {
        self.write(Topic::Offsets, stage::foreign(count)?)
    }

    /// Writes what the workers of the group have written up to now, statuses last.
    pub(crate) fn settle(&self, fleet: &mut Fleet, history: u32) -> anyhow::Result<()> {
        self.write(Topic::Config, fleet.configs())?;
        // The last two leave nothing parked.
        let moved = std::iter::repeat_n(1, usize::try_from(history)?).chain([0, 0]);
        for revoke in moved {
            let value = fleet.round(revoke, clock::now().0)?;
            self.write(Topic::Offsets, [(Fleet::key()?, value)])?;
        }
        self.write(Topic::Status, fleet.statuses())
    }

    pub(crate) fn end(self, runtime: &Runtime) {
        if let Side::Embedded(broker) = self.side {
            runtime.block_on(broker.shutdown());
        }
    }

    fn bootstrap(&self) -> String {
        match &self.side {
            Side::Embedded(broker) => broker.address().to_string(),
            Side::Real(cluster, _) => cluster.bootstrap(),
        }
    }

    fn topic(&self, topic: Topic) -> &'static str {
        match (topic, &self.side) {
            (Topic::Offsets, Side::Embedded(_)) => OFFSETS,
            (Topic::Offsets, Side::Real(..)) => LOG,
            (Topic::Config, _) => CONFIG,
            (Topic::Status, _) => STATUS,
        }
    }
}

async fn embedded() -> anyhow::Result<Kafka> {
    let specs = [(OFFSETS, 3), (CONFIG, 1), (STATUS, STATUS_PARTITIONS)];
    let specs = specs.map(|(name, partitions)| TopicSpec {
        name: name.to_owned(),
        partitions,
    });
    let broker = Broker::start("127.0.0.1:0".parse()?, "embedded-bench", &specs).await?;
    broker.set_group(GroupSpec {
        group: GROUP.to_owned(),
        state: "Stable".to_owned(),
        protocol_type: "connect".to_owned(),
        protocol: "sessioned".to_owned(),
        members: Vec::new(),
    });
    Ok(Kafka {
        side: Side::Embedded(broker),
        partition: group_partition(GROUP, 3).context("no partition")?,
    })
}

fn real() -> anyhow::Result<Kafka> {
    let cluster = Cluster::start_brokers(&BrokerSpec::default(), false)?;
    for (name, partitions) in [
        (LOG, 1),
        (CONFIG, 1),
        (STATUS, STATUS_PARTITIONS.unsigned_abs()),
    ] {
        let mut topic = testbed::TopicSpec::compacted(name, partitions);
        if name == LOG {
            // Compaction would take most of them away, and another number each time.
            topic.settings = [("cleanup.policy", "delete"), ("retention.ms", "-1")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
        }
        cluster.topics(&TopicVerb::Create(topic))?;
    }
    let producer = ClientConfig::new()
        .set("bootstrap.servers", cluster.bootstrap())
        .set("linger.ms", "1")
        .set("batch.size", "1000000")
        .set("queue.buffering.max.messages", "500000")
        .create()?;
    Ok(Kafka {
        side: Side::Real(Box::new(cluster), producer),
        partition: 0,
    })
}

/// Waits for the broker to have all. Not a flush, which in this crate looks again each 100 ms:
/// what is measured from here on must not begin so late.
fn until_delivered(producer: &ThreadedProducer<DefaultProducerContext>) -> anyhow::Result<()> {
    let began = Instant::now();
    while producer.in_flight_count() > 0 {
        ensure!(began.elapsed() < stage::WAIT_MAX, "not written in time");
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn record((key, value): KeyValue) -> Record {
    Record {
        key: Some(Bytes::from(key)),
        value: Some(Bytes::from(value)),
        timestamp_ms: clock::now().0,
        offset: None,
    }
}
