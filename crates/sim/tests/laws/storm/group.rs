//! A group that rebalances without end: its workers pass their work on round by round, and
//! another worker comes and goes, each time in the middle of a round.

use std::collections::{BTreeMap, VecDeque};

use evenkeel_core::answers::Outcome;
use evenkeel_sim::clock::Clock;
use evenkeel_sim::coordinator::record::Saved;
use evenkeel_sim::coordinator::{Coordinator, Effect, Manner, Timer};
use evenkeel_sim::item::{Item, Work};
use evenkeel_sim::protocol::{Meta, Reply, Request, Ticket, Told, Why};
use evenkeel_sim::rng::Rng;
use evenkeel_sim::world::BASE_MS;

const WORKERS: usize = 3;
const CONNECTORS: i32 = 3;
const TASKS: i32 = 3;

/// The visitor joins in one round of so many, and leaves in another.
const VISIT_ROUNDS: i64 = 10;
const COMES: i64 = 3;
const LEAVES: i64 = 7;

/// The offset after the config topic's last record.
pub(super) const CONFIG_END: i64 = 15;

/// The group, as its coordinator and its workers act.
pub(super) struct Storm {
    coordinator: Coordinator,
    pub(super) now_ms: i64,
    workers: Vec<Worker>,
    visitor: Option<String>,
    rounds: i64,
    asked: u64,
    /// How each generation ended, the first of them first.
    pub(super) ended: Vec<Outcome>,
    /// What it wrote and nobody has read yet.
    pub(super) written: VecDeque<(i64, Saved)>,
}

struct Worker {
    id: String,
    at: usize,
    claim: Option<Told>,
    /// Told by the last round to stop it.
    parked: Work,
}

impl Storm {
    pub(super) fn new() -> Self {
        let manner = Manner {
            java: true,
            initial_delay_ms: 0,
            append_ms: (1, 1),
        };
        let mut storm = Self {
            coordinator: Coordinator::new(manner, Clock::default(), Rng::new(1)),
            now_ms: BASE_MS,
            workers: Vec::new(),
            visitor: None,
            rounds: 0,
            asked: 0,
            ended: Vec::new(),
            written: VecDeque::new(),
        };
        // All have their ids before the first of them joins.
        for at in 0..WORKERS {
            let id = storm.new_id(at);
            storm.workers.push(Worker {
                id,
                at,
                claim: None,
                parked: Work::new(),
            });
        }
        storm
    }

    /// One generation; `ms` until the next.
    pub(super) fn round(&mut self, ms: i64) {
        let place = self.rounds % VISIT_ROUNDS;
        self.rounds += 1;
        let began = self.now_ms;
        let generation = self.join();
        if place == LEAVES && self.visitor.is_some() {
            // It goes while the leader computes: the number leaves no record.
            self.now_ms += 1;
            if let Some(member) = self.visitor.take() {
                self.ask(Request::Leave { member });
            }
            self.ended.push(Outcome::Aborted);
        } else {
            let handed = self.hand_out();
            self.now_ms += 1;
            let appended = self.sync(generation, &handed);
            if place == COMES {
                // It comes while the record is replicated: nobody gets what that says.
                let id = self.new_id(WORKERS);
                self.join_as(Some(id.clone()), WORKERS, None);
                self.visitor = Some(id);
                self.ended.push(Outcome::Aborted);
            } else {
                self.now_ms += 1;
                let effects = self.coordinator.timer(self.now_ms, appended);
                assert!(
                    effects
                        .iter()
                        .any(|effect| matches!(effect, Effect::Effective))
                );
                self.apply(&handed);
                self.ended.push(Outcome::Completed);
            }
        }
        self.now_ms = began + ms;
    }

    /// How many generations ended so.
    pub(super) fn ended_so(&self, outcome: Outcome) -> u64 {
        self.ended.iter().filter(|ended| **ended == outcome).count() as u64
    }

    /// Everybody joins; gives the generation that begins.
    fn join(&mut self) -> i32 {
        let mut effects = Vec::new();
        // The leader first: whenever it asks, a round begins.
        for at in 0..WORKERS {
            let (id, claim) = (self.workers[at].id.clone(), self.workers[at].claim.clone());
            effects.extend(self.join_as(Some(id), at, claim));
        }
        if let Some(id) = self.visitor.clone() {
            effects.extend(self.join_as(Some(id), WORKERS, None));
        }
        // A new group waits for more members, here for no time at all.
        for _ in 0..2 {
            let waits = effects.iter().rev().find_map(|effect| match effect {
                Effect::Timer(at_ms, timer @ Timer::Join(_)) if *at_ms <= self.now_ms => {
                    Some(timer.clone())
                }
                _ => None,
            });
            if let Some(timer) = waits {
                effects.extend(self.coordinator.timer(self.now_ms, timer));
            }
        }
        let joined = effects.iter().find_map(|effect| match effect {
            Effect::Reply(_, Reply::Joined { generation, .. }) => Some(*generation),
            _ => None,
        });
        joined.expect("a generation, since all have joined")
    }

