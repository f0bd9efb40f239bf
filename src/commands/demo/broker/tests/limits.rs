//! Fetch and offsets as the protocol itself shows them: limits, waits, errors, epochs, topic ids.

use std::time::Instant;

use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::fetch_response::PartitionData;
use kafka_protocol::messages::offset_for_leader_epoch_request::{
    OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use kafka_protocol::messages::*;
use kafka_protocol::records::RecordBatchDecoder;

use super::super::{Marker, ResponseError};
use super::*;

fn name() -> TopicName {
    TopicName(StrBytes::from_static_str(TOPIC))
}

fn from(partition: i32, offset: i64) -> FetchPartition {
    FetchPartition::default()
        .with_partition(partition)
        .with_fetch_offset(offset)
        .with_partition_max_bytes(1_048_576)
}

fn ask(partitions: Vec<FetchPartition>) -> FetchRequest {
    let topic = FetchTopic::default()
        .with_topic(name())
        .with_partitions(partitions);
    FetchRequest::default()
        .with_max_bytes(1_048_576)
        .with_topics(vec![topic])
}

fn fetch(client: &mut RawClient, request: &FetchRequest) -> Vec<PartitionData> {
    let mut response = client.call(12, request);
    response.responses.remove(0).partitions
}

/// Offset and leader epoch of every record.
fn decode(data: &PartitionData) -> Vec<(i64, i32)> {
    let mut bytes = data.records.clone().unwrap();
    let batches = RecordBatchDecoder::decode_all(&mut bytes).unwrap();
    let records = batches.into_iter().flat_map(|batch| batch.records);
    records
        .map(|record| (record.offset, record.partition_leader_epoch))
        .collect()
}

fn size(data: &PartitionData) -> usize {
    data.records.as_ref().unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fetch_returns_whole_batches_within_its_limits_and_at_least_one() {
    let broker = broker().await;
    for partition in [0, 1] {
        let records = (0..2_000).map(|n| record("key", &"v".repeat(97), n));
        broker.append_many(TOPIC, partition, records).unwrap();
    }
    let mut client = RawClient::connect(&broker);
    let whole = fetch(&mut client, &ask(vec![from(0, 0)])).remove(0);
    let offsets: Vec<i64> = decode(&whole).iter().map(|(offset, _)| *offset).collect();
    assert_eq!(offsets, (0..2_000).collect::<Vec<i64>>());

    // Less than a batch: the first one all the same, and nothing of the second partition.
    let tiny = ask(vec![from(0, 0), from(1, 0)]).with_max_bytes(1);
    let data = fetch(&mut client, &tiny);
    let one_batch = size(&data[0]);
    assert!((16_000..20_000).contains(&one_batch), "{one_batch} bytes");
    assert_eq!(size(&data[1]), 0);

    // Two batches and a half of the first partition, then what is left for the second.
    let half = i32::try_from(one_batch * 5 / 2).unwrap();
    let first = from(0, 0).with_partition_max_bytes(half);
    let request = ask(vec![first, from(1, 0)]).with_max_bytes(half * 2);
    let data = fetch(&mut client, &request);
    let two_batches = one_batch * 2 - 1_000..one_batch * 2 + 1_000;
    assert!(two_batches.contains(&size(&data[0])));
    assert!(size(&data[1]) > 0);
    assert!(size(&data[0]) + size(&data[1]) <= one_batch * 5);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fetch_waits_for_enough_bytes_or_its_time_but_not_with_an_error() {
    let broker = broker().await;
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    let mut client = RawClient::connect(&broker);
    let mut timed = |request: FetchRequest, wait_ms| {
        let request = request.with_max_wait_ms(wait_ms);
        let started = Instant::now();
        let data = fetch(&mut client, &request);
        (data, started.elapsed())
    };
    let wait = Duration::from_millis(300);
    let (data, took) = timed(ask(vec![from(0, 1)]).with_min_bytes(1), 300);
    assert!((wait..DEADLINE).contains(&took));
    assert_eq!((data[0].error_code, size(&data[0])), (0, 0));
    let (data, took) = timed(ask(vec![from(0, 0)]).with_min_bytes(1_000), 300);
    assert!((wait..DEADLINE).contains(&took));
    assert_eq!(decode(&data[0]), [(0, 0)]);
    let (data, _) = timed(ask(vec![from(0, 0)]).with_min_bytes(1), 3_600_000);
    assert_eq!(decode(&data[0]), [(0, 0)]);

    for (partition, error) in [
        (from(0, 2), ResponseError::OffsetOutOfRange),
        (from(0, -1), ResponseError::OffsetOutOfRange),
        (from(7, 0), ResponseError::UnknownTopicOrPartition),
        (
            from(0, 0).with_current_leader_epoch(1),
            ResponseError::UnknownLeaderEpoch,
        ),
    ] {
        let request = ask(vec![from(1, 0), partition]).with_min_bytes(1);
        let (data, took) = timed(request, 3_600_000);
        assert_eq!(data[1].error_code, error.code());
        assert_eq!(data[0].error_code, 0);
        assert!(took < DEADLINE);
    }
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leader_epochs_are_in_the_batches_and_fence_those_who_know_an_older_one() {
    let broker = broker().await;
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    broker.append(TOPIC, 0, record("k", "v", 1)).unwrap();
    broker.set_leader_epoch(TOPIC, 0, 4).unwrap();
    broker.append(TOPIC, 0, record("k", "v", 2)).unwrap();
    let mut client = RawClient::connect(&broker);
    let data = fetch(&mut client, &ask(vec![from(0, 0)]));
    assert_eq!(decode(&data[0]), [(0, 0), (1, 0), (2, 4)]);
    let fenced = ask(vec![from(0, 0).with_current_leader_epoch(3)]);
    assert_eq!(
        fetch(&mut client, &fenced)[0].error_code,
        ResponseError::FencedLeaderEpoch.code()
    );
    let mut end_of = |epoch| {
        let partition = OffsetForLeaderPartition::default()
            .with_current_leader_epoch(4)
            .with_leader_epoch(epoch);
        let topic = OffsetForLeaderTopic::default()
            .with_topic(name())
            .with_partitions(vec![partition]);
        let request = OffsetForLeaderEpochRequest::default().with_topics(vec![topic]);
        let mut response = client.call(4, &request);
        let found = response.topics.remove(0).partitions.remove(0);
        (found.error_code, found.leader_epoch, found.end_offset)
    };
    assert_eq!(end_of(0), (0, 0, 2));
    assert_eq!(end_of(2), (0, 0, 2));
    assert_eq!(end_of(4), (0, 4, 3));
    assert_eq!(end_of(5), (0, -1, -1));
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aborted_transactions_are_named_to_those_who_read_committed_records() {
    let broker = broker().await;
    let marker = |producer_id, commit| Marker {
        producer_id,
        commit,
        timestamp_ms: 0,
        offset: None,
    };
    for producer_id in [5, 6] {
        let records = [record("k", "v", 0)];
        broker
            .append_transactional(TOPIC, 0, producer_id, records)
            .unwrap();
    }
    broker.append_control(TOPIC, 0, &marker(5, false)).unwrap();
    let mut client = RawClient::connect(&broker);
    let mut read = |isolation_level, offset| {
        let request = ask(vec![from(0, offset)]).with_isolation_level(isolation_level);
        let data = fetch(&mut client, &request).remove(0);
        let aborted = data.aborted_transactions.map(|aborted| {
            let named = aborted.iter();
            named
                .map(|aborted| (*aborted.producer_id, aborted.first_offset))
                .collect::<Vec<_>>()
        });
        (data.last_stable_offset, data.high_watermark, aborted)
    };
    assert_eq!(read(0, 0), (1, 3, None));
    assert_eq!(read(1, 0), (1, 3, Some(vec![(5, 0)])));
    broker.append_control(TOPIC, 0, &marker(6, true)).unwrap();
    assert_eq!(read(1, 1), (4, 4, Some(vec![(5, 0)])));
    assert_eq!(read(1, 3), (4, 4, Some(vec![])));
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recreated_topic_has_another_id_and_nothing_of_the_old_one() {
    let broker = broker().await;
    broker.append(TOPIC, 1, record("k", "v", 0)).unwrap();
    let mut client = RawClient::connect(&broker);
    let describe = |client: &mut RawClient| {
        let response = client.call(13, &MetadataRequest::default().with_topics(None));
        let topic = response.topics[0].clone();
        (topic.topic_id, topic.partitions.len())
    };
    let (old, partitions) = describe(&mut client);
    assert_eq!(partitions, 2);
    broker.recreate_topic(TOPIC).unwrap();
    let (new, partitions) = describe(&mut client);
    assert_eq!(partitions, 2);
    assert_ne!(old, new);
    assert_eq!(broker.end_offset(TOPIC, 1).unwrap(), 0);
    for (topic_id, error_code) in [(old, ResponseError::UnknownTopicId.code()), (new, 0)] {
        let topic = FetchTopic::default()
            .with_topic_id(topic_id)
            .with_partitions(vec![from(1, 0)]);
        let request = FetchRequest::default()
            .with_max_bytes(1_000)
            .with_topics(vec![topic]);
        let response = client.call(18, &request);
        assert_eq!(response.responses[0].topic_id, topic_id);
        assert_eq!(response.responses[0].partitions[0].error_code, error_code);
    }
    broker.shutdown().await;
}
