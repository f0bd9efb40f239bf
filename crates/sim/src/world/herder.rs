//! What a worker's herder thread does, one thing at a time (`DistributedHerder.tick`).

use std::sync::Arc;

use super::process::{Phase, Then};
use super::sim::{Event, Sim};
use crate::config::Change;
use crate::item::{CONNECTOR, Item, minus};
use crate::protocol::Why;
use crate::truth::StopWhy;

// === impl Sim ===

impl Sim {
    /// The herder looks what is to do, if nothing keeps it busy.
    pub(super) fn tick(&mut self, at: usize) {
        let process = &mut self.processes[at];
        if !process.is_idle() {
            return;
        }
        match process.stopping {
            Some(false) => return self.shut_down(at),
            Some(true) => return,
            None => {}
        }
        if process.lost {
            if process.search_until_ms.is_none() {
                let beat_ms = self.plan.slots[process.slot].heartbeat_ms;
                process.search_until_ms = Some(self.now + beat_ms);
                self.later(50, Event::Search(at));
            }
            return;
        }
        match process.phase {
            Phase::Joining | Phase::Syncing => {}
            Phase::Out => self.join(at),
            Phase::In if process.rejoin.is_some() => self.join(at),
            Phase::In if !process.resolved => self.resolve(at),
            Phase::In => {
                if !process.changes.is_empty() {
                    self.take_changes(at);
                }
            }
        }
    }

    pub(super) fn keep_busy(&mut self, at: usize, ms: i64, then: Then) {
        let token = self.token();
        self.processes[at].busy = Some((self.now, token, then));
        self.later(ms, Event::Busy(at, token));
    }

    pub(super) fn no_longer_busy(&mut self, at: usize, token: u64) {
        let process = &mut self.processes[at];
        let Some((_, _, then)) = process.busy.take_if(|(_, busy, _)| *busy == token) else {
            return;
        };
        match then {
            Then::Look => {}
            Then::Apply => return self.apply(at),
            Then::Started => self.work_started(at),
            Then::Read(why) => {
                let end = self.config.read_end();
                let data = |at: &i64| self.config.at(*at) != Some(&Change::Marker);
                let read = (process.config_seen..end).filter(data);
                process.changes.extend(read);
                process.config_seen = end;
                if why.is_some() {
                    process.rejoin = why;
                } else {
                    return self.hold_against(at);
                }
            }
            Then::Restart(items) => {
                for item in items {
                    self.start_item(at, item);
                }
            }
            Then::Exit => return self.exit(at),
        }
        self.tick(at);
    }

    /// What was revoked is stopped: the assignment becomes the worker's own
    /// (`onJoinComplete`, then `onAssigned`).
    pub(super) fn apply(&mut self, at: usize) {
        let process = &mut self.processes[at];
        let Some((generation, member, mut told)) = process.received.take() else {
            return;
        };
        if process.version > 0 {
            let kept = minus(&process.owned(), &told.revoked);
            told.assigned.extend(kept);
        }
        let delay_ms = told.delay_ms;
        process.claim = Some(told);
        process.dropped.clear();
        process.last_completed = generation;
        process.resolved = false;
        process.delay += 1;
        let delay = process.delay;
        let leads = process.leads();
        self.scribe.applied(self.now, generation, &member);
        if delay_ms > 0 {
            self.later(delay_ms, Event::DelayOver(at, delay));
        }
        if leads {
            self.bury_statuses(at);
        }
        self.tick(at);
    }

    pub(super) fn delay_over(&mut self, at: usize, delay: u64) {
        let process = &mut self.processes[at];
        if process.delay == delay && process.phase == Phase::In {
            process.rejoin.get_or_insert(Why::DelayExpired);
            self.tick(at);
        }
    }

    /// Holds the assignment against what is known of the configuration
    /// (`handleRebalanceCompleted`).
    fn resolve(&mut self, at: usize) {
        let process = &self.processes[at];
        let Some(claim) = &process.claim else { return };
        let behind = process.config_seen < claim.config_offset;
        let failed = claim.error != 0;
        if behind || (failed && process.leads()) {
            let ms = (process.config_due_ms - self.now).max(self.rng.between(5, 60));
            let why = failed.then_some(Why::Mismatch);
            return self.keep_busy(at, ms, Then::Read(why));
        }
        if failed {
            self.processes[at].rejoin = Some(Why::Mismatch);
            return self.tick(at);
        }
        self.hold_against(at);
    }

