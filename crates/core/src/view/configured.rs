//! D3, configured work: what should exist, in two views of one log.
//!
//! *By key* is what the topic means: the newest record of each key, with a deleted
//! connector's tasks forgotten. *In order* is what a worker believes that reads the log
//! from its start today (`KafkaConfigBackingStore`): since 3.7.1 it discards tasks whose
//! commit comes before the connector's own record (KAFKA-16838), which compaction can
//! bring about (KAFKA-17719). Work in the first view and not in the second is a hazard.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::ids::{CONNECTOR_TASK, ConnectorId, WorkItem};
use crate::facts::observation::{Clients, ConfigFact, Override, SinkGroup, TargetState};
use crate::facts::time::EventTime;
use crate::limits::{TASKS_MAX, TASKS_PER_CONNECTOR_MAX};

/// Everything the config topic said so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Configured {
    connectors: BTreeMap<ConnectorId, Connector>,
    /// The offset after the last record read.
    next_offset: i64,
    /// Tasks of all connectors.
    tasks: i32,
    /// Whether workers apply a commit only after its connector (KAFKA-16838).
    discards_early_commits: bool,
    /// When the newest session key was written (KIP-507); the key itself is nowhere kept.
    session_key: Option<EventTime>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Connector {
    /// Since when it has a configuration, if it has one.
    config: Option<Origin>,
    target: TargetState,
    /// What it says of its clients.
    clients: Clients,
    /// By key: how many tasks the newest commit names.
    tasks: i32,
    /// From which task on, since which record. Ascending by task.
    steps: Vec<Step>,
    /// In order: how many tasks a reader of the log believes in.
    tasks_in_order: i32,
    /// Task configurations written since the last commit.
    buffered: Vec<i32>,
    /// Tasks that the newest commit names beyond the bound.
    left_out: i32,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Step {
    first_task: i32,
    since: Origin,
}

/// The record that something comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Its offset in the config topic.
    pub offset: i64,
    /// Its time: the clock of the worker that wrote it.
    pub recorded: Option<EventTime>,
}

/// One configured connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectorNow {
    /// Which.
    pub connector: ConnectorId,
    /// Its tasks by key.
    pub tasks: i32,
    /// Its tasks for a worker that reads the log in order.
    pub tasks_in_order: i32,
    /// What it should do.
    pub target: TargetState,
    /// Tasks that its newest commit names beyond `limits::TASKS_PER_CONNECTOR_MAX`.
    pub left_out: i32,
}

// === impl Configured ===

impl Configured {
    /// Nothing read yet. `discards_early_commits` says how the workers' release applies
    /// the log; true since 3.7.1.
    #[must_use]
    pub fn new(discards_early_commits: bool) -> Self {
        Self {
            discards_early_commits,
            ..Self::default()
        }
    }

    /// Takes one record.
    pub fn apply(&mut self, fact: &ConfigFact, origin: Origin) {
        self.next_offset = self.next_offset.max(origin.offset.saturating_add(1));
        match *fact {
            ConfigFact::Connector(id, _, ref clients) => {
                let connector = self.connectors.entry(id).or_default();
                connector.clients.clone_from(clients);
                connector.config = connector.config.or(Some(origin));
            }
            ConfigFact::ConnectorDeleted(id) => {
                if let Some(gone) = self.connectors.remove(&id) {
                    self.tasks = self.tasks.saturating_sub(gone.tasks);
                }
            }
            ConfigFact::Task(item, _) => {
                self.connectors
                    .entry(item.connector)
                    .or_default()
                    .buffer(item.task);
            }
            ConfigFact::Commit(id, tasks) => self.commit(id, tasks, origin),
            ConfigFact::CommitDeleted(id) => {
                if self.connectors.contains_key(&id) {
                    self.commit(id, 0, origin);
                }
            }
            ConfigFact::Target(id, target) => {
                self.connectors.entry(id).or_default().target = target;
            }
            ConfigFact::TargetDeleted(id) => {
                if let Some(connector) = self.connectors.get_mut(&id) {
                    connector.target = TargetState::default();
                }
            }
            ConfigFact::SessionKey => self.session_key = origin.recorded,
            ConfigFact::TaskDeleted(_) | ConfigFact::NoWork | ConfigFact::Unknown => {}
        }
    }

    fn commit(&mut self, id: ConnectorId, tasks: i32, origin: Origin) {
        let connector = self.connectors.entry(id).or_default();
        let others = self.tasks.saturating_sub(connector.tasks);
        let room = TASKS_PER_CONNECTOR_MAX
            .min(TASKS_MAX.saturating_sub(others))
            .max(0);
        connector.commit(tasks, room, origin, self.discards_early_commits);
        self.tasks = others.saturating_add(connector.tasks);
    }

