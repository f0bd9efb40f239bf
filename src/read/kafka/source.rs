//! Reads one chunk after another of the group's partition for the backward search.

use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{Record, Topic};
use evenkeel_core::facts::time::EventTime;
use rdkafka::message::{Message, Timestamp};

use super::frontier::{Answer, Frontier, Progress, Step};
use super::resume::Bounds;
use super::search::{ChunkSource, Found};
use super::session::{Event, Halt, Session};
use super::tail::is_record_of;
use crate::read::counters::{SearchProgress, TopicCounters};

/// Between two progress lines in the log.
const LOG_EVERY: Duration = Duration::from_secs(5);

/// How long a poll waits; then the stop flag, answers and silence are looked at.
const POLL_WAIT: Duration = Duration::from_millis(50);

/// Records between two looks at the stop flag and the clock.
const RECORDS_A_LOOK: u64 = 1_024;

/// Reads chunks through a session.
pub(super) struct ChunkReader<'a> {
    session: &'a Session,
    group: &'a str,
    partition: i32,
    end: i64,
    is_assigned: bool,
    /// Whether its progress is that of the search at start, which is shown.
    is_shown: bool,
    began: Instant,
    logged: Instant,
}

// === impl ChunkReader ===

impl<'a> ChunkReader<'a> {
    pub(super) fn new(session: &'a Session, group: &'a str, bounds: &Bounds) -> Self {
        let reader = Self {
            is_shown: true,
            ..Self::unshown(session, group, bounds)
        };
        let progress = reader.progress();
        progress.done.set(0);
        progress.searched.set(0);
        progress.cut_records.set(0);
        progress.offsets.set(to_u64(bounds.end - bounds.low));
        reader
    }

    /// One whose progress nobody waits for.
    pub(super) fn unshown(session: &'a Session, group: &'a str, bounds: &Bounds) -> Self {
        let now = Instant::now();
        Self {
            session,
            group,
            partition: bounds.partition,
            end: bounds.end,
            is_assigned: false,
            is_shown: false,
            began: now,
            logged: now,
        }
    }

    /// The search is over.
    pub(super) fn finish(&self, found: &Found) {
        let progress = self.progress();
        progress.cut_records.set(found.cut);
        progress.done.set(1);
        tracing::info!(
            partition = self.partition,
            records = found.records.len(),
            records_left_out = found.cut,
            first_offset = found.first,
            end_offset = self.end,
            elapsed_ms = to_u64(self.began.elapsed().as_millis()),
            "offsets partition searched"
        );
    }

    fn progress(&self) -> &SearchProgress {
        &self.session.shared.emitter.counters.search
    }

    fn counters(&self) -> &TopicCounters {
        self.session.shared.emitter.counters.topic(Topic::Offsets)
    }

    fn show_progress(&mut self, searched: i64, now: Instant) {
        if !self.is_shown {
            return;
        }
        let progress = self.progress();
        progress.searched.set(to_u64(searched));
        let elapsed_ms = to_u64(now.duration_since(self.began).as_millis()).max(1);
        progress
            .rate
            .set(to_u64(searched).saturating_mul(1_000) / elapsed_ms);
        if now.duration_since(self.logged) >= LOG_EVERY {
            tracing::info!(
                percent = progress.percent(),
                offsets_per_second = progress.rate.get(),
                seconds_left_max = progress.seconds_left_max(),
                "searching the offsets partition"
            );
            self.logged = now;
        }
    }

    fn position_at(&mut self, from: i64) -> Result<(), Halt> {
        if self.is_assigned && self.session.seek(self.partition, from) {
            return Ok(());
        }
        self.session
            .assign(&[Progress::begin(self.partition, from)])?;
        self.is_assigned = true;
        Ok(())
    }

    /// Whether answers prove that the chunk is read.
    fn is_proven(&self, frontier: &mut Frontier, to: i64, answers: Vec<Answer>) -> bool {
        answers.into_iter().any(|answer| {
            // Only the chunk counts here, not what the log has grown to.
            let end = to.min(answer.end);
            let step = match frontier.answered(Answer { end, ..answer }) {
                Some(Step::Fetched { partition }) => {
                    frontier.fetched(partition, self.session.fetched_end(partition))
                }
                step => step,
            };
            matches!(step, Some(Step::Reached { .. }))
        })
    }

    /// What is to be done when nothing comes; whether the chunk is read.
    fn idle(&self, frontier: &mut Frontier, now: Instant) -> bool {
        for step in frontier.idle(now) {
            match step {
                Step::Ask => self.session.shared.ask(),
                Step::Position { .. } | Step::Seek { .. } | Step::Fetched { .. } => {}
                Step::Reached { .. } | Step::Shorter { .. } => return true,
            }
        }
        false
    }
}

impl ChunkSource for ChunkReader<'_> {
    type Halt = Halt;

    fn read(
        &mut self,
        from: i64,
        to: i64,
        own: &mut dyn FnMut(Record),
    ) -> Result<Option<EventTime>, Halt> {
        let session = self.session;
        let emitter = &session.shared.emitter;
        self.position_at(from)?;
        let mut now = Instant::now();
        let mut frontier = Frontier::proving(self.partition, from, to, now);
        let mut first_time = None;
        let (mut records, mut bytes, mut position) = (0_u64, 0_u64, from);
        let mut held = Vec::new();
        loop {
            let is_read = match session.poll(POLL_WAIT)? {
                Event::Record(message) if message.offset() >= to => true,
                Event::Record(message) => {
                    position = message.offset() + 1;
                    records += 1;
                    bytes += to_u64(message.key_len() + message.payload_len());
                    if first_time.is_none() {
                        first_time = Some(event_time(message.timestamp()));
                    }
                    if is_record_of(self.group, message.key()) {
                        own(session.to_record(&message));
                    }
                    frontier
                        .read(self.partition, position, false, now)
                        .is_some()
                }
                Event::EndOfPartition(partition) => frontier.end_of_partition(partition).is_some(),
                Event::Nothing => {
                    now = Instant::now();
                    if session.is_refused_retry_due(now) {
                        session.seek(self.partition, position);
                    }
                    // Taken one poll ago: whatever was fetched before them is read.
                    let answers = std::mem::replace(&mut held, session.shared.take_answers());
                    self.is_proven(&mut frontier, to, answers) || self.idle(&mut frontier, now)
                }
            };
            if is_read || records % RECORDS_A_LOOK == 0 {
                now = Instant::now();
                self.counters().records.add(records);
                self.counters().bytes.add(bytes);
                (records, bytes) = (0, 0);
                let position = if is_read { to } else { position };
                self.show_progress((self.end - to) + (position - from), now);
                if emitter.is_stopped() {
                    return Err(Halt::Stopped);
                }
                if let Some(again) = session.shared.outdated() {
                    return Err(Halt::Again(again));
                }
            }
            if is_read {
                return Ok(first_time.flatten());
            }
        }
    }
}

fn event_time(timestamp: Timestamp) -> Option<EventTime> {
    timestamp.to_millis().map(EventTime)
}

fn to_u64<T: TryInto<u64>>(value: T) -> u64 {
    value.try_into().unwrap_or(0)
}
