//! librdkafka reads what was appended: values, offsets, holes, transactions, ends, speed.

use std::time::Instant;

use rdkafka::error::{KafkaError, RDKafkaErrorCode};

use super::super::{ApiKey, BrokerError, Marker};
use super::*;

/// End offset as the agent asks for it: one ListOffsets request for all partitions.
fn end_offset(consumer: &BaseConsumer, partition: i32) -> Offset {
    let mut ask = TopicPartitionList::new();
    ask.add_partition_offset(TOPIC, partition, Offset::End)
        .unwrap();
    let answer = consumer.offsets_for_times(ask, DEADLINE).unwrap();
    let element = answer.elements_for_topic(TOPIC);
    element[0].error().unwrap();
    element[0].offset()
}

fn offset_at(consumer: &BaseConsumer, timestamp_ms: i64) -> Offset {
    let mut ask = TopicPartitionList::new();
    ask.add_partition_offset(TOPIC, 0, Offset::Offset(timestamp_ms))
        .unwrap();
    let answer = consumer.offsets_for_times(ask, DEADLINE).unwrap();
    answer.elements_for_topic(TOPIC)[0].offset()
}

fn position(consumer: &BaseConsumer) -> Offset {
    consumer.position().unwrap().elements_for_topic(TOPIC)[0].offset()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_form_of_record_arrives_as_it_was_appended() {
    let broker = broker().await;
    let key = |text: &str| Some(Bytes::copy_from_slice(text.as_bytes()));
    let plain = |offset, key, value, timestamp_ms| Record {
        key,
        value,
        timestamp_ms,
        offset,
    };
    let records = vec![
        plain(Some(3), key("a"), key("1"), 1_700_000_000_000),
        plain(None, key("a"), None, 1_700_000_000_001),
        plain(None, None, key("2"), 0),
        plain(Some(1_000), None, None, 1_600_000_000_000),
        plain(None, key(""), key(""), i64::MAX),
        plain(Some(5_000_000_000), key("far"), key("3"), 1),
        plain(None, key("far"), key("4"), 2),
    ];
    let end = broker.append_many(TOPIC, 0, records.clone()).unwrap();
    assert_eq!(end, 5_000_000_002);

    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    let seen = drain(&consumer);

    let expected: Vec<Seen> = records
        .into_iter()
        .zip([3, 4, 5, 1_000, 1_001, 5_000_000_000, 5_000_000_001])
        .map(|(record, offset)| Seen {
            offset,
            key: record.key.map(|key| key.to_vec()),
            value: record.value.map(|value| value.to_vec()),
            timestamp_ms: Some(record.timestamp_ms),
        })
        .collect();
    assert_eq!(seen, expected);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_offset_behind_the_end_is_refused_and_the_records_before_it_stay() {
    let broker = broker().await;
    let records = [
        at(7, record("a", "1", 1)),
        at(7, record("b", "2", 2)),
        record("c", "3", 3),
    ];
    let refused = broker.append_many(TOPIC, 0, records);
    assert!(matches!(
        refused,
        Err(BrokerError::OffsetBehindEnd {
            offset: 7,
            end_offset: 8
        })
    ));
    assert_eq!(broker.end_offset(TOPIC, 0).unwrap(), 8);
    assert_eq!(broker.append(TOPIC, 0, record("d", "4", 4)).unwrap(), 8);
    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    assert_eq!(offsets(&drain(&consumer)), [7, 8]);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn consumption_starts_anywhere_also_inside_a_batch_and_in_a_hole() {
    let broker = broker().await;
    let records = (0..2_000).map(|n| at(n * 2, record("k", &n.to_string(), n)));
    broker.append_many(TOPIC, 0, records).unwrap();
    let consumer = consumer(&broker, &[]);
    for (from, first) in [(0, 0), (1, 2), (777, 778), (3_998, 3_998)] {
        assign(&consumer, TOPIC, 0, Offset::Offset(from));
        assert_eq!(next(&consumer).unwrap().offset, first, "from {from}");
    }
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_lies_beyond_a_hole_that_no_position_reaches() {
    let broker = broker().await;
    for n in 0..3 {
        broker.append(TOPIC, 0, record("k", "v", n)).unwrap();
    }
    broker.leave_hole_at_end(TOPIC, 0, 10).unwrap();
    assert!(broker.leave_hole_at_end(TOPIC, 0, 9).is_err());
    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    for n in 0..3 {
        assert_eq!(next(&consumer).unwrap().offset, n);
    }
    assert_eq!(end_offset(&consumer, 0), Offset::Offset(10));
    assert_eq!(end_offset(&consumer, 1), Offset::Offset(0));
    assert_eq!(position(&consumer), Offset::Offset(3));
    assert_eq!(
        consumer.fetch_watermarks(TOPIC, 0, DEADLINE).unwrap(),
        (0, 10)
    );
    broker.append(TOPIC, 0, record("k", "v", 3)).unwrap();
    assert_eq!(next(&consumer).unwrap().offset, 10);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn offsets_are_found_by_timestamp() {
    let broker = broker().await;
    let records = (0..1_000).map(|n| record("k", "v", 1_000 + n * 10));
    broker.append_many(TOPIC, 0, records).unwrap();
    let consumer = consumer(&broker, &[]);
    assert_eq!(offset_at(&consumer, 0), Offset::Offset(0));
    assert_eq!(offset_at(&consumer, 1_010), Offset::Offset(1));
    assert_eq!(offset_at(&consumer, 7_001), Offset::Offset(601));
    assert_eq!(offset_at(&consumer, 10_990), Offset::Offset(999));
    assert_eq!(offset_at(&consumer, 10_991), Offset::End);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_marker_takes_an_offset_that_nobody_is_shown() {
    let broker = broker().await;
    let marker = Marker {
        producer_id: 9,
        commit: true,
        timestamp_ms: 5,
        offset: None,
    };
    broker
        .append_transactional(TOPIC, 0, 9, [record("k", "v", 4)])
        .unwrap();
    assert_eq!(broker.append_control(TOPIC, 0, &marker).unwrap(), 1);
    for isolation in ["read_uncommitted", "read_committed"] {
        let consumer = consumer(&broker, &[("isolation.level", isolation)]);
        assign(&consumer, TOPIC, 0, Offset::Beginning);
        assert_eq!(offsets(&drain(&consumer)), [0]);
        assert_eq!(position(&consumer), Offset::Offset(2));
        assert_eq!(end_offset(&consumer, 0), Offset::Offset(2));
    }
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_transaction_hides_what_follows_and_an_aborted_one_its_records() {
    let broker = broker().await;
    let end = |producer_id, commit| Marker {
        producer_id,
        commit,
        timestamp_ms: 0,
        offset: None,
    };
    let write = |producer_id| {
        let records = [record("k", "v", 0)];
        broker.append_transactional(TOPIC, 0, producer_id, records)
    };
    broker.append(TOPIC, 0, record("plain", "0", 0)).unwrap();
    write(1).unwrap();
    write(2).unwrap();
    broker.append(TOPIC, 0, record("plain", "3", 0)).unwrap();
    broker.append_control(TOPIC, 0, &end(1, false)).unwrap();

    let committed = consumer(&broker, &[("isolation.level", "read_committed")]);
    let uncommitted = consumer(&broker, &[]);
    assert_eq!(end_offset(&committed, 0), Offset::Offset(2));
    assert_eq!(end_offset(&uncommitted, 0), Offset::Offset(5));
    assign(&committed, TOPIC, 0, Offset::Beginning);
    assert_eq!(next(&committed).unwrap().offset, 0);
    assert_eq!(offset_at(&committed, 0), Offset::Offset(0));

    broker.append_control(TOPIC, 0, &end(2, true)).unwrap();
    assert_eq!(next_record(&committed).offset, 2);
    assert_eq!(next_record(&committed).offset, 3);
    assert_eq!(end_offset(&committed, 0), Offset::Offset(6));
    assign(&uncommitted, TOPIC, 0, Offset::Beginning);
    assert_eq!(offsets(&drain(&uncommitted)), [0, 1, 2, 3]);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_fetch_is_woken_by_an_append() {
    let broker = broker().await;
    let consumer = consumer(&broker, &[("fetch.wait.max.ms", "5000")]);
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    assert_eq!(next_record(&consumer).offset, 0);
    let mut fetches = 1;
    let mut latencies: Vec<Duration> = (0..20)
        .map(|n| {
            // One fetch brought record n, the one after it is waiting when the next comes.
            eventually("a fetch waits", || broker.requests(ApiKey::Fetch) > fetches);
            fetches = broker.requests(ApiKey::Fetch);
            let appended = Instant::now();
            let offset = broker.append(TOPIC, 0, record("k", "v", n)).unwrap();
            loop {
                match next(&consumer) {
                    Ok(seen) => {
                        assert_eq!(seen.offset, offset);
                        return appended.elapsed();
                    }
                    Err(KafkaError::PartitionEOF(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        })
        .collect();
    latencies.sort();
    println!(
        "long poll: median {:?}, worst {:?}",
        latencies[10], latencies[19]
    );
    assert!(latencies[10] < Duration::from_millis(50));
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn truncation_and_deletion_reach_the_consumer() {
    let broker = broker().await;
    let records = (0..1_000).map(|n| record("k", "v", n));
    broker.append_many(TOPIC, 0, records).unwrap();
    broker.truncate_front(TOPIC, 0, 250).unwrap();
    let consumer = consumer(&broker, &[("auto.offset.reset", "error")]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    assert_eq!(next(&consumer).unwrap().offset, 250);
    assign(&consumer, TOPIC, 0, Offset::Offset(10));
    let lost = loop {
        match next(&consumer) {
            Ok(seen) => assert!(seen.offset >= 250),
            Err(error) => break error,
        }
    };
    assert_eq!(
        lost.rdkafka_error_code(),
        Some(RDKafkaErrorCode::AutoOffsetReset)
    );
    broker.delete_topic(TOPIC).unwrap();
    assert!(matches!(
        broker.append(TOPIC, 0, record("k", "v", 0)),
        Err(BrokerError::UnknownPartition { .. })
    ));
    assert!(broker.delete_topic(TOPIC).is_err());
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_change_does_not_stop_consumption() {
    let broker = broker().await;
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    assert_eq!(offsets(&drain(&consumer)), [0]);
    for epoch in [1, 5] {
        broker.set_leader_epoch(TOPIC, 0, epoch).unwrap();
        let offset = broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
        assert_eq!(next_record(&consumer).offset, offset);
    }
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn throughput() {
    const RECORDS: i64 = 200_000;
    let broker = broker().await;
    let started = Instant::now();
    let value = Bytes::from_static(&[7; 24]);
    let records = (0..RECORDS).map(|n| Record {
        key: Some(Bytes::from(format!("{n:060}"))),
        value: Some(value.clone()),
        timestamp_ms: n,
        offset: None,
    });
    broker.append_many(TOPIC, 0, records).unwrap();
    let appended = started.elapsed();
    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    let started = Instant::now();
    let mut next_offset = 0;
    while next_offset < RECORDS {
        assert!(started.elapsed() < DEADLINE);
        if let Some(Ok(message)) = consumer.poll(Duration::from_millis(50)) {
            assert_eq!(message.offset(), next_offset);
            next_offset += 1;
        }
    }
    let read = started.elapsed();
    println!("{RECORDS} records: appended in {appended:?}, read in {read:?}");
    broker.shutdown().await;
}
