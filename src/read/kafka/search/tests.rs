//! The backward search on logs in memory.

use std::collections::BTreeMap;
use std::convert::Infallible;

use evenkeel_core::facts::input::{Record, Topic};
use evenkeel_core::facts::time::EventTime;

use super::{ChunkSource, Found, Limits, search};

/// A partition: who wrote which offset, and when. Offsets may be missing.
#[derive(Default)]
struct Log {
    records: BTreeMap<i64, (bool, i64)>,
    chunks: Vec<(i64, i64)>,
}

impl Log {
    /// One record a second, none of them the group's.
    fn of_others(offsets: std::ops::Range<i64>) -> Self {
        Self {
            records: offsets.map(|n| (n, (false, n * 1_000))).collect(),
            chunks: Vec::new(),
        }
    }

    fn own(mut self, offsets: impl IntoIterator<Item = i64>) -> Self {
        for offset in offsets {
            self.records.insert(offset, (true, offset * 1_000));
        }
        self
    }

    fn search(&mut self, low: i64, end: i64, limits: &Limits) -> Found {
        let Ok(found) = search(self, low, end, limits);
        found
    }
}

impl ChunkSource for Log {
    type Halt = Infallible;

    fn read(
        &mut self,
        from: i64,
        to: i64,
        own: &mut dyn FnMut(Record),
    ) -> Result<Option<EventTime>, Infallible> {
        self.chunks.push((from, to));
        let mut first = None;
        for (&offset, &(is_own, time)) in self.records.range(from..to) {
            first.get_or_insert(EventTime(time));
            if is_own {
                own(record(offset, time, 10));
            }
        }
        Ok(first)
    }
}

fn record(offset: i64, time: i64, bytes: usize) -> Record {
    Record {
        topic: Topic::Offsets,
        partition: 0,
        offset,
        leader_epoch: None,
        timestamp: Some(EventTime(time)),
        append_time: false,
        key: None,
        value: Some(vec![0; bytes]),
    }
}

fn limits() -> Limits {
    Limits {
        chunk_offsets_min: 10,
        chunk_offsets_max: 40,
        window_ms: 25_000,
        window_offsets: 100,
        records_max: 1_000,
        bytes_max: 1 << 20,
    }
}

fn offsets(found: &Found) -> Vec<i64> {
    found.records.iter().map(|record| record.offset).collect()
}

#[test]
fn finds_a_record_near_the_end_and_a_window_before_it() {
    let mut log = Log::of_others(0..500).own([100, 470, 480, 495]);
    let found = log.search(0, 500, &limits());
    assert_eq!(offsets(&found), [470, 480, 495]);
    assert_eq!(found.cut, 0);
    // 25 s before the newest record is offset 470; the chunk that reaches it is the last.
    assert_eq!(log.chunks, [(490, 500), (450, 490)]);
    assert_eq!(found.first, 450);
}

#[test]
fn searches_the_whole_log_for_a_record_that_is_not_there() {
    let mut log = Log::of_others(7..500);
    let found = log.search(7, 500, &limits());
    assert!(found.records.is_empty());
    assert_eq!(found.first, 7);
    // The chunks lie side by side and cover it all.
    let mut to = 500;
    for (from, until) in &log.chunks {
        assert_eq!(*until, to);
        to = *from;
    }
    assert_eq!(to, 7);
}

#[test]
fn finds_a_record_at_the_very_start() {
    let mut log = Log::of_others(0..500).own([0]);
    let found = log.search(0, 500, &limits());
    assert_eq!(offsets(&found), [0]);
    assert_eq!(found.first, 0);
}

#[test]
fn asks_nothing_of_an_empty_log() {
    let mut log = Log::default();
    let found = log.search(42, 42, &limits());
    assert_eq!(found.first, 42);
    assert!(log.chunks.is_empty());
}

#[test]
fn keeps_the_order_over_chunk_borders() {
    let wide = Limits {
        window_ms: 45_000,
        ..limits()
    };
    // Around 490 and 450, borders.
    let offsets_of_ours = [440, 449, 450, 451, 474, 489, 490];
    let mut log = Log::of_others(0..500).own(offsets_of_ours);
    let found = log.search(0, 500, &wide);
    assert_eq!(offsets(&found), offsets_of_ours);
    assert_eq!(log.chunks, [(490, 500), (450, 490), (410, 450)]);
}

#[test]
fn bounds_the_window_by_offsets_where_time_stands_still() {
    let mut log = Log::of_others(0..500).own([495]);
    for (_, time) in log.records.values_mut() {
        *time = 0;
    }
    let found = log.search(0, 500, &limits());
    assert_eq!(found.first, 395);
}

#[test]
fn keeps_the_newest_and_says_how_many_were_left_out() {
    let few = Limits {
        records_max: 3,
        ..limits()
    };
    let mut log = Log::of_others(0..500).own(480..500);
    let found = log.search(0, 500, &few);
    assert_eq!(offsets(&found), [497, 498, 499]);
    assert_eq!(
        found.first, 497,
        "what is complete begins with the oldest kept"
    );
    assert_eq!(
        found.cut, 7,
        "the rest of the chunk; older chunks were not read"
    );
    assert_eq!(log.chunks.len(), 1);

    // The limit is met in an older chunk.
    let mut log = Log::of_others(0..500).own([480, 481, 495, 496]);
    let found = log.search(0, 500, &few);
    assert_eq!(offsets(&found), [481, 495, 496]);
    assert_eq!(found.first, 481);
    assert_eq!(found.cut, 1);
}

#[test]
fn bounds_the_bytes_but_keeps_the_newest_however_large() {
    let few = Limits {
        bytes_max: 50,
        ..limits()
    };
    let mut log = Log::of_others(0..500).own(490..500);
    let found = log.search(0, 500, &few);
    assert_eq!(offsets(&found), [499]);
    assert_eq!(found.cut, 9);
}

/// At the bound nothing is cut.
#[test]
fn takes_exactly_as_many_as_allowed() {
    let exact = Limits {
        records_max: 4,
        ..limits()
    };
    let mut log = Log::of_others(0..500).own([480, 481, 495, 496]);
    let found = log.search(0, 500, &exact);
    assert_eq!(offsets(&found), [480, 481, 495, 496]);
    assert_eq!(found.cut, 0);
}
