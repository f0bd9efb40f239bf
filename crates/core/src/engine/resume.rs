//! Goes on from a state that another process wrote down, some time ago and perhaps on
//! another machine: what holds across the absence stays, and what does not is forgotten.
//!
//! Values are kept, nothing is added: counters stand where they stood, and whatever ended
//! during the absence is read as history, which is shown and never counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::answers::Counters;
use crate::engine::records::Tallies;
use crate::engine::{Engine, State};
use crate::facts::input::{Settings, Topic};
use crate::facts::observation::{GroupSnapshot, Member};
use crate::facts::time::{ArrivalTime, EventTime};

/// The layout of [`State`], and what its fields mean. One that was written with another
/// number is not read. A test holds the layout against a list of all fields.
pub const STATE_VERSION: u32 = 1;

// === impl Engine ===

impl Engine {
    /// An engine that goes on from a state written down before an absence that is over at
    /// `now`. Reading must go on at [`State::read_to`].
    #[must_use]
    pub fn resume(mut state: State, now: ArrivalTime) -> Self {
        state.resume(now);
        Self { state }
    }
}

// === impl State ===

impl State {
    /// What was watched.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How far each partition of a topic was read.
    #[must_use]
    pub fn read_to(&self, topic: Topic) -> Vec<(i32, i64)> {
        self.progress.of(topic).read_to()
    }

    /// What was counted.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The number of the newest generation.
    #[must_use]
    pub fn generation(&self) -> Option<i32> {
        self.group.newest.as_deref().map(|newest| newest.generation)
    }

    fn resume(&mut self, now: ArrivalTime) {
        // Where the newest record was watched, so was all that ended after it.
        let from = match self.group.newest_live {
            true => Some(EventTime(i64::MIN)),
            false => self.clock.watches_from(),
        };
        self.clock.resume(from.unwrap_or(EventTime(i64::MAX)), now);
        self.progress.resume();
        self.polled.resume(now);
        self.rounds.resume(now);
        self.story.steps.resume(now);
        self.group.newest_live = false;
        let ahead = self.group.config_ahead;
        self.group.config_ahead = ahead.map(|(named, since)| (named, since.min(now)));
        // What a process read itself, from its start on.
        self.tallies = Tallies::default();
        self.due.all();
        self.changes.clear();
        self.share();
    }

    /// Rounds that follow each other have most of their members in common; a state that was
    /// read back holds each of them anew.
    fn share(&mut self) {
        let mut known = Known::default();
        let newest = self.group.newest.as_mut();
        let records = self.rounds.records_mut();
        let records = records.chain(self.story.steps.records_mut()).chain(newest);
        records.for_each(|record| known.record(record));
        for took in &mut self.story.took {
            known.member(&mut took.member);
        }
        if let Some(record) = self.polled.stand_in_mut().and_then(|by| by.newest.as_mut()) {
            known.record(record);
        }
    }
}

/// Records by their offset, and the last member seen of each id.
#[derive(Default)]
struct Known {
    records: BTreeMap<i64, Arc<GroupSnapshot>>,
    members: BTreeMap<Arc<str>, Arc<Member>>,
}

// === impl Known ===

impl Known {
    fn record(&mut self, record: &mut Arc<GroupSnapshot>) {
        match self.records.get(&record.offset) {
            Some(known) if known == record => *record = Arc::clone(known),
            _ => {
                for member in &mut Arc::make_mut(record).members {
                    self.member(member);
                }
                self.records.insert(record.offset, Arc::clone(record));
            }
        }
    }

    fn member(&mut self, member: &mut Arc<Member>) {
        match self.members.get(&member.id) {
            Some(known) if known == member => *member = Arc::clone(known),
            _ => {
                self.members
                    .insert(Arc::clone(&member.id), Arc::clone(member));
            }
        }
    }
}
