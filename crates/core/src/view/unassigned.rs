//! D2 and D4: who owns what, and why the rest has no owner.
//!
//! A cooperative record is complete in itself: what a member owns after it is its claim,
//! minus what it is told to stop, plus what it is told to start. So ownership never
//! needs history; only the *reason* for having no owner does. This view remembers for
//! every item how it left its last owner, independent of whether it is configured: the
//! config topic and the offsets topic are read side by side, in no order that means
//! anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::UnassignedReason;
use crate::facts::ids::WorkItem;
use crate::facts::observation::{AssignmentError, Claim, GroupSnapshot, Member};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits::UNOWNED_MEMORY_MAX;
use crate::view::configured::Configured;
use crate::view::counts::OwnerCounts;
use crate::view::statuses::Statuses;

/// Who owns what after the newest record, and how the rest left its owner.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Ownership {
    /// How many members are told by the newest record to own each item.
    owners: OwnerCounts,
    /// How each unowned item left its owner.
    #[serde(with = "crate::facts::pairs")]
    left: BTreeMap<WorkItem, Left>,
    /// The same for items that the newest record hands out: it holds again if the next
    /// claims show that nobody applied that record.
    #[serde(with = "crate::facts::pairs")]
    handed_out: BTreeMap<WorkItem, Left>,
    /// Items of which it is not settled whether their owner ever took them: the generation
    /// that handed them out, and how they left their owner if it did.
    #[serde(with = "crate::facts::pairs")]
    undecided: BTreeMap<WorkItem, (i32, Left)>,
}

/// How an item left its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Why.
    pub reason: UnassignedReason,
    /// The record that shows it.
    pub since: EventTime,
    /// The config offset of that record's assignments: what is committed at or after
    /// it was configured anew, whatever became of the old work of that name.
    pub config_offset: Option<i64>,
    /// Who had it.
    pub last_owner: Option<Arc<str>>,
}

/// One configured item without an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unassigned {
    /// Which.
    pub item: WorkItem,
    /// Why: the oldest unmet cause.
    pub reason: UnassignedReason,
    /// Since when.
    pub since: Option<EventTime>,
    /// Who had it last.
    pub last_owner: Option<Arc<str>>,
}

/// What a record says of an item that its owner no longer has.
enum Parted {
    /// How it left.
    So(Left),
    /// The owner never took it: the older reason holds.
    Never,
    /// So, if the round that handed it out was completed; not settled yet.
    IfTaken(Left),
}

/// What the reasons are read from, beside ownership itself.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// What should exist.
    pub configured: &'a Configured,
    /// What the status topic says; `None` until it was read to its end.
    pub statuses: Option<&'a Statuses>,
    /// The newest record.
    pub newest: Option<&'a GroupSnapshot>,
    /// The config offset of the oldest record that this agent read: what was committed
    /// before it may have been owned before anybody watched.
    pub seen_from: Option<i64>,
}

// === impl Ownership ===

