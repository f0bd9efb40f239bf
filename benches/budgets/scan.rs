//! A log of other groups' records, on a real broker where one is wanted, and a bare client
//! that reads it: the yardstick of everything that reads.

use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use evenkeel::read::kafka::{ReadSettings, client_config};
use evenkeel_core::facts::input::Topic;
use evenkeel_testbed::{BrokerSpec, Cluster, TopicSpec, TopicVerb};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use rdkafka::{ClientConfig, Offset, TopicPartitionList};

use crate::fleet::KeyValue;
use crate::stage;

/// Stands for the offsets topic on a real broker, which lets nobody write to that.
pub(crate) const LOG: &str = "bench-offsets";

/// What a bare client reads.
pub(crate) struct Log {
    pub(crate) topic: &'static str,
    pub(crate) partition: i32,
    pub(crate) records: u64,
}

/// A log on a broker of its own.
pub(crate) struct RealLog {
    cluster: Cluster,
}

/// The properties of the client, brokers left out.
pub(crate) fn settings_told(settings: &ReadSettings) -> anyhow::Result<String> {
    let config = client_config(&settings.connection, Topic::Offsets)?;
    let mut told: Vec<String> = config
        .config_map()
        .iter()
        .filter(|(name, _)| **name != "bootstrap.servers")
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    told.sort();
    Ok(told.join(" "))
}

/// Reads the whole log with the client that the agent would use, counts, and does
/// nothing else.
pub(crate) fn bare(settings: &ReadSettings, log: &Log) -> anyhow::Result<Duration> {
    let config = client_config(&settings.connection, Topic::Offsets)?;
    let began = Instant::now();
    let consumer: BaseConsumer = config.create()?;
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(log.topic, log.partition, Offset::Beginning)?;
    consumer.assign(&list)?;
    let mut records = 0;
    loop {
        match consumer.poll(Duration::from_millis(100)) {
            Some(Ok(_)) => records += 1,
            Some(Err(KafkaError::PartitionEOF(_))) => break,
            None => {}
            Some(Err(error)) => bail!(error),
        }
        ensure!(
            began.elapsed() < stage::WAIT_MAX,
            "the bare client did not end"
        );
    }
    ensure!(
        records == log.records,
        "{records} records are there of {}",
        log.records
    );
    Ok(began.elapsed())
}

// === impl RealLog ===

impl RealLog {
    /// A broker with the topics of a group; the log holds so many records of other groups,
    /// with one of the group, where it is given, before all of them.
    pub(crate) fn write(records: u64, own: Option<KeyValue>) -> anyhow::Result<RealLog> {
        let cluster = Cluster::start_brokers(&BrokerSpec::default(), false)?;
        for (name, partitions) in [(LOG, 1), (stage::CONFIG, 1), (stage::STATUS, 5)] {
            let mut topic = TopicSpec::compacted(name, partitions);
            if name == LOG {
                // Compaction would take most of them away, and another number each time.
                topic.settings = [("cleanup.policy", "delete"), ("retention.ms", "-1")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into();
            }
            cluster.topics(&TopicVerb::Create(topic))?;
        }
        let real = RealLog { cluster };
        let began = Instant::now();
        real.produce(own.into_iter().chain(stage::foreign(records)?))?;
        eprintln!("   {records} records written in {:.0?}", began.elapsed());
        Ok(real)
    }

    pub(crate) fn settings(&self) -> ReadSettings {
        stage::settings(self.cluster.bootstrap(), LOG)
    }

    /// Writes to the log.
    pub(crate) fn produce(&self, records: impl Iterator<Item = KeyValue>) -> anyhow::Result<()> {
        let producer: ThreadedProducer<DefaultProducerContext> = ClientConfig::new()
            .set("bootstrap.servers", self.cluster.bootstrap())
            .set("linger.ms", "20")
            .set("batch.size", "1000000")
            .set("queue.buffering.max.messages", "500000")
            .create()?;
        for (key, value) in records {
            let mut record = BaseRecord::to(LOG).partition(0).key(&key).payload(&value);
            while let Err((error, back)) = producer.send(record) {
                let full = Some(RDKafkaErrorCode::QueueFull);
                ensure!(error.rdkafka_error_code() == full, "not written: {error}");
                std::thread::sleep(Duration::from_millis(5));
                record = back;
            }
        }
        producer.flush(stage::WAIT_MAX)?;
        Ok(())
    }
}
