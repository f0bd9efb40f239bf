//! The world while it runs: the queue, and who gets which event.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use evenkeel_core::facts::input::Topic;
use evenkeel_core::facts::poll::Description;
use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::encode::group_metadata_key;

use super::process::{Phase, Process};
use super::{BASE_MS, GROUP};
use crate::config::ConfigLog;
use crate::coordinator::{Coordinator, Effect, Timer};
use crate::item::Item;
use crate::log::{Logs, Written};
use crate::plan::Plan;
use crate::protocol::{Reply, Request, Ticket};
use crate::rng::Rng;

use crate::truth::{Departing, How, Removed, Scribe, Truth};

/// `offsets.retention.check.interval.ms`
const CLEANUP_MS: i64 = 600_000;
/// How long a world may go on to come to rest.
const REST_MS_MAX: i64 = 400_000;

/// Something that happens.
#[derive(Debug, Clone)]
pub(super) enum Event {
    Request(Ticket, Request),
    Reply(Ticket, Reply),
    Timer(Timer),
    /// The broker is back, or another took over.
    Load,
    Heartbeat(usize),
    Search(usize),
    Busy(usize, u64),
    Assign(usize, u64),
    ConfigSeen(usize, i64),
    Started(usize, Item, u64),
    Stopped(usize, Item, u64, bool),
    DelayOver(usize, u64),
    Publish(usize, std::sync::Arc<str>, i64),
    Thaw(usize),
    Kill(usize, How),
    Deed(usize, u32),
}

#[derive(Debug)]
struct Queued(i64, u64, Event);

/// The running world.
#[derive(Debug)]
pub(super) struct Sim {
    pub(super) now: i64,
    pub(super) plan: Plan,
    pub(super) rng: Rng,
    pub(super) coordinator: Coordinator,
    pub(super) processes: Vec<Process>,
    pub(super) config: ConfigLog,
    /// By version: how many tasks it makes.
    pub(super) versions: Vec<i32>,
    pub(super) logs: Logs,
    pub(super) contents: Contents,
    pub(super) scribe: Scribe,
    /// The newest status of each piece: state, worker, generation; `None` is a tombstone.
    pub(super) statuses: BTreeMap<Item, Option<(&'static str, String, i32)>>,
    /// Which connectors have tasks that ignore being stopped.
    pub(super) stuck: Vec<usize>,
    /// By slot: how late it sees config records, until when.
    pub(super) lags: BTreeMap<usize, (i64, i64)>,
    pub(super) members: BTreeMap<String, usize>,
    pub(super) tokens: u64,
    queue: BinaryHeap<Queued>,
    queued: u64,
    deferred: Vec<Event>,
    seen: Vec<(i64, Option<Description>)>,
    fingerprint: (bool, Option<(crate::coordinator::State, i32)>, Vec<String>),
    clocks: BTreeMap<String, crate::clock::Clock>,
}

// === impl Sim ===

impl Sim {
    pub(super) fn new(plan: Plan) -> Self {
        let mut rng = Rng::new(plan.seed ^ 0x05ee_d0f0_77e7_0a1d);
        let clock = plan.broker_clock.clone();
        let coordinator = Coordinator::new(plan.manner.clone(), clock, rng.fork());
        let mut sim = Self {
            now: BASE_MS,
            rng,
            coordinator,
            processes: Vec::new(),
            config: ConfigLog::default(),
            versions: Vec::new(),
            logs: Logs::default(),
            contents: Contents::new([7; 16], 0),
            scribe: Scribe::default(),
            statuses: BTreeMap::new(),
            stuck: Vec::new(),
            lags: BTreeMap::new(),
            members: BTreeMap::new(),
            tokens: 0,
            queue: BinaryHeap::new(),
            queued: 0,
            deferred: Vec::new(),
            seen: Vec::new(),
            fingerprint: (false, None, Vec::new()),
            clocks: BTreeMap::new(),
            plan,
        };
        for at in 0..sim.plan.deeds.len() {
            let after = sim.plan.deeds[at].0;
            sim.later(after, Event::Deed(at, 0));
        }
        let cleanup = sim.rng.between(1, CLEANUP_MS);
        sim.later(cleanup, Event::Timer(Timer::Cleanup));
        sim.note_clock();
        sim
    }

