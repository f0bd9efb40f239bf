//! How far each input was read, and what that proves.
//!
//! One mechanism answers four questions. The agent asks where a topic ends; once
//! everything below those ends was read, nothing written before the question is unread.
//! The instant of the newest question so met is the topic's *confirmation*:
//! - catch-up: it was confirmed at all;
//! - freshness: it was confirmed a short while ago;
//! - lag: the distance to the newest known end;
//! - the barrier of a record: all topics are confirmed, or found to be missing, by a question
//!   asked after it.
//!
//! An offset that a record names but no end reaches (another cluster's config topic,
//! three partitions, a topic created anew) is therefore never waited for: the barrier
//! passes, and the missing offset is a finding.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::facts::input::{Access, Ends, Reached, Sampled, Start, Topic, Trouble};
use crate::facts::time::ArrivalTime;
use crate::limits::ENDS_PENDING_MAX;

/// How far the three inputs were read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Progress {
    offsets: TopicProgress,
    config: TopicProgress,
    status: TopicProgress,
}

/// How far one topic was read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TopicProgress {
    partitions: BTreeMap<i32, PartitionProgress>,
    /// Questions whose ends were not read up to yet, oldest first; ends sorted by partition.
    pending: VecDeque<Ends>,
    confirmed: Option<ArrivalTime>,
    trouble: Option<Trouble>,
    /// When the newest question was sent that found the trouble.
    trouble_asked: Option<ArrivalTime>,
    /// Partitions of a topic that is another one now, none of whose records came yet.
    anew: BTreeSet<i32>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct PartitionProgress {
    /// Everything below was read.
    next: i64,
    /// The newest known end.
    end: i64,
    /// Records from here on were written while the agent watched. Not known before
    /// reading began, though the end may have been told before.
    live_from: Option<i64>,
}

/// What a new start of reading means for what was derived so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// Reading begins, or goes on.
    Continues,
    /// The topic is another one: everything read from it no longer holds.
    Anew,
}

// === impl Progress ===

impl Progress {
    /// One topic's progress.
    #[must_use]
    pub fn of(&self, topic: Topic) -> &TopicProgress {
        match topic {
            Topic::Offsets => &self.offsets,
            Topic::Config => &self.config,
            Topic::Status => &self.status,
        }
    }

    fn of_mut(&mut self, topic: Topic) -> &mut TopicProgress {
        match topic {
            Topic::Offsets => &mut self.offsets,
            Topic::Config => &mut self.config,
            Topic::Status => &mut self.status,
        }
    }

    /// Reading of a partition begins.
    pub fn start(&mut self, start: &Start) -> Started {
        self.of_mut(start.topic).start(start)
    }

    /// A record arrived. `false` if it was read before: it must not be applied again.
    pub fn record(&mut self, topic: Topic, partition: i32, offset: i64) -> bool {
        let topic = self.of_mut(topic);
        topic.anew.clear();
        let place = topic.partitions.entry(partition).or_default();
        if offset < place.next {
            return false;
        }
        place.next = offset.saturating_add(1);
        place.end = place.end.max(place.next);
        topic.confirm();
        true
    }

    /// Everything below an offset was read.
    pub fn reached(&mut self, reached: &Reached) {
        let topic = self.of_mut(reached.topic);
        let place = topic.partitions.entry(reached.partition).or_default();
        place.next = place.next.max(reached.offset);
        place.end = place.end.max(place.next);
        topic.confirm();
    }

    /// Group records were left out, up to an offset; whether there can have been any. No
    /// question is met by that alone: what was left out says nothing until what follows
    /// it was read.
    pub fn left_out(&mut self, sampled: &Sampled) -> bool {
        let place = self.offsets.partitions.entry(sampled.partition);
        let place = place.or_default();
        let any = place.next < sampled.offset;
        place.next = place.next.max(sampled.offset);
        place.end = place.end.max(place.next);
        any
    }

    /// The agent learnt where a topic ends.
    pub fn ends(&mut self, ends: &Ends, at: ArrivalTime) {
        let topic = self.of_mut(ends.topic);
        for (partition, end) in &ends.ends {
            let place = topic.partitions.entry(*partition).or_default();
            place.end = (*end).max(place.next);
        }
        if topic.pending.len() >= ENDS_PENDING_MAX {
            // The oldest is met first and the newest proves most: one in the middle goes.
            topic.pending.remove(ENDS_PENDING_MAX / 2);
        }
        let mut ends = Ends {
            asked: ends.asked.min(at),
            ..ends.clone()
        };
        ends.ends.sort_unstable();
        topic.pending.push_back(ends);
        topic.confirm();
    }

    /// A topic became readable, or stopped being so.
    pub fn access(&mut self, access: &Access, at: ArrivalTime) {
        let topic = self.of_mut(access.topic);
        topic.trouble = access.trouble;
        topic.trouble_asked = access.asked.map(|asked| asked.min(at));
    }

