//! Every API in every version: the request's shape is known, and the answer can be decoded.

use std::collections::BTreeSet;

use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic, ForgottenTopic};
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use kafka_protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use kafka_protocol::messages::offset_for_leader_epoch_request::{
    OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::*;

use super::super::bounds;
use super::super::shapes::{SERVED, served};
use super::*;

/// Takes a request of each API, in whatever version it asks for.
pub(super) trait Visitor {
    fn visit<R: Request>(&mut self, make: fn(i16) -> R);
}

/// One request of each API with every array filled, valid in every version that is served.
pub(super) fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(api_versions);
    visitor.visit(produce);
    visitor.visit(fetch);
    visitor.visit(list_offsets);
    visitor.visit(metadata);
    visitor.visit(offset_commit);
    visitor.visit(offset_fetch);
    visitor.visit(find_coordinator);
    visitor.visit(join_group);
    visitor.visit(heartbeat);
    visitor.visit(leave_group);
    visitor.visit(sync_group);
    visitor.visit(|_| DescribeGroupsRequest::default().with_groups(vec![group(), group()]));
    visitor.visit(list_groups);
    visitor.visit(offset_for_leader_epoch);
}

/// The versions of `R` that are served.
pub(super) fn versions<R: Request>() -> std::ops::RangeInclusive<i16> {
    served(R::KEY).unwrap().versions()
}

fn str(value: &'static str) -> StrBytes {
    StrBytes::from_static_str(value)
}

fn name() -> TopicName {
    TopicName(str(TOPIC))
}

fn group() -> GroupId {
    GroupId(str("console"))
}

fn api_versions(version: i16) -> ApiVersionsRequest {
    let request = ApiVersionsRequest::default();
    if version < 3 {
        return request;
    }
    request
        .with_client_software_name(str("raw"))
        .with_client_software_version(str("1"))
}

fn produce(version: i16) -> ProduceRequest {
    let data = PartitionProduceData::default().with_records(Some(Bytes::from_static(b"records")));
    let mut topic = TopicProduceData::default().with_partition_data(vec![data.clone(), data]);
    if version < 13 {
        topic.name = name();
    }
    ProduceRequest::default()
        .with_acks(1)
        .with_topic_data(vec![topic])
}

pub(super) fn fetch(version: i16) -> FetchRequest {
    let partition = FetchPartition::default().with_partition_max_bytes(65_536);
    let mut topic =
        FetchTopic::default().with_partitions(vec![partition.clone(), partition.with_partition(7)]);
    let mut forgotten = ForgottenTopic::default().with_partitions(vec![1, 2]);
    if version < 13 {
        topic.topic = name();
        forgotten.topic = name();
    }
    let request = FetchRequest::default()
        .with_max_bytes(1_048_576)
        .with_topics(vec![topic]);
    if version < 7 {
        return request;
    }
    let request = request.with_forgotten_topics_data(vec![forgotten]);
    if version < 12 {
        return request;
    }
    request.with_cluster_id(Some(str("embedded-test")))
}

fn list_offsets(_: i16) -> ListOffsetsRequest {
    let ask = |timestamp| ListOffsetsPartition::default().with_timestamp(timestamp);
    let partitions = (-6..=1).map(ask).collect();
    let topic = ListOffsetsTopic::default()
        .with_name(name())
        .with_partitions(partitions);
    ListOffsetsRequest::default().with_topics(vec![topic])
}

fn metadata(version: i16) -> MetadataRequest {
    let named =
        |name: &'static str| MetadataRequestTopic::default().with_name(Some(TopicName(str(name))));
    let mut topics = vec![named(TOPIC), named("nowhere")];
    if version >= 10 {
        topics.push(MetadataRequestTopic::default().with_name(None));
    }
    MetadataRequest::default()
        .with_topics(Some(topics))
        .with_allow_auto_topic_creation(true)
}

fn offset_commit(_: i16) -> OffsetCommitRequest {
    let partition = OffsetCommitRequestPartition::default()
        .with_committed_offset(1)
        .with_committed_metadata(Some(str("note")));
    let topic = OffsetCommitRequestTopic::default()
        .with_name(name())
        .with_partitions(vec![partition.clone(), partition.with_partition_index(7)]);
    OffsetCommitRequest::default()
        .with_group_id(group())
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic])
}

fn offset_fetch(version: i16) -> OffsetFetchRequest {
    if version < 8 {
        let topic = OffsetFetchRequestTopic::default()
            .with_name(name())
            .with_partition_indexes(vec![0, 1]);
        return OffsetFetchRequest::default()
            .with_group_id(group())
            .with_topics(Some(vec![topic]));
    }
    let topic = OffsetFetchRequestTopics::default()
        .with_name(name())
        .with_partition_indexes(vec![0, 1]);
    let asked = OffsetFetchRequestGroup::default()
        .with_group_id(group())
        .with_topics(Some(vec![topic]));
    let everything = OffsetFetchRequestGroup::default()
        .with_group_id(group())
        .with_topics(None);
    OffsetFetchRequest::default().with_groups(vec![asked, everything])
}

