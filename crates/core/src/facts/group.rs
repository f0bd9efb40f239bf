//! A group-metadata record of a Connect group, in our words.
//!
//! A member whose bytes are the same as in the record before is not read again: in a
//! storm of a large group almost none of them changes (measured: 24,700 records/s
//! become 86,700).

use std::hash::Hasher;
use std::sync::Arc;

use siphasher::sip::SipHasher13;

use crate::facts::ids::{Names, Protocol, WorkItem};
use crate::facts::observation::{AssignmentError, Claim, GroupSnapshot, Member};
use crate::facts::poll::{Description, PolledMember, PolledState};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::wire::connect_protocol::{
    Assignment, CONFIG_MISMATCH, Claim as WireClaim, ItemList, Subscription,
};
use crate::wire::group_record::{GroupMetadata, Member as WireMember};
use crate::wire::offsets_key::OffsetsKey;
use crate::wire::{DecodeError, Decoded, Unknown};

/// What a group record turned out to be.
#[derive(Debug, Clone)]
pub enum GroupFact {
    /// A round of a Connect group, or a Connect group without members; with what could
    /// not be read of its members.
    Snapshot(Box<GroupSnapshot>, Vec<DecodeError>),
    /// The group was deleted.
    Tombstone,
    /// A group of another type (`consumer`) has this id.
    ForeignType(String),
    /// A value version of a later release.
    Unknown(Unknown),
}

/// Whether a key of the offsets topic is that of a group-metadata record.
///
/// # Errors
/// Bytes that are no key.
pub fn is_group_key(key: Option<&[u8]>) -> Result<bool, DecodeError> {
    let key = key.map(OffsetsKey::decode).transpose()?;
    Ok(matches!(key, Some(OffsetsKey::GroupMetadata { .. })))
}

/// Reads the value of a group-metadata record. `before` is the record before it.
///
/// # Errors
/// The value is not a group-metadata value.
pub fn decode(
    value: Option<&[u8]>,
    offset: i64,
    recorded: EventTime,
    before: Option<&GroupSnapshot>,
    names: &mut Names,
) -> Result<GroupFact, DecodeError> {
    let Some(value) = value else {
        return Ok(GroupFact::Tombstone);
    };
    let group = match GroupMetadata::decode(value)? {
        Decoded::Known(group) => group,
        Decoded::Unknown(unknown) => return Ok(GroupFact::Unknown(unknown)),
    };
    // A group that nobody joined yet has the empty type (Java coordinator).
    if group.protocol_type != "connect" && !group.protocol_type.is_empty() {
        return Ok(GroupFact::ForeignType(
            group.protocol_type.chars().take(40).collect(),
        ));
    }
    let protocol = group.protocol.and_then(Protocol::from_wire);
    let mut problems = Vec::new();
    let mut snapshot = GroupSnapshot {
        offset,
        recorded,
        join_ended: group.current_state_timestamp_ms.map(EventTime),
        generation: group.generation,
        protocol,
        leader: group.leader.map(Arc::from),
        leader_url: None,
        error: None,
        delay_ms: 0,
        config_offset: None,
        members: Vec::with_capacity(group.members.len()),
        shared: Vec::new(),
        bytes: u64::try_from(value.len()).unwrap_or(u64::MAX),
    };
    snapshot.take_members(&group.members, before, names, &mut problems);
    Ok(GroupFact::Snapshot(Box::new(snapshot), problems))
}

/// What the coordinator's description of the group says, in the words of a record: the
/// bytes of its members are the same. What only records hold (generation, times,
/// timeouts) stays empty. `None` unless the group is at rest: while it is not, members
/// are described without what they said, or with what they were told before.
pub fn described(
    description: &Description,
    at: EventTime,
    before: Option<&GroupSnapshot>,
    names: &mut Names,
    problems: &mut Vec<DecodeError>,
) -> Option<GroupSnapshot> {
    let members: &[PolledMember] = match description.state {
        PolledState::Stable => &description.members,
        PolledState::Empty | PolledState::Dead => &[],
        PolledState::PreparingRebalance | PolledState::CompletingRebalance | PolledState::Other => {
            return None;
        }
    };
    let wire: Vec<WireMember<'_>> = members
        .iter()
        .map(|member| WireMember {
            member_id: &member.member_id,
            group_instance_id: member.instance_id.as_deref(),
            client_id: &member.client_id,
            client_host: &member.client_host,
            rebalance_timeout_ms: None,
            session_timeout_ms: 0,
            subscription: &member.metadata,
            assignment: &member.assignment,
        })
        .collect();
    let mut snapshot = GroupSnapshot {
        offset: -1,
        recorded: at,
        join_ended: None,
        generation: -1,
        protocol: Protocol::from_wire(&description.protocol),
        leader: None,
        leader_url: None,
        error: None,
        delay_ms: 0,
        config_offset: None,
        members: Vec::with_capacity(wire.len()),
        shared: Vec::new(),
        bytes: 0,
    };
    snapshot.take_members(&wire, before, names, problems);
    Some(snapshot)
}

