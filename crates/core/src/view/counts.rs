//! How many members are told to own each item: dense by connector and task, because a
//! group of 1,000 tasks asks a thousand times a record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::ids::WorkItem;
use crate::limits::{OWNER_SLOTS_MAX, TASKS_DENSE_MAX};

/// Owners of each item.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct OwnerCounts {
    /// By connector id, then by task number plus one (the connector instance is -1).
    dense: Vec<Vec<u16>>,
    /// Entries of the dense table.
    slots: usize,
    /// Task numbers that no real connector has, and what the dense table has no room for.
    #[serde(with = "crate::facts::pairs")]
    sparse: BTreeMap<WorkItem, u16>,
}

// === impl OwnerCounts ===

impl OwnerCounts {
    /// How many members are told to own the item.
    #[must_use]
    pub fn of(&self, item: WorkItem) -> u16 {
        let dense = slot(item).and_then(|(connector, task)| self.dense.get(connector)?.get(task));
        let count = dense.or_else(|| self.sparse.get(&item));
        count.copied().unwrap_or(0)
    }

    /// One more member is told to own these.
    pub fn add(&mut self, items: &[WorkItem]) {
        for item in items {
            if let Some(count) = self.dense_mut(*item) {
                *count = count.saturating_add(1);
            } else {
                let count = self.sparse.entry(*item).or_default();
                *count = count.saturating_add(1);
            }
        }
    }

    /// One member less is told to own these.
    pub fn remove(&mut self, items: &[WorkItem]) {
        for item in items {
            if let Some(count) = self.sparse.get_mut(item) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    self.sparse.remove(item);
                }
            } else if let Some(count) = self.dense_mut(*item) {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Nobody is told to own anything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The dense entry of an item, made if there is room for it.
    fn dense_mut(&mut self, item: WorkItem) -> Option<&mut u16> {
        let (connector, task) = slot(item)?;
        let row_len = self.dense.get(connector).map_or(0, Vec::len);
        let more = task.saturating_add(1).saturating_sub(row_len);
        // Bytes may name any connector with any task: room is given only up to a bound.
        if more > 0 {
            self.slots = Some(self.slots.saturating_add(more)).filter(|n| *n <= OWNER_SLOTS_MAX)?;
            if self.dense.len() <= connector {
                self.dense
                    .resize_with(connector.saturating_add(1), Vec::new);
            }
            self.dense
                .get_mut(connector)?
                .resize(task.saturating_add(1), 0);
        }
        self.dense.get_mut(connector)?.get_mut(task)
    }
}

/// Where an item lies in the dense table, if it may lie there.
fn slot(item: WorkItem) -> Option<(usize, usize)> {
    let task = usize::try_from(item.task.checked_add(1)?).ok()?;
    let connector = usize::try_from(item.connector.0).ok()?;
    (task <= TASKS_DENSE_MAX).then_some((connector, task))
}
