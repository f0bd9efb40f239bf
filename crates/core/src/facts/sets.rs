//! Arithmetic on sorted lists of work items: a group of 10,000 tasks has no room for
//! trees (measured seven times slower).

use crate::facts::ids::WorkItem;

/// Sorts a list and drops repeats: Kafka's claims may name an item twice.
pub fn normalize(items: &mut Vec<WorkItem>) {
    items.sort_unstable();
    items.dedup();
}

/// What is in `left` and not in `right`.
#[must_use]
pub fn minus(left: &[WorkItem], right: &[WorkItem]) -> Vec<WorkItem> {
    if right.is_empty() {
        return left.to_vec();
    }
    left.iter()
        .copied()
        .filter(|item| !contains(right, *item))
        .collect()
}

/// What is in either, each once.
#[must_use]
pub fn union(left: &[WorkItem], right: &[WorkItem]) -> Vec<WorkItem> {
    let mut all = Vec::with_capacity(left.len().saturating_add(right.len()));
    all.extend_from_slice(left);
    all.extend_from_slice(right);
    normalize(&mut all);
    all
}

/// Whether a sorted list holds the item.
#[must_use]
pub fn contains(sorted: &[WorkItem], item: WorkItem) -> bool {
    sorted.binary_search(&item).is_ok()
}

/// Whether everything in `part` is in the sorted list `whole`.
#[must_use]
pub fn covers(whole: &[WorkItem], part: &[WorkItem]) -> bool {
    part.iter().all(|item| contains(whole, *item))
}

/// Whether nothing in `part` is in the sorted list `whole`.
#[must_use]
pub fn disjoint(whole: &[WorkItem], part: &[WorkItem]) -> bool {
    part.iter().all(|item| !contains(whole, *item))
}
