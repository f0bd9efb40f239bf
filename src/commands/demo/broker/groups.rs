//! FindCoordinator, ListGroups and DescribeGroups over the groups that the handle sets and those that really joined.

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use kafka_protocol::messages::find_coordinator_response::Coordinator;
use kafka_protocol::messages::list_groups_response::ListedGroup;
use kafka_protocol::messages::{
    ApiKey, BrokerId, DescribeGroupsRequest, DescribeGroupsResponse, FindCoordinatorRequest,
    FindCoordinatorResponse, GroupId, ListGroupsRequest, ListGroupsResponse,
};
use kafka_protocol::protocol::StrBytes;

use super::request::text;
use super::shared::{NODE_ID, Shared};

/// A group as ListGroups and DescribeGroups show it. Nothing is derived: what is set is what clients read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSpec {
    pub group: String,
    /// Kafka's word: `Stable`, `PreparingRebalance`, `CompletingRebalance`, `Empty`, `Dead`.
    pub state: String,
    /// `connect` for Connect workers.
    pub protocol_type: String,
    /// The protocol in force, e.g. `sessioned`; empty while the group has none.
    pub protocol: String,
    pub members: Vec<GroupMember>,
}

/// One member as DescribeGroups shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMember {
    pub member_id: String,
    pub group_instance_id: Option<String>,
    pub client_id: String,
    /// As the coordinator writes it, e.g. `/10.0.0.1`.
    pub client_host: String,
    /// The member's subscription bytes.
    pub metadata: Bytes,
    /// The member's assignment bytes.
    pub assignment: Bytes,
}

/// Groups that still use JoinGroup (KIP-848 calls them so).
const TYPE_CLASSIC: &str = "classic";

/// State of a group that does not exist, in versions that have no error for it.
const STATE_DEAD: &str = "Dead";

/// The first version of DescribeGroups that answers an error for a group that does not exist (KIP-1043).
const GROUP_ID_NOT_FOUND_VERSION: i16 = 6;

/// The first version of FindCoordinator that takes several keys (KIP-699).
const COORDINATOR_KEYS_VERSION: i16 = 4;

const KEY_TYPE_GROUP: i8 = 0;

pub(super) fn find_coordinator(
    shared: &Shared,
    request: &FindCoordinatorRequest,
    version: i16,
) -> FindCoordinatorResponse {
    let error_of = |key: &str| {
        if request.key_type == KEY_TYPE_GROUP {
            shared.faults.on_group(ApiKey::FindCoordinator, key)
        } else {
            // There are no transactions and no share groups to coordinate.
            Some(ResponseError::CoordinatorNotAvailable)
        }
    };
    let host = text(&shared.host());
    let answer = FindCoordinatorResponse::default();
    if version < COORDINATOR_KEYS_VERSION {
        return match error_of(&request.key) {
            None => answer
                .with_node_id(BrokerId(NODE_ID))
                .with_host(host)
                .with_port(shared.port()),
            Some(error) => answer
                .with_error_code(error.code())
                .with_node_id(BrokerId(-1))
                .with_port(-1),
        };
    }
    let coordinators = request.coordinator_keys.iter().map(|key| {
        let found = Coordinator::default().with_key(key.clone());
        match error_of(key) {
            None => found
                .with_node_id(BrokerId(NODE_ID))
                .with_host(host.clone())
                .with_port(shared.port()),
            Some(error) => found
                .with_error_code(error.code())
                .with_node_id(BrokerId(-1))
                .with_port(-1),
        }
    });
    answer.with_coordinators(coordinators.collect())
}

pub(super) fn list(shared: &Shared, request: &ListGroupsRequest) -> ListGroupsResponse {
    if let Some(error) = shared.faults.on_request(ApiKey::ListGroups) {
        return ListGroupsResponse::default().with_error_code(error.code());
    }
    let listed = all(shared)
        .into_iter()
        .filter(|group| matches(&request.states_filter, &group.state))
        .filter(|_| matches(&request.types_filter, TYPE_CLASSIC))
        // A group that the client may not describe is left out, not an error.
        .filter(|group| {
            let denied = shared.faults.on_group(ApiKey::ListGroups, &group.group);
            denied.is_none()
        })
        .map(|group| {
            ListedGroup::default()
                .with_group_id(GroupId(text(&group.group)))
                .with_protocol_type(text(&group.protocol_type))
                .with_group_state(text(&group.state))
                .with_group_type(StrBytes::from_static_str(TYPE_CLASSIC))
        });
    ListGroupsResponse::default().with_groups(listed.collect())
}

pub(super) fn describe(
    shared: &Shared,
    request: &DescribeGroupsRequest,
    version: i16,
) -> DescribeGroupsResponse {
    let known = all(shared);
    let groups = request.groups.iter().map(|wanted| {
        let answer = DescribedGroup::default()
            .with_group_id(wanted.clone())
            .with_authorized_operations(i32::MIN);
        if let Some(error) = shared.faults.on_group(ApiKey::DescribeGroups, wanted) {
            return answer.with_error_code(error.code());
        }
        let found = known.iter().find(|group| group.group == wanted.as_str());
        match found {
            Some(group) => described(answer, group),
            None if version >= GROUP_ID_NOT_FOUND_VERSION => answer
                .with_error_code(ResponseError::GroupIdNotFound.code())
                .with_error_message(Some(text(&format!("Group {} not found.", wanted.as_str()))))
                .with_group_state(StrBytes::from_static_str(STATE_DEAD)),
            None => answer.with_group_state(StrBytes::from_static_str(STATE_DEAD)),
        }
    });
    DescribeGroupsResponse::default().with_groups(groups.collect())
}

/// The groups that were set, then those whose members joined over the wire.
fn all(shared: &Shared) -> Vec<GroupSpec> {
    let mut groups: Vec<GroupSpec> = shared.groups().values().cloned().collect();
    groups.extend(shared.memberships().groups());
    groups
}

/// An empty filter lets everything pass; the coordinator compares without case.
fn matches(filter: &[StrBytes], value: &str) -> bool {
    filter.is_empty()
        || filter
            .iter()
            .any(|wanted| wanted.eq_ignore_ascii_case(value))
}

fn described(answer: DescribedGroup, group: &GroupSpec) -> DescribedGroup {
    let members = group.members.iter().map(|member| {
        DescribedGroupMember::default()
            .with_member_id(text(&member.member_id))
            .with_group_instance_id(member.group_instance_id.as_deref().map(text))
            .with_client_id(text(&member.client_id))
            .with_client_host(text(&member.client_host))
            .with_member_metadata(member.metadata.clone())
            .with_member_assignment(member.assignment.clone())
    });
    answer
        .with_group_state(text(&group.state))
        .with_protocol_type(text(&group.protocol_type))
        .with_protocol_data(text(&group.protocol))
        .with_members(members.collect())
}
