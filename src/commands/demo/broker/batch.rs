//! Record batches (magic 2): encodes records and transaction markers, and searches encoded batches by timestamp.
//!
//! Layout: `org.apache.kafka.common.record.DefaultRecordBatch` (KIP-98). Nothing is compressed.

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::records::{
    Compression, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, Record as WireRecord, RecordBatchDecoder,
    RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};

use super::{BrokerError, Marker, Record};

/// A batch is closed at this many bytes of keys and values: `batch.size` of a default producer, and well below the
/// agent's fetch limit per partition, so that a fetch returns several whole batches.
const BATCH_BYTES_MAX: usize = 16 * 1024;

/// A batch is closed at this many records.
const BATCH_RECORDS_MAX: usize = 500;

/// Every transactional producer here writes with its first epoch.
const PRODUCER_EPOCH: i16 = 0;

/// One encoded batch as it is sent to consumers.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    pub(super) base_offset: i64,
    pub(super) last_offset: i64,
    pub(super) max_timestamp_ms: i64,
    pub(super) leader_epoch: i32,
    /// Transaction markers: consumers step over them.
    pub(super) control: bool,
    pub(super) bytes: Bytes,
}

/// What all records of a batch have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchHeader {
    pub(super) leader_epoch: i32,
    /// The transaction the records belong to.
    pub(super) producer_id: Option<i64>,
}

/// Collects records of rising offset and closes a batch whenever one is full.
#[derive(Debug)]
pub(super) struct BatchBuilder {
    header: BatchHeader,
    records: Vec<WireRecord>,
    payload_bytes: usize,
}

impl BatchBuilder {
    pub(super) fn new(header: BatchHeader) -> Self {
        Self {
            header,
            records: Vec::new(),
            payload_bytes: 0,
        }
    }

    /// Takes a record that gets `offset`; returns a batch if the record no longer fits into the one being filled.
    pub(super) fn push(
        &mut self,
        offset: i64,
        record: Record,
    ) -> Result<Option<Batch>, BrokerError> {
        let payload_bytes =
            record.key.as_ref().map_or(0, Bytes::len) + record.value.as_ref().map_or(0, Bytes::len);
        let full = self.records.len() >= BATCH_RECORDS_MAX
            || self.payload_bytes.saturating_add(payload_bytes) > BATCH_BYTES_MAX
            || self
                .records
                .first()
                .is_some_and(|first| offset.saturating_sub(first.offset) > i64::from(i32::MAX));
        let closed = if full { self.finish()? } else { None };
        self.payload_bytes = self.payload_bytes.saturating_add(payload_bytes);
        self.records.push(wire_record(self.header, offset, record));
        Ok(closed)
    }

    /// Closes the batch being filled, if it holds anything.
    pub(super) fn finish(&mut self) -> Result<Option<Batch>, BrokerError> {
        self.payload_bytes = 0;
        let batch = encode(&self.records, self.header.leader_epoch, false)?;
        self.records.clear();
        Ok(batch)
    }
}

/// The control batch that ends a transaction. Key and value: `EndTransactionMarker` and
/// `ControlRecordType` of the Java client.
pub(super) fn encode_marker(
    leader_epoch: i32,
    offset: i64,
    marker: &Marker,
) -> Result<Option<Batch>, BrokerError> {
    const KEY_VERSION: i16 = 0;
    const VALUE_VERSION: i16 = 0;
    const COORDINATOR_EPOCH: i32 = 0;
    let mut key = BytesMut::with_capacity(4);
    key.put_i16(KEY_VERSION);
    key.put_i16(i16::from(marker.commit));
    let mut value = BytesMut::with_capacity(6);
    value.put_i16(VALUE_VERSION);
    value.put_i32(COORDINATOR_EPOCH);
    let header = BatchHeader {
        leader_epoch,
        producer_id: Some(marker.producer_id),
    };
    let mut record = wire_record(
        header,
        offset,
        Record {
            key: Some(key.freeze()),
            value: Some(value.freeze()),
            timestamp_ms: marker.timestamp_ms,
            offset: None,
        },
    );
    record.control = true;
    encode(&[record], leader_epoch, true)
}

/// Offset and timestamp of the first record of `batch` at or after `timestamp_ms`.
pub(super) fn first_at_or_after(batch: &Batch, timestamp_ms: i64) -> Option<(i64, i64)> {
    let mut bytes = batch.bytes.clone();
    let decoded = RecordBatchDecoder::decode(&mut bytes).ok()?;
    decoded
        .records
        .iter()
        .find(|record| record.timestamp >= timestamp_ms)
        .map(|record| (record.offset, record.timestamp))
}

fn wire_record(header: BatchHeader, offset: i64, record: Record) -> WireRecord {
    WireRecord {
        transactional: header.producer_id.is_some(),
        control: false,
        delete_horizon: false,
        partition_leader_epoch: header.leader_epoch,
        producer_id: header.producer_id.unwrap_or(NO_PRODUCER_ID),
        producer_epoch: match header.producer_id {
            Some(_) => PRODUCER_EPOCH,
            None => NO_PRODUCER_EPOCH,
        },
        timestamp_type: TimestampType::Creation,
        offset,
        // The encoder starts a new batch wherever `sequence` does not run in step with `offset`, holes included.
        sequence: sequence_of(offset),
        timestamp: record.timestamp_ms,
        key: record.key,
        value: record.value,
        headers: IndexMap::new(),
    }
}

/// The low 31 bits and the sign of the offset: the encoder compares in wrapping i32 arithmetic.
fn sequence_of(offset: i64) -> i32 {
    let [.., a, b, c, d] = offset.to_be_bytes();
    i32::from_be_bytes([a, b, c, d])
}

fn encode(
    records: &[WireRecord],
    leader_epoch: i32,
    control: bool,
) -> Result<Option<Batch>, BrokerError> {
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Ok(None);
    };
    let options = RecordEncodeOptions {
        version: 2,
        compression: Compression::None,
    };
    let mut bytes = BytesMut::new();
    RecordBatchEncoder::encode(&mut bytes, records, &options)
        .map_err(|error| BrokerError::Encode(error.to_string()))?;
    Ok(Some(Batch {
        base_offset: first.offset,
        last_offset: last.offset,
        max_timestamp_ms: records
            .iter()
            .map(|record| record.timestamp)
            .max()
            .unwrap_or(first.timestamp),
        leader_epoch,
        control,
        bytes: bytes.freeze(),
    }))
}
