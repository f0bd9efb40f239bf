//! Who was held up by what it was told to start.

use std::collections::BTreeMap;

use super::members::stops_since;
use super::records::{all_stayed, own_rounds};
use crate::engine::State;
use crate::facts::ids::CONNECTOR_TASK;
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::limits::{CHECK_HELD_UP_MIN, CONNECT_RETRY_MS_MAX};
use crate::story::rounds::Round;

/// For how long, and how often that was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) at_least_ms: i64,
    pub(super) times: u64,
    /// How often of these it had just come back from the last time.
    again: u64,
    /// The round in which it was back from the newest.
    back: usize,
}

/// Why a member is looked at: what may hold it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// It is told to start a connector.
    Start,
    /// It is back from a call, and has connectors.
    Again,
}

/// Workers, by their address, that were told to start a connector, were out of the group just
/// when their own rebalance timeout was over, and came back with a claim; or that had just come
/// back from that, and were out again as long after.
///
/// The worker's thread leaves the group by itself once it has not polled for that long
/// (`AbstractCoordinator`), so it was in a call all that time: a process that is gone comes
/// back without a claim, one that is frozen is missed a session after it froze, whenever that
/// is, and one that was told to stop work is held up by its stops. A call that fails is made
/// again, at once at first (`DistributedHerder.reconfigureConnectorTasksWithExponentialBackoffRetries`).
///
/// Once may be chance; who is held up by what it starts is so each time. It is told until the
/// worker is another process, or has started something and stayed; of one that came back and
/// was held up again, until it stays for longer than Kafka ever waits with the next try.
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
        for member in &before.members {
            let is_back = held.get(&*member.worker).is_some_and(|it| it.back == place);
            let Some(call) = call(member, is_back) else {
                continue;
            };
            if before.shares_worker(&member.worker) {
                continue;
            }
            let waits_ms = i64::from(member.rebalance_timeout_ms);
            let is_there = now.member(&member.id).is_some();
            if is_there && took_ms > waits_ms && call == Call::Start {
                held.remove(&*member.worker);
            }
            // The others come back within a session, by their heartbeats.
            let latest_ms = waits_ms.saturating_add(i64::from(member.session_timeout_ms));
            let is_then = (waits_ms..=latest_ms).contains(&took_ms);
            if is_there || !is_then || !member.revoked.is_empty() {
                continue;
            }
            // Whoever has old tasks to stop before it joins is held up by them.
            if stops_since(state, before, now, member).is_some() {
                continue;
            }
            let after = place.saturating_add(1);
            let later = rounds.get(after..).unwrap_or_default();
            let Some((last_without, back)) = last_without(later, member) else {
                continue;
            };
            let ms = last_without.recorded.since_ms(before.recorded);
            let of_worker = held.entry(&*member.worker).or_insert(Held {
                at_least_ms: ms,
                times: 0,
                again: 0,
                back: 0,
            });
            of_worker.at_least_ms = of_worker.at_least_ms.max(ms);
            of_worker.times = of_worker.times.saturating_add(1);
            of_worker.again = of_worker
                .again
                .saturating_add(u64::from(call == Call::Again));
            of_worker.back = after.saturating_add(back);
        }
    }
    held.retain(|worker, of_worker| {
        let mut times = of_worker.times;
        if of_worker.again > 0 && stays(state, &rounds, worker) {
            times = times.saturating_sub(of_worker.again);
        }
        times >= CHECK_HELD_UP_MIN
    });
    held
}

fn call(member: &Member, is_back: bool) -> Option<Call> {
    let is_connector = |task| task == CONNECTOR_TASK;
    let mut assigned = member.assigned.iter();
    if assigned.any(|item| is_connector(item.task)) {
        return Some(Call::Start);
    }
    let mut told = member.told.iter();
    let has_connector = told.any(|item| is_connector(item.task));
    (is_back && has_connector).then_some(Call::Again)
}

/// The last record before the process of a member, which left, is back with its claim, and how
/// many records on it is back.
fn last_without<'a>(
    later: &[(&Round, &'a GroupSnapshot)],
    member: &Member,
) -> Option<(&'a GroupSnapshot, usize)> {
    let of_worker = |record: &&GroupSnapshot| {
        let mut members = record.members.iter();
        let back = members.find(|back| back.worker == member.worker)?;
        Some(matches!(back.claim, Claim::Items(_)))
    };
    let mut last = None;
    for (place, (_, record)) in later.iter().enumerate() {
        match of_worker(record) {
            Some(with_claim) => return last.filter(|_| with_claim).map(|last| (last, place)),
            None => last = Some(*record),
        }
    }
    None
}

/// Whether a worker has been in the group without a break for longer than it is between the
/// last failure of a call and the end of its patience with the next.
fn stays(state: &State, rounds: &[(&Round, &GroupSnapshot)], worker: &str) -> bool {
    let mut stay = None;
    for (_, record) in rounds.iter().rev() {
        let mut members = record.members.iter();
        let Some(member) = members.find(|member| &*member.worker == worker) else {
            break;
        };
        stay = Some((record.recorded, member));
    }
    let (Some((since, member)), Some(now)) = (stay, state.clock.now()) else {
        return false;
    };
    let clocks = [member.rebalance_timeout_ms, member.session_timeout_ms];
    let clocks: i64 = clocks.into_iter().map(i64::from).sum();
    now.since_ms(since) > clocks.saturating_add(CONNECT_RETRY_MS_MAX)
}