    pub(super) fn run(mut self) -> (Truth, Logs, Vec<(i64, Option<Description>)>) {
        let end = BASE_MS + self.plan.end_ms;
        self.look();
        while let Some(Queued(at, _, event)) = self.queue.pop() {
            let over = at > end && (self.is_at_rest() || at > end + REST_MS_MAX);
            if over {
                break;
            }
            self.now = at;
            self.take(event);
            self.look();
        }
        let at_ms = self.now.max(end);
        let rest = self.is_at_rest();
        let mut truth = self.scribe.finish();
        truth.end.at_ms = at_ms;
        truth.end.rest = rest;
        truth.end.configured = self.config.work(self.config.end());
        truth.clocks = self.clocks;
        for process in self.processes.iter().filter(|process| process.alive) {
            if let Some(member) = &process.member {
                let owned = (process.worker.clone(), process.owned());
                truth.end.owned.insert(member.clone(), owned);
            }
        }
        (truth, self.logs, self.seen)
    }

    /// Whether nothing is on its way but heartbeats and delays.
    fn is_at_rest(&self) -> bool {
        let (available, state, members) = &self.fingerprint;
        let alive = || self.processes.iter().filter(|process| process.alive);
        let belongs = |id: &String| members.contains(id);
        let together = alive().count() == members.len()
            && alive().all(|process| process.member.as_ref().is_some_and(belongs));
        use crate::coordinator::State;
        let settled = !matches!(state, Some((State::Preparing | State::Completing, _)));
        *available
            && settled
            && together
            && alive().all(|p| {
                p.is_idle()
                    && p.phase == Phase::In
                    && p.resolved
                    && p.rejoin.is_none()
                    && p.changes.is_empty()
                    && p.config_seen == self.config.read_end()
                    && !p.lost
                    && p.runs.values().all(|run| run.state.is_some())
            })
    }

    /// Notes what the coordinator would answer now, if that is new.
    fn look(&mut self) {
        let fingerprint = self.coordinator.fingerprint();
        if fingerprint != self.fingerprint || self.seen.is_empty() {
            self.fingerprint = fingerprint;
            self.seen.push((self.now, self.coordinator.described()));
        }
    }

    pub(super) fn later(&mut self, ms: i64, event: Event) {
        self.queued += 1;
        let at = self.now + ms.max(0);
        self.queue.push(Queued(at, self.queued, event));
    }

    pub(super) fn token(&mut self) -> u64 {
        self.tokens += 1;
        self.tokens
    }

    fn take(&mut self, event: Event) {
        if let Some(process) = event.process() {
            let process = &self.processes[process];
            if !process.alive {
                return;
            }
            if process.frozen_ms.is_some() {
                return self.deferred.push(event);
            }
        }
        match event {
            Event::Request(ticket, request) => {
                let effects = self.coordinator.request(self.now, ticket, request);
                self.effects(effects);
            }
            Event::Timer(timer) => {
                if timer == Timer::Cleanup {
                    self.later(CLEANUP_MS, Event::Timer(Timer::Cleanup));
                }
                let effects = self.coordinator.timer(self.now, timer);
                self.effects(effects);
            }
            Event::Load => {
                let effects = self.coordinator.load(self.now);
                self.note_clock();
                self.effects(effects);
            }
            Event::Reply(ticket, reply) => self.replied(ticket, reply),
            Event::Heartbeat(process) => self.beat(process),
            Event::Search(process) => self.search(process),
            Event::Busy(process, token) => self.no_longer_busy(process, token),
            Event::Assign(process, asked) => self.assign(process, asked),
            Event::ConfigSeen(process, offset) => self.config_seen(process, offset),
            Event::Started(process, item, token) => self.started(process, &item, token),
            Event::Stopped(process, item, token, stuck) => {
                self.stopped(process, &item, token, stuck);
            }
            Event::DelayOver(process, delay) => self.delay_over(process, delay),
            Event::Publish(process, name, wait) => self.publish(process, name, wait),
            Event::Thaw(process) => self.thaw(process),
            Event::Kill(process, how) => self.kill(process, how),
            Event::Deed(at, tries) => self.deed(at, tries),
        }
    }

