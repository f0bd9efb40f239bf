//! Who was held up by what it was told to start.

use std::collections::BTreeMap;

use super::records::{all_stayed, own_rounds};
use crate::engine::State;
use crate::facts::ids::CONNECTOR_TASK;
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::limits::CHECK_HELD_UP_MIN;
use crate::story::rounds::Round;

/// For how long, and how often that was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) at_least_ms: i64,
    pub(super) times: u64,
}

/// Workers, by their address, that were told to start a connector, were out of the group just
/// when their own rebalance timeout was over, and came back with a claim.
///
/// The worker's thread leaves the group by itself once it has not polled for that long
/// (`AbstractCoordinator`), so it was in a call all that time: a process that is gone comes
/// back without a claim, one that is frozen is missed a session after it froze, whenever that
/// is, and one that was told to stop work is held up by its stops.
///
/// Once may be chance; who is held up by what it starts is so each time. It is told until the
/// worker is another process, or has started something and stayed.
pub(super) fn held(state: &State) -> BTreeMap<&str, Held> {
    let rounds: Vec<(&Round, &GroupSnapshot)> = own_rounds(state).collect();
    let mut held: BTreeMap<&str, Held> = BTreeMap::new();
    for (place, pair) in rounds.windows(2).enumerate() {
        let [(round, before), (_, now)] = pair else {
            continue;
        };
        // A large group is looked at twenty times a second.
        if held.is_empty() && all_stayed(round) {
            continue;
        }
        let took_ms = now.recorded.since_ms(before.recorded);
        for member in &now.members {
            let is_fresh = !matches!(member.claim, Claim::Items(_));
            if is_fresh && before.member(&member.id).is_none() {
                held.remove(&*member.worker);
            }
        }
        for member in before.members.iter().filter(|m| starts_connector(m)) {
            if before.shares_worker(&member.worker) {
                continue;
            }
            let waits_ms = i64::from(member.rebalance_timeout_ms);
            let is_there = now.member(&member.id).is_some();
            if is_there && took_ms > waits_ms {
                held.remove(&*member.worker);
            }
            // The others come back within a session, by their heartbeats.
            let latest_ms = waits_ms.saturating_add(i64::from(member.session_timeout_ms));
            let is_then = (waits_ms..=latest_ms).contains(&took_ms);
            if is_there || !is_then || !member.revoked.is_empty() {
                continue;
            }
            let later = rounds.get(place.saturating_add(1)..).unwrap_or_default();
            let Some(last_without) = last_without(later, member) else {
                continue;
            };
            let ms = last_without.recorded.since_ms(before.recorded);
            let of_worker = held.entry(&*member.worker).or_insert(Held {
                at_least_ms: ms,
                times: 0,
            });
            of_worker.at_least_ms = of_worker.at_least_ms.max(ms);
            of_worker.times = of_worker.times.saturating_add(1);
        }
    }
    held.retain(|_, of_worker| of_worker.times >= CHECK_HELD_UP_MIN);
    held
}

/// The last record before the process of a member, which left, is back with its claim.
fn last_without<'a>(
    later: &[(&Round, &'a GroupSnapshot)],
    member: &Member,
) -> Option<&'a GroupSnapshot> {
    let of_worker = |record: &&GroupSnapshot| {
        let mut members = record.members.iter();
        let back = members.find(|back| back.worker == member.worker)?;
        Some(matches!(back.claim, Claim::Items(_)))
    };
    let mut last = None;
    for (_, record) in later {
        match of_worker(record) {
            Some(with_claim) => return last.filter(|_| with_claim),
            None => last = Some(*record),
        }
    }
    None
}

fn starts_connector(member: &Member) -> bool {
    let mut assigned = member.assigned.iter();
    assigned.any(|item| item.task == CONNECTOR_TASK)
}
