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

/// Walks two sorted lists side by side: `gone` is told what is in the first alone, `came` what is
/// in the second alone, both in order.
pub fn compare(
    before: &[WorkItem],
    now: &[WorkItem],
    mut gone: impl FnMut(WorkItem),
    mut came: impl FnMut(WorkItem),
) {
    let (mut before, mut now) = (before.iter().peekable(), now.iter().peekable());
    loop {
        match (before.peek(), now.peek()) {
            (Some(left), Some(right)) if left == right => {
                before.next();
                now.next();
            }
            (Some(left), right) if right.is_none_or(|right| left < right) => {
                gone(**left);
                before.next();
            }
            (_, Some(right)) => {
                came(**right);
                now.next();
            }
            (_, None) => return,
        }
    }
}
