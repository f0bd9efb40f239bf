//! Which member is the worker beside the agent.

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
    let here = |member: &&Arc<Member>| {
        settings
            .own_addresses
            .iter()
            .any(|address| **address == *member.client_host)
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

/// What part the member has: all sidecars that read the same record say the same, without
/// talking to each other.
#[must_use]
pub fn role(group: &GroupSnapshot, own: &Member) -> Role {
    let Some(leader) = group.leader_member() else {
        return Role::Member;
    };
    if leader.id == own.id {
        return Role::Leader;
    }
    let mut by_worker: Vec<&Arc<Member>> = group.members.iter().collect();
    by_worker.sort_by(|left, right| (&left.worker, &left.id).cmp(&(&right.worker, &right.id)));
    let after_leader = by_worker
        .iter()
        .position(|member| member.id == leader.id)
        .and_then(|place| by_worker.get((place + 1) % by_worker.len()));
    if after_leader.is_some_and(|deputy| deputy.id == own.id) {
        Role::Deputy
    } else {
        Role::Member
    }
}
