//! The skip path, end to end from a broker, against a bare client with the same settings.

use std::time::{Duration, Instant};

use evenkeel_core::facts::input::Topic;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};

use super::*;
use crate::read::kafka::client;

const RECORDS: u64 = 500_000;
const RUNS: usize = 5;

/// A bare client that counts what it polls.
fn bare(settings: &ReadSettings) -> Duration {
    let config = client::config(&settings.properties, Topic::Offsets).unwrap();
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
fn ours(settings: &ReadSettings) -> Duration {
    let began = Instant::now();
    let mut reading = read_with(settings.clone(), &Limits::default(), 1_000);
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

/// The budget is 90 % of the bare client. A debug build on a shared machine may miss it
/// by noise, so the test fails only where something is wrong with the path itself.
#[tokio::test(flavor = "multi_thread")]
async fn the_skip_path_keeps_up_with_a_bare_client() {
    let broker = broker().await;
    let records = std::iter::repeat_with(foreign).take(RECORDS as usize);
    broker.append_many(OFFSETS, partition(), records).unwrap();
    let settings = settings(&broker);
    let mut times: Vec<(Duration, Duration)> = (0..RUNS)
        .map(|_| (bare(&settings), ours(&settings)))
        .collect();
    let rate = |time: Duration| RECORDS as f64 / time.as_secs_f64() / 1e6;
    for (bare, ours) in &times {
        println!("bare {:.3} M/s, ours {:.3} M/s", rate(*bare), rate(*ours));
    }
    times.sort_by_key(|(bare, _)| *bare);
    let bare = times[RUNS / 2].0;
    times.sort_by_key(|(_, ours)| *ours);
    let ours = times[RUNS / 2].1;
    let ratio = bare.as_secs_f64() / ours.as_secs_f64();
    println!(
        "skip path: {:.1} % of a bare client (medians)",
        ratio * 100.0
    );
    assert!(ratio > 0.6, "{ratio}");
}
