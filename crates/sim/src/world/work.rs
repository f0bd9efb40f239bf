//! Connectors and tasks of a worker: how they start and stop, and what they write.

use std::sync::Arc;

use evenkeel_core::facts::input::Topic;
use evenkeel_core::wire::encode::topics;
use evenkeel_core::wire::status_record::{State, StatusKey};

use super::process::{Run, Then};
use super::sim::{Event, Sim};
use crate::item::{Item, Work};
use crate::log::status_partition;
use crate::truth::{RunEnd, StopWhy};

/// Threads that start and stop pieces of work.
const THREADS: usize = 8;
/// How long a connector may take to stop; no setting of Kafka's.
const CONNECTOR_STOP_MS: i64 = 5_000;

// === impl Sim ===

impl Sim {
    /// Starts what the worker owns and does not run.
    pub(super) fn start_work(&mut self, at: usize) {
        let process = &self.processes[at];
        let mut missing: Work = process.owned();
        missing.retain(|item| !process.runs.contains_key(item));
        let count = missing.len();
        for item in missing {
            self.start_item(at, item);
        }
        let waves = i64::try_from(count.div_ceil(THREADS)).unwrap_or(1);
        let ms = 1 + waves * self.rng.between(2, 40);
        self.keep_busy(at, ms, Then::Started);
    }

    pub(super) fn start_item(&mut self, at: usize, item: Item) {
        let token = self.token();
        let doer = self.processes[at].doer();
        let start = self.scribe.starting(self.now, &item, &doer);
        let (least, most) = self
            .connector_of(&item)
            .map_or((5, 60), |at| self.plan.connectors[at].start_ms);
        let ms = self.rng.between(least, most);
        let run = Run {
            token,
            state: None,
            start,
            ran: None,
            stop: None,
        };
        self.processes[at].runs.insert(item.clone(), run);
        self.later(ms, Event::Started(at, item, token));
    }

    fn connector_of(&self, item: &Item) -> Option<usize> {
        let named = |c: &crate::plan::Connector| *c.name == *item.connector;
        self.plan.connectors.iter().position(named)
    }

    /// A piece of work runs, or is found paused, or failed.
    pub(super) fn started(&mut self, at: usize, item: &Item, token: u64) {
        let seen = self.processes[at].config_seen;
        let known = self.config.snapshot(seen);
        let target = known.get(&item.connector).map_or("STARTED", |k| k.target);
        let fails = self
            .connector_of(item)
            .map_or(0, |at| self.plan.connectors[at].fails);
        let failed = !item.is_connector() && self.rng.chance(fails);
        let state = match target {
            _ if failed => "FAILED",
            "STARTED" => "RUNNING",
            "STOPPED" if item.is_connector() => "STOPPED",
            _ => "PAUSED",
        };
        let Some(run) = self.processes[at].runs.get_mut(item) else {
            return;
        };
        if run.token != token || run.stop.is_some() {
            return;
        }
        run.state = Some(state);
        let start = run.start;
        self.scribe.started(self.now, start);
        self.note_run(at, item, false);
        self.write_status(at, item, state);
        if item.is_connector() && state == "RUNNING" {
            let ms = self.rng.between(10, 120);
            self.later(ms, Event::Publish(at, item.connector.clone(), 250));
        }
    }

    /// Stops pieces of work; the herder waits for all of them, or gives them up.
    pub(super) fn stop_items(&mut self, at: usize, items: Vec<Item>, why: StopWhy, then: Then) {
        let graceful_ms = self.plan.slots[self.processes[at].slot].graceful_ms;
        let doer = self.processes[at].doer();
        let mut lanes = [0_i64; THREADS];
        for item in items {
            let stop_ms = self.stop_ms(&item);
            let most_ms = if item.is_connector() {
                CONNECTOR_STOP_MS
            } else {
                graceful_ms
            };
            let stuck = stop_ms > most_ms;
            let Some(run) = self.processes[at].runs.get_mut(&item) else {
                continue;
            };
            let number = self.scribe.stopping(self.now, &item, &doer, why);
            run.stop = Some(number);
            let token = run.token;
            lanes.sort_unstable();
            lanes[0] += stop_ms.min(most_ms);
            self.later(lanes[0], Event::Stopped(at, item, token, stuck));
        }
        let all_ms = lanes.into_iter().max().unwrap_or(0);
        let flush_ms = self.rng.between(2, 15);
        self.keep_busy(at, all_ms + flush_ms, then);
    }

    fn stop_ms(&mut self, item: &Item) -> i64 {
        let Some(connector) = self.connector_of(item) else {
            return 5;
        };
        if self.stuck.contains(&connector) && !item.is_connector() {
            return i64::MAX;
        }
        let (least, most) = self.plan.connectors[connector].stop_ms;
        self.rng.between(least, most)
    }