    /// Who stops what, and who starts what was stopped before.
    fn hand_out(&self) -> BTreeMap<String, Told> {
        let leader = &self.workers[0];
        let blank = Told {
            leader: leader.id.clone(),
            leader_url: url(leader.at),
            config_offset: CONFIG_END - 1,
            ..Told::default()
        };
        let mut handed: BTreeMap<String, Told> = BTreeMap::new();
        for (at, worker) in self.workers.iter().enumerate() {
            let before = &self.workers[(at + WORKERS - 1) % WORKERS];
            let owned = worker.claim.as_ref().map(|claim| claim.assigned.clone());
            let (assigned, revoked) = match owned {
                None => (first_share(at), Work::new()),
                Some(owned) => (before.parked.clone(), owned.into_iter().take(1).collect()),
            };
            let told = Told {
                assigned,
                revoked,
                ..blank.clone()
            };
            handed.insert(worker.id.clone(), told);
        }
        if let Some(visitor) = &self.visitor {
            handed.insert(visitor.clone(), blank);
        }
        handed
    }

    /// All ask for their assignment, the leader last; gives the timer of its record.
    fn sync(&mut self, generation: i32, handed: &BTreeMap<String, Told>) -> Timer {
        let leader = self.workers[0].id.clone();
        let others = handed.keys().filter(|id| **id != leader);
        for member in others.cloned().collect::<Vec<String>>() {
            self.ask(Request::Sync {
                member,
                generation,
                handed: None,
            });
        }
        let effects = self.ask(Request::Sync {
            member: leader,
            generation,
            handed: Some(handed.clone()),
        });
        let appended = effects.into_iter().find_map(|effect| match effect {
            Effect::Timer(_, timer @ Timer::Appended(_)) => Some(timer),
            _ => None,
        });
        appended.expect("a record, since the leader has synced")
    }

    fn apply(&mut self, handed: &BTreeMap<String, Told>) {
        for worker in &mut self.workers {
            let told = &handed[&worker.id];
            let mut owned = worker
                .claim
                .take()
                .map(|claim| claim.assigned)
                .unwrap_or_default();
            owned.retain(|item| !told.revoked.contains(item));
            owned.extend(told.assigned.iter().cloned());
            worker.parked = told.revoked.clone();
            worker.claim = Some(Told {
                assigned: owned,
                revoked: Work::new(),
                ..told.clone()
            });
        }
    }

    fn new_id(&mut self, at: usize) -> String {
        let effects = self.join_as(None, at, None);
        let id = effects.into_iter().find_map(|effect| match effect {
            Effect::Reply(_, Reply::MemberIdRequired(id)) => Some(id),
            _ => None,
        });
        id.expect("an id for a new member")
    }

    fn join_as(&mut self, member: Option<String>, at: usize, claim: Option<Told>) -> Vec<Effect> {
        let meta = Box::new(Meta {
            client_id: format!("connect-{at}"),
            host: format!("/192.0.2.{}", at + 1),
            url: url(at),
            config_offset: CONFIG_END - 1,
            claim,
            version: 2,
            session_ms: 10_000,
            rebalance_ms: 60_000,
        });
        let why = Why::Asked;
        self.ask(Request::Join { member, meta, why })
    }

    fn ask(&mut self, request: Request) -> Vec<Effect> {
        self.asked += 1;
        let ticket = Ticket {
            process: 0,
            asked: self.asked,
        };
        let effects = self.coordinator.request(self.now_ms, ticket, request);
        for effect in &effects {
            if let Effect::Append(Some(saved)) = effect {
                self.written.push_back((self.now_ms, saved.clone()));
            }
        }
        effects
    }
}

/// All work, dealt out once.
fn first_share(at: usize) -> Work {
    let items =
        (0..CONNECTORS).flat_map(|connector| (-1..TASKS).map(move |task| (connector, task)));
    let mine = items.enumerate().filter(|(place, _)| place % WORKERS == at);
    mine.map(|(_, (connector, task))| Item::new(&name(connector), task))
        .collect()
}

pub(super) fn name(connector: i32) -> String {
    format!("orders-{connector}-cdc")
}

/// The connectors and how many tasks each has.
pub(super) fn connectors() -> impl Iterator<Item = (String, i32)> {
    (0..CONNECTORS).map(|connector| (name(connector), TASKS))
}

fn url(at: usize) -> String {
    format!("http://192.0.2.{}:8083/", at + 1)
}
