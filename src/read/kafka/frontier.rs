//! How far a topic is read and how much of that the engine knows; decides when it
//! must be told (`Reached`) and when a proof is needed. No IO, no clock.
//!
//! Offsets that never come (holes that compaction left, transaction markers, records
//! of other groups) make the last record's offset a poor measure. The rules:
//!
//! 1. A record read, passed on or not, proves everything below the next offset.
//! 2. So does the client's position, which moves over markers but not over holes.
//! 3. Where both stay short of an answered end, the client is made to seek to where it
//!    is. That drops what it has queued, so that the end-of-partition event which then
//!    comes was made by a fetch sent after the answer: all below that end was read.
//!    An event that no such seek caused may be older than the answer.
//! 4. A log whose last segments hold nothing gives no event at all. But requests of
//!    one connection are answered in order: when, after the seek, an end was answered,
//!    and, a pause later, another one, then a fetch at our position was answered
//!    between the two. If it did not fail, no record in it means that there is none.

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

/// Silence after which the client is asked for its position.
const POSITION_AFTER: Duration = Duration::from_millis(20);

/// Silence after which a proof is begun. Shorter would seek while records are on their
/// way; the barrier waits for it at each compacted end.
const PROOF_AFTER: Duration = Duration::from_millis(300);

/// Silence after the seek from which the end-of-partition event is not expected any
/// more: the longest time that a broker holds a fetch (`fetch.wait.max.ms`) and a little.
/// An event that comes later is not lost; asking early only costs a question.
const NO_EVENT_AFTER: Duration = Duration::from_millis(600);

/// Pause between the two answers of rule 4, in which the client, idle and without
/// backoff, sends its next fetch.
const ANSWERS_APART: Duration = Duration::from_millis(250);

/// How often the pause between questions of one proof is doubled: up to 4 s.
const ASKED_LESS_MAX: u32 = 4;

/// Time after which a log that seemed shorter than what was read is asked about again.
/// A new leader may not know at once how far the old one was (before KIP-207).
const SHORTER_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// One topic's partitions, by number from `first` on.
#[derive(Debug)]
pub(super) struct Frontier {
    first: i32,
    partitions: Vec<Partition>,
}

/// How far a partition is read, and how much of that the engine knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) partition: i32,
    pub(super) next: i64,
    pub(super) told: i64,
}

/// An answer to "where does it end?".
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) partition: i32,
    pub(super) end: i64,
    pub(super) asked: Instant,
    pub(super) answered: Instant,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Tell the engine.
    Reached { partition: i32, offset: i64 },
    /// Ask the client for its position and call [`Frontier::position`].
    Position { partition: i32 },
    /// Seek, and nothing else.
    Seek { partition: i32, offset: i64 },
    /// Ask for end offsets.
    Ask,
    /// Find out what end the last answered fetch told and call [`Frontier::fetched`].
    Fetched { partition: i32 },
    /// The log ends before what was read: it is another one.
    Shorter { partition: i32 },
}

#[derive(Debug)]
struct Partition {
    id: i32,
    /// Everything below is read.
    next: i64,
    /// Everything below is known to the engine as read.
    told: i64,
    /// The highest answered end that is not yet told as reached.
    end: Option<i64>,
    /// Since when nothing came.
    since: Instant,
    /// When the newest record came.
    read_at: Option<Instant>,
    proof: Option<Proof>,
    /// When an answer said first that the log is shorter than what was read.
    shorter: Option<Instant>,
    /// Whether that was asked about again.
    shorter_asked: bool,
}

/// A seek that was made, for rules 3 and 4.
#[derive(Debug)]
struct Proof {
    /// The answered end at that time.
    end: i64,
    began: Instant,
    /// When the first end was answered that was asked after the seek.
    first_answer: Option<Instant>,
    asked_last: Instant,
    /// Questions asked for this proof.
    asked: u32,
}

// === impl Frontier ===

impl Frontier {
    /// Partitions, numbered in a row, and where reading of each begins or goes on.
    pub(super) fn new(partitions: &[Progress], now: Instant) -> Self {
        Self {
            first: partitions.first().map_or(0, |progress| progress.partition),
            partitions: partitions
                .iter()
                .map(|progress| Partition::new(*progress, now))
                .collect(),
        }
    }

    /// A single partition that was just assigned or sought to `from` to be read up to
    /// `end`, an end that was answered before: the proof is under way already.
    pub(super) fn proving(partition: i32, from: i64, end: i64, now: Instant) -> Self {
        let mut frontier = Self::new(&[Progress::begin(partition, from)], now);
        for part in &mut frontier.partitions {
            part.end = (end > from).then_some(end);
            part.proof = Some(Proof::begun(end, now));
        }
        frontier
    }

