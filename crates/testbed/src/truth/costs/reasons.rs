//! Why a worker stops something: what it said before it asked for the stop.

use std::collections::{BTreeMap, BTreeSet};

use super::Reason;
use crate::truth::assignment::Work;
use crate::truth::event::{Item, ItemKind, TruthEvent, Verb, What};

/// A request and what the worker does because of it are so close.
const REQUEST_MS_MAX: i64 = 2_000;

/// What is known of each worker, and what the script asked for.
#[derive(Debug, Default)]
pub(super) struct Context {
    workers: BTreeMap<String, Worker>,
    /// What the leader of the newest round no longer found configured.
    deleted: Work,
    /// Restarts that the script asked for: when, until when, and of what.
    restarts: Vec<(i64, i64, String)>,
}

#[derive(Debug, Default)]
struct Worker {
    /// It stops in order.
    stopping: bool,
    /// It dropped everything, and has not been given anything since.
    dropping: bool,
    /// Its last assignment was a total: it stops everything before it joins.
    eager: bool,
    /// What it is told to give up, until it has.
    revoked: Work,
    /// Tasks that it stops because their configurations changed.
    reconfigured: BTreeSet<String>,
    /// Connectors of which it read another configuration since its last assignment.
    changed: BTreeSet<String>,
    /// Connectors of which it read other task configurations since.
    tasks_changed: BTreeSet<String>,
    removed: BTreeSet<String>,
    /// The connector whose restart it carries out.
    restarting: Option<String>,
    /// STARTED, PAUSED or STOPPED of each connector.
    targets: BTreeMap<String, String>,
}

/// The connector that an item belongs to.
pub(super) fn connector_of(item: &Item) -> &str {
    match item.kind {
        ItemKind::Connector => &item.name,
        ItemKind::Task => item
            .name
            .rsplit_once('-')
            .map_or(item.name.as_str(), |(connector, _)| connector),
    }
}

fn holds(work: &Work, item: &Item) -> bool {
    match item.kind {
        ItemKind::Connector => work.connectors.contains(&item.name),
        ItemKind::Task => work.tasks.contains(&item.name),
    }
}

impl Context {
    pub(super) fn apply(&mut self, event: &TruthEvent, at_ms: i64) {
        if let What::Request { path, ended_ms, .. } = &event.what {
            if path.contains("/restart") {
                self.restarts.push((at_ms, *ended_ms, path.clone()));
            }
            return;
        }
        if let What::LeaderAssigned { view, .. } = &event.what {
            self.deleted = view.deleted.clone();
        }
        let worker = self.workers.entry(event.process.clone()).or_default();
        match &event.what {
            What::Script {
                verb: Verb::Kill | Verb::Start,
                ..
            } => {
                *worker = Worker::default();
            }
            What::HerderStopping => worker.stopping = true,
            What::HerderStopped => *worker = Worker::default(),
            What::WorkDropped => worker.dropping = true,
            What::Received { assignment, .. } => worker.revoked = assignment.revoked.clone(),
            What::Applied {
                protocol_version, ..
            } => {
                worker.eager = *protocol_version == 0;
                worker.dropping = false;
                worker.revoked = Work::default();
                worker.changed.clear();
                worker.tasks_changed.clear();
                worker.reconfigured.clear();
            }
            What::ConnectorChanged { connector } => {
                worker.changed.insert(connector.clone());
                worker.removed.remove(connector);
            }
            What::ConnectorRemoved { connector } => {
                worker.removed.insert(connector.clone());
            }
            What::TasksChanged { tasks } => worker.tasks_changed.extend(connectors(tasks)),
            What::TasksStoppedToChange { tasks } => {
                worker.reconfigured.extend(tasks.iter().cloned());
            }
            What::RestartPlanned { connector } => worker.restarting = Some(connector.clone()),
            What::RestartDone { .. } => worker.restarting = None,
            What::TargetState { connector, state } => {
                let (connector, state) = (connector.clone(), state.clone());
                worker.targets.insert(connector, state);
            }
            _ => {}
        }
    }

    /// Why the worker stops this now.
    pub(super) fn reason(&self, process: &str, item: &Item, at_ms: i64) -> Reason {
        let Some(worker) = self.workers.get(process) else {
            return Reason::Unknown;
        };
        let connector = connector_of(item);
        let target = worker.targets.get(connector).map(String::as_str);
        let gone = || match target {
            _ if worker.removed.contains(connector) => Reason::Deleted,
            // Nothing of it is configured any more, and nobody deleted it: it was stopped, which
            // its worker may say only later; `runs` looks there.
            Some("STOPPED") => Reason::Stopped,
            _ => Reason::Reconfigured,
        };
        if worker.stopping {
            return Reason::Lost;
        }
        if worker.dropping {
            return Reason::Dropped;
        }
        if holds(&worker.revoked, item) {
            return match holds(&self.deleted, item) {
                true => gone(),
                false => Reason::Handover,
            };
        }
        if worker.restarting.as_deref() == Some(connector) || self.asked(item, at_ms) {
            return Reason::Restarted;
        }
        if worker.removed.contains(connector) {
            return Reason::Deleted;
        }
        match (item.kind, target) {
            (ItemKind::Connector, Some("PAUSED")) => return Reason::Paused,
            (_, Some("STOPPED")) => return Reason::Stopped,
            _ => {}
        }
        let changed = match item.kind {
            ItemKind::Connector => &worker.changed,
            ItemKind::Task => &worker.tasks_changed,
        };
        if changed.contains(connector) || worker.reconfigured.contains(&item.name) {
            return Reason::Reconfigured;
        }
        match worker.eager {
            true => Reason::Handover,
            false => Reason::Unknown,
        }
    }

    /// Whether the script has just asked for the restart of this alone.
    fn asked(&self, item: &Item, at_ms: i64) -> bool {
        let path = match item.kind {
            ItemKind::Connector => format!("/connectors/{}/restart", item.name),
            ItemKind::Task => match item.name.rsplit_once('-') {
                Some((connector, task)) => format!("/connectors/{connector}/tasks/{task}/restart"),
                None => return false,
            },
        };
        let mut restarts = self.restarts.iter();
        restarts.any(|(from_ms, to_ms, asked)| {
            let asked = asked.split('?').next();
            asked == Some(&path) && (*from_ms..=to_ms + REQUEST_MS_MAX).contains(&at_ms)
        })
    }
}

fn connectors(tasks: &[String]) -> impl Iterator<Item = String> + '_ {
    let name = |task: &String| Some(task.rsplit_once('-')?.0.to_owned());
    tasks.iter().filter_map(name)
}
