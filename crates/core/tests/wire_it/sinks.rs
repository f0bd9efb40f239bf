//! Real incidents of sink groups as data: their records lie beside the worker group's in
//! one partition. They are decoded, or skipped by their type, and never taken for the
//! worker group's. The name of a test is the number of its case.

use evenkeel_core::wire::Decoded;
use evenkeel_core::wire::consumer_protocol::{ConsumerAssignment, ConsumerSubscription};
use evenkeel_core::wire::consumer_record::ConsumerGroupMetadata;
use evenkeel_core::wire::encode::{
    group_key, group_metadata, group_metadata_key, offset_commit, offset_commit_key, topics,
};
use evenkeel_core::wire::group_record::{GroupMetadata, Member};
use evenkeel_core::wire::offset_commit::OffsetCommit;
use evenkeel_core::wire::offsets_key::{OffsetsKey, key_is_group_metadata_of};
use evenkeel_core::wire::status_record::{State, StatusRecord, StatusValue};

const WORKERS: &str = "connect-cluster";

fn member<'a>(client_id: &'a str, subscription: &'a [u8], assignment: &'a [u8]) -> Member<'a> {
    Member {
        member_id: client_id,
        group_instance_id: None,
        client_id,
        client_host: "/192.0.2.9",
        rebalance_timeout_ms: Some(300_000),
        session_timeout_ms: 45_000,
        subscription,
        assignment,
    }
}

fn round<'a>(generation: i32, protocol: &'a str, members: Vec<Member<'a>>) -> GroupMetadata<'a> {
    GroupMetadata {
        version: 3,
        protocol_type: "consumer",
        generation,
        protocol: Some(protocol).filter(|_| !members.is_empty()),
        leader: members.first().map(|member| member.member_id),
        current_state_timestamp_ms: Some(1_700_000_000_000),
        members,
    }
}

/// Written and read again; the key is the sink group's, and nobody else's.
#[track_caller]
fn read_again(group: &str, round: &GroupMetadata<'_>) {
    let key = group_metadata_key(group).unwrap();
    assert_eq!(
        OffsetsKey::decode(&key),
        Ok(OffsetsKey::GroupMetadata { group })
    );
    assert!(!key_is_group_metadata_of(&key, WORKERS));
    let value = group_metadata(round).unwrap();
    assert_eq!(
        GroupMetadata::decode(&value),
        Ok(Decoded::Known(round.clone()))
    );
}

fn array_len(items: usize) -> [u8; 4] {
    i32::try_from(items).unwrap().to_be_bytes()
}

/// Partitions of one topic `t`, as the consumer protocol writes them.
fn partitions(of: &[i32]) -> Vec<u8> {
    let mut bytes = [&array_len(1)[..], &[0, 1, b't'], &array_len(of.len())].concat();
    bytes.extend(of.iter().flat_map(|partition| partition.to_be_bytes()));
    bytes
}

fn assignment(version: i16, of: &[i32]) -> Vec<u8> {
    let no_user_data = (-1_i32).to_be_bytes();
    [&version.to_be_bytes()[..], &partitions(of), &no_user_data].concat()
}

fn subscription_v1(owned: &[i32]) -> Vec<u8> {
    let topics = [&array_len(1)[..], &[0, 1, b't']].concat();
    let no_user_data = (-1_i32).to_be_bytes();
    [&[0, 1][..], &topics, &no_user_data, &partitions(owned)].concat()
}

/// Every five minutes a member leaves and comes back, and nothing is committed.
#[test]
fn case_o_38_poll_interval_exceeded() {
    let clients =
        ["s3-keys-0", "s3-keys-1", "s3-keys-2"].map(|id| format!("connector-consumer-{id}"));
    for (generation, present) in [(11, 3), (12, 2), (13, 3)] {
        let members = clients[..present].iter();
        let members = members.map(|client| member(client, &[], &[])).collect();
        let round = round(generation, "range", members);
        read_again("connect-s3-keys", &round);
        let timeouts = round
            .members
            .iter()
            .map(Member::effective_rebalance_timeout_ms);
        assert!(timeouts.into_iter().all(|timeout| timeout == 300_000));
    }
    let key = offset_commit_key("connect-s3-keys", "t", 0).unwrap();
    assert!(!key_is_group_metadata_of(&key, WORKERS));
    let stuck = OffsetCommit {
        version: 3,
        offset: 4_711,
        leader_epoch: None,
        metadata: "",
        commit_timestamp_ms: 1_700_000_000_000,
        expire_timestamp_ms: None,
    };
    let value = offset_commit(&stuck).unwrap();
    assert_eq!(OffsetCommit::decode(&value), Ok(Decoded::Known(stuck)));
}

