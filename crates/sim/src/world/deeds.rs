//! What befalls the world: processes come and go, people configure, brokers fail.

use std::collections::{BTreeMap, VecDeque};

use super::process::{Phase, Process};
use super::sim::{Event, Sim};
use crate::assignor::{Incremental, Rules};
use crate::config::Change;
use crate::item::Work;
use crate::plan::Deed;
use crate::protocol::Why;
use crate::truth::{How, RunEnd};

/// How often a person asks again when no leader answers, and how long after.
const TRIES_MAX: u32 = 200;
const AGAIN_MS: i64 = 400;

// === impl Sim ===

impl Sim {
    pub(super) fn deed(&mut self, number: usize, tries: u32) {
        let Some((_, deed)) = self.plan.deeds.get(number).cloned() else {
            return;
        };
        match deed {
            Deed::Start { slot, moved } => self.start(slot, moved),
            Deed::Stop { slot, grace_ms } => self.stop(slot, grace_ms),
            Deed::Kill { slot } => {
                if let Some(at) = self.running(slot) {
                    self.kill(at, How::Crashed);
                }
            }
            Deed::KillLeader => {
                let leader = self.processes.iter().position(|p| p.alive && p.leads());
                if let Some(at) = leader {
                    self.kill(at, How::Crashed);
                }
            }
            Deed::Freeze { slot, ms } => {
                let at = self.running(slot);
                if let Some(at) = at.filter(|at| self.processes[*at].frozen_ms.is_none()) {
                    self.processes[at].frozen_ms = Some(self.now);
                    self.later(ms, Event::Thaw(at));
                }
            }
            Deed::Away { ms, moved } => {
                if self.coordinator.available {
                    let effects = self.coordinator.lose(self.now);
                    self.scribe.coordinator_lost();
                    if let Some(clock) = moved {
                        self.coordinator.clock = clock;
                    }
                    self.effects(effects);
                    self.later(ms, Event::Load);
                }
            }
            Deed::Lag { slot, ms, for_ms } => {
                self.lags.insert(slot, (ms, self.now + for_ms));
            }
            Deed::Stick(connector) => self.stuck.push(connector),
            Deed::SlowStop(connector, ms) => self.plan.connectors[connector].stop_ms = (ms, ms),
            Deed::SlowStart(connector, ms) => self.plan.connectors[connector].start_ms = (ms, ms),
            Deed::Create(..)
            | Deed::Delete(..)
            | Deed::Retask(..)
            | Deed::Target(..)
            | Deed::Restart(..)
            | Deed::RotateKey => self.configure(&deed, number, tries),
        }
    }

    /// A person asks the leader to change a configuration.
    fn configure(&mut self, deed: &Deed, number: usize, tries: u32) {
        let Some(writer) = self.writer() else {
            if tries < TRIES_MAX {
                self.later(AGAIN_MS, Event::Deed(number, tries + 1));
            }
            return;
        };
        let known = self.config.snapshot(self.config.end());
        let changes = match *deed {
            Deed::Create(connector) if !known.contains_key(&self.name_of(connector)) => {
                let tasks = self.plan.connectors[connector].tasks;
                vec![self.new_version(connector, tasks)]
            }
            Deed::Retask(connector, tasks) if known.contains_key(&self.name_of(connector)) => {
                vec![self.new_version(connector, tasks)]
            }
            Deed::Delete(connector) if known.contains_key(&self.name_of(connector)) => {
                let name = self.name_of(connector);
                vec![Change::Deleted(name.clone()), Change::TargetGone(name)]
            }
            Deed::Target(connector, state) => {
                let name = self.name_of(connector);
                match known.get(&name) {
                    Some(known) if known.target != state => {
                        let target = Change::Target(name.clone(), state);
                        if state == "STOPPED" {
                            let version = u32::MAX;
                            vec![Change::Commit(name, 0, version), target]
                        } else {
                            vec![target]
                        }
                    }
                    _ => Vec::new(),
                }
            }
            Deed::Restart(connector) => vec![Change::Restart(self.name_of(connector))],
            Deed::RotateKey => vec![Change::Key(u32::try_from(number).unwrap_or(0))],
            _ => Vec::new(),
        };
        if !changes.is_empty() {
            self.write_config(writer, changes);
        }
    }

    fn new_version(&mut self, connector: usize, tasks: i32) -> Change {
        let version = u32::try_from(self.versions.len()).unwrap_or(0);
        self.versions.push(tasks);
        Change::Connector(self.name_of(connector), version)
    }

    fn running(&self, slot: usize) -> Option<usize> {
        let runs = |process: &Process| process.alive && process.slot == slot;
        self.processes.iter().position(runs)
    }

    fn start(&mut self, slot: usize, moved: bool) {
        if self.running(slot).is_some() {
            return;
        }
        let before = self.processes.iter().rev().find(|p| p.slot == slot);
        let host = match before {
            Some(before) if !moved => before.host.clone(),
            _ => format!("/10.0.{}.{}", self.processes.len(), slot + 1),
        };
        let address = host.trim_start_matches('/').to_owned();
        let worker = format!("{address}:8083");
        let place = &self.plan.slots[slot];
        let assignor = Incremental::new(self.plan.rules, place.max_delay_ms);
        let at = self.processes.len();
        self.processes.push(Process {
            slot,
            url: format!("http://{worker}/"),
            host,
            // Before 3.7 a counter of the process, the same everywhere.
            client_id: match self.plan.rules {
                Rules::Since34 => format!("connect-{worker}"),
                Rules::Before34 | Rules::Before262 => "connect-1".to_owned(),
            },
            worker,
            alive: true,
            frozen_ms: None,
            died: None,
            had: Work::new(),
            assignor,
            member: None,
            generation: -1,
            phase: Phase::Out,
            asked: 0,
            why: Why::New,
            rejoin: None,
            resolved: true,
            received: None,
            version: place.version,
            claim: None,
            last_completed: -1,
            config_seen: self.config.read_end(),
            config_due_ms: self.now,
            changes: VecDeque::new(),
            busy: None,
            runs: BTreeMap::new(),
            dropped: Work::new(),
            lost: false,
            search_until_ms: None,
            stopping: None,
            delay: 0,
            members: None,
        });
        let beat_ms = place.heartbeat_ms;
        self.later(beat_ms, Event::Heartbeat(at));
        self.tick(at);
    }

    fn stop(&mut self, slot: usize, grace_ms: Option<i64>) {
        let Some(at) = self.running(slot) else { return };
        if self.processes[at].stopping.is_some() {
            return;
        }
        self.processes[at].stopping = Some(false);
        if let Some(grace_ms) = grace_ms {
            self.later(grace_ms, Event::Kill(at, How::CutShort));
        }
        self.tick(at);
    }

    pub(super) fn kill(&mut self, at: usize, how: How) {
        let process = &mut self.processes[at];
        if !process.alive {
            return;
        }
        let began = process.stopping == Some(true);
        if !began {
            process.had = process.leaves();
        }
        // Frozen before: it stopped working then.
        let died_ms = process.frozen_ms.unwrap_or(self.now);
        let how = match how {
            How::CutShort if !began => How::Crashed,
            _ if began => How::CutShort,
            how => how,
        };
        process.alive = false;
        process.died = Some((died_ms, how));
        for run in std::mem::take(&mut process.runs).into_values() {
            if let Some(number) = run.ran {
                self.scribe.ran(died_ms, number, RunEnd::Killed, run.stop);
            }
        }
    }
}