    /// Reading goes on after an absence: what is written until it does is history, and
    /// nothing is known to be read to its end.
    pub fn resume(&mut self) {
        for topic in [&mut self.offsets, &mut self.config, &mut self.status] {
            for place in topic.partitions.values_mut() {
                place.live_from = None;
            }
            *topic = TopicProgress {
                partitions: std::mem::take(&mut topic.partitions),
                ..TopicProgress::default()
            };
        }
    }

    /// Whether nothing that was written before `since` is unread, in any topic that can
    /// be read at all. A topic without the right to read it, or that does not exist,
    /// is not waited for, once a question asked after `since` found it so.
    #[must_use]
    pub fn passed(&self, since: ArrivalTime) -> bool {
        let proven = |topic| {
            self.of(topic)
                .proven()
                .is_some_and(|proven| proven >= since)
        };
        Topic::ALL.into_iter().all(proven)
    }
}

// === impl TopicProgress ===

impl TopicProgress {
    fn start(&mut self, start: &Start) -> Started {
        if start.anew {
            // Another topic has nothing to do with what was read of any partition. Its
            // partitions start one after the other, before their records: the first of
            // them forgets all.
            if self.anew.is_empty() || self.anew.contains(&start.partition) {
                self.partitions.clear();
                self.anew.clear();
            }
            self.anew.insert(start.partition);
            self.partitions.remove(&start.partition);
            self.pending.clear();
            self.confirmed = None;
        }
        let place = self.partitions.entry(start.partition).or_default();
        place.next = place.next.max(start.offset);
        place.end = place.end.max(start.end);
        // What was written before reading began is history, also of a topic that is another
        // one now: a log that was cut and is read again must not be counted again.
        place.live_from = place.live_from.or(Some(start.end));
        if start.anew {
            Started::Anew
        } else {
            Started::Continues
        }
    }

    /// The newest answer that was read up to counts: it says all that older ones do, of
    /// which one may name an end that is never reached (a log that was cut).
    fn confirm(&mut self) {
        let newest = self.pending.iter().rposition(|ends| self.is_met(ends));
        if let Some(newest) = newest {
            let met = self.pending.drain(..=newest).map(|ends| ends.asked).max();
            self.confirmed = self.confirmed.max(met);
        }
    }

    /// Whether everything below an answer's ends was read, and the answer leaves out no
    /// partition that is read.
    fn is_met(&self, answer: &Ends) -> bool {
        let is_read = |(partition, end): &(i32, i64)| {
            self.partitions.get(partition).map_or(0, |place| place.next) >= *end
        };
        let is_named = |(partition, place): (&i32, &PartitionProgress)| {
            let named = |(named, _): &(i32, i64)| *named;
            place.live_from.is_none() || answer.ends.binary_search_by_key(partition, named).is_ok()
        };
        answer.ends.iter().all(is_read) && self.partitions.iter().all(is_named)
    }

    /// The newest instant before which nothing is unread.
    #[must_use]
    pub fn confirmed(&self) -> Option<ArrivalTime> {
        self.confirmed
    }

    /// The newest instant before which nothing is unread that could be read.
    #[must_use]
    pub fn proven(&self) -> Option<ArrivalTime> {
        let in_vain = self.is_beyond_reach();
        // No question found records refused: none will say that they still are.
        let asked = self.trouble_asked.unwrap_or(ArrivalTime(i64::MAX));
        self.confirmed.max(in_vain.then_some(asked))
    }

    /// Why the topic cannot be read now.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        self.trouble
    }

    /// Whether waiting for this topic is in vain until somebody changes something.
    #[must_use]
    pub fn is_beyond_reach(&self) -> bool {
        self.trouble.is_some_and(Trouble::lasts)
    }

    /// Records between what was read and the newest known end, all partitions together.
    #[must_use]
    pub fn lag_records(&self) -> i64 {
        self.partitions
            .values()
            .map(|place| place.end.saturating_sub(place.next).max(0))
            .fold(0, i64::saturating_add)
    }

    /// Whether a record with this offset was written while the agent watched.
    #[must_use]
    pub fn is_live(&self, partition: i32, offset: i64) -> bool {
        self.partitions
            .get(&partition)
            .and_then(|place| place.live_from)
            .is_some_and(|live_from| offset >= live_from)
    }

    /// How far each partition was read.
    #[must_use]
    pub fn read_to(&self) -> Vec<(i32, i64)> {
        let read = self.partitions.iter();
        read.map(|(partition, place)| (*partition, place.next))
            .collect()
    }

    /// The largest offset read up to, over all partitions.
    #[must_use]
    pub fn next_max(&self) -> i64 {
        self.partitions
            .values()
            .map(|place| place.next)
            .max()
            .unwrap_or(0)
    }
}
