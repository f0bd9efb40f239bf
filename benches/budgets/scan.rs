//! A bare client that reads a log and does nothing else: the yardstick of everything that
//! reads.

use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use evenkeel::read::kafka::{ReadSettings, client_config};
use evenkeel_core::facts::input::Topic;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};

use crate::stage;

/// What a bare client reads.
pub(crate) struct Log {
    pub(crate) topic: &'static str,
    pub(crate) partition: i32,
    pub(crate) records: u64,
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
