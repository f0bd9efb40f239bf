//! A worker's side of the group protocol (`WorkerCoordinator`, `AbstractCoordinator`).

use super::process::{Phase, Then};
use super::sim::{Event, Sim};
use crate::protocol::{Meta, Reply, Request, Ticket, Told, Why};
use crate::truth::StopWhy;

/// Marks heartbeats among the questions: they are asked beside others.
const BEAT: u64 = 1 << 63;
/// How often a worker looks for a coordinator that it lost.
const SEARCH_MS: i64 = 150;

// === impl Sim ===

impl Sim {
    fn send(&mut self, at: usize, asked: u64, request: Request) {
        let ms = self.plan.slots[self.processes[at].slot].latency_ms;
        let ticket = Ticket { process: at, asked };
        self.later(ms, Event::Request(ticket, request));
    }

    /// JoinGroup; what it says is what it believes now.
    pub(super) fn join(&mut self, at: usize) {
        let process = &mut self.processes[at];
        // Eager members stop everything before they join.
        if process.version == 0 && process.last_completed >= 0 && !process.runs.is_empty() {
            let items: Vec<_> = process.runs.keys().cloned().collect();
            return self.stop_items(at, items, StopWhy::Eager, Then::Look);
        }
        process.why = process.rejoin.take().unwrap_or(Why::New);
        self.ask_to_join(at);
    }

    fn ask_to_join(&mut self, at: usize) {
        let process = &mut self.processes[at];
        process.phase = Phase::Joining;
        process.asked += 1;
        let slot = &self.plan.slots[process.slot];
        let meta = Meta {
            client_id: process.client_id.clone(),
            host: process.host.clone(),
            url: process.url.clone(),
            // Before anything was read there is no offset.
            config_offset: if process.config_seen == 0 {
                -1
            } else {
                process.config_seen
            },
            claim: process.claim.clone().filter(|_| slot.version > 0),
            version: slot.version,
            session_ms: slot.session_ms,
            rebalance_ms: slot.rebalance_ms,
        };
        let request = Request::Join {
            member: process.member.clone(),
            meta: Box::new(meta),
            why: process.why.clone(),
        };
        let asked = process.asked;
        self.send(at, asked, request);
    }

    /// An answer arrived.
    pub(super) fn replied(&mut self, ticket: Ticket, reply: Reply) {
        let at = ticket.process;
        let process = &mut self.processes[at];
        // Once it stops its work, nobody polls.
        if ticket.asked & !BEAT != process.asked || process.stopping == Some(true) {
            return;
        }
        let beat = ticket.asked & BEAT != 0;
        match reply {
            Reply::MemberIdRequired(id) => {
                let (slot, worker) = (process.slot, process.worker.clone());
                process.member = Some(id.clone());
                self.scribe.named(&id, slot, &worker);
                self.members.insert(id, at);
                self.ask_to_join(at);
            }
            Reply::UnknownMember => {
                process.member = None;
                process.generation = -1;
                process.phase = Phase::Out;
                process.rejoin = Some(Why::Unknown);
                self.tick(at);
            }
            Reply::IllegalGeneration => {
                process.generation = -1;
                process.phase = Phase::Out;
                process.rejoin.get_or_insert(Why::Retry);
                self.tick(at);
            }
            Reply::Rebalancing => {
                if !beat {
                    process.phase = Phase::Out;
                }
                process.rejoin.get_or_insert(Why::Asked);
                self.tick(at);
            }
            Reply::Unavailable => {
                process.lost = true;
                if process.phase != Phase::In {
                    process.phase = Phase::Out;
                    process.rejoin.get_or_insert(Why::Retry);
                }
                self.tick(at);
            }
            Reply::Joined {
                generation,
                leader: _,
                version,
                members,
            } => {
                process.generation = generation;
                process.version = version;
                process.phase = Phase::Syncing;
                process.rejoin = None;
                process.members = members;
                if process.members.is_some() {
                    let (least, most) = self.plan.slots[process.slot].compute_ms;
                    let asked = process.asked;
                    let ms = self.rng.between(least, most);
                    self.later(ms, Event::Assign(at, asked));
                } else {
                    self.sync(at, None);
                }
            }
            Reply::Synced(told) => self.assigned(at, told),
            Reply::Alive => {}
        }
    }

