//! The questions: what is asked in which version. One group, one coordinator.

mod cluster;

use evenkeel_core::facts::poll::{Description, PolledState};
use evenkeel_core::facts::time::ArrivalTime;
use kafka_protocol::messages::{
    ApiKey, DescribeGroupsRequest, FindCoordinatorRequest, GroupId, ListGroupsRequest,
    MetadataRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::error::AskError;
use super::reply::{self, Node};
use super::socket::{Asked, Connection};
use crate::read::kafka::Now;
pub(super) use cluster::cluster;

/// The two states of a rebalance, as the filter of `ListGroups` names them (KIP-518).
const REBALANCING: [&str; 2] = ["PreparingRebalance", "CompletingRebalance"];

/// `FindCoordinator` of a group, not of a transaction.
const KEY_TYPE_GROUP: i8 = 0;

/// The first version of `FindCoordinator` that takes several keys (KIP-699).
const COORDINATOR_KEYS_VERSION: i16 = 4;

/// The first version of `ListGroups` with a filter of states: Kafka 2.6.
const STATES_FILTER_VERSION: i16 = 4;

/// An answer, what it cost, and the moments around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answered<T> {
    /// When the question was about to be sent.
    pub(super) asked: ArrivalTime,
    /// When the answer was in hand.
    pub(super) at: ArrivalTime,
    /// Bytes of the answer.
    pub(super) bytes: usize,
    pub(super) value: T,
}

/// Who coordinates the group?
pub(super) async fn find(
    connection: &mut Connection,
    group: &str,
    now: &Now,
) -> Result<Node, AskError> {
    let api = "FindCoordinator";
    let version = connection.version(ApiKey::FindCoordinator, 0, COORDINATOR_KEYS_VERSION);
    let version = version.ok_or(AskError::Unsupported { api })?;
    let key = StrBytes::from_string(group.to_owned());
    let mut request = FindCoordinatorRequest::default();
    if version >= COORDINATOR_KEYS_VERSION {
        request.coordinator_keys = vec![key];
    } else {
        request.key = key;
    }
    request.key_type = KEY_TYPE_GROUP;
    let answer = connection.ask(api, &request, version, now).await?;
    reply::coordinator(answer.body.bytes(), version)
}

/// Which brokers are there? No topic is asked for.
pub(super) async fn brokers(connection: &mut Connection, now: &Now) -> Result<Vec<Node>, AskError> {
    let api = "Metadata";
    let version = connection.version(ApiKey::Metadata, 1, 12);
    let version = version.ok_or(AskError::Unsupported { api })?;
    let request = MetadataRequest::default()
        .with_topics(Some(Vec::new()))
        .with_allow_auto_topic_creation(false);
    // Version 1 to 3 know no such field, and ask for no topic that could be created.
    let request = if version < 4 {
        request.with_allow_auto_topic_creation(true)
    } else {
        request
    };
    let answer = connection.ask(api, &request, version, now).await?;
    reply::brokers(answer.body.bytes(), version)
}

/// Is the group rebalancing, and in which of the two states? `None` where the broker has
/// no filter: all groups of a cluster are not worth the question.
pub(super) async fn list(
    connection: &mut Connection,
    group: &str,
    now: &Now,
) -> Result<Option<Answered<Option<PolledState>>>, AskError> {
    let version = connection.version(ApiKey::ListGroups, STATES_FILTER_VERSION, 5);
    let Some(version) = version else {
        return Ok(None);
    };
    let states = REBALANCING.map(StrBytes::from_static_str).to_vec();
    let request = ListGroupsRequest::default().with_states_filter(states);
    let answer = connection.ask("ListGroups", &request, version, now).await?;
    let value = reply::listed(answer.body.bytes(), version, group)?;
    Ok(Some(Answered::of(&answer, value)))
}

/// What is the group's state, and who is in it?
pub(super) async fn describe(
    connection: &mut Connection,
    group: &str,
    now: &Now,
) -> Result<Answered<Description>, AskError> {
    let api = "DescribeGroups";
    let version = connection.version(ApiKey::DescribeGroups, 0, 6);
    let version = version.ok_or(AskError::Unsupported { api })?;
    let wanted = GroupId(StrBytes::from_string(group.to_owned()));
    let request = DescribeGroupsRequest::default().with_groups(vec![wanted]);
    let answer = connection.ask(api, &request, version, now).await?;
    let value = reply::described(answer.body.bytes(), version, group)?;
    Ok(Answered::of(&answer, value))
}

// === impl Answered ===

impl<T> Answered<T> {
    fn of(answer: &Asked, value: T) -> Self {
        Self {
            asked: answer.asked,
            at: answer.at,
            bytes: answer.body.wire_len(),
            value,
        }
    }
}
