//! Names of things: work items, protocols, kinds. Connector names are interned,
//! because a group of 1,000 tasks repeats each name in every record.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::NAMES_MAX;

/// Kafka's task number for the connector instance itself
/// (`ConnectProtocol.CONNECTOR_TASK`).
pub const CONNECTOR_TASK: i32 = -1;

/// What all names share that came after [`NAMES_MAX`] others.
const OTHER: &str = "(other)";

/// A connector's name, interned by [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectorId(pub u32);

/// A connector instance (task `-1`) or one of its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkItem {
    /// Which connector.
    pub connector: ConnectorId,
    /// Which task; [`CONNECTOR_TASK`] is the connector instance.
    pub task: i32,
}

/// Connector or task: the label `kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The connector instance.
    Connector,
    /// One of its tasks.
    Task,
}

/// Connect's embedded protocol, ordered from worst to best. On the wire `eager`
/// is called `default` (`ConnectProtocolCompatibility`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Version 0: every rebalance stops everything.
    Eager,
    /// Version 1, KIP-415: incremental cooperative.
    Compatible,
    /// Version 2, KIP-507: cooperative with signed internal requests.
    Sessioned,
}

/// Connector names, each stored once. Ids are given in order of first sight, so
/// they are the same in every replay of the same inputs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Arc<str>>", into = "Vec<Arc<str>>")]
pub struct Names {
    list: Vec<Arc<str>>,
    by_name: HashMap<Arc<str>, u32>,
}

// === impl Kind ===

impl Kind {
    /// Both, in the order they are shown.
    pub const ALL: [Self; 2] = [Self::Connector, Self::Task];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Connector => "connector",
            Self::Task => "task",
        }
    }
}

// === impl Protocol ===

impl Protocol {
    /// The protocol that a record's `protocol` field names; `None` for a name that
    /// no released Connect writes.
    #[must_use]
    pub fn from_wire(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::Eager),
            "compatible" => Some(Self::Compatible),
            "sessioned" => Some(Self::Sessioned),
            _ => None,
        }
    }

    /// The label value: the value of the worker setting `connect.protocol`.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Eager => "eager",
            Self::Compatible => "compatible",
            Self::Sessioned => "sessioned",
        }
    }

    /// Whether assignments are increments over what a member claims.
    #[must_use]
    pub fn is_cooperative(self) -> bool {
        self != Self::Eager
    }
}

// === impl WorkItem ===

impl WorkItem {
    /// Connector instance or task.
    #[must_use]
    pub fn kind(self) -> Kind {
        if self.task == CONNECTOR_TASK {
            Kind::Connector
        } else {
            Kind::Task
        }
    }
}

// === impl Names ===

impl Names {
    /// The id of `name`, given now if it is new.
    pub fn intern(&mut self, name: &str) -> ConnectorId {
        if let Some(id) = self.by_name.get(name) {
            return ConnectorId(*id);
        }
        let full = self.list.len() >= NAMES_MAX;
        let name = if full { OTHER } else { name };
        if full && let Some(id) = self.by_name.get(OTHER) {
            return ConnectorId(*id);
        }
        let id = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let name: Arc<str> = Arc::from(name);
        self.list.push(Arc::clone(&name));
        self.by_name.insert(name, id);
        ConnectorId(id)
    }

    /// The id of `name`, if it was ever seen.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<ConnectorId> {
        self.by_name.get(name).copied().map(ConnectorId)
    }

    /// The name behind an id of this table.
    #[must_use]
    pub fn name(&self, id: ConnectorId) -> Arc<str> {
        let index = usize::try_from(id.0).unwrap_or(usize::MAX);
        self.list
            .get(index)
            .cloned()
            .unwrap_or_else(|| Arc::from(""))
    }

    /// A work item as people write it: `orders` or `orders-0`.
    #[must_use]
    pub fn item(&self, item: WorkItem) -> String {
        let name = self.name(item.connector);
        match item.kind() {
            Kind::Connector => name.to_string(),
            Kind::Task => format!("{name}-{}", item.task),
        }
    }

    /// How many names are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether no name was ever seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl From<Vec<Arc<str>>> for Names {
    fn from(list: Vec<Arc<str>>) -> Self {
        let mut names = Self::default();
        for name in list {
            names.intern(&name);
        }
        names
    }
}

impl From<Names> for Vec<Arc<str>> {
    fn from(names: Names) -> Self {
        names.list
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}
