//! Which member is the worker beside the agent.

use std::net::IpAddr;
use std::sync::Arc;

use crate::answers::Role;
use crate::facts::input::Settings;
use crate::facts::observation::{GroupSnapshot, Member};

/// The member beside the agent: the one that connects from one of our addresses, and of
/// several such the one that a person or the worker's file names; where none does, the
/// member of that name. Behind address translation no member connects from our address,
/// and two workers on one machine share it.
#[must_use]
pub fn member<'a>(settings: &Settings, group: &'a GroupSnapshot) -> Option<&'a Arc<Member>> {
    let named = |member: &&Arc<Member>| {
        settings
            .own_worker
            .as_deref()
            .is_some_and(|own| own == &*member.worker)
    };
    let own: Vec<IpAddr> = settings
        .own_addresses
        .iter()
        .filter_map(|own| address(own))
        .collect();
    let here = |member: &&Arc<Member>| {
        address(&member.client_host).is_some_and(|address| own.contains(&address))
    };
    let only = |mut members: Vec<&'a Arc<Member>>| match members.len() {
        1 => members.pop(),
        _ => None,
    };
    let neighbours: Vec<&Arc<Member>> = group.members.iter().filter(here).collect();
    match neighbours.len() {
        1 => only(neighbours),
        0 => only(group.members.iter().filter(named).collect()),
        _ => only(neighbours.into_iter().filter(named).collect()),
    }
}

/// An address, however it is written: Java writes all groups of an IPv6 address, and the
/// interface behind a `%`.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.split_once('%').map_or(text, |(address, _)| address);
    let address: IpAddr = text.parse().ok()?;
    Some(address.to_canonical())
}

/// What part the member has: all sidecars that read the same record say the same, without
/// talking to each other.
#[must_use]
pub fn role(group: &GroupSnapshot, own: &Member) -> Role {
    match group.leader_member() {
        Some(leader) if leader.id == own.id => Role::Leader,
        Some(_) if deputy(group).is_some_and(|deputy| deputy.id == own.id) => Role::Deputy,
        Some(_) | None => Role::Member,
    }
}

/// The next member after the leader by worker id; the leader itself where it is alone.
#[must_use]
pub fn deputy(group: &GroupSnapshot) -> Option<&Arc<Member>> {
    let leader = group.leader_member()?;
    let mut by_worker: Vec<&Arc<Member>> = group.members.iter().collect();
    by_worker.sort_by(|left, right| (&left.worker, &left.id).cmp(&(&right.worker, &right.id)));
    let place = by_worker.iter().position(|member| member.id == leader.id)?;
    by_worker.get((place + 1) % by_worker.len()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_is_written_in_many_ways() {
        for (java, rust) in [
            ("10.0.0.7", "10.0.0.7"),
            ("fd00:0:0:0:0:0:0:7", "fd00::7"),
            ("fe80:0:0:0:0:0:0:7%eth0", "fe80::7"),
            ("::ffff:10.0.0.7", "10.0.0.7"),
        ] {
            assert!(address(java).is_some());
            assert_eq!(address(java), address(rust));
        }
        assert_eq!(address("worker-a"), None);
        assert_ne!(address("10.0.0.7"), address("10.0.0.8"));
    }
}
