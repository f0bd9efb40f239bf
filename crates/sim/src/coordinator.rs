//! The coordinator of one classic group, as `GroupCoordinator` and `GroupMetadataManager`
//! of Kafka act: states, phases, timeouts, generations, and what it writes.

mod phases;
mod polled;
pub mod record;
mod requests;

use std::collections::BTreeMap;

use crate::clock::Clock;
use crate::protocol::{Meta, Reply, Request, Ticket, Told};
use crate::rng::Rng;
use crate::truth::{Removed, Trigger};

use record::Saved;

/// The states of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// No members.
    Empty,
    /// Members are joining.
    Preparing,
    /// The leader computes.
    Completing,
    /// All is handed out.
    Stable,
}

/// What will happen later if nothing comes between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Timer {
    /// A member's session may be over.
    Session(String),
    /// A pending id may have to be given up.
    Pending(String),
    /// The join phase must end.
    Join(u64),
    /// All must have asked for their assignment.
    Sync(u64),
    /// The record of a phase was replicated.
    Appended(u64),
    /// Groups without members are deleted.
    Cleanup,
}

/// What the coordinator did.
#[derive(Debug, Clone)]
pub enum Effect {
    /// It answers.
    Reply(Ticket, Reply),
    /// It writes; `None` is a tombstone.
    Append(Option<Saved>),
    /// It will look again.
    Timer(i64, Timer),
    /// It begins to prepare a rebalance, or learns another reason for the one it prepares.
    Trigger(Trigger),
    /// The join phase is over.
    JoinEnded(Saved),
    /// The leader's assignments were written.
    Recorded(Saved),
    /// The assignments take effect.
    Effective,
    /// A member is gone.
    Removed(String, Removed),
    /// The group is made.
    Created,
    /// The group is deleted.
    Deleted,
}

/// How a coordinator acts.
#[derive(Debug, Clone)]
pub struct Manner {
    /// The coordinator of 4.x: it records new groups, and buries those without a generation.
    pub java: bool,
    /// `group.initial.rebalance.delay.ms`
    pub initial_delay_ms: i64,
    /// How long a record takes to be replicated, from and to.
    pub append_ms: (i64, i64),
}

#[derive(Debug, Clone)]
struct Member {
    meta: Meta,
    joining: Option<Ticket>,
    syncing: Option<Ticket>,
    synced: bool,
    deadline_ms: Option<i64>,
}

#[derive(Debug, Clone)]
struct Group {
    state: State,
    generation: i32,
    version: Option<i16>,
    leader: Option<String>,
    /// In order of joining.
    members: Vec<(String, Member)>,
    pending: BTreeMap<String, i64>,
    told: BTreeMap<String, Told>,
    /// When the state was entered, on the coordinator's clock.
    state_since_ms: i64,
    phase: u64,
    /// What remains of the time that a new group waits for more members.
    initial_left_ms: Option<i64>,
    joined_meanwhile: bool,
}

/// The coordinator.
#[derive(Debug, Clone)]
pub struct Coordinator {
    /// Whether it answers.
    pub available: bool,
    /// Leader epoch of its partition.
    pub epoch: i32,
    /// The clock of its broker.
    pub clock: Clock,
    manner: Manner,
    group: Option<Group>,
    saved: Option<Saved>,
    rng: Rng,
    phases: u64,
    now: i64,
    out: Vec<Effect>,
}

// === impl Coordinator ===

impl Coordinator {
    /// A coordinator that knows no group.
    #[must_use]
    pub fn new(manner: Manner, clock: Clock, rng: Rng) -> Self {
        Self {
            available: true,
            epoch: 0,
            clock,
            manner,
            group: None,
            saved: None,
            rng,
            phases: 0,
            now: 0,
            out: Vec::new(),
        }
    }

