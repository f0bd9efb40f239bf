//! Consumer groups of one member: enough for a console consumer that subscribes and commits.
//!
//! The first member of a group leads it and owns everything; a second one is refused with `GROUP_MAX_SIZE_REACHED`.
//! A member lives as long as the connection it joined on: there are no session timers here.

use std::collections::BTreeMap;

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::join_group_response::JoinGroupResponseMember;
use kafka_protocol::messages::leave_group_response::MemberResponse;
use kafka_protocol::messages::{
    ApiKey, HeartbeatRequest, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse,
    LeaveGroupRequest, LeaveGroupResponse, SyncGroupRequest, SyncGroupResponse,
};

use super::groups::{GroupMember, GroupSpec};
use super::request::text;
use super::serve::Peer;
use super::shared::Shared;

/// Groups with a member.
const MEMBERSHIPS_MAX: usize = 256;

/// Groups whose generation is remembered; beyond that, those without a member are forgotten.
const GENERATIONS_MAX: usize = 1_000;

/// The first version in which LeaveGroup names several members (KIP-345).
const LEAVE_SEVERAL_VERSION: i16 = 3;

/// The one member of a group.
#[derive(Debug)]
struct Membership {
    connection: u64,
    generation: i32,
    protocol_type: String,
    protocol: String,
    member: GroupMember,
    synced: bool,
}

/// Groups by id.
#[derive(Debug, Default)]
pub(super) struct Memberships {
    groups: BTreeMap<String, Membership>,
    generations: BTreeMap<String, i32>,
    members_joined: u64,
}