fn find_coordinator(version: i16) -> FindCoordinatorRequest {
    let request = FindCoordinatorRequest::default();
    if version < 4 {
        request.with_key(str("console"))
    } else {
        request.with_coordinator_keys(vec![str("console"), str("connect-cluster")])
    }
}

fn join_group(version: i16) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(str("range"))
        .with_metadata(Bytes::from_static(b"subscription"));
    let request = JoinGroupRequest::default()
        .with_group_id(group())
        .with_protocol_type(str("consumer"))
        .with_protocols(vec![protocol.clone(), protocol]);
    if version < 5 {
        return request;
    }
    request.with_group_instance_id(Some(str("instance")))
}

fn heartbeat(_: i16) -> HeartbeatRequest {
    HeartbeatRequest::default()
        .with_group_id(group())
        .with_member_id(str("member"))
}

fn leave_group(version: i16) -> LeaveGroupRequest {
    let request = LeaveGroupRequest::default().with_group_id(group());
    if version < 3 {
        return request.with_member_id(str("member"));
    }
    let member = MemberIdentity::default().with_member_id(str("member"));
    request.with_members(vec![member.clone(), member])
}

fn sync_group(_: i16) -> SyncGroupRequest {
    let assignment = SyncGroupRequestAssignment::default()
        .with_member_id(str("member"))
        .with_assignment(Bytes::from_static(b"assignment"));
    SyncGroupRequest::default()
        .with_group_id(group())
        .with_member_id(str("member"))
        .with_assignments(vec![assignment.clone(), assignment])
}

fn list_groups(version: i16) -> ListGroupsRequest {
    let mut request = ListGroupsRequest::default();
    if version >= 4 {
        request.states_filter = vec![str("Stable"), str("Empty")];
    }
    if version >= 5 {
        request.types_filter = vec![str("classic")];
    }
    request
}

fn offset_for_leader_epoch(_: i16) -> OffsetForLeaderEpochRequest {
    let partition = OffsetForLeaderPartition::default();
    let topic = OffsetForLeaderTopic::default()
        .with_topic(name())
        .with_partitions(vec![partition.clone(), partition.with_partition(7)]);
    OffsetForLeaderEpochRequest::default().with_topics(vec![topic])
}

#[test]
fn every_api_that_is_announced_has_a_sample_here() {
    struct Keys(BTreeSet<i16>);
    impl Visitor for Keys {
        fn visit<R: Request>(&mut self, _: fn(i16) -> R) {
            self.0.insert(R::KEY);
        }
    }
    let mut keys = Keys(BTreeSet::new());
    visit_all(&mut keys);
    let announced: BTreeSet<i16> = SERVED.iter().map(|served| served.api as i16).collect();
    assert_eq!(keys.0, announced);
}

#[test]
fn the_shape_of_every_request_ends_where_the_request_ends() {
    struct Shapes;
    impl Visitor for Shapes {
        fn visit<R: Request>(&mut self, make: fn(i16) -> R) {
            let served = served(R::KEY).unwrap();
            for version in versions::<R>() {
                let mut body = Vec::new();
                make(version).encode(&mut body, version).unwrap();
                let flexible = R::header_version(version) >= 2;
                let rest = bounds::check(served.shape, version, flexible, &body);
                assert_eq!(rest.unwrap(), 0, "{:?} version {version}", served.api);
            }
        }
    }
    visit_all(&mut Shapes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_api_answers_in_every_version() {
    struct Calls(RawClient);
    impl Visitor for Calls {
        fn visit<R: Request>(&mut self, make: fn(i16) -> R) {
            for version in versions::<R>() {
                println!("api {} version {version}", R::KEY);
                self.0.call(version, &make(version));
            }
        }
    }
    let broker = broker().await;
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    visit_all(&mut Calls(RawClient::connect(&broker)));
    for served in SERVED {
        let versions = u64::try_from(served.versions().count()).unwrap();
        assert_eq!(broker.requests(served.api), versions, "{:?}", served.api);
        assert!(broker.bytes_out(served.api) > 0);
    }
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn api_versions_answers_a_version_it_does_not_know_in_the_first_one() {
    let broker = broker().await;
    let mut client = RawClient::connect(&broker);
    let mut unknown = frame(4, &api_versions(4));
    unknown[7] = 99;
    client.send(&unknown);
    let mut answer = client.answer().unwrap();
    ResponseHeader::decode(&mut answer, 0).unwrap();
    let response = ApiVersionsResponse::decode(&mut answer, 0).unwrap();
    assert_eq!(
        response.error_code,
        super::super::ResponseError::UnsupportedVersion.code()
    );
    assert_eq!(response.api_keys.len(), SERVED.len());
    assert_eq!(client.call(4, &api_versions(4)).error_code, 0);
    broker.shutdown().await;
}
