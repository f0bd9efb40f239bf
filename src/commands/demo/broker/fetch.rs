//! Fetch: returns record batches within the client's limits, and waits for new ones as long as it allows.

use std::time::Duration;

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::fetch_response::{
    AbortedTransaction, FetchableTopicResponse, PartitionData,
};
use kafka_protocol::messages::{ApiKey, FetchRequest, FetchResponse};

use super::log::PartitionLog;
use super::offsets::{READ_COMMITTED, check_epoch};
use super::shared::Shared;
use super::store::{Store, Topic};

/// Bytes of batches in one answer, whatever the client allows (`fetch.max.bytes` of a broker).
const FETCH_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A client may wait this long for records, whatever it asks for.
const FETCH_WAIT_MAX: Duration = Duration::from_secs(60);

/// The first version that names topics by id (KIP-516).
const TOPIC_ID_VERSION: i16 = 13;

/// Answers at once if there is enough to return or anything is wrong, else when records arrive or the wait is over.
///
/// Every answer is a full one: session id 0 tells the client that there is no fetch session (KIP-227).
pub(super) async fn fetch(shared: &Shared, request: &FetchRequest, version: i16) -> FetchResponse {
    let bytes_min = usize::try_from(request.min_bytes).unwrap_or(0);
    let wait_ms = u64::try_from(request.max_wait_ms).unwrap_or(0);
    let mut appends = shared.appends();
    let deadline = tokio::time::sleep(Duration::from_millis(wait_ms).min(FETCH_WAIT_MAX));
    tokio::pin!(deadline);
    loop {
        appends.borrow_and_update();
        let read = read(shared, request, version);
        if read.bytes >= bytes_min || read.failed || request.topics.is_empty() {
            return read.response;
        }
        tokio::select! {
            biased;
            () = &mut deadline => return read.response,
            changed = appends.changed() => if changed.is_err() {
                return read.response;
            },
        }
    }
}

struct Read {
    response: FetchResponse,
    bytes: usize,
    failed: bool,
}

fn read(shared: &Shared, request: &FetchRequest, version: i16) -> Read {
    let mut budget = Budget {
        left: usize::try_from(request.max_bytes)
            .unwrap_or(0)
            .min(FETCH_BYTES_MAX),
        spent: 0,
    };
    let mut failed = false;
    let mut responses = Vec::with_capacity(request.topics.len());
    let store = shared.store();
    for wanted in &request.topics {
        let found = find_topic(&store, wanted, version);
        let mut partitions = Vec::with_capacity(wanted.partitions.len());
        for partition in &wanted.partitions {
            let log = find_log(shared, &found, partition);
            let data = log
                .and_then(|log| {
                    read_partition(log, partition, request.isolation_level, &mut budget)
                })
                .unwrap_or_else(|error| {
                    failed = true;
                    refusal(partition, error)
                });
            partitions.push(data);
        }
        let mut topic = FetchableTopicResponse::default().with_partitions(partitions);
        if version >= TOPIC_ID_VERSION {
            topic.topic_id = wanted.topic_id;
        } else {
            topic.topic = wanted.topic.clone();
        }
        responses.push(topic);
    }
    Read {
        response: FetchResponse::default().with_responses(responses),
        bytes: budget.spent,
        failed,
    }
}

/// Bytes that the answer may still grow by.
struct Budget {
    left: usize,
    spent: usize,
}

type FoundTopic<'a> = Result<(&'a str, &'a Topic), ResponseError>;

fn find_topic<'a>(store: &'a Store, wanted: &'a FetchTopic, version: i16) -> FoundTopic<'a> {
    if version >= TOPIC_ID_VERSION {
        return store
            .topic_by_id(wanted.topic_id.as_u128())
            .ok_or(ResponseError::UnknownTopicId);
    }
    let name = wanted.topic.as_str();
    store
        .topic(name)
        .map(|topic| (name, topic))
        .ok_or(ResponseError::UnknownTopicOrPartition)
}

fn find_log<'a>(
    shared: &Shared,
    found: &FoundTopic<'a>,
    wanted: &FetchPartition,
) -> Result<&'a PartitionLog, ResponseError> {
    let (name, topic) = found.as_ref().map_err(|error| *error)?;
    match shared.faults.on_topic(ApiKey::Fetch, name) {
        Some(error) => Err(error),
        None => topic
            .partition(wanted.partition)
            .ok_or(ResponseError::UnknownTopicOrPartition),
    }
}

fn read_partition(
    log: &PartitionLog,
    wanted: &FetchPartition,
    isolation_level: i8,
    budget: &mut Budget,
) -> Result<PartitionData, ResponseError> {
    check_epoch(log, wanted.current_leader_epoch)?;
    let from = wanted.fetch_offset;
    if !(log.start_offset()..=log.end_offset()).contains(&from) {
        return Err(ResponseError::OffsetOutOfRange);
    }
    let committed_only = isolation_level == READ_COMMITTED;
    let until = if committed_only {
        log.last_stable_offset()
    } else {
        log.end_offset()
    };
    let bytes_max = usize::try_from(wanted.partition_max_bytes)
        .unwrap_or(0)
        .min(budget.left);
    let slice = log.read(from, until, bytes_max, budget.spent == 0);
    let data = PartitionData::default()
        .with_partition_index(wanted.partition)
        .with_high_watermark(log.end_offset())
        .with_last_stable_offset(log.last_stable_offset())
        .with_log_start_offset(log.start_offset());
    let Some(slice) = slice else {
        return Ok(
            with_aborted(data, committed_only.then(Vec::new)).with_records(Some(Bytes::new()))
        );
    };
    budget.left = budget.left.saturating_sub(slice.bytes.len());
    budget.spent = budget.spent.saturating_add(slice.bytes.len());
    let aborted = committed_only.then(|| {
        log.aborted_within(from, slice.last_offset)
            .into_iter()
            .map(|aborted| {
                AbortedTransaction::default()
                    .with_producer_id(aborted.producer_id.into())
                    .with_first_offset(aborted.first_offset)
            })
            .collect()
    });
    Ok(with_aborted(data, aborted).with_records(Some(slice.bytes)))
}

/// `None` is null on the wire: the answer to a consumer that reads uncommitted records.
fn with_aborted(data: PartitionData, aborted: Option<Vec<AbortedTransaction>>) -> PartitionData {
    data.with_aborted_transactions(aborted)
}

fn refusal(wanted: &FetchPartition, error: ResponseError) -> PartitionData {
    PartitionData::default()
        .with_partition_index(wanted.partition)
        .with_error_code(error.code())
        .with_high_watermark(-1)
        .with_last_stable_offset(-1)
        .with_log_start_offset(-1)
        .with_records(Some(Bytes::new()))
}
