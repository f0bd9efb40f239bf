//! Groups: those that are set and those whose member joins over the wire.

use kafka_protocol::messages::*;

use super::super::{ApiKey, GroupMember, GroupSpec, ResponseError, Target};
use super::*;

fn connect_group(group: &str, state: &str) -> GroupSpec {
    GroupSpec {
        group: group.to_owned(),
        state: state.to_owned(),
        protocol_type: "connect".to_owned(),
        protocol: "sessioned".to_owned(),
        members: vec![GroupMember {
            member_id: "connect-1-abc".to_owned(),
            group_instance_id: None,
            client_id: "connect-1".to_owned(),
            client_host: "/10.0.0.1".to_owned(),
            metadata: Bytes::from_static(&[0, 2, 0xff]),
            assignment: Bytes::from_static(&[0, 1]),
        }],
    }
}

fn list(client: &mut RawClient, version: i16, states: &[&'static str]) -> Vec<String> {
    let states = states.iter().map(|state| StrBytes::from_static_str(state));
    let mut request = ListGroupsRequest::default();
    request.states_filter = states.collect();
    let response = client.call(version, &request);
    assert_eq!(response.error_code, 0);
    let mut groups: Vec<String> = response
        .groups
        .iter()
        .map(|group| group.group_id.to_string())
        .collect();
    groups.sort();
    groups
}

fn describe(
    client: &mut RawClient,
    version: i16,
    group: &'static str,
) -> describe_groups_response::DescribedGroup {
    let groups = vec![GroupId(StrBytes::from_static_str(group))];
    let request = DescribeGroupsRequest::default().with_groups(groups);
    client.call(version, &request).groups.remove(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_are_listed_by_state_and_described_byte_for_byte() {
    let broker = broker().await;
    broker.set_group(connect_group("a", "Stable"));
    broker.set_group(connect_group("b", "PreparingRebalance"));
    let mut client = RawClient::connect(&broker);
    assert_eq!(list(&mut client, 3, &[]), ["a", "b"]);
    let rebalancing = ["PreparingRebalance", "CompletingRebalance"];
    assert_eq!(list(&mut client, 5, &rebalancing), ["b"]);
    assert_eq!(list(&mut client, 5, &["stable"]), ["a"]);

    let described = describe(&mut client, 5, "a");
    assert_eq!(&*described.group_state, "Stable");
    assert_eq!(&*described.protocol_type, "connect");
    assert_eq!(&*described.protocol_data, "sessioned");
    assert_eq!(described.members.len(), 1);
    assert_eq!(&described.members[0].member_metadata[..], [0, 2, 0xff]);
    assert_eq!(&described.members[0].member_assignment[..], [0, 1]);

    broker.set_group(connect_group("b", "CompletingRebalance"));
    broker.remove_group("a");
    assert_eq!(list(&mut client, 5, &rebalancing), ["b"]);
    let gone = describe(&mut client, 5, "a");
    assert_eq!((gone.error_code, &*gone.group_state), (0, "Dead"));
    let gone = describe(&mut client, 6, "a");
    assert_eq!(gone.error_code, ResponseError::GroupIdNotFound.code());
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_group_is_left_out_of_the_list_and_refused_by_name() {
    let broker = broker().await;
    broker.set_group(connect_group("a", "Stable"));
    broker.set_group(connect_group("b", "Stable"));
    let target = Target::Group("a".to_owned());
    let refused = ResponseError::GroupAuthorizationFailed;
    broker.deny(ApiKey::ListGroups, target.clone(), refused);
    broker.deny(ApiKey::DescribeGroups, target, refused);
    broker.deny(
        ApiKey::FindCoordinator,
        Target::Group("a".to_owned()),
        ResponseError::CoordinatorNotAvailable,
    );
    let mut client = RawClient::connect(&broker);
    assert_eq!(list(&mut client, 4, &[]), ["b"]);
    assert_eq!(describe(&mut client, 5, "a").error_code, refused.code());
    assert_eq!(describe(&mut client, 5, "b").error_code, 0);
    let keys = vec![
        StrBytes::from_static_str("a"),
        StrBytes::from_static_str("b"),
    ];
    let found = client.call(
        4,
        &FindCoordinatorRequest::default().with_coordinator_keys(keys),
    );
    let codes: Vec<i16> = found
        .coordinators
        .iter()
        .map(|found| found.error_code)
        .collect();
    assert_eq!(codes, [ResponseError::CoordinatorNotAvailable.code(), 0]);
    assert_eq!(
        found.coordinators[1].port,
        i32::from(broker.address().port())
    );

    broker.deny(
        ApiKey::ListGroups,
        Target::All,
        ResponseError::ClusterAuthorizationFailed,
    );
    let response = client.call(5, &ListGroupsRequest::default());
    assert_eq!(
        response.error_code,
        ResponseError::ClusterAuthorizationFailed.code()
    );
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn librdkafka_lists_a_connect_group() {
    let broker = broker().await;
    broker.set_group(connect_group("connect-cluster", "Stable"));
    let consumer = consumer(&broker, &[]);
    let listed = consumer
        .fetch_group_list(Some("connect-cluster"), DEADLINE)
        .unwrap();
    let group = &listed.groups()[0];
    assert_eq!(group.state(), "Stable");
    assert_eq!(group.protocol_type(), "connect");
    assert_eq!(group.members()[0].client_host(), "/10.0.0.1");
    assert_eq!(group.members()[0].metadata(), Some(&[0, 2, 0xff][..]));
    broker.shutdown().await;
}

fn subscriber(broker: &Broker) -> BaseConsumer {
    let settings = [
        ("group.id", "console"),
        ("auto.offset.reset", "earliest"),
        ("enable.partition.eof", "false"),
    ];
    let consumer = consumer(broker, &settings);
    consumer.subscribe(&[TOPIC]).unwrap();
    consumer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscriber_gets_all_partitions_commits_and_goes_on_from_there() {
    let broker = broker().await;
    for n in 0..3 {
        broker.append(TOPIC, 0, record("k", "v", n)).unwrap();
        broker.append(TOPIC, 1, record("k", "v", n)).unwrap();
    }
    let consumer = subscriber(&broker);
    for _ in 0..6 {
        next(&consumer).unwrap();
    }
    let mut client = RawClient::connect(&broker);
    let described = describe(&mut client, 5, "console");
    assert_eq!(&*described.group_state, "Stable");
    assert_eq!(&*described.protocol_type, "consumer");
    assert!(!described.members[0].member_assignment.is_empty());

    let mut done = TopicPartitionList::new();
    done.add_partition_offset(TOPIC, 0, Offset::Offset(2))
        .unwrap();
    done.add_partition_offset(TOPIC, 1, Offset::Offset(3))
        .unwrap();
    consumer
        .commit(&done, rdkafka::consumer::CommitMode::Sync)
        .unwrap();
    {
        // A list that outlives its consumer keeps librdkafka from ever finishing its destruction.
        let committed = consumer.committed(DEADLINE).unwrap();
        let elements = committed.elements_for_topic(TOPIC);
        assert_eq!(elements[0].offset(), Offset::Offset(2));
    }
    drop(consumer);
    eventually("the member left", || list(&mut client, 4, &[]).is_empty());

    let consumer = subscriber(&broker);
    assert_eq!(next(&consumer).unwrap().offset, 2);
    broker.append(TOPIC, 1, record("k", "v", 9)).unwrap();
    assert_eq!(next(&consumer).unwrap().offset, 3);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_member_is_refused_until_the_first_ones_connection_is_gone() {
    let broker = broker().await;
    let join = |member_id: &'static str, group: &'static str| {
        let protocol = join_group_request::JoinGroupRequestProtocol::default()
            .with_name(StrBytes::from_static_str("range"));
        JoinGroupRequest::default()
            .with_group_id(GroupId(StrBytes::from_static_str(group)))
            .with_member_id(StrBytes::from_static_str(member_id))
            .with_protocol_type(StrBytes::from_static_str("consumer"))
            .with_protocols(vec![protocol])
    };
    let mut first = RawClient::connect(&broker);
    let mut second = RawClient::connect(&broker);
    let joined = first.call(5, &join("", "g"));
    assert_eq!((joined.error_code, joined.generation_id), (0, 1));
    assert_eq!(joined.leader, joined.member_id);
    let refused = second.call(5, &join("", "g"));
    assert_eq!(
        refused.error_code,
        ResponseError::GroupMaxSizeReached.code()
    );
    let heartbeat = HeartbeatRequest::default()
        .with_group_id(GroupId(StrBytes::from_static_str("g")))
        .with_member_id(joined.member_id.clone());
    let beat = |client: &mut RawClient, generation| {
        let heartbeat = heartbeat.clone().with_generation_id(generation);
        client.call(4, &heartbeat).error_code
    };
    assert_eq!(beat(&mut first, 1), 0);
    assert_eq!(beat(&mut first, 2), ResponseError::IllegalGeneration.code());
    drop(first);
    eventually("the place is free", || {
        beat(&mut second, 1) == ResponseError::UnknownMemberId.code()
    });
    let joined = second.call(5, &join("", "g"));
    assert_eq!((joined.error_code, joined.generation_id), (0, 2));

    broker.set_group(connect_group("connect-cluster", "Stable"));
    let refused = second.call(5, &join("", "connect-cluster"));
    assert_eq!(
        refused.error_code,
        ResponseError::InconsistentGroupProtocol.code()
    );
    broker.shutdown().await;
}
