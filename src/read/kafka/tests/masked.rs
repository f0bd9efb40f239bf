//! The reader with a mask: no input holds a connector's name.

use evenkeel_core::engine::Engine;
use evenkeel_core::facts::poll::PollAnswer;
use evenkeel_core::wire::connect_protocol::{Assignment, Subscription};
use evenkeel_core::wire::encode::{self, AssignmentSpec, SubscriptionSpec, topics};
use evenkeel_core::wire::group_record::{GroupMetadata, Member};

use super::*;
use crate::commands::demo::broker::{GroupMember, GroupSpec};
use crate::read::mask::NameMask;

const NAMES: [&str; 3] = ["orders-0", "orders", "naïve-🦀"];

/// What a member said and what it was told.
fn member() -> (Vec<u8>, Vec<u8>) {
    let items: encode::Items<'_> = NAMES.iter().map(|name| (*name, vec![-1, 0])).collect();
    let told = AssignmentSpec {
        version: 2,
        leader: "w-1",
        leader_url: "http://w:8083/",
        config_offset: 7,
        assigned: Some(items),
        revoked: Some(Vec::new()),
        ..AssignmentSpec::default()
    };
    let said = SubscriptionSpec {
        version: 2,
        url: "http://w:8083/",
        config_offset: 7,
        claim: Some(told.clone()),
    };
    (
        encode::subscription(&said).unwrap(),
        encode::assignment(&told).unwrap(),
    )
}

fn group_value() -> Vec<u8> {
    let (subscription, assignment) = member();
    let group = GroupMetadata {
        version: 3,
        protocol_type: "connect",
        generation: 4,
        protocol: Some("sessioned"),
        leader: Some("w-1"),
        current_state_timestamp_ms: Some(1_700_000_000_000),
        members: vec![Member {
            member_id: "w-1",
            group_instance_id: None,
            client_id: "w",
            client_host: "/192.0.2.1",
            rebalance_timeout_ms: Some(60_000),
            session_timeout_ms: 10_000,
            subscription: &subscription,
            assignment: &assignment,
        }],
    };
    encode::group_metadata(&group).unwrap()
}

fn bytes(key: Vec<u8>, value: Vec<u8>) -> broker::Record {
    broker::Record {
        key: Some(Bytes::from(key)),
        value: Some(Bytes::from(value)),
        timestamp_ms: 1_700_000_000_000,
        offset: None,
    }
}

/// As many of history as follow live: both ways in must be masked.
fn append(broker: &Broker) {
    let group = bytes(group_key(GROUP), group_value());
    broker.append(OFFSETS, partition(), group).unwrap();
    for name in NAMES {
        let settings = [
            ("connector.class", Some("Sink")),
            ("name", Some(name)),
            ("consumer.override.group.id", Some("connect-orders")),
        ];
        let config = topics::properties(settings);
        let records = [
            (format!("connector-{name}"), config.clone()),
            (format!("task-{name}-0"), config),
            (format!("commit-{name}"), topics::commit(1)),
            (
                format!("target-state-{name}"),
                topics::target_state("PAUSED"),
            ),
            (
                format!("restart-connector-{name}"),
                topics::restart(true, false),
            ),
            (format!("tasks-fencing-{name}"), topics::tasks_fencing(1)),
            (format!("of-a-later-release-{name}"), b"{}".to_vec()),
        ];
        let records = records.map(|(key, value)| bytes(key.into_bytes(), value));
        broker.append_many(CONFIG, 0, records.to_vec()).unwrap();
        let usage = topics::topic_usage("topic", name, 0, 1_700_000_000_000);
        let records = vec![
            status(&format!("status-connector-{name}"), 4),
            status(&format!("status-task-{name}-0"), 4),
            bytes(
                format!("status-topic-topic-of-{name}:connector-{name}").into_bytes(),
                usage,
            ),
        ];
        broker.append_many(STATUS, 1, records).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_input_holds_a_connectors_name() {
    let broker = broker().await;
    append(&broker);
    let mask = NameMask::new(b"key of the tests");
    let settings = ReadSettings {
        mask: Some(mask.clone()),
        ..settings(&broker)
    };
    let mut reading = read_with(settings, &Limits::default(), 1_000);
    reading.settle();
    append(&broker);
    reading.settle();
    assert!(reading.settings().iter().all(|settings| settings.masked));
    let counts = Topic::ALL.map(|topic| reading.records(topic).len());
    assert_eq!(counts, [2, 2 * 7 * NAMES.len(), 2 * 3 * NAMES.len()]);
    let mut engine = Engine::new();
    for input in &reading.seen {
        engine.apply(input);
        let InputKind::Record(record) = &input.kind else {
            continue;
        };
        for part in [&record.key, &record.value].into_iter().flatten() {
            for name in NAMES {
                let is_found = part
                    .windows(name.len())
                    .any(|found| found == name.as_bytes());
                assert!(!is_found, "{name} in {}", String::from_utf8_lossy(part));
            }
        }
    }
    let answers = serde_json::to_string(&engine.answers()).unwrap();
    for name in NAMES {
        assert!(
            answers.contains(&mask.name(name)),
            "{name} is known by its code"
        );
        assert!(!answers.contains(name), "{name}");
    }
    assert_only_observed(&broker);
    reading.end();
}

/// What the coordinator answers is masked as well as what it writes.
#[tokio::test(flavor = "multi_thread")]
async fn no_poll_holds_a_connectors_name() {
    let broker = broker().await;
    let (metadata, assignment) = member();
    broker.set_group(GroupSpec {
        group: GROUP.to_owned(),
        state: "Stable".to_owned(),
        protocol_type: "connect".to_owned(),
        protocol: "sessioned".to_owned(),
        members: vec![GroupMember {
            member_id: "w-1".to_owned(),
            group_instance_id: None,
            client_id: "w".to_owned(),
            client_host: "/192.0.2.1".to_owned(),
            metadata: metadata.into(),
            assignment: assignment.into(),
        }],
    });
    let mask = NameMask::new(b"key of the tests");
    let settings = ReadSettings {
        mask: Some(mask.clone()),
        ..settings(&broker)
    };
    let (sender, mut inputs) = mpsc::channel(1_000);
    let reader = crate::read::group::start(settings, Arc::new(now), sender).unwrap();
    let described = async {
        while let Some(input) = inputs.recv().await {
            if let InputKind::Polled(polled) = input.kind
                && let PollAnswer::Described(described) = polled.answer
            {
                return described;
            }
        }
        panic!("no answer");
    };
    let described = tokio::time::timeout(DEADLINE, described).await.unwrap();
    let found = &described.members[0];
    let told = Assignment::decode(&found.assignment).unwrap().unwrap();
    let claim = Subscription::decode(&found.metadata).unwrap().claim;
    let names: Vec<String> = NAMES.iter().map(|name| mask.name(name)).collect();
    for items in [&told.assigned, claim.owned().unwrap()] {
        assert!(items.connectors().iter().map(|c| c.connector).eq(&names));
    }
    assert_only_observed(&broker);
    reader.join();
}