/// 2,136 partitions, first for eight tasks, then for the four that are left.
#[test]
fn case_o_39_many_partitions_a_member() {
    for (tasks, each) in [(8, 267), (4, 534)] {
        let told: Vec<Vec<u8>> = (0..tasks)
            .map(|task| assignment(0, &(task * each..(task + 1) * each).collect::<Vec<i32>>()))
            .collect();
        let ids: Vec<String> = (0..tasks).map(|task| format!("task-{task}")).collect();
        let members = ids.iter().zip(&told);
        let members = members.map(|(id, told)| member(id, &[], told)).collect();
        let round = round(20 - tasks, "range", members);
        read_again("connect-snow", &round);
        let read = |member: &Member<'_>| {
            let told = ConsumerAssignment::decode(member.assignment)
                .unwrap()
                .unwrap();
            told.assigned.iter().map(|(_, of)| of.len()).sum::<usize>()
        };
        let counts: Vec<usize> = round.members.iter().map(read).collect();
        assert_eq!(counts, vec![usize::try_from(each).unwrap(); ids.len()]);
    }
}

/// Cooperative consumers say what they own; it takes two rounds to move a partition.
#[test]
fn case_o_40_cooperative_sticky() {
    let revoked = (subscription_v1(&[0, 1]), assignment(1, &[0]));
    let assigned = (subscription_v1(&[]), assignment(1, &[1]));
    for (generation, (claim, told), owned) in [(6, &revoked, vec![0, 1]), (7, &assigned, vec![])] {
        let round = round(
            generation,
            "cooperative-sticky",
            vec![member("c", claim, told)],
        );
        read_again("connect-s3", &round);
        let read = ConsumerSubscription::decode(round.members[0].subscription).unwrap();
        assert_eq!(read.owned, vec![("t", owned)]);
    }
}

/// A worker's instance id never reaches the record; a sink's does, for all its tasks.
#[test]
fn case_o_41_static_membership() {
    let fenced = Member {
        group_instance_id: Some("pod-0"),
        ..member("connector-consumer-a-0", &[], &[])
    };
    read_again("connect-a", &round(5, "range", vec![fenced]));
    let worker = GroupMetadata {
        protocol_type: "connect",
        ..round(5, "sessioned", vec![member("w", &[], &[])])
    };
    let value = group_metadata(&worker).unwrap();
    let Ok(Decoded::Known(read)) = GroupMetadata::decode(&value) else {
        panic!("a worker's record");
    };
    assert_eq!(read.members[0].group_instance_id, None);
}

/// A live migration: the classic record's tombstone comes with records of other types.
#[test]
fn case_o_43_classic_group_becomes_consumer_group() {
    let group = "connect-foo";
    let classic = group_metadata_key(group).unwrap();
    assert!(key_is_group_metadata_of(&classic, group));
    for record_type in [3, 5, 6, 7, 8] {
        // Members and targets name their member after the group.
        let key = [group_key(record_type, group).unwrap(), vec![0, 1, b'm']].concat();
        let expected = OffsetsKey::ConsumerGroup { record_type, group };
        assert_eq!(OffsetsKey::decode(&key), Ok(expected));
        assert!(!key_is_group_metadata_of(&key, group));
        assert!(!key_is_group_metadata_of(&key, WORKERS));
    }
    let Ok(Decoded::Known(epoch)) = ConsumerGroupMetadata::decode(&[0, 0, 0, 0, 0, 17, 0]) else {
        panic!("an epoch");
    };
    assert_eq!(epoch.epoch, 17);
    read_again(group, &round(23, "range", vec![member("c", &[], &[])]));
}

/// The status says RUNNING, the sink group has nobody left.
#[test]
fn case_o_45_running_without_a_consumer() {
    read_again("connect-es", &round(9, "range", Vec::new()));
    let raw = topics::status(&State::Running, "worker-a:8083", 4, None);
    let read = StatusRecord::decode(b"status-task-es-102", Some(&raw)).unwrap();
    let StatusValue::Status(status) = read.value else {
        panic!("a status");
    };
    assert_eq!((status.state, status.generation), (State::Running, 4));
}