    /// Starts the work, unless more was read than the assignment knows of.
    fn hold_against(&mut self, at: usize) {
        let process = &mut self.processes[at];
        let told = process.claim.as_ref().map_or(-1, |c| c.config_offset);
        let seen = process.config_seen;
        if seen > 0 && seen != told {
            process.rejoin.get_or_insert(Why::ConfigAhead);
            return self.tick(at);
        }
        self.start_work(at);
    }

    fn work_started(&mut self, at: usize) {
        let process = &mut self.processes[at];
        process.resolved = true;
        if let Some(claim) = &mut process.claim
            && !claim.revoked.is_empty()
        {
            claim.revoked.clear();
            process.rejoin.get_or_insert(Why::FollowUp);
        }
    }

    /// A config record was seen.
    pub(super) fn config_seen(&mut self, at: usize, offset: i64) {
        let process = &mut self.processes[at];
        if process.config_seen <= offset {
            process.config_seen = offset + 1;
            process.changes.push_back(offset);
        }
        self.tick(at);
    }

    /// What the config records it has seen mean to this worker: at most one rebalance,
    /// and stops and restarts of its own work.
    fn take_changes(&mut self, at: usize) {
        let offsets = std::mem::take(&mut self.processes[at].changes);
        let (mut stop, mut restart) = (Vec::new(), Vec::new());
        for offset in offsets {
            let Some(change) = self.config.at(offset).cloned() else {
                continue;
            };
            let known = self.config.snapshot(offset);
            let process = &mut self.processes[at];
            let mut rejoin = |why| {
                process.rejoin.get_or_insert(why);
            };
            match change {
                Change::Connector(name, _) if !known.contains_key(&name) => {
                    rejoin(Why::ConnectorCreated(name.to_string()));
                }
                Change::Connector(name, _) => {
                    let item = Item {
                        connector: name,
                        task: CONNECTOR,
                    };
                    if process.runs.contains_key(&item) && !restart.contains(&item) {
                        restart.push(item);
                    }
                }
                Change::Deleted(name) => rejoin(Why::ConnectorDeleted(name.to_string())),
                Change::Commit(name, ..) => {
                    rejoin(Why::TasksChanged(name.to_string()));
                    let of = |item: &&Item| item.connector == name && !item.is_connector();
                    let mine = process.runs.keys().filter(of).cloned();
                    let new = mine.filter(|item| process.version > 0 && !stop.contains(item));
                    let new: Vec<Item> = new.collect();
                    stop.extend(new);
                }
                Change::Target(name, state) => self.take_target(at, &name, state),
                Change::Restart(name) => {
                    let mine = process.runs.keys().filter(|i| i.connector == name);
                    let new: Vec<Item> = mine.filter(|i| !restart.contains(*i)).cloned().collect();
                    restart.extend(new);
                }
                Change::TargetGone(_) | Change::Task(..) | Change::Key(_) | Change::Marker => {}
            }
        }
        stop.extend(restart.iter().cloned());
        if stop.is_empty() {
            return self.tick(at);
        }
        self.stop_items(at, stop, StopWhy::Reconfigured, Then::Restart(restart));
    }

    /// Pieces that run pause, or go on.
    fn take_target(&mut self, at: usize, name: &Arc<str>, state: &'static str) {
        let of = |item: &&Item| item.connector == *name;
        let items: Vec<Item> = self.processes[at].runs.keys().filter(of).cloned().collect();
        for item in items {
            let shown = match (state, item.is_connector()) {
                ("PAUSED", _) | ("STOPPED", false) => "PAUSED",
                ("STOPPED", true) => "STOPPED",
                _ => "RUNNING",
            };
            let running = self.processes[at].runs.get_mut(&item);
            let Some(run) = running.filter(|run| run.state.is_some() && run.stop.is_none()) else {
                continue;
            };
            if run.state != Some("FAILED") && run.state != Some(shown) {
                run.state = Some(shown);
                self.write_status(at, &item, shown);
                self.note_run(at, &item, true);
                if item.is_connector() && shown == "RUNNING" {
                    self.later(50, Event::Publish(at, name.clone(), 250));
                }
            }
        }
    }
}