impl Memberships {
    pub(super) fn connection_closed(&mut self, connection: u64) {
        self.groups
            .retain(|_, membership| membership.connection != connection);
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = GroupSpec> {
        self.groups.iter().map(|(group, membership)| GroupSpec {
            group: group.clone(),
            state: match membership.synced {
                true => "Stable".to_owned(),
                false => "CompletingRebalance".to_owned(),
            },
            protocol_type: membership.protocol_type.clone(),
            protocol: membership.protocol.clone(),
            members: vec![membership.member.clone()],
        })
    }

    /// The member of `group`, if `member_id` and `generation` are its own.
    fn current(
        &mut self,
        group: &str,
        member_id: &str,
        generation: i32,
    ) -> Result<&mut Membership, ResponseError> {
        let membership = self
            .groups
            .get_mut(group)
            .filter(|membership| membership.member.member_id == member_id)
            .ok_or(ResponseError::UnknownMemberId)?;
        if membership.generation != generation {
            return Err(ResponseError::IllegalGeneration);
        }
        Ok(membership)
    }

    fn admit(
        &mut self,
        peer: Peer,
        client_id: &str,
        request: &JoinGroupRequest,
    ) -> Result<&Membership, ResponseError> {
        let group = request.group_id.as_str();
        if group.is_empty() {
            return Err(ResponseError::InvalidGroupId);
        }
        let protocol = request
            .protocols
            .first()
            .ok_or(ResponseError::InconsistentGroupProtocol)?;
        let member_id = match (self.groups.get(group), request.member_id.as_str()) {
            (Some(membership), claimed) if membership.member.member_id == claimed => {
                claimed.to_owned()
            }
            (Some(_), _) => return Err(ResponseError::GroupMaxSizeReached),
            (None, "") => {
                if self.groups.len() >= MEMBERSHIPS_MAX {
                    return Err(ResponseError::CoordinatorNotAvailable);
                }
                self.members_joined += 1;
                format!("{client_id}-{}", self.members_joined)
            }
            (None, _) => return Err(ResponseError::UnknownMemberId),
        };
        let generation = self.next_generation(group);
        let membership = Membership {
            connection: peer.connection,
            generation,
            protocol_type: request.protocol_type.to_string(),
            protocol: protocol.name.to_string(),
            member: GroupMember {
                member_id,
                group_instance_id: request.group_instance_id.as_ref().map(ToString::to_string),
                client_id: client_id.to_owned(),
                client_host: format!("/{}", peer.address.ip()),
                metadata: protocol.metadata.clone(),
                assignment: Bytes::new(),
            },
            synced: false,
        };
        self.groups.insert(group.to_owned(), membership);
        self.groups.get(group).ok_or(ResponseError::UnknownMemberId)
    }

    fn next_generation(&mut self, group: &str) -> i32 {
        if self.generations.len() >= GENERATIONS_MAX {
            let groups = &self.groups;
            self.generations
                .retain(|known, _| known == group || groups.contains_key(known));
        }
        let generation = self.generations.entry(group.to_owned()).or_insert(0);
        *generation = generation.saturating_add(1);
        *generation
    }

    fn remove(&mut self, group: &str, member_id: &str) -> Option<ResponseError> {
        let is_member = self
            .groups
            .get(group)
            .is_some_and(|membership| membership.member.member_id == member_id);
        if is_member {
            self.groups.remove(group);
            None
        } else {
            Some(ResponseError::UnknownMemberId)
        }
    }
}

pub(super) fn join(
    shared: &Shared,
    peer: Peer,
    client_id: &str,
    request: &JoinGroupRequest,
) -> JoinGroupResponse {
    let group = request.group_id.as_str();
    let denied = shared.faults.on_group(ApiKey::JoinGroup, group);
    // A consumer is no Connect worker: a coordinator refuses another protocol type in the same way.
    let taken = shared
        .groups()
        .contains_key(group)
        .then_some(ResponseError::InconsistentGroupProtocol);
    let refused = |error: ResponseError| {
        JoinGroupResponse::default()
            .with_error_code(error.code())
            .with_generation_id(-1)
            // Null is allowed from version 7 on only.
            .with_protocol_name(Some(text("")))
            .with_member_id(request.member_id.clone())
    };
    if let Some(error) = denied.or(taken) {
        return refused(error);
    }
    let mut memberships = shared.memberships();
    match memberships.admit(peer, client_id, request) {
        Err(error) => refused(error),
        Ok(membership) => JoinGroupResponse::default()
            .with_generation_id(membership.generation)
            .with_protocol_type(Some(text(&membership.protocol_type)))
            .with_protocol_name(Some(text(&membership.protocol)))
            .with_leader(text(&membership.member.member_id))
            .with_member_id(text(&membership.member.member_id))
            .with_members(vec![
                JoinGroupResponseMember::default()
                    .with_member_id(text(&membership.member.member_id))
                    .with_group_instance_id(request.group_instance_id.clone())
                    .with_metadata(membership.member.metadata.clone()),
            ]),
    }
}

pub(super) fn sync(shared: &Shared, request: &SyncGroupRequest) -> SyncGroupResponse {
    let group = request.group_id.as_str();
    if let Some(error) = shared.faults.on_group(ApiKey::SyncGroup, group) {
        return SyncGroupResponse::default().with_error_code(error.code());
    }
    let mut memberships = shared.memberships();
    match memberships.current(group, &request.member_id, request.generation_id) {
        Err(error) => SyncGroupResponse::default().with_error_code(error.code()),
        Ok(membership) => {
            let own = request
                .assignments
                .iter()
                .find(|assignment| assignment.member_id == request.member_id);
            if let Some(own) = own {
                membership.member.assignment = own.assignment.clone();
            }
            membership.synced = true;
            SyncGroupResponse::default()
                .with_protocol_type(Some(text(&membership.protocol_type)))
                .with_protocol_name(Some(text(&membership.protocol)))
                .with_assignment(membership.member.assignment.clone())
        }
    }
}

pub(super) fn heartbeat(shared: &Shared, request: &HeartbeatRequest) -> HeartbeatResponse {
    let group = request.group_id.as_str();
    let error = shared
        .faults
        .on_group(ApiKey::Heartbeat, group)
        .or_else(|| check_member(shared, group, &request.member_id, request.generation_id).err());
    HeartbeatResponse::default().with_error_code(error.map_or(0, |error| error.code()))
}

/// Whether `member_id` is the member of `group` in this generation.
pub(super) fn check_member(
    shared: &Shared,
    group: &str,
    member_id: &str,
    generation: i32,
) -> Result<(), ResponseError> {
    shared
        .memberships()
        .current(group, member_id, generation)
        .map(|_| ())
}

pub(super) fn leave(
    shared: &Shared,
    request: &LeaveGroupRequest,
    version: i16,
) -> LeaveGroupResponse {
    let group = request.group_id.as_str();
    let code = |error: Option<ResponseError>| error.map_or(0, |error| error.code());
    if let Some(error) = shared.faults.on_group(ApiKey::LeaveGroup, group) {
        return LeaveGroupResponse::default().with_error_code(error.code());
    }
    let mut memberships = shared.memberships();
    if version < LEAVE_SEVERAL_VERSION {
        let error = memberships.remove(group, &request.member_id);
        return LeaveGroupResponse::default().with_error_code(code(error));
    }
    let members = request.members.iter().map(|leaving| {
        MemberResponse::default()
            .with_member_id(leaving.member_id.clone())
            .with_group_instance_id(leaving.group_instance_id.clone())
            .with_error_code(code(memberships.remove(group, &leaving.member_id)))
    });
    let members = members.collect();
    LeaveGroupResponse::default().with_members(members)
}