    /// A piece of work has stopped, or is given up: then a task never writes again.
    pub(super) fn stopped(&mut self, at: usize, item: &Item, token: u64, stuck: bool) {
        let process = &mut self.processes[at];
        let current = |run: &&Run| run.token == token;
        let Some(run) = process.runs.get(item).filter(current).cloned() else {
            return;
        };
        process.runs.remove(item);
        if let Some(number) = run.stop {
            self.scribe.stopped(self.now, number, stuck);
        }
        let writes = item.is_connector() || (!stuck && run.state != Some("FAILED"));
        let written = writes && self.write_status(at, item, "UNASSIGNED");
        if let Some(number) = run.ran {
            let end = match (stuck, written) {
                (true, _) => RunEnd::GivenUp,
                (false, true) => RunEnd::Stopped,
                (false, false) => RunEnd::StoppedSilently,
            };
            self.scribe.ran(self.now, number, end, run.stop);
        }
    }

    /// What it wrote last says that it runs, or runs no more.
    pub(super) fn note_run(&mut self, at: usize, item: &Item, resumed: bool) {
        let doer = self.processes[at].doer();
        let Some(run) = self.processes[at].runs.get_mut(item) else {
            return;
        };
        match (run.state, run.ran) {
            (Some("RUNNING"), None) => {
                run.ran = Some(self.scribe.runs(self.now, item, &doer, resumed));
            }
            (Some("FAILED"), _) => self.scribe.failed(self.now, item, &doer),
            (Some("PAUSED" | "STOPPED"), Some(number)) => {
                run.ran = None;
                self.scribe.ran(self.now, number, RunEnd::Paused, None);
            }
            _ => {}
        }
    }

    /// Writes a status, by the rule that keeps workers from overwriting newer ones.
    /// Returns whether it did.
    pub(super) fn write_status(&mut self, at: usize, item: &Item, state: &'static str) -> bool {
        let process = &self.processes[at];
        let generation = process.last_completed;
        let worker = process.worker.clone();
        let careful = matches!(state, "UNASSIGNED" | "FAILED");
        let free = match self.statuses.get(item) {
            Some(Some((_, writer, of))) => *writer == worker || *of <= generation,
            Some(None) | None => true,
        };
        if careful && !free {
            return false;
        }
        let value = topics::status(&named(state), &worker, generation, None);
        let status = Some((state, worker, generation));
        self.statuses.insert(item.clone(), status);
        let times = if self.rng.chance(self.plan.doubled) {
            2
        } else {
            1
        };
        for _ in 0..times {
            self.append_status(at, item, Some(value.clone()));
        }
        true
    }

    fn append_status(&mut self, at: usize, item: &Item, value: Option<Vec<u8>>) {
        let connector: &str = &item.connector;
        let key = if item.is_connector() {
            topics::status_key(&StatusKey::Connector { connector })
        } else {
            let task = item.task;
            topics::status_key(&StatusKey::Task { connector, task })
        };
        let key = key.into_bytes();
        let partition = status_partition(&key);
        let clock = &self.plan.slots[self.processes[at].slot].clock;
        let stamp_ms = clock.at(self.now);
        self.append(Topic::Status, partition, stamp_ms, Some((key, value)));
    }

    /// The leader deletes the statuses of what is no longer configured.
    pub(super) fn bury_statuses(&mut self, at: usize) {
        let configured = self.config.work(self.processes[at].config_seen);
        let dead: Vec<Item> = self
            .statuses
            .iter()
            .filter(|(item, status)| status.is_some() && !configured.contains(item))
            .map(|(item, _)| item.clone())
            .collect();
        for item in dead {
            self.statuses.insert(item.clone(), None);
            self.append_status(at, &item, None);
        }
    }

    /// The worker stops: everything it runs, then it leaves.
    pub(super) fn shut_down(&mut self, at: usize) {
        let process = &mut self.processes[at];
        process.stopping = Some(true);
        process.had = process.leaves();
        process.died = Some((self.now, crate::truth::How::Graceful));
        let mut items: Vec<Item> = process.runs.keys().cloned().collect();
        items.sort_by_key(|item| !item.is_connector());
        self.stop_items(at, items, StopWhy::Shutdown, Then::Exit);
    }

    /// The name of a connector by its index.
    pub(super) fn name_of(&self, connector: usize) -> Arc<str> {
        Arc::from(self.plan.connectors[connector].name.as_str())
    }
}

fn named(state: &str) -> State {
    match state {
        "RUNNING" => State::Running,
        "PAUSED" => State::Paused,
        "STOPPED" => State::Stopped,
        "FAILED" => State::Failed,
        "UNASSIGNED" => State::Unassigned,
        other => State::Other(other.to_owned()),
    }
}
