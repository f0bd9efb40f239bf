//! One sidecar's view of a world: when it came, how late records reach it, how often it
//! asks; what it is fed, input by input.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use evenkeel_core::facts::input::{
    Ends, Input, InputKind, Reached, Record, Settings, Start, Topic, Trouble,
};
use evenkeel_core::facts::poll::{PollAnswer, Polled, PolledState};
use evenkeel_core::facts::time::ArrivalTime;

use crate::log::{STATUS_PARTITIONS, partitions};
use crate::rng::Rng;
use crate::world::{BASE_MS, GROUP, World};

/// How often the ends of the topics are asked for without need.
const ENDS_MS: i64 = 10_000;
/// How long it goes on after the world ended: what rests on nothing coming is settled then,
/// but for departures and deleted groups, which are given up after ten minutes.
const AFTER_MS: i64 = 150_000;
/// How often the group is described.
const DESCRIBE_MS: i64 = 30_000;

/// What one sidecar is like.
#[derive(Debug, Clone)]
pub struct ObserverSpec {
    /// When it comes, in ms from the beginning; what was written before is history.
    pub start_ms: i64,
    /// How often it asks the coordinator; `None` is never.
    pub poll_ms: Option<i64>,
    /// How long records take to reach it, from and to.
    pub lag_ms: (i64, i64),
    /// How far its clock is ahead.
    pub skew_ms: i64,
    /// Of what was written so long before it came only the newest of each key is left.
    pub compacted_ms: Option<i64>,
    /// In how many of a hundred cases a record is delivered twice.
    pub doubled: i64,
    /// How long it goes on after the world ended.
    pub after_ms: i64,
    /// What its draws come from.
    pub seed: u64,
}

/// Something that reaches it.
#[derive(Debug, Clone)]
enum Coming {
    Settings,
    Start(Start),
    Record(Record),
    Reached(Reached),
    AskEnds,
    Ends(Ends),
    List,
    Describe,
    Polled(Polled),
    Tick,
}

/// Gives the inputs, one after the other.
#[derive(Debug)]
pub struct Observer<'a> {
    world: &'a World,
    spec: ObserverSpec,
    rng: Rng,
    end_ms: i64,
    now_ms: i64,
    /// By time and order.
    coming: BinaryHeap<Reverse<(i64, u64)>>,
    what: BTreeMap<u64, Coming>,
    order: u64,
    asking: u32,
}

// === impl ObserverSpec ===

impl Default for ObserverSpec {
    fn default() -> Self {
        Self {
            start_ms: 0,
            poll_ms: Some(10_000),
            lag_ms: (1, 50),
            skew_ms: 0,
            compacted_ms: None,
            doubled: 0,
            after_ms: AFTER_MS,
            seed: 1,
        }
    }
}

// === impl Observer ===

impl<'a> Observer<'a> {
    pub(crate) fn new(world: &'a World, spec: ObserverSpec) -> Self {
        let now_ms = BASE_MS + spec.start_ms;
        // Long enough to see the end of everything, and to be told that it is the end.
        let end_ms = world.truth().end.at_ms + spec.after_ms;
        let mut observer = Self {
            world,
            rng: Rng::new(spec.seed),
            spec,
            end_ms,
            now_ms,
            coming: BinaryHeap::new(),
            what: BTreeMap::new(),
            order: 0,
            asking: 0,
        };
        observer.push(now_ms, Coming::Settings);
        for (topic, partition) in partitions() {
            observer.read(topic, partition);
        }
        let repeated = [
            (ENDS_MS, Coming::AskEnds),
            (5_000, Coming::Tick),
            (DESCRIBE_MS, Coming::Describe),
        ];
        for (every, what) in repeated {
            if observer.spec.poll_ms.is_some() || !matches!(what, Coming::Describe) {
                let first = observer.rng.between(1, every.min(2_000));
                observer.push(now_ms + first, what);
            }
        }
        if let Some(every) = observer.spec.poll_ms {
            let first = observer.rng.between(1, every);
            observer.push(now_ms + first, Coming::List);
        }
        observer
    }

    /// All inputs of one that nobody asks for more.
    #[must_use]
    pub fn inputs(mut self) -> Vec<Input> {
        let mut out = Vec::new();
        while let Some(input) = self.next_input(false) {
            out.push(input);
        }
        out
    }

    /// The next input; `wants_ends`: whether the engine waits to be told where the topics
    /// end.
    pub fn next_input(&mut self, wants_ends: bool) -> Option<Input> {
        if wants_ends && self.asking == 0 {
            self.ask_ends();
        }
        loop {
            let Reverse((at, order)) = self.coming.pop()?;
            let coming = self.what.remove(&order)?;
            if at > self.end_ms {
                return None;
            }
            self.now_ms = self.now_ms.max(at);
            if let Some(kind) = self.take(coming) {
                return Some(Input {
                    at: self.shown(self.now_ms),
                    kind,
                });
            }
        }
    }

    fn shown(&self, true_ms: i64) -> ArrivalTime {
        ArrivalTime(true_ms + self.spec.skew_ms)
    }