    /// The leader has computed.
    pub(super) fn assign(&mut self, at: usize, asked: u64) {
        let process = &self.processes[at];
        if process.asked != asked || process.phase != Phase::Syncing {
            return;
        }
        let handed = self.hand_out(at);
        self.sync(at, handed);
    }

    fn sync(&mut self, at: usize, handed: Option<std::collections::BTreeMap<String, Told>>) {
        let process = &mut self.processes[at];
        let Some(member) = process.member.clone() else {
            return;
        };
        let (asked, generation) = (process.asked, process.generation);
        let request = Request::Sync {
            member,
            generation,
            handed,
        };
        self.send(at, asked, request);
    }

    /// An assignment is in hand: what is revoked is stopped before anything else.
    fn assigned(&mut self, at: usize, told: Told) {
        let process = &mut self.processes[at];
        let generation = process.generation;
        process.phase = Phase::In;
        process.rejoin = None;
        let stop: Vec<_> = told.revoked.iter().cloned().collect();
        let stops = process.version > 0 && !stop.is_empty();
        let member = process.member.clone().unwrap_or_default();
        self.scribe.received(self.now, generation, &member);
        process.received = Some((generation, member, told));
        if stops {
            self.stop_items(at, stop, StopWhy::Revoked, Then::Apply);
        } else {
            self.apply(at);
        }
    }

    /// The heartbeat thread.
    pub(super) fn beat(&mut self, at: usize) {
        let process = &self.processes[at];
        let slot = &self.plan.slots[process.slot];
        let (beat_ms, patience_ms) = (slot.heartbeat_ms, slot.rebalance_ms);
        self.later(beat_ms, Event::Heartbeat(at));
        let process = &mut self.processes[at];
        let Some(member) = process.member.clone() else {
            return;
        };
        if process.lost || !matches!(process.phase, Phase::Syncing | Phase::In) {
            return;
        }
        let busy = process.busy.as_ref();
        if busy.is_some_and(|(since, ..)| self.now - since > patience_ms) {
            // The herder did not poll for too long: the worker leaves, its work goes on.
            process.member = None;
            process.generation = -1;
            process.phase = Phase::Out;
            process.rejoin = Some(Why::New);
            process.asked += 1;
            let asked = process.asked;
            return self.send(at, asked, Request::Leave { member });
        }
        let (asked, generation) = (process.asked | BEAT, process.generation);
        let request = Request::Heartbeat { member, generation };
        self.send(at, asked, request);
    }

    /// Looks for the coordinator; gives the work up when that takes too long.
    pub(super) fn search(&mut self, at: usize) {
        let available = self.coordinator.available;
        let beat_ms = self.plan.slots[self.processes[at].slot].heartbeat_ms;
        let process = &mut self.processes[at];
        if !process.lost || !process.is_idle() || process.stopping.is_some() {
            process.search_until_ms = None;
            return;
        }
        if available {
            process.lost = false;
            process.search_until_ms = None;
            return self.tick(at);
        }
        let until = *process.search_until_ms.get_or_insert(self.now + beat_ms);
        if self.now < until {
            return self.later(SEARCH_MS, Event::Search(at));
        }
        process.search_until_ms = None;
        let held = process.claim.as_ref().is_some_and(|claim| claim.error == 0);
        if !held {
            return self.tick(at);
        }
        let owned = process.owned();
        process.claim = None;
        process.dropped.clone_from(&owned);
        process.rejoin = Some(Why::CoordinatorLost);
        let items: Vec<_> = owned.iter().cloned().collect();
        if let Some(member) = process.member.clone() {
            self.scribe.dropped(self.now, &member, owned);
        }
        self.stop_items(at, items, StopWhy::Dropped, Then::Look);
    }

    /// All is stopped: LeaveGroup, and the process ends.
    pub(super) fn exit(&mut self, at: usize) {
        let process = &mut self.processes[at];
        process.alive = false;
        process.runs.clear();
        process.asked += 1;
        let asked = process.asked;
        if let Some(member) = process.member.clone() {
            self.send(at, asked, Request::Leave { member });
        }
    }
}