    /// Forgets everything: the topic is another one now.
    pub fn clear(&mut self) {
        *self = Self::new(self.discards_early_commits);
    }

    /// The offset after the last record read: what a worker that read as far as this
    /// agent would report when it joins.
    #[must_use]
    pub fn next_offset(&self) -> i64 {
        self.next_offset
    }

    /// The configured connectors.
    pub fn connectors(&self) -> impl Iterator<Item = ConnectorNow> + '_ {
        self.connectors
            .iter()
            .filter(|(_, connector)| connector.config.is_some())
            .map(|(id, connector)| ConnectorNow {
                connector: *id,
                tasks: connector.tasks,
                tasks_in_order: connector.tasks_in_order,
                target: connector.target,
                left_out: connector.left_out,
            })
    }

    /// The sink connectors, with the groups of their consumers.
    pub fn sinks(&self) -> impl Iterator<Item = (ConnectorId, &SinkGroup)> {
        self.connectors
            .iter()
            .filter(|(_, connector)| connector.config.is_some())
            .filter_map(|(id, connector)| Some((*id, connector.clients.sink_group.as_ref()?)))
    }

    /// Connectors that set how long their producers try, with what they set.
    pub fn producers(&self) -> impl Iterator<Item = (ConnectorId, &Clients)> {
        let configured = self.connectors.iter();
        let configured = configured.filter(|(_, connector)| connector.config.is_some());
        configured.filter_map(|(id, connector)| {
            let clients = &connector.clients;
            let is_set = clients.delivery_timeout_ms != Override::Unset
                || clients.request_timeout_ms != Override::Unset;
            is_set.then_some((*id, clients))
        })
    }

    /// When the newest session key was written.
    #[must_use]
    pub fn session_key(&self) -> Option<EventTime> {
        self.session_key
    }

    /// Every configured piece of work, sorted: connector instances and tasks.
    pub fn items(&self) -> impl Iterator<Item = WorkItem> + '_ {
        self.connectors().flat_map(|now| {
            (CONNECTOR_TASK..now.tasks).map(move |task| WorkItem {
                connector: now.connector,
                task,
            })
        })
    }

    /// Whether the item is configured.
    #[must_use]
    pub fn contains(&self, item: WorkItem) -> bool {
        self.connectors
            .get(&item.connector)
            .is_some_and(|connector| connector.config.is_some() && item.task < connector.tasks)
    }

    /// Whether a worker that reads the log in order would not know this task.
    #[must_use]
    pub fn is_hazard(&self, item: WorkItem) -> bool {
        self.connectors
            .get(&item.connector)
            .is_some_and(|connector| item.task >= connector.tasks_in_order && item.task >= 0)
    }

    /// The record since which the item is configured.
    #[must_use]
    pub fn since(&self, item: WorkItem) -> Option<Origin> {
        let connector = self.connectors.get(&item.connector)?;
        let config = connector.config?;
        if item.task == CONNECTOR_TASK {
            return Some(config);
        }
        let step = connector
            .steps
            .iter()
            .rev()
            .find(|step| step.first_task <= item.task)?;
        // A commit that compaction left before its connector counts from the connector.
        Some(if step.since.offset < config.offset {
            config
        } else {
            step.since
        })
    }
}

// === impl Connector ===

impl Connector {
    fn buffer(&mut self, task: i32) {
        if task >= TASKS_PER_CONNECTOR_MAX {
            return;
        }
        if let Err(place) = self.buffered.binary_search(&task) {
            self.buffered.insert(place, task);
        }
    }

    fn commit(&mut self, told: i32, room: i32, origin: Origin, discards_early_commits: bool) {
        let tasks = told.clamp(0, room);
        self.left_out = told.saturating_sub(tasks).max(0);
        if tasks > self.tasks {
            self.steps.push(Step {
                first_task: self.tasks,
                since: origin,
            });
        } else {
            self.steps.retain(|step| step.first_task < tasks);
        }
        self.tasks = tasks;
        let complete = (0..tasks).all(|task| self.buffered.binary_search(&task).is_ok());
        let known = self.config.is_some() || !discards_early_commits;
        // An incomplete set makes the connector inconsistent: workers see no tasks. More
        // than complete is fine: after a reduction, compaction leaves old tasks around
        // (`KafkaConfigBackingStore.completeTaskIdSet`).
        self.tasks_in_order = if known && complete { tasks } else { 0 };
        self.buffered.clear();
    }
}
