//! Against the embedded broker, with its faults.

use bytes::Bytes;

use super::*;
use crate::commands::demo::broker::{
    ApiKey, Broker, GroupMember, GroupSpec, ResponseError, Target,
};

async fn broker() -> Broker {
    let listen = "127.0.0.1:0".parse().unwrap();
    Broker::start(listen, "polls-test", &[]).await.unwrap()
}

fn group(state: &str, members: &[&str]) -> GroupSpec {
    let members = members.iter().map(|name| GroupMember {
        member_id: format!("{name}-id"),
        group_instance_id: None,
        client_id: (*name).to_owned(),
        client_host: "/10.0.0.7".to_owned(),
        metadata: Bytes::from_static(&[0, 1, 0xff]),
        assignment: Bytes::from_static(&[0, 2]),
    });
    GroupSpec {
        group: GROUP.to_owned(),
        state: state.to_owned(),
        protocol_type: "connect".to_owned(),
        protocol: "sessioned".to_owned(),
        members: members.collect(),
    }
}

fn names(description: &Description) -> Vec<&str> {
    let members = description.members.iter();
    members.map(|member| member.client_id.as_str()).collect()
}

fn target() -> Target {
    Target::Group(GROUP.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_is_described_listed_while_it_rebalances_and_described_after() {
    let broker = broker().await;
    broker.set_group(group("Stable", &["a", "b"]));
    let mut polls = poll(connection(broker.address(), &[]));
    let description = polls.until_described(PolledState::Stable).await;
    assert_eq!(names(&description), ["a", "b"]);
    assert_eq!(description.protocol_type, "connect");
    assert_eq!(description.protocol, "sessioned");
    let member = &description.members[0];
    assert_eq!(member.member_id, "a-id");
    assert_eq!(member.client_host, "/10.0.0.7");
    assert_eq!(member.instance_id, None);
    assert_eq!(member.metadata, [0, 1, 0xff]);
    assert_eq!(member.assignment, [0, 2]);
    polls.until_listed(None).await;
    broker.set_group(group("PreparingRebalance", &["a"]));
    let state = PolledState::PreparingRebalance;
    polls.until_listed(Some(state)).await;
    assert_eq!(names(&polls.until_described(state).await), ["a"]);
    broker.set_group(group("CompletingRebalance", &["a"]));
    let state = PolledState::CompletingRebalance;
    polls.until_listed(Some(state)).await;
    broker.set_group(group("Stable", &["a"]));
    polls.until_listed(None).await;
    polls.until_described(PolledState::Stable).await;
    let counters = polls.handle.counters();
    assert_eq!(broker.connections_opened(), 1);
    assert_eq!(counters.failures.get(), 0);
    assert_eq!(broker.connections_open(), 1);
    polls.handle.stop();
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_group_is_dead_until_it_is_there() {
    let broker = broker().await;
    let mut polls = poll(connection(broker.address(), &[]));
    let description = polls.until_described(PolledState::Dead).await;
    assert!(description.members.is_empty());
    broker.set_group(group("CompletingRebalance", &["a"]));
    polls
        .until_described(PolledState::CompletingRebalance)
        .await;
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denial_is_told_wherever_the_broker_says_it_and_no_list_hides_it() {
    let broker = broker().await;
    broker.set_group(group("Stable", &["a"]));
    for api in [ApiKey::DescribeGroups, ApiKey::FindCoordinator] {
        broker.deny(api, target(), ResponseError::GroupAuthorizationFailed);
        broker.deny(
            ApiKey::ListGroups,
            target(),
            ResponseError::GroupAuthorizationFailed,
        );
        let mut polls = poll(connection(broker.address(), &[]));
        assert_eq!(polls.next().await, PollAnswer::Failed(Trouble::Denied));
        // Nothing else is said while it lasts: a list would claim that all is quiet.
        let more = tokio::time::timeout(Duration::from_secs(2), polls.inputs.recv()).await;
        assert!(more.is_err(), "{more:?}");
        broker.clear_faults();
        polls.until_described(PolledState::Stable).await;
        polls.handle.stop();
    }
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_right_that_is_taken_away_later_is_noticed() {
    let broker = broker().await;
    broker.set_group(group("Stable", &["a"]));
    let mut polls = poll(connection(broker.address(), &[]));
    polls.handle.describe_every_turn(true);
    polls.until_described(PolledState::Stable).await;
    let error = ResponseError::GroupAuthorizationFailed;
    broker.deny(ApiKey::DescribeGroups, target(), error);
    polls.until_failed(Trouble::Denied).await;
    // The connection is well: it is kept.
    assert_eq!(broker.connections_opened(), 1);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_is_not_the_coordinator_any_more_is_left_for_a_new_search() {
    let broker = broker().await;
    broker.set_group(group("Stable", &["a"]));
    let mut polls = poll(connection(broker.address(), &[]));
    polls.handle.describe_every_turn(true);
    polls.until_described(PolledState::Stable).await;
    let finds = broker.requests(ApiKey::FindCoordinator);
    for error in [
        ResponseError::NotCoordinator,
        ResponseError::CoordinatorNotAvailable,
        ResponseError::CoordinatorLoadInProgress,
    ] {
        broker.deny(ApiKey::DescribeGroups, target(), error);
        polls.until_failed(Trouble::Unreachable).await;
        broker.clear_faults();
        polls.until_described(PolledState::Stable).await;
    }
    assert!(broker.requests(ApiKey::FindCoordinator) >= finds + 6);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_hangs_costs_its_time_and_is_used_again() {
    let broker = broker().await;
    broker.set_group(group("Stable", &["a"]));
    let mut polls = poll(connection(broker.address(), &[]));
    polls.until_described(PolledState::Stable).await;
    let began = Instant::now();
    broker.hang(ApiKey::ListGroups);
    polls.until_failed(Trouble::Unreachable).await;
    assert!(began.elapsed() < Duration::from_secs(8));
    broker.clear_faults();
    polls.until_listed(None).await;
    // Told to end while a question hangs, it ends.
    broker.hang(ApiKey::ListGroups);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let began = Instant::now();
    polls.handle.stop();
    assert!(began.elapsed() < Duration::from_secs(1));
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_dies_and_returns_is_found_again() {
    let broker = broker().await;
    broker.set_group(group("Stable", &["a"]));
    let mut polls = poll(connection(broker.address(), &[]));
    polls.until_described(PolledState::Stable).await;
    broker.stop().await;
    polls.until_failed(Trouble::Unreachable).await;
    broker.resume().await.unwrap();
    polls.until_described(PolledState::Stable).await;
    // Connections that the broker ended while they rested are no trouble at all.
    polls.handle.set_pace(Pace::Slow);
    let failures = polls.handle.counters().failures.get();
    broker.close_connections();
    polls.handle.set_pace(Pace::Fast);
    polls.until_listed(None).await;
    polls.until_listed(None).await;
    assert_eq!(polls.handle.counters().failures.get(), failures);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_and_hanging_brokers_in_the_list_are_passed_over() {
    let good = broker().await;
    good.set_group(group("Stable", &["a"]));
    let hanging = broker().await;
    hanging.hang(ApiKey::ApiVersions);
    let dead = broker().await;
    let list = format!(
        "{},{},{}",
        dead.address(),
        hanging.address(),
        good.address()
    );
    dead.shutdown().await;
    let mut polls = poll(connection(list, &[]));
    polls.until_described(PolledState::Stable).await;
    assert_eq!(polls.handle.counters().failures.get(), 0);
    good.shutdown().await;
    hanging.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_settings_lead_to_another_broker_at_once() {
    let (one, two) = (broker().await, broker().await);
    one.set_group(group("Stable", &["a"]));
    two.set_group(group("Stable", &["b"]));
    let mut polls = poll(connection(one.address(), &[]));
    polls.until_described(PolledState::Stable).await;
    one.hang(ApiKey::ListGroups);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let began = Instant::now();
    polls.handle.reconnect(connection(two.address(), &[]));
    let is_new = |answer: &PollAnswer| match answer {
        PollAnswer::Described(description) => names(description) == ["b"],
        _ => false,
    };
    polls.until(is_new).await;
    assert!(began.elapsed() < Duration::from_secs(2));
    let kerberos = [("security.protocol", "sasl_plaintext")];
    polls.handle.reconnect(connection(two.address(), &kerberos));
    polls.until_failed(Trouble::Other).await;
    let off = polls.handle.off().unwrap().to_string();
    assert!(off.contains("sasl.mechanism"), "{off}");
    polls.handle.reconnect(connection(two.address(), &[]));
    polls.until(is_new).await;
    assert_eq!(polls.handle.off(), None);
    one.shutdown().await;
    two.shutdown().await;
}

/// A listing and a description know groups of every type: those of others, what is refused
/// of them and what they do change nothing about ours; one of another type under our id
/// is told as what it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o_52_groups_of_every_type_beside_ours() {
    let broker = broker().await;
    let foreign = |id: &str, protocol_type: &str, state: &str| {
        broker.set_group(GroupSpec {
            group: id.to_owned(),
            protocol_type: protocol_type.to_owned(),
            ..group(state, &["x"])
        });
    };
    foreign("connect-foo", "consumer", "PreparingRebalance");
    foreign("app", "streams", "CompletingRebalance");
    foreign("g", "share", "PreparingRebalance");
    broker.set_group(group("Stable", &["a"]));
    // Whoever asks for a consumer group, or for one of these, is refused.
    for refused in ["connect-foo", "app", "g"] {
        let target = Target::Group(refused.to_owned());
        let error = ResponseError::GroupIdNotFound;
        broker.deny(ApiKey::DescribeGroups, target, error);
    }
    let mut polls = poll(connection(broker.address(), &[]));
    let description = polls.until_described(PolledState::Stable).await;
    assert_eq!(description.protocol_type, "connect");
    assert_eq!(names(&description), ["a"]);
    // Others rebalance, ours does not.
    assert_eq!(polls.next().await, PollAnswer::Listed(None));
    assert_eq!(polls.handle.counters().failures.get(), 0);
    assert_eq!(broker.requests(ApiKey::ConsumerGroupDescribe), 0);
    polls.handle.describe_every_turn(true);
    for protocol_type in ["consumer", "streams", "share"] {
        foreign(GROUP, protocol_type, "Stable");
        let is_it = |answer: &PollAnswer| match answer {
            PollAnswer::Described(description) => description.protocol_type == protocol_type,
            _ => false,
        };
        polls.until(is_it).await;
    }
    assert_eq!(polls.handle.counters().failures.get(), 0);
    broker.shutdown().await;
}
