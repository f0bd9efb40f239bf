//! The backward search: finds the group's newest record in the offsets partition and
//! a window of history before it, reading chunks from the log's end towards its start,
//! each chunk forward. Compaction keeps the newest record, however old it is.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use evenkeel_core::facts::input::Record;
use evenkeel_core::facts::time::EventTime;

/// How much larger each chunk is than the one after it. At each border about 2 MiB that
/// were fetched are thrown away, so few chunks are better than many.
const CHUNK_GROWTH: i64 = 4;

/// Bounds of a search; tests make them small, benchmarks one chunk of all.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Offsets of the first chunk. A quiet cluster's newest group record is found in
    /// it, in less than 0.1 s.
    pub chunk_offsets_min: i64,
    /// Offsets of a chunk at most. What a client fetched beyond the end of its chunk is
    /// thrown away (1 MiB that is queued and 1 MiB on its way), so large chunks waste
    /// little: 2 % at this size.
    pub chunk_offsets_max: i64,
    /// How far before the newest record history is read, in event time. An hour holds the
    /// rollout or storm that explains the present: patterns look back 30 minutes.
    pub window_ms: i64,
    /// The same in offsets: a second or two of reading on a busy partition.
    pub window_offsets: i64,
    /// Group records kept. A storm of 5 generations a second for an hour.
    pub records_max: usize,
    /// Bytes of them kept: a group of 10,000 tasks writes 0.4 MB a record.
    pub bytes_max: usize,
}

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The first offset from which all of the group's records are here.
    pub(super) first: i64,
    /// The group's records, in offset order.
    pub(super) records: VecDeque<Record>,
    /// Older records that were found and left out.
    pub(super) cut: u64,
}

/// Reads chunks of the partition.
pub(super) trait ChunkSource {
    type Halt;

    /// Reads all records from `from` up to, not including, `to`, and calls `own` with
    /// those of the group, in offset order. Gives the timestamp of the first record,
    /// of whichever group.
    fn read(
        &mut self,
        from: i64,
        to: i64,
        own: &mut dyn FnMut(Record),
    ) -> Result<Option<EventTime>, Self::Halt>;
}

/// Searches the log between `low` and `end`.
pub(super) fn search<S: ChunkSource>(
    source: &mut S,
    low: i64,
    end: i64,
    limits: &Limits,
) -> Result<Found, S::Halt> {
    let mut kept = Kept::default();
    let mut newest: Option<(i64, Option<EventTime>)> = None;
    let mut to = end;
    let mut span = limits.chunk_offsets_min;
    loop {
        let floor = newest.map_or(low, |(offset, _)| {
            low.max(offset.saturating_sub(limits.window_offsets))
        });
        let from = floor.max(to.saturating_sub(span));
        if from >= to {
            break;
        }
        let mut chunk = Kept::default();
        let first_time = source.read(from, to, &mut |record| {
            chunk.push_newer(record, limits);
        })?;
        to = from;
        span = span
            .saturating_mul(CHUNK_GROWTH)
            .min(limits.chunk_offsets_max);
        if newest.is_none() {
            newest = chunk.records.back().map(|r| (r.offset, r.timestamp));
        }
        kept.put_before(chunk, limits);
        let newest_time = newest.and_then(|(_, time)| time);
        let is_before_window = match (first_time, newest_time) {
            (Some(first), Some(newest)) => newest.since_ms(first) > limits.window_ms,
            _ => false,
        };
        if is_before_window || kept.cut > 0 {
            break;
        }
    }
    let first = match kept.records.front() {
        Some(oldest) if kept.cut > 0 => oldest.offset,
        _ => to.min(end),
    };
    Ok(Found {
        first,
        records: kept.records,
        cut: kept.cut,
    })
}

/// The newest records, as many as the limits allow.
#[derive(Debug, Default)]
struct Kept {
    records: VecDeque<Record>,
    bytes: usize,
    cut: u64,
}

// === impl Limits ===

impl Default for Limits {
    fn default() -> Self {
        Self {
            chunk_offsets_min: 50_000,
            chunk_offsets_max: 1_000_000,
            window_ms: 60 * 60 * 1_000,
            window_offsets: 1_000_000,
            records_max: 20_000,
            bytes_max: 64 << 20,
        }
    }
}

// === impl Kept ===

impl Kept {
    fn push_newer(&mut self, record: Record, limits: &Limits) {
        self.bytes = self.bytes.saturating_add(size(&record));
        self.records.push_back(record);
        // The newest stays, however large.
        while self.is_over(limits) && self.records.len() > 1 {
            if let Some(oldest) = self.records.pop_front() {
                self.bytes = self.bytes.saturating_sub(size(&oldest));
                self.cut = self.cut.saturating_add(1);
            }
        }
    }

    /// Adds an older chunk in front.
    fn put_before(&mut self, mut older: Self, limits: &Limits) {
        self.cut = self.cut.saturating_add(older.cut);
        while let Some(record) = older.records.pop_back() {
            let bytes = self.bytes.saturating_add(size(&record));
            let is_full = self.records.len() >= limits.records_max || bytes > limits.bytes_max;
            if is_full && !self.records.is_empty() {
                let left_out = u64::try_from(older.records.len()).unwrap_or(u64::MAX);
                self.cut = self.cut.saturating_add(left_out).saturating_add(1);
                return;
            }
            self.bytes = bytes;
            self.records.push_front(record);
        }
    }

    fn is_over(&self, limits: &Limits) -> bool {
        self.records.len() > limits.records_max || self.bytes > limits.bytes_max
    }
}

/// Bytes that a record occupies, its own size included.
fn size(record: &Record) -> usize {
    let key = record.key.as_ref().map_or(0, Vec::len);
    let value = record.value.as_ref().map_or(0, Vec::len);
    size_of::<Record>()
        .saturating_add(key)
        .saturating_add(value)
}
