//! How many members are told to own each item: dense by connector and task, because a
//! group of 1,000 tasks asks a thousand times a record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::ids::WorkItem;
use crate::limits::TASKS_DENSE_MAX;

/// Owners of each item.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct OwnerCounts {
    /// By connector id, then by task number plus one (the connector instance is -1).
    dense: Vec<Vec<u16>>,
    /// Task numbers that no real connector has: bytes may say anything.
    #[serde(with = "crate::facts::pairs")]
    sparse: BTreeMap<WorkItem, u16>,
}

// === impl OwnerCounts ===

impl OwnerCounts {
    /// How many members are told to own the item.
    #[must_use]
    pub fn of(&self, item: WorkItem) -> u16 {
        match slot(item) {
            Some((connector, task)) => self
                .dense
                .get(connector)
                .and_then(|tasks| tasks.get(task))
                .copied()
                .unwrap_or(0),
            None => self.sparse.get(&item).copied().unwrap_or(0),
        }
    }

    /// One more member is told to own these.
    pub fn add(&mut self, items: &[WorkItem]) {
        for item in items {
            let count = self.count_mut(*item);
            *count = count.saturating_add(1);
        }
    }

    /// One member less is told to own these.
    pub fn remove(&mut self, items: &[WorkItem]) {
        for item in items {
            let count = self.count_mut(*item);
            *count = count.saturating_sub(1);
        }
    }

    /// Nobody is told to own anything.
    pub fn clear(&mut self) {
        self.dense.clear();
        self.sparse.clear();
    }

    fn count_mut(&mut self, item: WorkItem) -> &mut u16 {
        let Some((connector, task)) = slot(item) else {
            return self.sparse.entry(item).or_default();
        };
        if self.dense.len() <= connector {
            self.dense
                .resize_with(connector.saturating_add(1), Vec::new);
        }
        // Connector ids are given one by one, so this grows by what was read.
        let tasks = &mut self.dense[connector];
        if tasks.len() <= task {
            tasks.resize(task.saturating_add(1), 0);
        }
        &mut tasks[task]
    }
}

/// Where an item lies in the dense table, if it may lie there.
fn slot(item: WorkItem) -> Option<(usize, usize)> {
    let task = usize::try_from(item.task.checked_add(1)?).ok()?;
    let connector = usize::try_from(item.connector.0).ok()?;
    (task <= TASKS_DENSE_MAX).then_some((connector, task))
}