impl Ownership {
    /// Takes the newest record; `before` is the record before it. Members whose entry is
    /// the same in both are not looked at.
    /// `took` says whether the record before it is proven to have been applied.
    pub fn apply(
        &mut self,
        before: Option<&GroupSnapshot>,
        now: &GroupSnapshot,
        took: Option<bool>,
    ) {
        let handed_out = std::mem::take(&mut self.handed_out);
        let handed_out_by = before.map_or(-1, |before| before.generation);
        let before = before
            .map(|before| before.members.as_slice())
            .unwrap_or_default();
        let gone_or_changed = || {
            before
                .iter()
                .filter(|old| now.member(&old.id).is_none_or(|new| !Arc::ptr_eq(old, new)))
        };
        for old in gone_or_changed() {
            self.owners.remove(&old.told);
        }
        let is_same = |new: &&Arc<Member>| {
            let old = before.binary_search_by(|old| old.id.cmp(&new.id)).ok();
            old.and_then(|place| before.get(place))
                .is_some_and(|old| Arc::ptr_eq(old, new))
        };
        let new_or_changed = || now.members.iter().filter(|new| !is_same(new));
        for new in new_or_changed() {
            self.owners.add(&new.told);
        }
        for old in gone_or_changed() {
            for item in old.told.iter().filter(|item| self.owners.of(**item) == 0) {
                let left = match left_owner(*item, old, now, took) {
                    Parted::So(left) => Some(left),
                    Parted::Never => handed_out.get(item).cloned(),
                    Parted::IfTaken(left) => {
                        self.undecided.insert(*item, (handed_out_by, left));
                        handed_out.get(item).cloned()
                    }
                };
                if let Some(left) = left {
                    self.left.insert(*item, left);
                }
            }
        }
        // A member whose entry is the same has not shown that it took what it was handed.
        if !handed_out.is_empty() {
            for item in now
                .members
                .iter()
                .filter(|new| is_same(new))
                .flat_map(|m| &m.assigned)
            {
                if let Some(left) = handed_out.get(item) {
                    self.handed_out.insert(*item, left.clone());
                }
            }
        }
        for new in new_or_changed() {
            // The first record of a history has no record before it, but says what it
            // revokes.
            for item in new
                .revoked
                .iter()
                .filter(|item| self.owners.of(**item) == 0)
            {
                self.left
                    .entry(*item)
                    .or_insert_with(|| Left::new(UnassignedReason::Revoked, now, new));
            }
            if !self.undecided.is_empty() {
                for item in &new.told {
                    self.undecided.remove(item);
                }
            }
            if self.left.is_empty() {
                continue;
            }
            for item in &new.told {
                if let Some(left) = self.left.remove(item) {
                    self.handed_out.insert(*item, left);
                }
            }
        }
    }

    /// A round is settled: whether its members took what it handed them is known now,
    /// however late the proof was read.
    pub fn settled(&mut self, generation: i32, completed: bool) {
        if self.undecided.is_empty() {
            return;
        }
        let undecided = std::mem::take(&mut self.undecided);
        for (item, (handed_out_by, left)) in undecided {
            if handed_out_by != generation {
                self.undecided.insert(item, (handed_out_by, left));
            } else if completed && self.owners.of(item) == 0 {
                self.left.insert(item, left);
            }
        }
    }

    /// The group is gone: everything it owned is lost.
    pub fn group_gone(&mut self, before: &GroupSnapshot, at: EventTime) {
        for owner in &before.members {
            for item in &owner.told {
                self.left.insert(
                    *item,
                    Left {
                        reason: UnassignedReason::Lost,
                        since: at,
                        config_offset: before.config_offset,
                        last_owner: Some(Arc::clone(&owner.worker)),
                    },
                );
            }
        }
        self.owners.clear();
        self.handed_out.clear();
        self.undecided.clear();
    }

    /// Drops what is remembered of items that are neither configured nor owned, once
    /// there are too many of them.
    pub fn bound(&mut self, configured: &Configured) {
        if self.left.len() > UNOWNED_MEMORY_MAX {
            self.left.retain(|item, _| configured.contains(*item));
        }
    }

    /// Whether the newest record gives the item to somebody.
    #[must_use]
    pub fn is_owned(&self, item: WorkItem) -> bool {
        self.owners.of(item) > 0
    }

    /// Items that left their owner and have none since, configured or not.
    pub fn all_left(&self) -> impl Iterator<Item = (WorkItem, &Left)> {
        self.left.iter().map(|(item, left)| (*item, left))
    }

    /// Every configured item without an owner, sorted, each with its reason.
    #[must_use]
    pub fn unassigned(&self, evidence: Evidence<'_>) -> Vec<Unassigned> {
        evidence
            .configured
            .items()
            .filter(|item| !self.is_owned(*item))
            .map(|item| self.explain(item, evidence))
            .collect()
    }

