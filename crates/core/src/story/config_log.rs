//! What changed in the config topic, by offset: a group record names the offset that its
//! assignments were computed from, so two records name what changed between them.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::answers::TasksRoot;
use crate::facts::ids::ConnectorId;
use crate::facts::observation::{ConfigFact, TargetState};
use crate::facts::time::EventTime;
use crate::limits::{CONFIG_CHANGES_MAX, TASKS_PER_CONNECTOR_MAX};

/// The newest changes, and what is needed to tell the next one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ConfigLog {
    changes: VecDeque<ConfigChange>,
    connectors: BTreeMap<ConnectorId, Known>,
}

/// One change that may make workers rebalance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigChange {
    /// The record's offset.
    pub offset: i64,
    /// Its time: the clock of the worker that wrote it.
    pub recorded: Option<EventTime>,
    /// Of which connector.
    pub connector: ConnectorId,
    /// What changed.
    pub what: What,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// A connector that was not configured.
    Created,
    /// A configured connector.
    Deleted,
    /// Its tasks were committed.
    Committed {
        /// What made them be written.
        root: TasksRoot,
        /// Whether their number or the content of one of them is another one.
        changed: bool,
        /// How many they were.
        before: i32,
        /// How many they are.
        tasks: i32,
    },
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Known {
    exists: bool,
    /// The content of its configuration.
    config: Option<u32>,
    target: TargetState,
    tasks: i32,
    /// The content of each task, as the last commit took it.
    contents: BTreeMap<i32, u32>,
    /// Contents written since.
    written: BTreeMap<i32, u32>,
    /// What happened since the last commit: the root of the next one.
    root: Option<TasksRoot>,
    /// The offset of the last commit to no tasks: a stop writes its target state after it.
    emptied: Option<i64>,
}

// === impl ConfigLog ===

impl ConfigLog {
    /// Takes one record. Gives whether it is of a person who changed something: only requests
    /// write connectors, delete them, or say what they are to do.
    pub fn apply(&mut self, fact: &ConfigFact, offset: i64, recorded: Option<EventTime>) -> bool {
        let mut by_person = matches!(
            fact,
            ConfigFact::ConnectorDeleted(_) | ConfigFact::Target(..)
        );
        let change = match *fact {
            ConfigFact::Connector(id, content, _) => {
                let (what, is_other) = self.connector(id, content);
                by_person = is_other;
                what.map(|what| (id, what))
            }
            ConfigFact::ConnectorDeleted(id) => {
                let gone = self.connectors.remove(&id).filter(|known| known.exists);
                gone.map(|_| (id, What::Deleted))
            }
            ConfigFact::Task(item, content) => {
                let known = self.connectors.entry(item.connector).or_default();
                if let Some(content) = content.filter(|_| item.task < TASKS_PER_CONNECTOR_MAX) {
                    known.written.insert(item.task, content);
                }
                None
            }
            ConfigFact::Commit(id, tasks) => {
                let known = self.connectors.entry(id).or_default();
                Some((id, known.commit(tasks, offset)))
            }
            ConfigFact::Target(id, target) => {
                self.target(id, target);
                None
            }
            ConfigFact::TaskDeleted(_)
            | ConfigFact::CommitDeleted(_)
            | ConfigFact::TargetDeleted(_)
            | ConfigFact::SessionKey
            | ConfigFact::NoWork
            | ConfigFact::Unknown => None,
        };
        if let Some((connector, what)) = change {
            if self.changes.len() >= CONFIG_CHANGES_MAX {
                self.changes.pop_front();
            }
            self.changes.push_back(ConfigChange {
                offset,
                recorded,
                connector,
                what,
            });
        }
        by_person
    }

    /// What changed, and whether the configuration is another one.
    fn connector(&mut self, id: ConnectorId, content: Option<u32>) -> (Option<What>, bool) {
        let known = self.connectors.entry(id).or_default();
        let is_new = !std::mem::replace(&mut known.exists, true);
        let is_other = is_new || content.is_none() || content != known.config;
        if is_new {
            known.root = Some(TasksRoot::Created);
        } else if is_other {
            // The same configuration again changes no tasks.
            known.root = known.root.or(Some(TasksRoot::Reconfigured));
        }
        known.config = content;
        (is_new.then_some(What::Created), is_other)
    }

    fn target(&mut self, id: ConnectorId, target: TargetState) {
        let known = self.connectors.entry(id).or_default();
        let before = std::mem::replace(&mut known.target, target);
        match (before, target) {
            (TargetState::Stopped, TargetState::Started | TargetState::Paused) => {
                known.root = known.root.or(Some(TasksRoot::Resumed));
            }
            (_, TargetState::Stopped) => {
                let emptied = known.emptied.take();
                let commit = self
                    .changes
                    .iter_mut()
                    .rev()
                    .find(|change| Some(change.offset) == emptied);
                if let Some(ConfigChange {
                    what: What::Committed { root, .. },
                    ..
                }) = commit
                {
                    *root = TasksRoot::Stopped;
                }
            }
            _ => {}
        }
    }

    /// Forgets everything: the topic is another one now.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// What changed from one config offset to another; all up to it without a first one.
    pub fn between(
        &self,
        from: Option<i64>,
        to: Option<i64>,
    ) -> impl Iterator<Item = &ConfigChange> {
        let to = to.unwrap_or(i64::MIN);
        let from = from.unwrap_or(to);
        let first = self.changes.partition_point(|change| change.offset < from);
        self.changes
            .range(first..)
            .take_while(move |change| change.offset < to)
    }
}

// === impl Known ===

impl Known {
    fn commit(&mut self, tasks: i32, offset: i64) -> What {
        let before = self.tasks;
        let written = std::mem::take(&mut self.written);
        let rewritten = written
            .iter()
            .any(|(task, content)| self.contents.get(task) != Some(content));
        self.contents.extend(written);
        self.contents.retain(|task, _| *task < tasks);
        self.tasks = tasks;
        self.emptied = (tasks == 0).then_some(offset);
        What::Committed {
            root: self.root.take().unwrap_or(TasksRoot::Requested),
            changed: rewritten || before != tasks,
            before,
            tasks,
        }
    }
}