    /// How far each partition is.
    pub(super) fn progress(&self) -> impl Iterator<Item = Progress> + '_ {
        self.partitions.iter().map(|part| Progress {
            partition: part.id,
            next: part.next,
            told: part.told,
        })
    }

    /// A record was read: `next` is the offset after it; `passed` says whether the
    /// engine gets it.
    #[inline]
    pub(super) fn read(
        &mut self,
        partition: i32,
        next: i64,
        passed: bool,
        now: Instant,
    ) -> Option<Step> {
        let part = self.partition(partition)?;
        part.next = part.next.max(next);
        part.since = now;
        part.read_at = Some(now);
        if let Some(proof) = &mut part.proof {
            proof.first_answer = None;
        }
        if passed {
            part.told = part.told.max(next);
        }
        part.tell_if_reached()
    }

    /// An end was answered.
    pub(super) fn answered(&mut self, answer: Answer) -> Option<Step> {
        let part = self.partition(answer.partition)?;
        // What was read after the question was sent may have been written after it, too.
        if answer.end < part.next && part.read_at.is_some_and(|read| read >= answer.asked) {
            return None;
        }
        if answer.end < part.next {
            let since = *part.shorter.get_or_insert(answer.answered);
            let partition = part.id;
            return (answer.asked >= since + SHORTER_AGAIN_AFTER)
                .then_some(Step::Shorter { partition });
        }
        part.shorter = None;
        part.shorter_asked = false;
        if answer.end > part.told && part.end.is_none_or(|end| end < answer.end) {
            if part.end.is_none() {
                part.since = part.since.max(answer.answered);
            }
            part.end = Some(answer.end);
        }
        if let Some(step) = part.tell_if_reached() {
            return Some(step);
        }
        let proof = part.proof.as_mut()?;
        match proof.first_answer {
            None if answer.asked >= proof.began => proof.first_answer = Some(answer.answered),
            Some(first)
                if answer.asked >= first + ANSWERS_APART
                    && answer.answered.saturating_duration_since(part.since) >= NO_EVENT_AFTER =>
            {
                let partition = part.id;
                return Some(Step::Fetched { partition });
            }
            _ => {}
        }
        None
    }

    /// The end that the last answered fetch told; `None` when it failed.
    pub(super) fn fetched(&mut self, partition: i32, end: Option<i64>) -> Option<Step> {
        let part = self.partition(partition)?;
        let proof = part.proof.as_mut()?;
        if end.is_some_and(|end| end >= proof.end) {
            let offset = proof.end;
            return Some(part.proven(offset));
        }
        proof.first_answer = None;
        None
    }

    /// The client's position, as it says; it only ever moves forward here.
    pub(super) fn position(&mut self, partition: i32, position: i64) -> Option<Step> {
        let part = self.partition(partition)?;
        part.next = part.next.max(position);
        part.tell_if_reached()
    }

    /// The end-of-partition event came.
    pub(super) fn end_of_partition(&mut self, partition: i32) -> Option<Step> {
        let part = self.partition(partition)?;
        let proof = part.proof.as_ref()?;
        let end = proof.end;
        part.next = part.next.max(end);
        Some(part.proven(end))
    }

    /// A seek of [`Step::Seek`] did not work: it is tried again after a while.
    pub(super) fn seek_failed(&mut self, partition: i32, now: Instant) {
        if let Some(part) = self.partition(partition) {
            part.proof = None;
            part.since = now;
        }
    }

    /// What silence asks for.
    pub(super) fn idle(&mut self, now: Instant) -> Vec<Step> {
        self.partitions
            .iter_mut()
            .filter_map(|part| part.idle(now))
            .collect()
    }

    /// Whether some answered end is not reached yet, or is before what was read.
    pub(super) fn is_waiting(&self) -> bool {
        self.partitions
            .iter()
            .any(|part| part.end.is_some() || part.shorter.is_some())
    }

    #[inline]
    fn partition(&mut self, id: i32) -> Option<&mut Partition> {
        let index = usize::try_from(id.checked_sub(self.first)?).ok()?;
        self.partitions.get_mut(index)
    }
}

// === impl Progress ===

impl Progress {
    /// Reading begins at `offset`, and the engine was told so.
    pub(super) fn begin(partition: i32, offset: i64) -> Self {
        Self {
            partition,
            next: offset,
            told: offset,
        }
    }
}

// === impl Proof ===

impl Proof {
    fn begun(end: i64, now: Instant) -> Self {
        Self {
            end,
            began: now,
            first_answer: None,
            asked_last: now,
            asked: 0,
        }
    }
}

// === impl Partition ===

impl Partition {
    fn new(progress: Progress, now: Instant) -> Self {
        let Progress {
            partition,
            next,
            told,
        } = progress;
        Self {
            id: partition,
            next,
            told,
            end: None,
            since: now,
            read_at: None,
            proof: None,
            shorter: None,
            shorter_asked: false,
        }
    }

    #[inline]
    fn tell_if_reached(&mut self) -> Option<Step> {
        let end = self.end?;
        if self.next < end {
            return None;
        }
        self.end = None;
        self.proof = None;
        if self.told >= end {
            return None;
        }
        self.told = self.next;
        Some(Step::Reached {
            partition: self.id,
            offset: self.next,
        })
    }

    fn proven(&mut self, offset: i64) -> Step {
        self.proof = None;
        self.told = self.told.max(offset);
        if self.end.is_some_and(|end| end <= offset) {
            self.end = None;
        }
        Step::Reached {
            partition: self.id,
            offset,
        }
    }

    fn idle(&mut self, now: Instant) -> Option<Step> {
        if let Some(since) = self.shorter {
            let is_due = now.saturating_duration_since(since) >= SHORTER_AGAIN_AFTER;
            let ask = is_due && !std::mem::replace(&mut self.shorter_asked, is_due);
            return ask.then_some(Step::Ask);
        }
        let end = self.end?;
        let partition = self.id;
        let silence = now.saturating_duration_since(self.since);
        match &mut self.proof {
            None if silence >= PROOF_AFTER => {
                self.since = now;
                self.proof = Some(Proof::begun(end, now));
                let offset = self.next;
                Some(Step::Seek { partition, offset })
            }
            None if silence >= POSITION_AFTER => Some(Step::Position { partition }),
            Some(proof) if silence >= NO_EVENT_AFTER => {
                let since_asked = now.saturating_duration_since(proof.asked_last);
                // Fetches may fail for long: then ask ever less.
                let apart = ANSWERS_APART * (1 << proof.asked.min(ASKED_LESS_MAX));
                (since_asked >= apart).then(|| {
                    proof.asked_last = now;
                    proof.asked += 1;
                    Step::Ask
                })
            }
            _ => None,
        }
    }
}
