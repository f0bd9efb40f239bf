//! Reads on, in offset order, for as long as nothing is wrong and the byte budget is kept.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{InputKind, Reached, Record, Topic};
use evenkeel_core::wire::offsets_key::key_is_group_metadata_of;
use rdkafka::message::Message;

use super::budget::Budget;
use super::frontier::{Answer, Frontier, Step};
use super::session::{Again, Event, Halt, Session};

/// How long a poll waits when nothing comes while an answer is awaited: the barrier
/// waits for it to be looked at.
const POLL_WAIT_ASKING: Duration = Duration::from_millis(50);

/// The same when nothing is awaited. Wakings are half of what an idle reader costs; a
/// question that begins in such a wait is mostly answered after its end.
const POLL_WAIT_IDLE: Duration = Duration::from_millis(250);

/// The same when an answer came and only what was fetched before it is to be read. Not
/// zero: a poll that may not wait gives nothing when it served a log line, though records
/// stand behind it.
const POLL_WAIT_HELD: Duration = Duration::from_millis(2);

/// Records after which answers, the stop flag and the counters are looked at.
const RECORDS_A_LOOK: u32 = 256;

/// Counts between two looks, so that other threads' counters are touched rarely.
#[derive(Debug, Default)]
struct Since {
    records: u32,
    bytes: u64,
}

/// Reads until something is wrong or nobody wants it any more. Where it ends without
/// either, the group's records are beyond their budget, and may be left out.
pub(super) fn read(
    session: &Session,
    group: &str,
    frontier: &mut Frontier,
    epochs: &mut BTreeMap<i32, i32>,
) -> Result<(), Halt> {
    let is_offsets = session.shared.topic == Topic::Offsets;
    let mut now = Instant::now();
    let mut since = Since::default();
    let mut held: Vec<Answer> = Vec::new();
    let mut wait = Duration::ZERO;
    let mut budget = Budget::default();
    loop {
        match session.poll(wait)? {
            Event::Record(message) => {
                if !wait.is_zero() {
                    now = Instant::now();
                    wait = Duration::ZERO;
                }
                let is_own = !is_offsets || is_record_of(group, message.key());
                let mut is_beyond = false;
                if is_own {
                    let record = session.to_record(&message);
                    note_epoch(epochs, &record)?;
                    is_beyond = is_offsets && spend(&mut budget, &record);
                    session.shared.pass(record)?;
                }
                let next = message.offset().saturating_add(1);
                let step = frontier.read(message.partition(), next, is_own, now);
                tell(session, step)?;
                since.records += 1;
                let bytes = message.key_len() + message.payload_len();
                since.bytes += u64::try_from(bytes).unwrap_or(0);
                if is_beyond && session.shared.may_sample() {
                    return since.look(session);
                }
                if since.records >= RECORDS_A_LOOK {
                    now = Instant::now();
                    since.look(session)?;
                    // Records flow: no answer can prove silence, so none need be held.
                    held.append(&mut session.shared.take_answers());
                    apply(session, frontier, &mut held)?;
                }
            }
            Event::EndOfPartition(partition) => {
                let step = frontier.end_of_partition(partition);
                tell(session, step)?;
            }
            // Nothing at once: wait, before anything is made of it.
            Event::Nothing if wait.is_zero() => wait = POLL_WAIT_HELD,
            Event::Nothing => {
                now = Instant::now();
                since.look(session)?;
                // Taken one poll ago: whatever was fetched before them is read.
                apply(session, frontier, &mut held)?;
                held = session.shared.take_answers();
                idle(session, frontier, now)?;
                wait = if !held.is_empty() {
                    POLL_WAIT_HELD
                } else if frontier.is_waiting() || session.shared.is_asking() {
                    POLL_WAIT_ASKING
                } else {
                    POLL_WAIT_IDLE
                };
            }
        }
    }
}

/// Whether a key of the offsets topic is that of the group's own record.
#[inline]
pub(super) fn is_record_of(group: &str, key: Option<&[u8]>) -> bool {
    key.is_some_and(|key| key_is_group_metadata_of(key, group))
}

/// Within a log, leader epochs never go back: one that does belongs to another log,
/// which was put in the place of the one read so far.
pub(super) fn note_epoch(epochs: &mut BTreeMap<i32, i32>, record: &Record) -> Result<(), Halt> {
    if let Some(epoch) = record.leader_epoch {
        let before = epochs.insert(record.partition, epoch);
        if before.is_some_and(|before| before > epoch) {
            return Err(Halt::Again(Again::Replaced));
        }
    }
    Ok(())
}

/// Whether a record of the group is beyond the byte budget.
fn spend(budget: &mut Budget, record: &Record) -> bool {
    let bytes = record.value.as_ref().map_or(0, Vec::len);
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    record
        .timestamp
        .is_some_and(|written| budget.spend(written, bytes))
}

fn apply(
    session: &Session,
    frontier: &mut Frontier,
    answers: &mut Vec<Answer>,
) -> Result<(), Halt> {
    for answer in answers.drain(..) {
        match frontier.answered(answer) {
            Some(Step::Shorter { .. }) => return Err(Halt::Again(Again::Replaced)),
            Some(Step::Ask) => session.shared.ask(),
            Some(Step::Fetched { partition }) => {
                let step = frontier.fetched(partition, session.fetched_end(partition));
                tell(session, step)?;
            }
            step => tell(session, step)?,
        }
    }
    Ok(())
}

fn idle(session: &Session, frontier: &mut Frontier, now: Instant) -> Result<(), Halt> {
    if session.is_refused_retry_due(now) {
        for progress in frontier.progress() {
            session.seek(progress.partition, progress.next);
        }
    }
    if !frontier.is_waiting() {
        return Ok(());
    }
    for step in frontier.idle(now) {
        match step {
            Step::Position { partition } => {
                if let Some(position) = session.position(partition) {
                    let step = frontier.position(partition, position);
                    tell(session, step)?;
                }
            }
            Step::Seek { partition, offset } => {
                let topic = session.shared.topic;
                session.shared.emitter.counters.topic(topic).proofs.add(1);
                if session.seek(partition, offset) {
                    session.shared.ask();
                } else {
                    frontier.seek_failed(partition, now);
                }
            }
            Step::Ask => session.shared.ask(),
            step => tell(session, Some(step))?,
        }
    }
    Ok(())
}

fn tell(session: &Session, step: Option<Step>) -> Result<(), Halt> {
    if let Some(Step::Reached { partition, offset }) = step {
        let topic = session.shared.topic;
        session.shared.emitter.send(InputKind::Reached(Reached {
            topic,
            partition,
            offset,
        }))?;
    }
    Ok(())
}

// === impl Since ===

impl Since {
    fn look(&mut self, session: &Session) -> Result<(), Halt> {
        let emitter = &session.shared.emitter;
        if self.records > 0 {
            let counters = emitter.counters.topic(session.shared.topic);
            counters.records.add(u64::from(self.records));
            counters.bytes.add(self.bytes);
            *self = Self::default();
        }
        if emitter.is_stopped() {
            return Err(Halt::Stopped);
        }
        if let Some(again) = session.shared.outdated() {
            return Err(Halt::Again(again));
        }
        Ok(())
    }
}
