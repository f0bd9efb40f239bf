//! More bytes of group records than the budget allows: the newest once a second, a hole
//! that the engine knows of, and all of them again once they are few.

use std::time::Duration;

use bytes::Bytes;
use evenkeel_core::answers::{Mode, Outcome};
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{InputKind, Sampled, Topic};
use evenkeel_core::wire::encode;
use evenkeel_core::wire::group_record::{GroupMetadata, Member};

use super::{Broker, GROUP, OFFSETS, Reading, broker, foreign, group_key, own, partition, read};
use crate::commands::demo::broker as embedded;

/// Of a group with some ten thousand tasks.
const RECORD_BYTES: usize = 400_000;

/// Five seconds' worth of the budget are owed after the fiftieth.
const MANY: i32 = 80;

/// A record of the group, as large as it should be.
fn large(generation: i32, bytes: usize) -> embedded::Record {
    let claim = vec![0; bytes];
    let value = encode::group_metadata(&GroupMetadata {
        version: 3,
        protocol_type: "connect",
        generation,
        protocol: Some("sessioned"),
        leader: Some("w-1"),
        current_state_timestamp_ms: None,
        members: vec![Member {
            member_id: "w-1",
            group_instance_id: None,
            client_id: "w",
            client_host: "/192.0.2.1",
            rebalance_timeout_ms: Some(60_000),
            session_timeout_ms: 10_000,
            subscription: &claim,
            assignment: &[],
        }],
    });
    embedded::Record {
        key: Some(Bytes::from(group_key(GROUP))),
        value: Some(Bytes::from(value.unwrap())),
        // A millisecond between two: 400 MB/s of the log's own time.
        timestamp_ms: 1_700_000_000_000 + i64::from(generation),
        offset: None,
    }
}

fn write(broker: &Broker, generations: std::ops::RangeInclusive<i32>, bytes: usize) {
    for generation in generations {
        let record = large(generation, bytes);
        broker.append(OFFSETS, partition(), record).unwrap();
    }
}

fn sampled(reading: &Reading) -> Vec<Sampled> {
    let sampled = |kind: &InputKind| match kind {
        InputKind::Sampled(sampled) => Some(*sampled),
        _ => None,
    };
    reading.kinds().filter_map(sampled).collect()
}

fn is_on(reading: &Reading) -> bool {
    sampled(reading).last().is_some_and(|last| last.on)
}

/// A reader at the end of the log, which may leave records out.
async fn at_the_end(broker: &Broker) -> Reading {
    write(broker, 1..=1, 100);
    let mut reading = read(broker);
    reading.until("the start", |reading| {
        reading.reached(Topic::Offsets, partition()) >= 1
    });
    reading.settle();
    reading.handle.sample_beyond_budget(true);
    reading
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_newest_is_read_and_all_again_when_there_are_few() {
    let broker = broker().await;
    let mut reading = at_the_end(&broker).await;
    write(&broker, 2..=MANY, RECORD_BYTES);
    reading.until("sampling", is_on);
    let newest = i64::from(MANY) - 1;
    reading.until("the newest record", |reading| {
        reading.offsets(Topic::Offsets).last() == Some(&newest)
    });
    // While it lasts: of many records the newest, and a hole before it.
    let before = reading.offsets(Topic::Offsets).len();
    write(&broker, MANY + 1..=MANY + 30, 1_000);
    for _ in 0..3 {
        broker.append(OFFSETS, partition(), foreign()).unwrap();
    }
    let newest = newest + 30;
    reading.until("the newest of the next second", |reading| {
        reading.offsets(Topic::Offsets).last() == Some(&newest)
    });
    let since = &reading.offsets(Topic::Offsets)[before..];
    assert!(since.len() < 10, "{since:?}");
    let left_out = sampled(&reading).pop().unwrap();
    assert!(left_out.on && left_out.offset <= newest, "{left_out:?}");
    reading.settle();
    assert_eq!(mode(&reading), Mode::Sampled);
    // Ten seconds of silence: all that comes is read again.
    reading.until("the end of it", |reading| !is_on(reading));
    let before = reading.offsets(Topic::Offsets).len();
    let first = newest + 4;
    write(&broker, MANY + 31..=MANY + 40, 1_000);
    reading.until("all of the next", |reading| {
        reading.offsets(Topic::Offsets).len() == before + 10
    });
    let since = &reading.offsets(Topic::Offsets)[before..];
    assert_eq!(since, (first..first + 10).collect::<Vec<i64>>());
    reading.settle();
    assert_eq!(mode(&reading), Mode::NoPolls, "nobody polls here");
    // Numbers went missing, and nobody knows how they ended.
    let counters = derived(&reading).answers().counters;
    assert_eq!(counters.generations_of(Outcome::Aborted), 0);
    let unknown = counters.generations_of(Outcome::Unknown);
    assert!(unknown > 20, "{unknown}");
    reading.end();
    broker.shutdown().await;
}

/// Who becomes one of those that read all does so at once, in the middle of a storm.
#[tokio::test(flavor = "multi_thread")]
async fn two_of_them_read_all() {
    let broker = broker().await;
    let mut reading = at_the_end(&broker).await;
    write(&broker, 2..=MANY, RECORD_BYTES);
    reading.until("sampling", is_on);
    reading.handle.sample_beyond_budget(false);
    let took = reading.until("the end of it", |reading| !is_on(reading));
    assert!(took < Duration::from_secs(8), "{took:?}");
    let told = sampled(&reading).len();
    write(&broker, MANY + 1..=2 * MANY, RECORD_BYTES);
    let end = i64::from(2 * MANY);
    reading.until("all of them", |reading| {
        reading.reached(Topic::Offsets, partition()) >= end
    });
    let from = i64::from(MANY);
    let offsets = reading.offsets(Topic::Offsets);
    let since: Vec<i64> = offsets.into_iter().filter(|at| *at >= from).collect();
    assert_eq!(since, (from..end).collect::<Vec<i64>>());
    assert_eq!(sampled(&reading).len(), told);
    reading.end();
    broker.shutdown().await;
}

/// What counts is when records were written, not how fast they are read: an hour of history
/// is no storm. Records without a value of their own cost nothing.
#[tokio::test(flavor = "multi_thread")]
async fn reading_up_is_no_storm() {
    let broker = broker().await;
    let mut reading = at_the_end(&broker).await;
    for number in 0..MANY {
        let record = embedded::Record {
            timestamp_ms: 1_700_000_000_000 + i64::from(number) * 1_000,
            ..large(2 + number, RECORD_BYTES)
        };
        broker.append(OFFSETS, partition(), record).unwrap();
    }
    broker.append(OFFSETS, partition(), own("small")).unwrap();
    reading.until("all of them", |reading| {
        reading.offsets(Topic::Offsets).len() == 2 + MANY as usize
    });
    assert!(sampled(&reading).is_empty());
    reading.end();
    broker.shutdown().await;
}

/// What an engine makes of all that was seen.
fn derived(reading: &Reading) -> Engine {
    let mut engine = Engine::new();
    for input in &reading.seen {
        engine.apply(input);
    }
    engine
}

fn mode(reading: &Reading) -> Mode {
    derived(reading).answers().mode
}