    fn push(&mut self, at: i64, coming: Coming) {
        self.order += 1;
        self.coming.push(Reverse((at, self.order)));
        self.what.insert(self.order, coming);
    }

    /// When each entry of a partition reaches it.
    fn read(&mut self, topic: Topic, partition: i32) {
        let world = self.world;
        let began = self.now_ms;
        let end = world.logs().end_at(topic, partition, began);
        let kept = self.kept(topic, partition, end);
        let entries = world.logs().partition(topic, partition);
        self.push(
            began,
            Coming::Start(Start {
                topic,
                partition,
                offset: 0,
                end,
                anew: false,
            }),
        );
        let (least, most) = self.spec.lag_ms;
        let mut at = began + self.rng.between(5, 200);
        for (offset, entry) in (0_i64..).zip(entries) {
            let late = self.rng.between(least, most);
            at = if offset < end {
                at + self.rng.between(0, 1)
            } else {
                at.max(entry.visible_ms + late)
            };
            match &entry.record {
                Some(record) if kept.as_ref().is_none_or(|kept| kept.contains(&offset)) => {
                    let times = if self.rng.chance(self.spec.doubled) {
                        2
                    } else {
                        1
                    };
                    for _ in 0..times {
                        self.push(at, Coming::Record(record.clone()));
                    }
                }
                _ => {
                    let offset = offset + 1;
                    let reached = Reached {
                        topic,
                        partition,
                        offset,
                    };
                    self.push(at, Coming::Reached(reached));
                }
            }
        }
    }

    /// What compaction left of what was there when it came; `None` is all.
    fn kept(&self, topic: Topic, partition: i32, end: i64) -> Option<BTreeSet<i64>> {
        let before = self.now_ms - self.spec.compacted_ms?;
        let entries = self.world.logs().partition(topic, partition);
        let mut newest: BTreeMap<&[u8], i64> = BTreeMap::new();
        let mut kept = BTreeSet::new();
        for (offset, entry) in (0_i64..).zip(entries) {
            if offset >= end || entry.written_ms >= before {
                kept.insert(offset);
            } else if let Some(key) = entry.record.as_ref().and_then(|r| r.key.as_deref()) {
                newest.insert(key, offset);
            }
        }
        kept.extend(newest.into_values());
        Some(kept)
    }

    fn take(&mut self, coming: Coming) -> Option<InputKind> {
        let now = self.now_ms;
        match coming {
            Coming::Settings => Some(InputKind::Settings(settings())),
            Coming::Start(start) => Some(InputKind::Start(start)),
            Coming::Record(record) => Some(InputKind::Record(record)),
            Coming::Reached(reached) => Some(InputKind::Reached(reached)),
            Coming::AskEnds => {
                self.push(now + ENDS_MS, Coming::AskEnds);
                self.ask_ends();
                None
            }
            Coming::Ends(ends) => {
                self.asking = self.asking.saturating_sub(1);
                Some(InputKind::Ends(ends))
            }
            Coming::List => {
                let every = self.spec.poll_ms?;
                self.push(now + every, Coming::List);
                let listed = self.world.seen_at(now).map(|seen| match seen.state {
                    PolledState::PreparingRebalance | PolledState::CompletingRebalance => {
                        Some(seen.state)
                    }
                    _ => None,
                });
                let answer = listed.map(PollAnswer::Listed);
                self.answer(answer);
                None
            }
            Coming::Describe => {
                self.push(now + DESCRIBE_MS, Coming::Describe);
                let answer = self.world.seen_at(now).cloned();
                self.answer(answer.map(PollAnswer::Described));
                None
            }
            Coming::Polled(polled) => Some(InputKind::Polled(polled)),
            Coming::Tick => {
                self.push(now + 5_000, Coming::Tick);
                Some(InputKind::Tick)
            }
        }
    }

    fn answer(&mut self, answer: Option<PollAnswer>) {
        let failed = PollAnswer::Failed(Trouble::Unreachable);
        let polled = Polled {
            asked: self.shown(self.now_ms),
            answer: answer.unwrap_or(failed),
        };
        let after = self.rng.between(2, 60);
        self.push(self.now_ms + after, Coming::Polled(polled));
    }

    /// Asks where all topics end; the answer holds for the moment of the question.
    fn ask_ends(&mut self) {
        let now = self.now_ms;
        for topic in Topic::ALL {
            let ends = partitions()
                .filter(|(of, _)| *of == topic)
                .map(|(_, partition)| {
                    let end = self.world.logs().end_at(topic, partition, now);
                    (partition, end)
                });
            let ends = Ends {
                topic,
                asked: self.shown(now),
                ends: ends.collect(),
            };
            let after = self.rng.between(2, 60);
            self.asking += 1;
            self.push(now + after, Coming::Ends(ends));
        }
    }
}

fn settings() -> Settings {
    Settings {
        group: GROUP.to_owned(),
        offsets_topic: "__consumer_offsets".to_owned(),
        offsets_partition: 0,
        config_topic: "connect-configs".to_owned(),
        config_partitions: 1,
        status_topic: "connect-status".to_owned(),
        status_partitions: STATUS_PARTITIONS,
        ..Settings::default()
    }
}
