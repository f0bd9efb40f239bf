//! The group at rest: who is in it, who owns what, and what has no owner and why.

use std::collections::BTreeMap;

use evenkeel_core::answers::UnassignedReason;
use evenkeel_sim::item::{CONNECTOR, Item, Work, minus};
use evenkeel_sim::truth::{LossEnd, Truth};

use crate::drive::Watched;

/// When the group came to rest, the answers are its state.
pub(super) fn at_rest(truth: &Truth, watched: &Watched) -> Result<(), String> {
    let answers = watched.engine.answers();
    if !truth.end.rest || truth.lives.last().is_none_or(|l| l.deleted_ms.is_some()) {
        return Ok(());
    }
    let group = answers.group.as_ref().ok_or("no group is told")?;
    let mut told: BTreeMap<String, Work> = BTreeMap::new();
    for member in &group.members {
        let owned = member
            .owned
            .iter()
            .map(|item| Item::new(&item.connector, item.task.unwrap_or(CONNECTOR)));
        told.insert(member.member_id.to_string(), owned.collect());
    }
    let right: BTreeMap<String, Work> = truth
        .end
        .owned
        .iter()
        .map(|(member, (_, owned))| (member.clone(), owned.clone()))
        .collect();
    if told != right {
        return Err(format!("owners {told:?}, not {right:?}"));
    }
    let owned: Work = right.into_values().flatten().collect();
    let parked = minus(&truth.end.configured, &owned);
    let unassigned = answers
        .unassigned
        .as_ref()
        .ok_or("what is unassigned is not told")?;
    let told: BTreeMap<Item, UnassignedReason> = unassigned
        .iter()
        .map(|each| {
            let task = each.item.task.unwrap_or(CONNECTOR);
            (Item::new(&each.item.connector, task), each.reason)
        })
        .collect();
    if told.keys().cloned().collect::<Work>() != parked {
        return Err(format!("unassigned {told:?}, not {parked:?}"));
    }
    for (item, reason) in &told {
        let lost = truth
            .losses
            .iter()
            .any(|loss| loss.item == *item && loss.ended == LossEnd::Open);
        if (*reason == UnassignedReason::Lost) != lost {
            return Err(format!("{item} is {reason:?}; lost: {lost}"));
        }
    }
    Ok(())
}
