//! The log of one partition: appends, reads within byte limits, and answers where offsets lie.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use super::batch::{Batch, BatchBuilder, BatchHeader, encode_marker, first_at_or_after};
use super::{BrokerError, Marker, Record};

/// A transaction that was rolled back: consumers with `read_committed` drop its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AbortedRange {
    pub(super) producer_id: i64,
    pub(super) first_offset: i64,
    /// The offset of its marker.
    pub(super) last_offset: i64,
}

/// Where a record was found by its timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundOffset {
    pub(super) offset: i64,
    pub(super) timestamp_ms: i64,
    pub(super) leader_epoch: i32,
}

/// Batches in offset order. The high watermark is the log end: there is one replica.
#[derive(Debug, Default)]
pub(super) struct PartitionLog {
    batches: Vec<Batch>,
    start_offset: i64,
    end_offset: i64,
    leader_epoch: i32,
    /// First offset of each leader epoch, epochs rising.
    epochs: Vec<(i32, i64)>,
    /// First offset of each transaction without a marker, by producer id.
    open_transactions: BTreeMap<i64, i64>,
    aborted: Vec<AbortedRange>,
}

impl PartitionLog {
    pub(super) fn start_offset(&self) -> i64 {
        self.start_offset
    }

    pub(super) fn end_offset(&self) -> i64 {
        self.end_offset
    }

    pub(super) fn leader_epoch(&self) -> i32 {
        self.leader_epoch
    }

    /// Everything before this offset is decided: committed, aborted or never part of a transaction.
    pub(super) fn last_stable_offset(&self) -> i64 {
        self.open_transactions
            .values()
            .copied()
            .min()
            .unwrap_or(self.end_offset)
    }

    /// Appends records in order, several to a batch; returns the offset of the last one.
    pub(super) fn append(
        &mut self,
        producer_id: Option<i64>,
        records: impl IntoIterator<Item = Record>,
    ) -> Result<Option<i64>, BrokerError> {
        let mut builder = BatchBuilder::new(BatchHeader {
            leader_epoch: self.leader_epoch,
            producer_id,
        });
        let mut last_offset = None;
        let mut outcome = Ok(());
        let mut next_offset = self.end_offset;
        for record in records {
            let offset = match place(record.offset, next_offset) {
                Ok(offset) => offset,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            };
            if let Some(batch) = builder.push(offset, record)? {
                self.store(batch);
            }
            if let Some(producer_id) = producer_id {
                self.open_transactions.entry(producer_id).or_insert(offset);
            }
            last_offset = Some(offset);
            next_offset = offset.saturating_add(1);
        }
        if let Some(batch) = builder.finish()? {
            self.store(batch);
        }
        outcome.map(|()| last_offset)
    }

    /// Appends the control record that ends the open transaction of its producer.
    pub(super) fn append_marker(&mut self, marker: &Marker) -> Result<i64, BrokerError> {
        let offset = place(marker.offset, self.end_offset)?;
        if let Some(batch) = encode_marker(self.leader_epoch, offset, marker)? {
            self.store(batch);
        }
        let first_offset = self.open_transactions.remove(&marker.producer_id);
        if let (Some(first_offset), false) = (first_offset, marker.commit) {
            self.aborted.push(AbortedRange {
                producer_id: marker.producer_id,
                first_offset,
                last_offset: offset,
            });
        }
        Ok(offset)
    }

    /// Moves the log end without a record, as compaction leaves it when the newest records of a closed segment go.
    pub(super) fn advance_end(&mut self, end_offset: i64) -> Result<(), BrokerError> {
        self.end_offset = place(Some(end_offset), self.end_offset)?;
        Ok(())
    }

    /// Moves the log start (as retention or DeleteRecords do); batches that end before it go.
    pub(super) fn truncate_front(&mut self, start_offset: i64) {
        let start_offset = start_offset.clamp(self.start_offset, self.end_offset);
        self.start_offset = start_offset;
        let gone = self
            .batches
            .partition_point(|batch| batch.last_offset < start_offset);
        self.batches.drain(..gone);
        self.aborted
            .retain(|aborted| aborted.last_offset >= start_offset);
    }

    /// Later batches carry this epoch.
    pub(super) fn set_leader_epoch(&mut self, leader_epoch: i32) {
        self.leader_epoch = leader_epoch;
    }

