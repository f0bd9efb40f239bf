//! The backward search through a real client.

use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{InputKind, Topic};

use super::*;
use crate::commands::demo::broker::Marker;

/// Small chunks, so that a log of hundreds has many.
fn small() -> Limits {
    Limits {
        chunk_offsets_min: 16,
        chunk_offsets_max: 64,
        window_offsets: 40,
        ..Limits::default()
    }
}

fn foreign_records(count: usize) -> impl Iterator<Item = broker::Record> {
    std::iter::repeat_with(foreign).take(count)
}

/// Reads until the search is over and the log is read to its end.
#[track_caller]
fn searched(broker: &Broker, limits: &Limits) -> Reading {
    let mut reading = read_with(settings(broker), limits, 1_000);
    reading.until("the start", |r| !r.starts(Topic::Offsets).is_empty());
    reading.settle();
    reading
}

/// Start, records, `Reached`: in this order and before anything else of the topic.
#[track_caller]
fn check_history(reading: &Reading, first: i64, end: i64, offsets: &[i64]) {
    let of_topic: Vec<&InputKind> = reading
        .kinds()
        .filter(|kind| match kind {
            InputKind::Start(start) => start.topic == Topic::Offsets,
            InputKind::Record(record) => record.topic == Topic::Offsets,
            InputKind::Reached(reached) => reached.topic == Topic::Offsets,
            _ => false,
        })
        .collect();
    let InputKind::Start(start) = of_topic[0] else {
        panic!("{:?}", of_topic[0]);
    };
    assert_eq!((start.offset, start.end, start.anew), (first, end, false));
    assert_eq!(start.partition, partition());
    let records: Vec<i64> = of_topic[1..=offsets.len()]
        .iter()
        .map(|kind| match kind {
            InputKind::Record(record) => record.offset,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(records, offsets);
    match of_topic[1 + offsets.len()] {
        InputKind::Reached(reached) => assert_eq!(reached.offset, end),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_partition() {
    let broker = broker().await;
    let reading = searched(&broker, &small());
    check_history(&reading, 0, 0, &[]);
    reading.end();
    assert_only_observed(&broker);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_at_the_very_start() {
    let broker = broker().await;
    broker.append(OFFSETS, partition(), own("first")).unwrap();
    broker
        .append_many(OFFSETS, partition(), foreign_records(500))
        .unwrap();
    let reading = searched(&broker, &small());
    check_history(&reading, 0, 501, &[0]);
    let records = reading.records(Topic::Offsets);
    assert_eq!(records[0].value.as_deref(), Some(b"first".as_slice()));
    assert_eq!(records[0].leader_epoch, Some(0));
    assert!(!records[0].append_time);
    reading.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_record_at_all_then_one_live() {
    let broker = broker().await;
    broker
        .append_many(OFFSETS, partition(), foreign_records(500))
        .unwrap();
    let mut reading = searched(&broker, &small());
    check_history(&reading, 0, 500, &[]);
    broker.append(OFFSETS, partition(), own("live")).unwrap();
    reading.settle();
    assert_eq!(reading.offsets(Topic::Offsets), [500]);
    reading.end();
}

/// A tombstone is a record of the group like any other: the group is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_tombstone_is_found() {
    let broker = broker().await;
    let tombstone = broker::Record {
        value: None,
        ..own("")
    };
    broker.append(OFFSETS, partition(), tombstone).unwrap();
    broker
        .append_many(OFFSETS, partition(), foreign_records(100))
        .unwrap();
    let reading = searched(&broker, &small());
    check_history(&reading, 0, 101, &[0]);
    assert_eq!(reading.records(Topic::Offsets)[0].value, None);
    reading.end();
}

/// Records on both sides of every chunk border, and those of a group whose id begins
/// with ours.
#[tokio::test(flavor = "multi_thread")]
async fn records_straddle_chunks() {
    let broker = broker().await;
    let mut expected = Vec::new();
    for offset in 0..300 {
        // With an end of 300 the chunks begin at 284, 220 and 156.
        let record = match offset {
            155 | 156 | 219 | 220 | 250 | 283 | 284 => own("x"),
            200 => broker::Record {
                key: Some(group_key("connect-cluster-2").into()),
                ..own("x")
            },
            _ => foreign(),
        };
        broker.append(OFFSETS, partition(), record).unwrap();
        if matches!(offset, 250 | 283 | 284) {
            expected.push(offset);
        }
    }
    // The newest is 284, so the window ends at 244.
    let reading = searched(&broker, &small());
    check_history(&reading, 244, 300, &expected);
    reading.end();
}

/// Compaction took what lay at the chunks' borders, and markers stand at others.
#[tokio::test(flavor = "multi_thread")]
async fn holes_and_markers_at_chunk_borders() {
    let broker = broker().await;
    let p = partition();
    broker.append(OFFSETS, p, own("old")).unwrap();
    broker.append(OFFSETS, p, at(260, foreign())).unwrap();
    broker.append(OFFSETS, p, at(270, foreign())).unwrap();
    let marker = Marker {
        producer_id: 7,
        commit: true,
        timestamp_ms: 1_700_000_000_000,
        offset: None,
    };
    broker
        .append_transactional(OFFSETS, p, 7, [at(282, foreign()), foreign()])
        .unwrap();
    let aborted = Marker {
        commit: false,
        ..marker.clone()
    };
    broker.append_control(OFFSETS, p, &aborted).unwrap();
    broker.append(OFFSETS, p, at(299, foreign())).unwrap();
    // 300 is the end; chunks begin at 284 (a marker), 220 (a hole), 156, 92, 28, 0.
    let reading = searched(&broker, &small());
    check_history(&reading, 0, 300, &[0]);
    reading.end();
}

/// The log ends in a marker.
#[tokio::test(flavor = "multi_thread")]
async fn a_marker_at_the_end() {
    let broker = broker().await;
    let p = partition();
    broker.append(OFFSETS, p, own("x")).unwrap();
    broker
        .append_transactional(OFFSETS, p, 7, [foreign()])
        .unwrap();
    let marker = Marker {
        producer_id: 7,
        commit: true,
        timestamp_ms: 1_700_000_000_000,
        offset: None,
    };
    broker.append_control(OFFSETS, p, &marker).unwrap();
    let reading = searched(&broker, &small());
    check_history(&reading, 0, 3, &[0]);
    reading.end();
}

/// The log's last segments hold nothing: no event ever comes of that end.
#[tokio::test(flavor = "multi_thread")]
async fn a_hole_at_the_end() {
    let broker = broker().await;
    let p = partition();
    broker.append(OFFSETS, p, own("x")).unwrap();
    broker.leave_hole_at_end(OFFSETS, p, 10).unwrap();
    let began = Instant::now();
    let reading = searched(&broker, &small());
    check_history(&reading, 0, 10, &[0]);
    println!("searched up to a compacted end in {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(10));
    reading.end();
}

/// The log's start moves up while it is searched: the search begins again.
#[tokio::test(flavor = "multi_thread")]
async fn truncated_while_searching() {
    let broker = broker().await;
    let p = partition();
    broker.append(OFFSETS, p, own("gone")).unwrap();
    broker
        .append_many(OFFSETS, p, foreign_records(5_000))
        .unwrap();
    // Slow fetches, so that the search is under way when the log is cut.
    broker.delay(ApiKey::Fetch, Duration::from_millis(100));
    let limits = Limits {
        chunk_offsets_min: 500,
        chunk_offsets_max: 500,
        ..Limits::default()
    };
    let mut reading = read_with(settings(&broker), &limits, 1_000);
    reading.until("a part of the search", |r| {
        r.handle.counters().search.searched.get() > 600
    });
    assert_eq!(reading.handle.counters().search.done.get(), 0);
    assert!(reading.handle.counters().search.percent() < 100);
    broker.truncate_front(OFFSETS, p, 4_000).unwrap();
    broker.append(OFFSETS, p, own("new")).unwrap();
    broker.clear_faults();
    reading.until("the start", |r| !r.starts(Topic::Offsets).is_empty());
    reading.settle();
    check_history(&reading, 4_000, 5_002, &[5_001]);
    assert!(
        reading
            .handle
            .counters()
            .topic(Topic::Offsets)
            .restarts
            .get()
            >= 1
    );
    reading.end();
}

/// The topic is deleted and created again while it is searched.
#[tokio::test(flavor = "multi_thread")]
async fn recreated_while_searching() {
    let broker = broker().await;
    let p = partition();
    broker
        .append_many(OFFSETS, p, foreign_records(5_000))
        .unwrap();
    broker.delay(ApiKey::Fetch, Duration::from_millis(100));
    let limits = Limits {
        chunk_offsets_min: 500,
        chunk_offsets_max: 500,
        ..Limits::default()
    };
    let mut reading = read_with(settings(&broker), &limits, 1_000);
    reading.until("a part of the search", |r| {
        r.handle.counters().search.searched.get() > 600
    });
    broker.recreate_topic(OFFSETS).unwrap();
    broker.append(OFFSETS, p, own("new")).unwrap();
    broker.clear_faults();
    reading.until("the start", |r| !r.starts(Topic::Offsets).is_empty());
    reading.settle();
    // Nothing was given of the first topic, so nothing has to be taken back.
    check_history(&reading, 0, 1, &[0]);
    reading.end();
}

/// What the search finds is cut when it is too much, and it says so.
#[tokio::test(flavor = "multi_thread")]
async fn too_many_records_are_cut() {
    let broker = broker().await;
    let p = partition();
    let records = std::iter::repeat_with(|| own("x")).take(30);
    broker.append_many(OFFSETS, p, records).unwrap();
    let limits = Limits {
        records_max: 5,
        ..Limits::default()
    };
    let reading = searched(&broker, &limits);
    check_history(&reading, 25, 30, &[25, 26, 27, 28, 29]);
    assert_eq!(reading.handle.counters().search.cut_records.get(), 25);
    reading.end();
}

/// A quiet group among busy ones: its record lies three million back.
#[tokio::test(flavor = "multi_thread")]
async fn a_record_three_million_back() {
    const BACK: usize = 3_000_000;
    let broker = broker().await;
    let p = partition();
    let filling = Instant::now();
    broker.append(OFFSETS, p, own("old")).unwrap();
    broker
        .append_many(OFFSETS, p, foreign_records(BACK))
        .unwrap();
    println!("log of {BACK} records written in {:?}", filling.elapsed());
    let began = Instant::now();
    let mut reading = read(&broker);
    reading.until("the start", |r| !r.starts(Topic::Offsets).is_empty());
    let elapsed = began.elapsed();
    let rate = 3_000_001.0 / elapsed.as_secs_f64();
    println!("found three million records back in {elapsed:?}: {rate:.0} records/s");
    reading.settle();
    check_history(&reading, 0, 3_000_001, &[0]);
    reading.end();
}
