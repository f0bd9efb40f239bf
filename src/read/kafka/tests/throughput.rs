//! The skip path, end to end from a broker, against a bare client with the same settings.

use std::time::{Duration, Instant};

use evenkeel_core::facts::input::Topic;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};

use super::*;
use crate::read::kafka::client;

const RECORDS: u64 = 1_000_000;
const RUNS: usize = 5;

/// A bare client that counts what it polls.
fn bare(settings: &ReadSettings) -> Duration {
    let config = client::config(&settings.connection.properties, Topic::Offsets).unwrap();
    let began = Instant::now();
    let consumer: BaseConsumer = config.create().unwrap();
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(OFFSETS, partition(), Offset::Beginning)
        .unwrap();
    consumer.assign(&list).unwrap();
    let mut records = 0;
    while records < RECORDS {
        match consumer.poll(Duration::from_millis(100)) {
            Some(Ok(_)) => records += 1,
            None | Some(Err(KafkaError::PartitionEOF(_))) => {}
            Some(Err(error)) => panic!("{error}"),
        }
        assert!(began.elapsed() < DEADLINE);
    }
    began.elapsed()
}

/// Our reader, searching a log in which its group has no record.
fn ours(settings: &ReadSettings, limits: &Limits) -> Duration {
    let began = Instant::now();
    let mut reading = read_with(settings.clone(), limits, 1_000);
    reading.until("the search", |r| !r.starts(Topic::Offsets).is_empty());
    let elapsed = began.elapsed();
    let read = reading
        .handle
        .counters()
        .topic(Topic::Offsets)
        .records
        .get();
    assert_eq!(read, RECORDS);
    reading.end();
    elapsed
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[RUNS / 2].as_secs_f64()
}

/// The budgets are 90 % of the bare client for the skip path, and 1 / 1.2 of it for a
/// search of a whole log. A debug build on a shared machine may miss them by noise, so
/// the test fails only where something is wrong with the path itself.
#[tokio::test(flavor = "multi_thread")]
async fn the_skip_path_keeps_up_with_a_bare_client() {
    let broker = broker().await;
    let records = std::iter::repeat_with(foreign).take(RECORDS as usize);
    broker.append_many(OFFSETS, partition(), records).unwrap();
    let settings = settings(&broker);
    // One chunk: nothing but skipping.
    let in_one = Limits {
        chunk_offsets_min: i64::MAX,
        ..Limits::default()
    };
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..RUNS {
        times[0].push(bare(&settings));
        times[1].push(ours(&settings, &in_one));
        times[2].push(ours(&settings, &Limits::default()));
    }
    let [bare, skipping, searching] = times.map(median);
    let rate = |seconds: f64| RECORDS as f64 / seconds / 1e6;
    println!(
        "bare client {:.3} M/s; skip path {:.3} M/s, {:.1} % of it; search {:.3} M/s, {:.2} times as long",
        rate(bare),
        rate(skipping),
        bare / skipping * 100.0,
        rate(searching),
        searching / bare,
    );
    assert!(bare / skipping > 0.6, "skip path");
    assert!(searching / bare < 2.0, "search");
}