    /// A request arrives.
    pub fn request(&mut self, now: i64, ticket: Ticket, request: Request) -> Vec<Effect> {
        self.now = now;
        if !self.available {
            return vec![Effect::Reply(ticket, Reply::Unavailable)];
        }
        match request {
            Request::Join { member, meta, why } => self.join(ticket, member, *meta, why),
            Request::Sync {
                member,
                generation,
                handed,
            } => self.sync(ticket, &member, generation, handed),
            Request::Heartbeat { member, generation } => {
                self.heartbeat(ticket, &member, generation);
            }
            Request::Leave { member } => self.leave(&member),
        }
        std::mem::take(&mut self.out)
    }

    /// A timer fires.
    pub fn timer(&mut self, now: i64, timer: Timer) -> Vec<Effect> {
        self.now = now;
        if self.available {
            match timer {
                Timer::Session(member) => self.session(&member),
                Timer::Pending(member) => self.pending(&member),
                Timer::Join(phase) => self.join_timer(phase),
                Timer::Sync(phase) => self.sync_timer(phase),
                Timer::Appended(phase) => self.appended(phase),
                Timer::Cleanup => self.cleanup(),
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Its broker goes; who waits for an answer gets none.
    pub fn lose(&mut self, now: i64) -> Vec<Effect> {
        self.now = now;
        self.available = false;
        let group = self.group.take();
        let members = group.into_iter().flat_map(|group| group.members);
        let waiting = members.flat_map(|(_, m)| m.joining.into_iter().chain(m.syncing));
        waiting
            .map(|ticket| Effect::Reply(ticket, Reply::Unavailable))
            .collect()
    }

    /// A broker has read the log and takes over.
    pub fn load(&mut self, now: i64) -> Vec<Effect> {
        self.now = now;
        self.available = true;
        self.epoch += 1;
        self.group = self.saved.clone().map(|saved| {
            let state = if saved.members.is_empty() {
                State::Empty
            } else {
                State::Stable
            };
            let member = |(id, meta): (String, Meta)| {
                let member = Member {
                    meta,
                    joining: None,
                    syncing: None,
                    synced: true,
                    deadline_ms: None,
                };
                (id, member)
            };
            Group {
                state,
                generation: saved.generation,
                version: saved.version,
                leader: saved.leader,
                members: saved.members.into_iter().map(member).collect(),
                pending: BTreeMap::new(),
                told: saved.told,
                state_since_ms: saved.state_since_ms,
                phase: self.next_phase(),
                initial_left_ms: None,
                joined_meanwhile: false,
            }
        });
        self.renew_sessions();
        std::mem::take(&mut self.out)
    }

    fn next_phase(&mut self) -> u64 {
        self.phases += 1;
        self.phases
    }

    fn reply(&mut self, ticket: Ticket, reply: Reply) {
        self.out.push(Effect::Reply(ticket, reply));
    }

    fn append(&mut self, saved: Option<Saved>) {
        self.saved.clone_from(&saved);
        self.out.push(Effect::Append(saved));
    }

    fn session(&mut self, id: &str) {
        let now = self.now;
        let member = self.group.as_mut().and_then(|group| group.member_mut(id));
        let due = member.and_then(|member| member.deadline_ms);
        if due.is_some_and(|due| due <= now) {
            self.remove(id, Removed::Expired);
        }
    }

    fn pending(&mut self, id: &str) {
        let now = self.now;
        if let Some(group) = &mut self.group
            && group.pending.get(id).is_some_and(|until| *until <= now)
        {
            group.pending.remove(id);
            self.maybe_complete();
        }
    }

    fn cleanup(&mut self) {
        let gone = self.group.as_ref().is_some_and(|group| {
            group.state == State::Empty && group.members.is_empty() && group.pending.is_empty()
        });
        if !gone {
            return;
        }
        let generation = self.group.take().map_or(0, |group| group.generation);
        self.out.push(Effect::Deleted);
        if self.manner.java || generation > 0 {
            self.append(None);
        }
        self.saved = None;
    }
}
