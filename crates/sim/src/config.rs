//! The config topic as workers apply it, and its bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::encode::topics;
use evenkeel_core::wire::redact::redact_config;

use crate::item::{CONNECTOR, Item, Work};

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// A connector's configuration, and which of its versions.
    Connector(Arc<str>, u32),
    /// A connector is gone.
    Deleted(Arc<str>),
    /// Its target state went with it.
    TargetGone(Arc<str>),
    /// A task's configuration.
    Task(Arc<str>, i32, u32),
    /// How many tasks, and of which version of the connector.
    Commit(Arc<str>, i32, u32),
    /// `STARTED`, `PAUSED` or `STOPPED`.
    Target(Arc<str>, &'static str),
    /// A session key, and which.
    Key(u32),
    /// A request to restart a connector.
    Restart(Arc<str>),
    /// A marker of a transaction: an offset without a record.
    Marker,
}

/// What is known of a connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// Version of its configuration.
    pub(crate) version: u32,
    /// Its tasks.
    pub(crate) tasks: i32,
    /// The version that its tasks were made of; `None` before a commit.
    pub(crate) committed: Option<u32>,
    /// Its target state.
    pub(crate) target: &'static str,
}

/// The topic: the offset is the index.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigLog {
    changes: Vec<Change>,
}

// === impl ConfigLog ===

impl ConfigLog {
    /// Writes a record; returns its offset.
    pub(crate) fn push(&mut self, change: Change) -> i64 {
        self.changes.push(change);
        self.end() - 1
    }

    /// The offset after the last record.
    #[must_use]
    pub(crate) fn end(&self) -> i64 {
        i64::try_from(self.changes.len()).unwrap_or(i64::MAX)
    }

    /// The offset after the last record that is no marker: what a worker has read then.
    #[must_use]
    pub(crate) fn read_end(&self) -> i64 {
        let markers = self.changes.iter().rev();
        let markers = markers.take_while(|change| **change == Change::Marker);
        self.end() - i64::try_from(markers.count()).unwrap_or(0)
    }

    /// The record at an offset.
    #[must_use]
    pub(crate) fn at(&self, offset: i64) -> Option<&Change> {
        self.changes.get(usize::try_from(offset).ok()?)
    }

    /// What a worker knows that has read below an offset.
    #[must_use]
    pub(crate) fn snapshot(&self, below: i64) -> BTreeMap<Arc<str>, Known> {
        let mut known: BTreeMap<Arc<str>, Known> = BTreeMap::new();
        let read = usize::try_from(below).unwrap_or(0).min(self.changes.len());
        for change in &self.changes[..read] {
            match change {
                Change::Connector(name, version) => {
                    let new = Known {
                        version: *version,
                        tasks: 0,
                        committed: None,
                        target: "STARTED",
                    };
                    known.entry(name.clone()).or_insert(new).version = *version;
                }
                Change::Deleted(name) => {
                    known.remove(name);
                }
                Change::Commit(name, tasks, version) => {
                    if let Some(known) = known.get_mut(name) {
                        known.tasks = *tasks;
                        known.committed = Some(*version);
                    }
                }
                Change::Target(name, state) => {
                    if let Some(known) = known.get_mut(name) {
                        known.target = state;
                    }
                }
                Change::TargetGone(_)
                | Change::Task(..)
                | Change::Key(_)
                | Change::Restart(_)
                | Change::Marker => {}
            }
        }
        known
    }

    /// The work that such a worker sees.
    #[must_use]
    pub(crate) fn work(&self, below: i64) -> Work {
        let known = self.snapshot(below);
        let pieces = known.iter().flat_map(|(name, known)| {
            (CONNECTOR..known.tasks).map(|task| Item {
                connector: name.clone(),
                task,
            })
        });
        pieces.collect()
    }
}

/// Key and value of a record, its value as a reader hands it on: redacted. `None` for a
/// marker.
pub(crate) fn encode(
    change: &Change,
    contents: &mut Contents,
) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let properties = |name: &str, version: u32| {
        let version = version.to_string();
        topics::properties([
            ("connector.class", Some("org.example.Source")),
            ("name", Some(name)),
            ("made.of", Some(&version)),
        ])
    };
    let (key, value) = match change {
        Change::Connector(name, version) => (
            format!("connector-{name}"),
            Some(properties(name, *version)),
        ),
        Change::Deleted(name) => (format!("connector-{name}"), None),
        Change::TargetGone(name) => (format!("target-state-{name}"), None),
        Change::Task(name, task, version) => (
            format!("task-{name}-{task}"),
            Some(properties(name, *version)),
        ),
        Change::Commit(name, tasks, _) => (format!("commit-{name}"), Some(topics::commit(*tasks))),
        Change::Target(name, state) => (
            format!("target-state-{name}"),
            Some(topics::target_state(state)),
        ),
        Change::Key(number) => {
            let made_ms = i64::from(*number);
            let value = topics::session_key("AAAAAAAAAAAAAAAAAAAAAA==", made_ms);
            ("session-key".to_owned(), Some(value))
        }
        Change::Restart(name) => (
            format!("restart-connector-{name}"),
            Some(topics::restart(true, false)),
        ),
        Change::Marker => return None,
    };
    let key = key.into_bytes();
    let value = redact_config(&key, value.as_deref(), contents).into_value();
    Some((key, value))
}