    /// Whole batches from the one that holds `from` on, as long as they begin before `until` and fit `bytes_max`.
    /// With `at_least_one` the first batch is returned even if it is larger (KIP-74).
    pub(super) fn read(
        &self,
        from: i64,
        until: i64,
        bytes_max: usize,
        at_least_one: bool,
    ) -> Option<Slice> {
        let first = self.first_batch_at(from);
        let mut size = 0usize;
        let mut taken: &[Batch] = &[];
        let candidates = self.batches.get(first..)?;
        for (index, batch) in candidates.iter().enumerate() {
            let grown = size.saturating_add(batch.bytes.len());
            let fits = grown <= bytes_max || (index == 0 && at_least_one);
            if !fits || batch.base_offset >= until {
                break;
            }
            size = grown;
            taken = candidates.get(..=index)?;
        }
        let last_offset = taken.last()?.last_offset;
        let bytes = match taken {
            [only] => only.bytes.clone(),
            several => {
                let mut joined = BytesMut::with_capacity(size);
                for batch in several {
                    joined.extend_from_slice(&batch.bytes);
                }
                joined.freeze()
            }
        };
        Some(Slice { bytes, last_offset })
    }

    /// Aborted transactions that touch the offsets `from..=last_offset`.
    pub(super) fn aborted_within(&self, from: i64, last_offset: i64) -> Vec<AbortedRange> {
        self.aborted
            .iter()
            .filter(|aborted| aborted.last_offset >= from && aborted.first_offset <= last_offset)
            .copied()
            .collect()
    }

    /// The first record at or after `timestamp_ms` that lies before `until`.
    pub(super) fn find_timestamp(&self, timestamp_ms: i64, until: i64) -> Option<FoundOffset> {
        self.batches
            .iter()
            .take_while(|batch| batch.base_offset < until)
            .filter(|batch| !batch.control && batch.max_timestamp_ms >= timestamp_ms)
            .find_map(|batch| {
                first_at_or_after(batch, timestamp_ms).map(|(offset, timestamp_ms)| FoundOffset {
                    offset,
                    timestamp_ms,
                    leader_epoch: batch.leader_epoch,
                })
            })
            .filter(|found| found.offset < until)
    }

    /// The first record with the newest timestamp of the log (ListOffsets with timestamp -3, KIP-734).
    pub(super) fn find_newest(&self, until: i64) -> Option<FoundOffset> {
        let newest = self
            .batches
            .iter()
            .filter(|batch| !batch.control && batch.base_offset < until)
            .map(|batch| batch.max_timestamp_ms)
            .max()?;
        self.find_timestamp(newest, until)
    }

    /// The largest epoch not above `epoch` and the offset where it ended (KIP-101, OffsetForLeaderEpoch).
    pub(super) fn epoch_end(&self, epoch: i32) -> Option<(i32, i64)> {
        if epoch >= self.leader_epoch {
            return (epoch == self.leader_epoch).then_some((epoch, self.end_offset));
        }
        let after = self.epochs.partition_point(|(known, _)| *known <= epoch);
        let (found, _) = self.epochs.get(after.checked_sub(1)?)?;
        let end_offset = self
            .epochs
            .get(after)
            .map_or(self.end_offset, |(_, start_offset)| *start_offset);
        Some((*found, end_offset))
    }

    /// Epoch of the first batch that reaches `offset`; the current one if there is none.
    pub(super) fn epoch_at(&self, offset: i64) -> i32 {
        self.batches
            .get(self.first_batch_at(offset))
            .map_or(self.leader_epoch, |batch| batch.leader_epoch)
    }

    fn first_batch_at(&self, offset: i64) -> usize {
        self.batches
            .partition_point(|batch| batch.last_offset < offset)
    }

    fn store(&mut self, batch: Batch) {
        let newest = self.epochs.last().map(|(epoch, _)| *epoch);
        if newest.is_none_or(|epoch| epoch < batch.leader_epoch) {
            self.epochs.push((batch.leader_epoch, batch.base_offset));
        }
        self.end_offset = batch.last_offset.saturating_add(1);
        self.batches.push(batch);
    }
}

/// What a fetch of one partition returns.
#[derive(Debug, Clone)]
pub(super) struct Slice {
    pub(super) bytes: Bytes,
    pub(super) last_offset: i64,
}

/// The offset a record gets: the wanted one, if it does not lie before `next_offset`.
fn place(wanted: Option<i64>, next_offset: i64) -> Result<i64, BrokerError> {
    match wanted {
        Some(offset) if offset < next_offset => Err(BrokerError::OffsetBehindEnd {
            offset,
            end_offset: next_offset,
        }),
        Some(offset) => Ok(offset),
        None => Ok(next_offset),
    }
}