impl GroupSnapshot {
    fn take_members(
        &mut self,
        members: &[WireMember<'_>],
        before: Option<&Self>,
        names: &mut Names,
        problems: &mut Vec<DecodeError>,
    ) {
        let protocol = self.protocol;
        for wire in members {
            let assignment = match Assignment::decode(wire.assignment) {
                Ok(assignment) => assignment,
                Err(error) => {
                    problems.push(error);
                    None
                }
            };
            if let Some(assignment) = &assignment {
                self.take_round(assignment);
            }
            let fingerprint = fingerprint(wire, protocol);
            let same = before
                .and_then(|before| before.member(wire.member_id))
                .filter(|member| member.fingerprint == fingerprint);
            self.members.push(match same {
                Some(member) => Arc::clone(member),
                None => Arc::new(member(
                    wire,
                    assignment.as_ref(),
                    protocol,
                    fingerprint,
                    names,
                    problems,
                )),
            });
        }
        self.members.sort_by(|left, right| left.id.cmp(&right.id));
        self.members.dedup_by(|later, first| later.id == first.id);
        self.note_shared();
    }

    /// What the leader says to all: the same in every member's assignment.
    fn take_round(&mut self, assignment: &Assignment<'_>) {
        if assignment.error != 0 {
            self.error = Some(match assignment.error {
                CONFIG_MISMATCH => AssignmentError::ConfigMismatch,
                _ => AssignmentError::Other,
            });
        }
        self.delay_ms = self.delay_ms.max(assignment.delay_ms);
        self.config_offset = self.config_offset.max(Some(assignment.config_offset));
        // Records name the leader themselves; a description does not.
        if self.leader.is_none() && !assignment.leader.is_empty() {
            self.leader = Some(Arc::from(assignment.leader));
        }
        if self.leader_url.is_none() && !assignment.leader_url.is_empty() {
            self.leader_url = Some(Arc::from(assignment.leader_url));
        }
    }
}

fn member(
    wire: &WireMember<'_>,
    assignment: Option<&Assignment<'_>>,
    protocol: Option<Protocol>,
    fingerprint: u64,
    names: &mut Names,
    problems: &mut Vec<DecodeError>,
) -> Member {
    let host = wire
        .client_host
        .strip_prefix('/')
        .unwrap_or(wire.client_host);
    let mut member = Member {
        id: Arc::from(wire.member_id),
        client_id: Arc::from(wire.client_id),
        client_host: Arc::from(host),
        session_timeout_ms: wire.session_timeout_ms,
        rebalance_timeout_ms: wire.effective_rebalance_timeout_ms(),
        url: Arc::from(""),
        worker: Arc::from(host),
        config_offset: None,
        claim: Claim::Unsaid,
        received: None,
        handed: assignment.map(mark),
        assigned: assignment
            .map(|a| items(&a.assigned, names))
            .unwrap_or_default(),
        revoked: assignment
            .map(|a| items(&a.revoked, names))
            .unwrap_or_default(),
        told: Vec::new(),
        fingerprint,
    };
    match Subscription::decode(wire.subscription) {
        Ok(subscription) => {
            member.url = Arc::from(subscription.url);
            let worker = worker_of(subscription.url);
            if !worker.is_empty() {
                member.worker = Arc::from(worker);
            }
            member.config_offset = Some(subscription.config_offset);
            if protocol.is_none_or(Protocol::is_cooperative) {
                take_claim(&mut member, &subscription.claim, names, problems);
            }
        }
        Err(error) => problems.push(error),
    }
    member.told = told(&member);
    member
}

fn take_claim(
    member: &mut Member,
    claim: &WireClaim<'_>,
    names: &mut Names,
    problems: &mut Vec<DecodeError>,
) {
    if let WireClaim::Held(held) = claim {
        member.received = Some(mark(held));
    }
    member.claim = match claim {
        WireClaim::Absent | WireClaim::Null => Claim::Nothing,
        WireClaim::ZeroLength => Claim::Items(Vec::new()),
        WireClaim::Held(held) => Claim::Items(items(&held.assigned, names)),
        WireClaim::Broken(error) => {
            problems.push(*error);
            Claim::Unsaid
        }
    };
}

/// What tells one round's assignments from another's, as far as anything does: the leader, the
/// config offset and the delay. A worker keeps these of what it received last
/// (`ExtendedAssignment`), and its next claim carries them.
fn mark(assignment: &Assignment<'_>) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(assignment.leader.as_bytes());
    hasher.write_i64(assignment.config_offset);
    hasher.write_i32(assignment.delay_ms);
    hasher.finish()
}

/// D2: cooperative `claim − revoked + assigned`, eager `assigned`
/// (`IncrementalCooperativeAssignor`, `EagerAssignor`).
fn told(member: &Member) -> Vec<WorkItem> {
    match &member.claim {
        Claim::Items(claimed) => {
            sets::union(&sets::minus(claimed, &member.revoked), &member.assigned)
        }
        Claim::Nothing | Claim::Unsaid => member.assigned.clone(),
    }
}

fn items(list: &ItemList<'_>, names: &mut Names) -> Vec<WorkItem> {
    let mut items = Vec::with_capacity(list.len());
    for entry in list.connectors() {
        let connector = names.intern(entry.connector);
        items.extend(entry.tasks().map(|task| WorkItem { connector, task }));
    }
    sets::normalize(&mut items);
    items
}

/// `host:port` of an advertised URL, as status records write it. Taken as it stands:
/// hosts with spaces, bare IPv6 addresses and texts that are no URL occur.
#[must_use]
pub fn worker_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split_once('/').map_or(rest, |(host, _)| host)
}

fn fingerprint(wire: &WireMember<'_>, protocol: Option<Protocol>) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(wire.subscription);
    hasher.write_u8(protocol.map_or(0, |protocol| match protocol {
        Protocol::Eager => 1,
        Protocol::Compatible => 2,
        Protocol::Sessioned => 3,
    }));
    hasher.write_usize(wire.subscription.len());
    hasher.write(wire.assignment);
    hasher.write(wire.client_host.as_bytes());
    hasher.write_i32(wire.session_timeout_ms);
    hasher.write_i32(wire.effective_rebalance_timeout_ms());
    hasher.finish()
}