    /// A frozen process goes on where it stood; all that came to it meanwhile comes now.
    fn thaw(&mut self, process: usize) {
        self.processes[process].frozen_ms = None;
        let (due, rest): (Vec<Event>, Vec<Event>) = std::mem::take(&mut self.deferred)
            .into_iter()
            .partition(|event| event.process() == Some(process));
        self.deferred = rest;
        for event in due {
            self.later(1, event);
        }
    }

    pub(super) fn effects(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Reply(ticket, reply) => {
                    let slot = self.processes[ticket.process].slot;
                    let ms = self.plan.slots[slot].latency_ms;
                    self.later(ms, Event::Reply(ticket, reply));
                }
                Effect::Append(saved) => self.append_group(saved.as_ref()),
                Effect::Timer(at, timer) => self.later(at - self.now, Event::Timer(timer)),
                Effect::Trigger(trigger) => self.scribe.trigger(self.now, trigger),
                Effect::JoinEnded(saved) => self.scribe.join_ended(self.now, &saved),
                Effect::Recorded(saved) => self.scribe.recorded(self.now, &saved),
                Effect::Effective => self.scribe.effective(self.now),
                Effect::Removed(member, seen) => self.removed(&member, seen),
                Effect::Created => self.scribe.created(self.now),
                Effect::Deleted => self.scribe.deleted(self.now),
            }
        }
    }

    fn removed(&mut self, member: &str, seen: Removed) {
        let Some(process) = self.members.get(member).map(|at| &self.processes[*at]) else {
            return;
        };
        let (died_ms, how) = process.died.unwrap_or_else(|| {
            let busy = process.busy.as_ref().map(|(since, ..)| *since);
            let since = process.frozen_ms.or(busy).unwrap_or(self.now);
            (since, How::Unresponsive)
        });
        let owned = if process.died.is_some() {
            process.had.clone()
        } else {
            process.leaves()
        };
        let who = Departing {
            worker: process.worker.clone(),
            slot: process.slot,
            died_ms,
            how,
            owned,
        };
        self.scribe.departed(self.now, member, seen, who);
    }

    fn append_group(&mut self, saved: Option<&crate::coordinator::record::Saved>) {
        let key = group_metadata_key(GROUP).unwrap_or_default();
        let value = saved.map(|saved| saved.encode().unwrap_or_default());
        let stamp_ms = self.coordinator.clock.at(self.now);
        if self.rng.chance(self.plan.gaps) {
            for _ in 0..self.rng.between(1, 3) {
                self.append(Topic::Offsets, 0, stamp_ms, None);
            }
        }
        self.append(Topic::Offsets, 0, stamp_ms, Some((key, value)));
    }

    pub(super) fn append(
        &mut self,
        topic: Topic,
        partition: i32,
        stamp_ms: i64,
        content: Option<(Vec<u8>, Option<Vec<u8>>)>,
    ) {
        let epoch = if topic == Topic::Offsets {
            self.coordinator.epoch
        } else {
            0
        };
        let written = Written {
            now_ms: self.now,
            stamp_ms,
            replication_ms: self.rng.between(1, 10),
            epoch,
            content,
        };
        self.logs.append(topic, partition, written);
    }

    fn note_clock(&mut self) {
        let name = format!("epoch {}", self.coordinator.epoch);
        let clock = self.coordinator.clock.clone();
        self.scribe.coordinator(self.now, clock.clone());
        self.clocks.insert(name, clock);
        for (at, slot) in self.plan.slots.iter().enumerate() {
            let name = format!("slot {at}");
            self.clocks.insert(name, slot.clock.clone());
        }
    }
}

// === impl Event ===

impl Event {
    /// Whose it is, if it is a process's own.
    fn process(&self) -> Option<usize> {
        match self {
            Self::Reply(ticket, _) => Some(ticket.process),
            Self::Heartbeat(process)
            | Self::Search(process)
            | Self::Busy(process, _)
            | Self::Assign(process, _)
            | Self::ConfigSeen(process, _)
            | Self::Started(process, ..)
            | Self::Stopped(process, ..)
            | Self::DelayOver(process, _)
            | Self::Publish(process, ..) => Some(*process),
            Self::Request(..)
            | Self::Timer(_)
            | Self::Load
            | Self::Thaw(_)
            | Self::Kill(..)
            | Self::Deed(..) => None,
        }
    }
}

// === impl Queued ===

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    /// The earliest is the greatest, and of those the one that was queued first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.0, other.1).cmp(&(self.0, self.1))
    }
}
