//! Asks where a topic's partitions end: every 10 s, and at once when told to. The
//! answers serve freshness, lag, catch-up and the barrier alike.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{Ends, InputKind, Trouble};
use rdkafka::Offset;
use rdkafka::error::RDKafkaErrorCode;

use super::emit::Stopped;
use super::frontier::Answer;
use super::session::{self, ask_offsets, describe};
use super::shared::{Asked, Shared};

/// Between two questions nobody asked for: a third of the 30 s after which inputs
/// count as stale.
const EVERY: Duration = Duration::from_secs(10);

/// Between two questions while there is no answer.
const RETRY: Duration = Duration::from_secs(1);

/// The thread that asks.
#[derive(Debug)]
pub(super) struct Asker {
    shared: Arc<Shared>,
    /// Why the last question was not answered: said once, not every second.
    failed: Cell<Option<RDKafkaErrorCode>>,
}

// === impl Asker ===

impl Asker {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            failed: Cell::new(None),
        }
    }

    pub(super) fn run(self) {
        let mut due = Instant::now();
        let mut describe_due = Instant::now() + EVERY;
        loop {
            let Ok(asked) = self.shared.wait_for_question(due) else {
                return;
            };
            let Some(asked) = asked else {
                // The reader asks by itself once it has a client.
                self.shared.asked();
                due = Instant::now() + EVERY;
                continue;
            };
            let answer = self.ask(&asked);
            match answer {
                Ok(true) if Instant::now() >= describe_due => {
                    self.describe(&asked);
                    describe_due = Instant::now() + EVERY;
                    due = describe_due;
                }
                Ok(true) => due = Instant::now() + EVERY,
                Ok(false) => {
                    due = Instant::now() + RETRY;
                    // Perhaps it comes back as another one.
                    describe_due = due;
                }
                Err(Stopped) => return,
            }
            self.shared.asked();
        }
    }

    /// Looks whether the topic is still what the reader reads. A replaced topic is mostly
    /// noticed by its end or its leader epochs; one that has grown since only by its id.
    fn describe(&self, asked: &Asked) {
        // Trouble is found by the question for the ends.
        if let Ok(now) = describe(&asked.client, &self.shared.name) {
            let before = &asked.description;
            if before.identity.is_other(&now.identity) || before.partitions != now.partitions {
                self.shared.changed(asked.session);
            }
        }
    }

    /// Whether all partitions' ends were answered.
    fn ask(&self, asked: &Asked) -> Result<bool, Stopped> {
        let Shared {
            topic,
            name,
            emitter,
            access,
            ..
        } = &*self.shared;
        let counters = emitter.counters.topic(*topic);
        let asked_at = emitter.now();
        let began = Instant::now();
        let answer = ask_offsets(&asked.client, name, &asked.partitions, Offset::End);
        let answered = Instant::now();
        let why = |code| session::why(&asked.client, name, code);
        let offsets = match answer {
            Ok(offsets) => offsets,
            Err(code) => {
                counters.ends_failed.add(1);
                let trouble = why(code);
                if trouble == Trouble::Other && self.failed.replace(Some(code)) != Some(code) {
                    // The engine's word for it says no more than that it is trouble.
                    tracing::warn!(topic = topic.label(), error = ?code, "end offsets not answered");
                }
                access.questions(emitter, asked_at, Some(trouble))?;
                return Ok(false);
            }
        };
        self.failed.set(None);
        access.questions(emitter, asked_at, offsets.failed.map(why))?;
        // Records of a partition without an answer may be unread: the engine is told of
        // all ends or of none.
        if offsets.failed.is_none() && !offsets.known.is_empty() {
            counters.ends_answered.add(1);
            let answers = offsets.known.iter().map(|&(partition, end)| Answer {
                partition,
                end,
                asked: began,
                answered,
            });
            if !self.shared.put_answers(asked.session, answers) {
                // Of a client that is gone, and perhaps of another topic.
                return Ok(true);
            }
            emitter.send(InputKind::Ends(Ends {
                topic: *topic,
                asked: asked_at,
                ends: offsets.known,
            }))?;
        }
        Ok(offsets.failed.is_none())
    }
}
