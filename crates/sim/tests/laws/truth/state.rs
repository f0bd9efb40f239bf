//! The group at rest: who is in it, who owns what, and what has no owner and why.

use std::collections::BTreeMap;

use evenkeel_core::answers::{DelayReason, ItemAnswer, UnassignedReason};
use evenkeel_core::facts::ids::Protocol;
use evenkeel_sim::item::{CONNECTOR, Item, Work, minus};
use evenkeel_sim::truth::{LossEnd, TrueRound, Truth};

use crate::drive::Watched;

/// Work without an owner.
type Reasons = BTreeMap<Item, UnassignedReason>;

/// When the group came to rest, the answers are its state.
pub(super) fn at_rest(truth: &Truth, watched: &Watched) -> Result<(), String> {
    let Some(told) = owners(truth, watched, false)? else {
        return Ok(());
    };
    for (item, reason) in &told {
        let lost = truth
            .losses
            .iter()
            .any(|loss| loss.item == *item && loss.ended == LossEnd::Open);
        if (*reason == UnassignedReason::Lost) != lost {
            return Err(format!("{item} is {reason:?}; lost: {lost}"));
        }
    }
    let parked = told
        .values()
        .any(|reason| *reason == UnassignedReason::Lost);
    newest_round(truth, watched, parked)
}

/// Who owns what, and what has no owner: the latter with its reasons, unless there is no
/// group at rest. In a compacted topic the commit of a connector that was deleted and made
/// anew looks like one that workers overlook (KAFKA-17719): `config_hazard`.
pub(super) fn owners(
    truth: &Truth,
    watched: &Watched,
    compacted: bool,
) -> Result<Option<Reasons>, String> {
    let answers = watched.engine.answers();
    if !truth.end.rest || truth.lives.last().is_none_or(|l| l.deleted_ms.is_some()) {
        return Ok(None);
    }
    let group = answers.group.as_ref().ok_or("no group is told")?;
    let item = |item: &ItemAnswer| Item::new(&item.connector, item.task.unwrap_or(CONNECTOR));
    let members = group.members.iter();
    let told: BTreeMap<String, Work> = members
        .map(|member| {
            (
                member.member_id.to_string(),
                member.owned.iter().map(item).collect(),
            )
        })
        .collect();
    let owned = truth.end.owned.iter();
    let right: BTreeMap<String, Work> = owned
        .map(|(member, (_, owned))| (member.clone(), owned.clone()))
        .collect();
    if told != right {
        return Err(format!("owners {told:?}, not {right:?}"));
    }
    let owned: Work = right.into_values().flatten().collect();
    let parked = minus(&truth.end.configured, &owned);
    let unassigned = answers.unassigned.as_ref();
    let unassigned = unassigned.ok_or("what is unassigned is not told")?.iter();
    let told = unassigned.map(|each| (item(&each.item), each.reason));
    let is_hazard = |(_, reason): &(Item, UnassignedReason)| {
        compacted && *reason == UnassignedReason::ConfigHazard
    };
    let (hazards, told): (Reasons, Reasons) = told.partition(is_hazard);
    let parked = minus(&parked, &hazards.into_keys().collect());
    if told.keys().cloned().collect::<Work>() != parked {
        return Err(format!("unassigned {told:?}, not {parked:?}"));
    }
    Ok(Some(told))
}

/// Leader, protocol, and the delay that runs are those of the newest round.
fn newest_round(truth: &Truth, watched: &Watched, parked: bool) -> Result<(), String> {
    let answers = watched.engine.answers();
    let recorded = |round: &&TrueRound| round.recorded_ms.is_some();
    let (Some(real), Some(group)) = (truth.rounds.iter().rfind(recorded), &answers.group) else {
        return Err("nothing was ever recorded".to_owned());
    };
    let leader = real.leader.as_ref().and_then(|id| real.members.get(id));
    let leader = leader.map(|member| member.worker.as_str());
    if group.leader.as_deref() != leader {
        return Err(format!("leader {:?}, not {leader:?}", group.leader));
    }
    let eager = group.protocol == Some(Protocol::Eager);
    if leader.is_some() && eager != (real.version == 0) {
        return Err(format!("protocol {:?}", group.protocol));
    }
    match (answers.deadline, real.delay_ms) {
        (None, 0) => Ok(()),
        (Some(deadline), delay_ms) if i64::from(deadline.delay_ms) == delay_ms => {
            let at = group.recorded.map(|at| at.plus_ms(delay_ms));
            let lost = deadline.reason == DelayReason::Lost;
            if at != Some(deadline.at) || (parked && !lost) {
                return Err(format!("{deadline:?}, and work is parked: {parked}"));
            }
            Ok(())
        }
        (deadline, delay_ms) => Err(format!("{deadline:?} for a delay of {delay_ms}")),
    }
}
