//! Hands inputs on: stamped with the arrival time, with back-pressure, and with a
//! topic's trouble said once each time it changes; one that lasts with each question that
//! finds it still.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evenkeel_core::facts::input::{Access, Input, InputKind, Topic, Trouble};
use evenkeel_core::facts::time::ArrivalTime;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::Now;
use crate::read::counters::ReadCounters;
use crate::read::hitch::Hitch;

/// How long a reader rests when nobody takes its inputs. Short, since the engine
/// drains a full channel in milliseconds; not zero, since it may take a minute.
const FULL_WAIT: Duration = Duration::from_millis(1);

/// The readers were told to stop, or nobody takes the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped;

/// Where all readers of a group put their inputs.
pub(super) struct Emitter {
    inputs: mpsc::Sender<Input>,
    now: Now,
    stop: AtomicBool,
    pub(super) counters: Arc<ReadCounters>,
}

/// What keeps a topic from being read, from two sources: the questions (metadata,
/// end offsets: they need DESCRIBE) and the records (they need READ).
#[derive(Debug)]
pub(super) struct TopicAccess {
    topic: Topic,
    state: Mutex<AccessState>,
    /// Whether records are refused: looked at for each record.
    is_refused: AtomicBool,
}

#[derive(Debug, Default)]
struct AccessState {
    questions: Option<Trouble>,
    records: Option<Trouble>,
    /// What the clients said last about connections, since the last success. A
    /// question that nobody answered does not know why.
    connection: Option<Trouble>,
    /// What they said stands in the way, where they did.
    hitch: Option<Hitch>,
    /// When the newest question was sent that found a trouble that lasts.
    asked: Option<ArrivalTime>,
    told: Option<(Option<Trouble>, Option<ArrivalTime>)>,
}

// === impl Emitter ===

impl Emitter {
    pub(super) fn new(inputs: mpsc::Sender<Input>, now: Now) -> Self {
        Self {
            inputs,
            now,
            stop: AtomicBool::new(false),
            counters: Arc::default(),
        }
    }

    pub(super) fn now(&self) -> ArrivalTime {
        (self.now)()
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.inputs.is_closed()
    }

    /// Hands an input on; waits while the channel is full.
    pub(super) fn send(&self, kind: InputKind) -> Result<(), Stopped> {
        let at = self.now();
        let mut input = Input { at, kind };
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Stopped);
            }
            match self.inputs.try_send(input) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(_)) => return Err(Stopped),
                Err(TrySendError::Full(back)) => input = back,
            }
            std::thread::sleep(FULL_WAIT);
        }
    }

    /// Rests, but not for long after being told to stop.
    pub(super) fn sleep(&self, wait: Duration) -> Result<(), Stopped> {
        const SLICE: Duration = Duration::from_millis(50);
        let mut left = wait;
        while !left.is_zero() {
            if self.is_stopped() {
                return Err(Stopped);
            }
            let slice = left.min(SLICE);
            std::thread::sleep(slice);
            left = left.saturating_sub(slice);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Emitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emitter").finish_non_exhaustive()
    }
}

// === impl TopicAccess ===

impl TopicAccess {
    pub(super) fn new(topic: Topic) -> Self {
        Self {
            topic,
            state: Mutex::default(),
            is_refused: AtomicBool::new(false),
        }
    }

    /// A question, sent at `asked`, was answered (`None`) or not.
    pub(super) fn questions(
        &self,
        emitter: &Emitter,
        asked: ArrivalTime,
        trouble: Option<Trouble>,
    ) -> Result<(), Stopped> {
        self.change(emitter, |state| {
            // It must be found again after a record was written that could have been read
            // since: a topic that is made now is there at the next question.
            state.asked = trouble.filter(|trouble| trouble.lasts()).map(|_| asked);
            state.questions = match trouble {
                // Nobody answered: the connection may have said why.
                Some(Trouble::Unreachable) => state.connection.or(trouble),
                Some(_) => trouble,
                None => None,
            };
            if trouble.is_none() {
                state.connection = None;
                state.hitch = None;
            }
        })
    }

    /// Records came (`None`) or were refused.
    pub(super) fn records(
        &self,
        emitter: &Emitter,
        trouble: Option<Trouble>,
    ) -> Result<(), Stopped> {
        self.is_refused.store(trouble.is_some(), Ordering::Relaxed);
        self.change(emitter, |state| state.records = trouble)
    }

    /// Whether records were refused when they were asked for last.
    pub(super) fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// What stands in the way of connections, where the kind of trouble does not say it.
    pub(super) fn hitch(&self) -> Option<Hitch> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.hitch
    }

    /// Connections are made in another way from now on: what was said of those before no
    /// longer explains anything.
    pub(super) fn reconnecting(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.connection = None;
        state.hitch = None;
    }

    /// The client says something about its connections.
    pub(super) fn connection(&self, trouble: Trouble, hitch: Option<Hitch>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.hitch = hitch.or(state.hitch);
        // That we are refused explains more than that nobody could be reached.
        if state.connection != Some(Trouble::Unauthenticated) {
            state.connection = Some(trouble);
        }
    }

    fn change(
        &self,
        emitter: &Emitter,
        change: impl FnOnce(&mut AccessState),
    ) -> Result<(), Stopped> {
        // Held while sending, so that two threads' changes arrive in their order.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        let trouble = state.questions.or(state.records);
        let asked = state.asked;
        let told = state.told.replace((trouble, asked));
        if told == Some((trouble, asked)) {
            return Ok(());
        }
        let topic = self.topic;
        let access = Access {
            topic,
            trouble,
            asked,
        };
        match trouble {
            _ if told.is_some_and(|(before, _)| before == trouble) => {}
            Some(trouble) => {
                tracing::debug!(
                    topic = topic.label(),
                    trouble = trouble.label(),
                    "topic cannot be read"
                );
            }
            None => tracing::debug!(topic = topic.label(), "topic can be read"),
        }
        emitter.send(InputKind::Access(access))
    }
}
