//! D15: how evenly work is spread over the members of a generation: a pure function of its
//! record, and of how much is parked.
//!
//! Kafka's assignors balance connectors and tasks each for themselves, whatever the release:
//! the eager one deals both round-robin (`EagerAssignor`), the incremental one hands new work
//! to who has the least of its kind, and takes from who has more than
//! `ceil(all / members)` of it (`IncrementalCooperativeAssignor`; before 3.4 only for a member
//! that has nothing at all). So that ceiling is the best that anybody could ask for, and only
//! what lies above it is an imbalance. The tasks of one connector are balanced by nobody.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::facts::ids::{ConnectorId, Kind, Protocol};
use crate::facts::observation::{GroupSnapshot, Member};

/// How a number of things is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Members that it is spread over.
    pub members: u64,
    /// How many they have together.
    pub items: u64,
    /// The most that one of them has.
    pub most: u64,
    /// The least.
    pub least: u64,
    /// The most that one would have in the best split.
    pub best_most: u64,
    /// What lies above that, all members together.
    pub above: u64,
}

/// How work of one kind is spread; `parked` is what will be theirs, too. `None` without
/// members.
#[must_use]
pub fn of_kind(record: &GroupSnapshot, kind: Kind, parked: u64) -> Option<Split> {
    let of_member = |member: &Arc<Member>| {
        let items = member.told.iter().filter(|item| item.kind() == kind);
        count(items.count())
    };
    let loads: Vec<u64> = record.members.iter().map(of_member).collect();
    split(&loads, parked)
}

/// How the tasks of each connector are spread, where that could be better: the worst first.
#[must_use]
pub fn of_connectors(record: &GroupSnapshot) -> Vec<(ConnectorId, Split)> {
    let members = record.members.len();
    let mut loads: BTreeMap<ConnectorId, Vec<u64>> = BTreeMap::new();
    for (place, member) in record.members.iter().enumerate() {
        let tasks = member.told.iter().filter(|item| item.kind() == Kind::Task);
        for item in tasks {
            let load = loads.entry(item.connector);
            let load = load.or_insert_with(|| vec![0; members]);
            if let Some(load) = load.get_mut(place) {
                *load = load.saturating_add(1);
            }
        }
    }
    let split = |(connector, loads): (ConnectorId, Vec<u64>)| Some((connector, split(&loads, 0)?));
    let mut bunched: Vec<_> = loads.into_iter().filter_map(split).collect();
    bunched.retain(|(_, split)| split.above > 0);
    bunched.sort_by_key(|(connector, split)| (std::cmp::Reverse(split.above), *connector));
    bunched
}

fn split(loads: &[u64], parked: u64) -> Option<Split> {
    let (most, least) = (*loads.iter().max()?, *loads.iter().min()?);
    let items = loads.iter().sum::<u64>();
    let members = count(loads.len());
    let best_most = items.saturating_add(parked).div_ceil(members);
    let above = loads.iter().map(|load| load.saturating_sub(best_most));
    Some(Split {
        members,
        items,
        most,
        least,
        best_most,
        above: above.sum(),
    })
}

/// The most that one member would carry once one of the others is gone and its work is handed
/// out. What is lost goes to those who have the least, so nobody gets more than an even split
/// of all of it; but who has more already keeps it, as the worst one to lose is another one.
/// The eager assignor deals everything anew. `None` where nobody would be left.
#[must_use]
pub fn survivor_most(split: &Split, parked: u64, protocol: Option<Protocol>) -> Option<u64> {
    let survivors = split.members.checked_sub(1).filter(|left| *left > 0)?;
    let even = split.items.saturating_add(parked).div_ceil(survivors);
    if protocol == Some(Protocol::Eager) {
        return Some(even);
    }
    Some(even.max(split.most))
}

/// The least number that must change hands for an even split, in which nobody has two more
/// than anybody else: what `IncrementalCooperativeAssignor` revokes for balance since 3.4.
/// `items` is how many there are, owned or not.
#[must_use]
pub fn least_moves(loads: &[u64], items: u64) -> u64 {
    let members = count(loads.len());
    let Some(least) = items.checked_div(members) else {
        return 0;
    };
    let one_more = items.saturating_sub(least.saturating_mul(members));
    let mut sorted = loads.to_vec();
    sorted.sort_unstable_by(|left, right| right.cmp(left));
    let above = sorted.iter().zip(0_u64..).map(|(load, place)| {
        let target = least.saturating_add(u64::from(place < one_more));
        load.saturating_sub(target)
    });
    above.sum()
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