    fn explain(&self, item: WorkItem, evidence: Evidence<'_>) -> Unassigned {
        let hazard = evidence.configured.is_hazard(item);
        let origin = evidence.configured.since(item);
        // An item deleted and configured again is new work, whatever became of the old.
        let left = self.left.get(&item).filter(|left| {
            !matches!((origin, left.config_offset), (Some(origin), Some(at)) if origin.offset >= at)
        });
        if let Some(left) = left {
            let reason = match left.reason {
                UnassignedReason::Revoked if hazard => UnassignedReason::ConfigHazard,
                reason => reason,
            };
            return Unassigned {
                item,
                reason,
                since: Some(left.since),
                last_owner: left.last_owner.clone(),
            };
        }
        let since = origin.and_then(|origin| origin.recorded);
        let committed_while_seen = origin
            .is_some_and(|origin| evidence.seen_from.is_none_or(|from| origin.offset >= from));
        let status = evidence.statuses.map(|statuses| statuses.get(item));
        let departed = match (status.flatten(), evidence.newest) {
            (Some(status), Some(newest)) => {
                let present = newest
                    .members
                    .iter()
                    .any(|member| member.worker == status.worker);
                (!present).then(|| Arc::clone(&status.worker))
            }
            _ => None,
        };
        let mismatch = evidence
            .newest
            .is_some_and(|newest| newest.error == Some(AssignmentError::ConfigMismatch));
        let reason = if hazard {
            UnassignedReason::ConfigHazard
        } else if committed_while_seen && evidence.newest.is_some() {
            UnassignedReason::New
        } else if departed.is_some() {
            UnassignedReason::Lost
        } else if mismatch {
            UnassignedReason::Mismatch
        } else if matches!(status, Some(None)) {
            // Nobody ever wrote a state of it: it never started anywhere.
            UnassignedReason::New
        } else {
            UnassignedReason::Unknown
        };
        let since = if reason == UnassignedReason::Lost {
            None
        } else {
            since
        };
        Unassigned {
            item,
            reason,
            since,
            last_owner: departed,
        }
    }
}

// === impl Left ===

impl Left {
    fn new(reason: UnassignedReason, record: &GroupSnapshot, owner: &Member) -> Self {
        Self {
            reason,
            since: record.recorded,
            config_offset: record.config_offset,
            last_owner: Some(Arc::clone(&owner.worker)),
        }
    }
}

/// How `item`, told to `owner` by the record before, left it by the record `now`. `took`
/// says whether that record before is proven to have been applied, or not.
fn left_owner(
    item: WorkItem,
    owner: &Arc<Member>,
    now: &GroupSnapshot,
    took: Option<bool>,
) -> Parted {
    let left = |reason| Left::new(reason, now, owner);
    let Some(present) = now.member(&owner.id) else {
        return Parted::So(left(UnassignedReason::Lost));
    };
    match &present.claim {
        // A process that had nothing and was just told: did it ever take it?
        Claim::Nothing
            if owner.claim == Claim::Nothing && sets::contains(&owner.assigned, item) =>
        {
            match took {
                Some(true) => Parted::So(left(UnassignedReason::Dropped)),
                Some(false) => Parted::Never,
                None => Parted::IfTaken(left(UnassignedReason::Dropped)),
            }
        }
        Claim::Nothing => Parted::So(left(UnassignedReason::Dropped)),
        Claim::Items(claimed) if sets::contains(claimed, item) => {
            Parted::So(left(UnassignedReason::Revoked))
        }
        Claim::Items(_) if sets::contains(&owner.assigned, item) => Parted::Never,
        Claim::Items(_) => Parted::So(left(UnassignedReason::Dropped)),
        Claim::Unsaid if now.error == Some(AssignmentError::ConfigMismatch) => {
            Parted::So(left(UnassignedReason::Mismatch))
        }
        Claim::Unsaid => Parted::So(left(UnassignedReason::Unknown)),
    }
}
