//! Reading on: order, ends, what is told as reached, and back-pressure.

use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{InputKind, Topic};

use super::*;
use crate::commands::demo::broker::Marker;

fn marker(commit: bool) -> Marker {
    Marker {
        producer_id: 7,
        commit,
        timestamp_ms: 1_700_000_000_000,
        offset: None,
    }
}

/// The settings come first and say what there is; every topic is readable; then each
/// begins where it begins.
#[tokio::test(flavor = "multi_thread")]
async fn begins_with_settings() {
    let broker = broker().await;
    broker
        .append(CONFIG, 0, keyed("commit-a", r#"{"tasks":1}"#))
        .unwrap();
    broker
        .append(STATUS, 1, status("status-task-a-0", 3))
        .unwrap();
    broker.truncate_front(CONFIG, 0, 1).unwrap();
    let mut reading = read(&broker);
    reading.until("all starts", |r| {
        Topic::ALL.iter().all(|topic| !r.starts(*topic).is_empty())
    });
    reading.settle();
    let settings = reading.settings();
    assert_eq!(
        settings.len(),
        2,
        "the names at once, then one that says it all"
    );
    assert!(matches!(reading.seen[0].kind, InputKind::Settings(_)));
    assert_eq!(
        (settings[0].group.as_str(), settings[0].offsets_partition),
        (GROUP, -1)
    );
    let settings = &settings[1..];
    assert_eq!(settings[0].cluster_id.as_deref(), Some("embedded-test"));
    assert_eq!(settings[0].group, GROUP);
    assert_eq!(settings[0].offsets_partition, partition());
    assert_eq!(
        (settings[0].config_partitions, settings[0].status_partitions),
        (1, 2)
    );
    for topic in Topic::ALL {
        assert_eq!(reading.troubles(topic), [None], "{topic:?}");
    }
    let config = reading.starts(Topic::Config);
    assert_eq!((config[0].offset, config[0].end), (1, 1));
    let mut status: Vec<(i32, i64, i64)> = reading
        .starts(Topic::Status)
        .iter()
        .map(|start| (start.partition, start.offset, start.end))
        .collect();
    status.sort_unstable();
    assert_eq!(status, [(0, 0, 0), (1, 0, 1)]);
    reading.end();
    assert_only_observed(&broker);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_topic_with_three_partitions_is_read_all_the_same() {
    let listen = "127.0.0.1:0".parse().unwrap();
    let mut topics = specs();
    topics[1].partitions = 3;
    let broker = Broker::start(listen, "embedded-test", &topics)
        .await
        .unwrap();
    for partition in 0..3 {
        let record = keyed("commit-a", r#"{"tasks":1}"#);
        broker.append(CONFIG, partition, record).unwrap();
    }
    let mut reading = read(&broker);
    reading.until("three records", |r| r.records(Topic::Config).len() == 3);
    assert_eq!(reading.settings()[1].config_partitions, 3);
    reading.end();
}

/// Records of others are skipped but counted, and the engine learns that they were read.
#[tokio::test(flavor = "multi_thread")]
async fn skips_other_groups_and_tells_how_far_it_is() {
    let broker = broker().await;
    let p = partition();
    let mut reading = read(&broker);
    reading.until("the start", |r| !r.starts(Topic::Offsets).is_empty());
    reading.settle();
    let others = std::iter::repeat_with(foreign).take(1_000);
    broker.append_many(OFFSETS, p, others).unwrap();
    broker.append(OFFSETS, p, own("g1")).unwrap();
    broker
        .append_many(OFFSETS, p, [foreign(), foreign()])
        .unwrap();
    reading.settle();
    assert_eq!(reading.offsets(Topic::Offsets), [1_000]);
    assert_eq!(reading.reached(Topic::Offsets, p), 1_003);
    let counters = reading.handle.counters().topic(Topic::Offsets);
    assert_eq!((counters.records.get(), counters.passed.get()), (1_003, 1));
    assert!(counters.bytes.get() > 1_000 * 40);
    assert_eq!(counters.proofs.get(), 0, "nothing had to be proven");
    reading.end();
}

/// Values of configurations and traces of statuses do not come through.
#[tokio::test(flavor = "multi_thread")]
async fn lets_no_secret_through() {
    let broker = broker().await;
    let secret = "hunter2-hunter2";
    let config =
        format!(r#"{{"properties":{{"connector.class":"X","database.password":"{secret}"}}}}"#);
    broker
        .append(CONFIG, 0, keyed("connector-a", &config))
        .unwrap();
    broker
        .append(CONFIG, 0, keyed("connector-a", &config))
        .unwrap();
    let key = format!(r#"{{"key":"{secret}","algorithm":"HmacSHA256","creation-timestamp":1}}"#);
    broker
        .append(CONFIG, 0, keyed("session-key", &key))
        .unwrap();
    let trace = format!(
        r#"{{"state":"FAILED","trace":"java.lang.X: {secret}","worker_id":"w:1","generation":1}}"#
    );
    broker
        .append(STATUS, 0, keyed("status-task-a-0", &trace))
        .unwrap();
    let mut reading = read(&broker);
    reading.until("all records", |r| {
        r.records(Topic::Config).len() == 3 && r.records(Topic::Status).len() == 1
    });
    for record in [
        reading.records(Topic::Config),
        reading.records(Topic::Status),
    ]
    .concat()
    {
        let value = String::from_utf8_lossy(record.value.as_deref().unwrap());
        assert!(!value.contains(secret), "{value}");
    }
    let config = reading.records(Topic::Config);
    assert_eq!(
        config[0].value, config[1].value,
        "the same content looks the same"
    );
    reading.end();
}

/// What a rolled back transaction wrote to the config topic is not there.
#[tokio::test(flavor = "multi_thread")]
async fn reads_only_what_is_committed_of_the_config_topic() {
    let broker = broker().await;
    let record = |n: usize| keyed("commit-a", &format!(r#"{{"tasks":{n}}}"#));
    broker
        .append_transactional(CONFIG, 0, 7, [record(1)])
        .unwrap();
    broker.append_control(CONFIG, 0, &marker(false)).unwrap();
    broker
        .append_transactional(CONFIG, 0, 7, [record(2)])
        .unwrap();
    broker.append_control(CONFIG, 0, &marker(true)).unwrap();
    broker
        .append_transactional(CONFIG, 0, 7, [record(3)])
        .unwrap();
    let mut reading = read(&broker);
    reading.until("the start", |r| !r.starts(Topic::Config).is_empty());
    reading.settle();
    assert_eq!(reading.offsets(Topic::Config), [2]);
    // The end is where the open transaction begins, not the log's.
    assert_eq!(reading.ends(Topic::Config).last().unwrap().ends, [(0, 4)]);
    broker.append_control(CONFIG, 0, &marker(true)).unwrap();
    reading.settle();
    assert_eq!(reading.offsets(Topic::Config), [2, 4]);
    assert_eq!(reading.reached(Topic::Config, 0), 6);
    reading.end();
}

/// Where the log ends in a marker, the position tells; no seek is needed.
#[tokio::test(flavor = "multi_thread")]
async fn passes_a_marker_at_the_end() {
    let broker = broker().await;
    let mut reading = read(&broker);
    reading.until("the start", |r| !r.starts(Topic::Config).is_empty());
    reading.settle();
    let record = keyed("commit-a", r#"{"tasks":1}"#);
    broker.append_transactional(CONFIG, 0, 7, [record]).unwrap();
    broker.append_control(CONFIG, 0, &marker(true)).unwrap();
    let elapsed = reading.settle();
    println!("barrier behind a marker: {elapsed:?}");
    assert_eq!(reading.reached(Topic::Config, 0), 2);
    assert_eq!(
        reading.handle.counters().topic(Topic::Config).proofs.get(),
        0
    );
    reading.end();
}

/// Compaction took the newest records of a closed segment: the batch that held them
/// still says how far it went, and the end-of-partition event proves it.
#[tokio::test(flavor = "multi_thread")]
async fn proves_a_hole_at_the_end() {
    let broker = broker().await;
    let mut reading = read(&broker);
    reading.until("the start", |r| !r.starts(Topic::Status).is_empty());
    reading.settle();
    broker
        .append(STATUS, 0, status("status-task-a-0", 1))
        .unwrap();
    broker.leave_hole_at_end(STATUS, 0, 40).unwrap();
    let elapsed = reading.settle();
    println!("barrier behind a hole without any batch: {elapsed:?}");
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
    assert_eq!(reading.reached(Topic::Status, 0), 40);
    assert_eq!(reading.offsets(Topic::Status), [0]);
    // What is written behind the hole is read.
    broker
        .append(STATUS, 0, status("status-task-a-0", 2))
        .unwrap();
    reading.settle();
    assert_eq!(reading.offsets(Topic::Status), [0, 40]);
    // Two partitions at once, and twice in a row.
    broker.leave_hole_at_end(STATUS, 0, 50).unwrap();
    broker.leave_hole_at_end(STATUS, 1, 7).unwrap();
    reading.settle();
    broker.leave_hole_at_end(STATUS, 0, 60).unwrap();
    reading.settle();
    assert_eq!(reading.reached(Topic::Status, 0), 60);
    assert_eq!(reading.reached(Topic::Status, 1), 7);
    assert_eq!(reading.offsets(Topic::Status), [0, 40], "nothing twice");
    reading.end();
}

/// A question asked while another is under way is asked anew, and questions do not pile up.
#[tokio::test(flavor = "multi_thread")]
async fn asks_anew_for_what_was_asked_meanwhile() {
    let broker = broker().await;
    let mut reading = read(&broker);
    reading.until("the start", |r| !r.starts(Topic::Config).is_empty());
    reading.settle();
    // Questions that were still waiting for their turn are answered, on a slow machine, too.
    let mut before = 0;
    while reading.ends(Topic::Config).len() != before {
        before = reading.ends(Topic::Config).len();
        reading.rest(Duration::from_secs(1));
    }
    broker.delay(ApiKey::ListOffsets, Duration::from_millis(300));
    reading.handle.ask_ends();
    reading.rest(Duration::from_millis(100));
    let asked = now();
    for _ in 0..50 {
        reading.handle.ask_ends();
    }
    reading.until("a later answer", |r| {
        r.ends(Topic::Config).iter().any(|ends| ends.asked >= asked)
    });
    reading.rest(Duration::from_secs(1));
    assert_eq!(reading.ends(Topic::Config).len(), before + 2);
    reading.end();
}

/// Nobody asks, and ends come all the same.
#[tokio::test(flavor = "multi_thread")]
async fn asks_every_ten_seconds() {
    let broker = broker().await;
    let mut reading = read(&broker);
    reading.until("the first end", |r| !r.ends(Topic::Status).is_empty());
    let first = reading.ends(Topic::Status).len();
    let elapsed = reading.until("the next end", |r| r.ends(Topic::Status).len() > first);
    assert!(elapsed < Duration::from_secs(12), "{elapsed:?}");
    reading.end();
}

/// A slow engine slows the reader down; nothing is lost, and little is held.
#[tokio::test(flavor = "multi_thread")]
async fn waits_for_a_slow_receiver() {
    const RECORDS: i64 = 20_000;
    let broker = broker().await;
    let records = (0..RECORDS).map(|n| {
        let generation = i32::try_from(n).unwrap();
        status(&format!("status-task-a-{n}"), generation)
    });
    broker.append_many(STATUS, 0, records).unwrap();
    let mut reading = read_with(settings(&broker), &Limits::default(), 64);
    std::thread::sleep(Duration::from_secs(1));
    let passed = reading.handle.counters().topic(Topic::Status).passed.get();
    assert!(passed <= 65, "{passed} passed on, though nobody took them");
    let began = Instant::now();
    reading.until("all records", |r| {
        r.handle.counters().topic(Topic::Status).passed.get() >= RECORDS as u64
    });
    reading.rest(Duration::from_millis(100));
    println!(
        "{RECORDS} records through a channel of 64 in {:?}",
        began.elapsed()
    );
    assert_eq!(
        reading.offsets(Topic::Status),
        (0..RECORDS).collect::<Vec<_>>()
    );
    reading.end();
}

/// Dropping the receiver ends all threads by itself.
#[tokio::test(flavor = "multi_thread")]
async fn ends_when_nobody_listens() {
    let broker = broker().await;
    let mut reading = read(&broker);
    reading.until("the start", |r| !r.starts(Topic::Status).is_empty());
    let Reading { handle, inputs, .. } = reading;
    drop(inputs);
    let began = Instant::now();
    handle.join();
    assert!(began.elapsed() < Duration::from_secs(5));
}
