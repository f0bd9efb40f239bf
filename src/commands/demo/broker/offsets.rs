//! ListOffsets and OffsetForLeaderEpoch: where a partition begins and ends, and where a time or an epoch lies in it.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::list_offsets_request::ListOffsetsPartition;
use kafka_protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use kafka_protocol::messages::offset_for_leader_epoch_response::{
    EpochEndOffset, OffsetForLeaderTopicResult,
};
use kafka_protocol::messages::{
    ApiKey, ListOffsetsRequest, ListOffsetsResponse, OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
};

use super::log::{FoundOffset, PartitionLog};
use super::shared::Shared;
use super::store::Store;

/// Isolation level of a consumer that sees only what is decided.
pub(super) const READ_COMMITTED: i8 = 1;

// Timestamps that ask for a place instead (`org.apache.kafka.common.requests.ListOffsetsRequest`).
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
/// There is no remote tier, so the earliest local record is the earliest one (KIP-405).
const EARLIEST_LOCAL: i64 = -4;

/// What "unknown" is for offsets, timestamps and epochs.
const UNKNOWN: i64 = -1;
const UNKNOWN_EPOCH: i32 = -1;

const NOTHING_FOUND: FoundOffset = FoundOffset {
    offset: UNKNOWN,
    timestamp_ms: UNKNOWN,
    leader_epoch: UNKNOWN_EPOCH,
};

/// The first version of ListOffsets that tells leader epochs (KIP-320).
const LEADER_EPOCH_VERSION: i16 = 4;

pub(super) fn list(
    shared: &Shared,
    request: &ListOffsetsRequest,
    version: i16,
) -> ListOffsetsResponse {
    let store = shared.store();
    let topics = request
        .topics
        .iter()
        .map(|topic| {
            let partitions = topic.partitions.iter().map(|wanted| {
                let index = wanted.partition_index;
                let found = find(shared, &store, ApiKey::ListOffsets, &topic.name, index)
                    .and_then(|log| locate(log, wanted, request.isolation_level));
                let (error_code, found) = match found {
                    Ok(found) => (0, found),
                    Err(error) => (error.code(), NOTHING_FOUND),
                };
                let answer = ListOffsetsPartitionResponse::default()
                    .with_partition_index(index)
                    .with_error_code(error_code)
                    .with_offset(found.offset)
                    .with_timestamp(found.timestamp_ms);
                if version < LEADER_EPOCH_VERSION {
                    return answer;
                }
                answer.with_leader_epoch(found.leader_epoch)
            });
            ListOffsetsTopicResponse::default()
                .with_name(topic.name.clone())
                .with_partitions(partitions.collect())
        })
        .collect();
    ListOffsetsResponse::default().with_topics(topics)
}

pub(super) fn epoch_ends(
    shared: &Shared,
    request: &OffsetForLeaderEpochRequest,
) -> OffsetForLeaderEpochResponse {
    let store = shared.store();
    let topics = request
        .topics
        .iter()
        .map(|topic| {
            let partitions = topic.partitions.iter().map(|wanted| {
                let log = find(
                    shared,
                    &store,
                    ApiKey::OffsetForLeaderEpoch,
                    &topic.topic,
                    wanted.partition,
                );
                let found = log.and_then(|log| {
                    check_epoch(log, wanted.current_leader_epoch)?;
                    Ok(log.epoch_end(wanted.leader_epoch))
                });
                let answer = EpochEndOffset::default().with_partition(wanted.partition);
                let (error_code, (leader_epoch, end_offset)) = match found {
                    Ok(found) => (0, found.unwrap_or((UNKNOWN_EPOCH, UNKNOWN))),
                    Err(error) => (error.code(), (UNKNOWN_EPOCH, UNKNOWN)),
                };
                answer
                    .with_error_code(error_code)
                    .with_leader_epoch(leader_epoch)
                    .with_end_offset(end_offset)
            });
            OffsetForLeaderTopicResult::default()
                .with_topic(topic.topic.clone())
                .with_partitions(partitions.collect())
        })
        .collect();
    OffsetForLeaderEpochResponse::default().with_topics(topics)
}

/// Compares the leader epoch the client believes in with ours (KIP-320).
pub(super) fn check_epoch(log: &PartitionLog, claimed: i32) -> Result<(), ResponseError> {
    if claimed == UNKNOWN_EPOCH || claimed == log.leader_epoch() {
        Ok(())
    } else if claimed < log.leader_epoch() {
        Err(ResponseError::FencedLeaderEpoch)
    } else {
        Err(ResponseError::UnknownLeaderEpoch)
    }
}

fn find<'a>(
    shared: &Shared,
    store: &'a Store,
    api: ApiKey,
    topic: &str,
    partition: i32,
) -> Result<&'a PartitionLog, ResponseError> {
    match shared.faults.on_topic(api, topic) {
        Some(error) => Err(error),
        None => store
            .partition(topic, partition)
            .ok_or(ResponseError::UnknownTopicOrPartition),
    }
}

fn locate(
    log: &PartitionLog,
    wanted: &ListOffsetsPartition,
    isolation_level: i8,
) -> Result<FoundOffset, ResponseError> {
    check_epoch(log, wanted.current_leader_epoch)?;
    let until = if isolation_level == READ_COMMITTED {
        log.last_stable_offset()
    } else {
        log.end_offset()
    };
    let place = |offset, leader_epoch| FoundOffset {
        offset,
        timestamp_ms: UNKNOWN,
        leader_epoch,
    };
    let found = match wanted.timestamp {
        LATEST => Some(place(until, log.leader_epoch())),
        EARLIEST | EARLIEST_LOCAL => {
            let start_offset = log.start_offset();
            Some(place(start_offset, log.epoch_at(start_offset)))
        }
        MAX_TIMESTAMP => log.find_newest(until),
        timestamp_ms if timestamp_ms >= 0 => log.find_timestamp(timestamp_ms, until),
        // No remote tier: nothing is the latest tiered offset or the earliest one pending upload.
        _ => None,
    };
    Ok(found.unwrap_or(NOTHING_FOUND))
}
