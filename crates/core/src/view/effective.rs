//! What each configured connector and task does, from its status *and* from who has it: a dead
//! worker's RUNNING is not running. Each piece is in exactly one state; the first rule that
//! applies says which:
//! 1. *unknown*: it is not known who has what.
//! 2. *lost*: nobody has it; its owner is gone, or lost its coordinator.
//! 3. *stopping*: nobody has it any more; who had it was told to stop it and has not said yet
//!    that it did.
//! 4. *unassigned*: nobody has it, for any other reason.
//! 5. *unknown*: somebody has it, and the status topic is not read.
//! 6. *starting*: its owner has not said anything since it was told to have it.
//! 7. *running*, *paused*, *stopped*, *failed*, *restarting*: as its owner last wrote, whatever
//!    others write; *unassigned*, where that is that it stopped.

use std::sync::Arc;

use crate::answers::{EffectiveState, UnassignedReason};
use crate::facts::ids::WorkItem;
use crate::facts::observation::{GroupSnapshot, Member, RunState};
use crate::facts::sets;
use crate::view::configured::Configured;
use crate::view::unassigned::Unassigned;

/// What one piece of configured work does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// Which.
    pub item: WorkItem,
    /// What it does.
    pub state: EffectiveState,
    /// Who has it.
    pub owner: Option<Arc<str>>,
}

/// What the states are read from, beside what workers wrote.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// What should exist.
    pub configured: &'a Configured,
    /// Who is told to have what; `None` where there is no group.
    pub newest: Option<&'a GroupSnapshot>,
    /// Whether that is known.
    pub owners_known: bool,
    /// Configured work that nobody has, sorted.
    pub unassigned: &'a [Unassigned],
    /// Whether the status topic is read.
    pub statuses_known: bool,
}

/// What every configured piece does, sorted. `word` gives what a member last wrote of an item
/// since it was told to have it, and is asked in that order, at most once a piece; its flag says
/// whether the newest record is what told it so.
pub fn states<'a>(
    evidence: Evidence<'a>,
    mut word: impl FnMut(WorkItem, &'a str, bool) -> Option<RunState>,
) -> Vec<Effective> {
    let owners = owners(evidence.newest);
    let mut owners = owners.into_iter().peekable();
    let mut unassigned = evidence.unassigned.iter().peekable();
    let state = |item: WorkItem| {
        while owners.next_if(|(owned, _)| *owned < item).is_some() {}
        let owner = owners.peek().filter(|(owned, _)| *owned == item);
        while unassigned.next_if(|left| left.item < item).is_some() {}
        let left = unassigned.peek().filter(|left| left.item == item);
        let state = match (owner, left) {
            _ if !evidence.owners_known => EffectiveState::Unknown,
            (Some((_, owner)), _) if evidence.statuses_known => {
                let assigned = sets::contains(&owner.assigned, item);
                of_owner(word(item, &owner.worker, assigned))
            }
            (Some(_), _) => EffectiveState::Unknown,
            (None, Some(left)) => of_nobody(left, evidence.statuses_known, &mut word),
            (None, None) => EffectiveState::Unassigned,
        };
        Effective {
            item,
            state,
            owner: owner.map(|(_, owner)| Arc::clone(&owner.worker)),
        }
    };
    evidence.configured.items().map(state).collect()
}

/// Who is told to have each item, sorted. Of several the first by member id counts: the rest is
/// a disagreement.
fn owners(newest: Option<&GroupSnapshot>) -> Vec<(WorkItem, &Arc<Member>)> {
    let members = newest.into_iter().flat_map(|newest| &newest.members);
    let told = members.flat_map(|member| member.told.iter().map(move |item| (*item, member)));
    let mut owners: Vec<(WorkItem, &Arc<Member>)> = told.collect();
    // Stable: members are sorted by their ids, and each one's list by item.
    owners.sort_by_key(|(item, _)| *item);
    owners.dedup_by_key(|(item, _)| *item);
    owners
}

/// Rules 6 and 7.
fn of_owner(word: Option<RunState>) -> EffectiveState {
    match word {
        None => EffectiveState::Starting,
        Some(RunState::Running) => EffectiveState::Running,
        Some(RunState::Paused) => EffectiveState::Paused,
        Some(RunState::Stopped) => EffectiveState::Stopped,
        Some(RunState::Failed) => EffectiveState::Failed,
        Some(RunState::Restarting) => EffectiveState::Restarting,
        Some(RunState::Unassigned | RunState::Destroyed) => EffectiveState::Unassigned,
        Some(RunState::Unknown) => EffectiveState::Unknown,
    }
}

/// Rules 2 to 4.
fn of_nobody<'a>(
    left: &'a Unassigned,
    statuses_known: bool,
    word: &mut impl FnMut(WorkItem, &'a str, bool) -> Option<RunState>,
) -> EffectiveState {
    let runs = |state| {
        use RunState::{Paused, Restarting, Running};
        matches!(state, Some(Running | Restarting | Paused))
    };
    match (left.reason, left.last_owner.as_deref()) {
        (UnassignedReason::Lost | UnassignedReason::Dropped, _) => EffectiveState::Lost,
        (UnassignedReason::Revoked, Some(owner))
            if statuses_known && runs(word(left.item, owner, false)) =>
        {
            EffectiveState::Stopping
        }
        _ => EffectiveState::Unassigned,
    }
}
