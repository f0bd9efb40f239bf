//! Brokers that are away, silent or refuse: said, and recovered from alone.

use std::time::Duration;

use evenkeel_core::facts::input::{Topic, Trouble};

use super::*;
use crate::commands::demo::broker::{ResponseError, Target};

fn in_topic(name: &str) -> Target {
    Target::Topic(name.to_owned())
}

/// A reader that has read everything there is.
fn caught_up(broker: &Broker) -> Reading {
    let mut reading = read(broker);
    reading.until("all starts", |r| {
        Topic::ALL.iter().all(|topic| !r.starts(*topic).is_empty())
    });
    reading.settle();
    reading
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_before_the_broker() {
    let broker = broker().await;
    broker.append(OFFSETS, partition(), own("g1")).unwrap();
    broker.stop().await;
    let mut reading = read(&broker);
    reading.until("the trouble", |r| {
        Topic::ALL
            .iter()
            .all(|topic| r.trouble(*topic) == Some(Trouble::Unreachable))
    });
    assert_eq!(reading.settings()[0].offsets_partition, -1);
    assert!(reading.starts(Topic::Offsets).is_empty());
    broker.resume().await.unwrap();
    let back = reading.until("the start", |r| !r.starts(Topic::Offsets).is_empty());
    println!("broker up to first start: {back:?}");
    reading.until("all can be read", |r| {
        Topic::ALL.iter().all(|topic| r.trouble(*topic).is_none())
    });
    reading.settle();
    assert_eq!(reading.offsets(Topic::Offsets), [0]);
    let settings = reading.settings();
    assert_eq!(settings.last().unwrap().offsets_partition, partition());
    reading.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn broker_gone_and_back() {
    let broker = broker().await;
    for n in 0..3 {
        broker.append(OFFSETS, partition(), own("g")).unwrap();
        broker
            .append(STATUS, 0, status("status-task-a-0", n))
            .unwrap();
    }
    let mut reading = caught_up(&broker);
    broker.stop().await;
    reading.until("the trouble", |r| {
        Topic::ALL
            .iter()
            .all(|topic| r.trouble(*topic) == Some(Trouble::Unreachable))
    });
    broker.append(OFFSETS, partition(), own("g")).unwrap();
    broker
        .append(STATUS, 0, status("status-task-a-0", 9))
        .unwrap();
    broker.resume().await.unwrap();
    let back = reading.until("all can be read", |r| {
        Topic::ALL.iter().all(|topic| r.trouble(*topic).is_none())
    });
    println!("broker back to readable: {back:?}");
    reading.settle();
    assert_eq!(
        reading.offsets(Topic::Offsets),
        [0, 1, 2, 3],
        "nothing twice"
    );
    assert_eq!(reading.offsets(Topic::Status), [0, 1, 2, 3]);
    assert_eq!(reading.starts(Topic::Offsets).len(), 1, "reading went on");
    reading.end();
    assert_only_observed(&broker);
}

/// Connections that break now and then are nobody's business.
#[tokio::test(flavor = "multi_thread")]
async fn broken_connections_lose_nothing() {
    let broker = broker().await;
    let mut reading = caught_up(&broker);
    for n in 0..10 {
        broker.append(OFFSETS, partition(), own("g")).unwrap();
        broker
            .append(STATUS, 1, status("status-task-a-0", n))
            .unwrap();
        broker.close_connections();
        reading.rest(Duration::from_millis(60));
    }
    reading.settle();
    let all: Vec<i64> = (0..10).collect();
    assert_eq!(reading.offsets(Topic::Offsets), all);
    assert_eq!(reading.offsets(Topic::Status), all);
    assert_eq!(reading.starts(Topic::Offsets).len(), 1);
    reading.end();
}

/// DESCRIBE is missing: nothing can be known of the topic; the others do not care.
#[tokio::test(flavor = "multi_thread")]
async fn a_topic_denied_then_allowed() {
    let broker = broker().await;
    broker
        .append(STATUS, 0, status("status-task-a-0", 1))
        .unwrap();
    for api in [ApiKey::Metadata, ApiKey::ListOffsets, ApiKey::Fetch] {
        broker.deny(
            api,
            in_topic(STATUS),
            ResponseError::TopicAuthorizationFailed,
        );
    }
    let mut reading = read(&broker);
    reading.until("the trouble", |r| {
        r.trouble(Topic::Status) == Some(Trouble::Denied)
    });
    reading.until("the others", |r| {
        !r.starts(Topic::Offsets).is_empty() && !r.starts(Topic::Config).is_empty()
    });
    assert!(reading.starts(Topic::Status).is_empty());
    assert_eq!(reading.settings()[1].status_partitions, 0);
    broker.clear_faults();
    reading.until("it can be read", |r| r.records(Topic::Status).len() == 1);
    assert_eq!(reading.trouble(Topic::Status), None);
    assert_eq!(reading.settings().last().unwrap().status_partitions, 2);
    reading.settle();

    // Taken away in the middle, and given back.
    for api in [ApiKey::Metadata, ApiKey::ListOffsets, ApiKey::Fetch] {
        broker.deny(
            api,
            in_topic(STATUS),
            ResponseError::TopicAuthorizationFailed,
        );
    }
    reading.until("the trouble", |r| {
        r.trouble(Topic::Status) == Some(Trouble::Denied)
    });
    broker
        .append(STATUS, 0, status("status-task-a-0", 2))
        .unwrap();
    broker.clear_faults();
    reading.until("it can be read", |r| r.trouble(Topic::Status).is_none());
    reading.settle();
    assert_eq!(reading.offsets(Topic::Status), [0, 1]);
    assert_eq!(reading.starts(Topic::Status).len(), 2, "one a partition");
    assert_eq!(reading.trouble(Topic::Offsets), None);
    reading.end();
}

/// READ alone is missing: the end can be asked for, records cannot be had.
#[tokio::test(flavor = "multi_thread")]
async fn records_denied_then_allowed() {
    let broker = broker().await;
    let refused = ResponseError::TopicAuthorizationFailed;
    broker.append(OFFSETS, partition(), own("g1")).unwrap();
    broker.deny(ApiKey::Fetch, in_topic(OFFSETS), refused);
    let mut reading = read(&broker);
    // While the offsets partition is searched.
    reading.until("the trouble", |r| {
        r.trouble(Topic::Offsets) == Some(Trouble::Denied)
    });
    reading.rest(Duration::from_secs(1));
    assert_eq!(
        reading.trouble(Topic::Offsets),
        Some(Trouble::Denied),
        "answers do not hide it"
    );
    assert!(reading.starts(Topic::Offsets).is_empty());
    broker.allow(ApiKey::Fetch, &in_topic(OFFSETS));
    reading.until("it can be read", |r| r.trouble(Topic::Offsets).is_none());
    reading.until("the start", |r| !r.starts(Topic::Offsets).is_empty());
    reading.settle();
    assert_eq!(reading.offsets(Topic::Offsets), [0]);
    // While it is tailed, with nothing new to read: it recovers all the same.
    broker.deny(ApiKey::Fetch, in_topic(OFFSETS), refused);
    reading.until("the trouble", |r| {
        r.trouble(Topic::Offsets) == Some(Trouble::Denied)
    });
    broker.allow(ApiKey::Fetch, &in_topic(OFFSETS));
    let back = reading.until("it can be read", |r| r.trouble(Topic::Offsets).is_none());
    println!("allowed to readable: {back:?}");
    broker.append(OFFSETS, partition(), own("g2")).unwrap();
    reading.settle();
    assert_eq!(reading.offsets(Topic::Offsets), [0, 1]);
    reading.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_topic_then_created() {
    let broker = broker().await;
    broker.delete_topic(CONFIG).unwrap();
    let mut reading = read(&broker);
    reading.until("the trouble", |r| {
        r.trouble(Topic::Config) == Some(Trouble::Missing)
    });
    reading.until("the others", |r| {
        !r.starts(Topic::Offsets).is_empty() && !r.starts(Topic::Status).is_empty()
    });
    broker
        .create_topic(&TopicSpec {
            name: CONFIG.to_owned(),
            partitions: 1,
        })
        .unwrap();
    broker
        .append(CONFIG, 0, keyed("commit-a", r#"{"tasks":1}"#))
        .unwrap();
    reading.until("it can be read", |r| r.records(Topic::Config).len() == 1);
    assert_eq!(
        reading.troubles(Topic::Config),
        [Some(Trouble::Missing), None]
    );
    assert!(!reading.starts(Topic::Config)[0].anew);
    reading.end();
    assert_only_observed(&broker);
}

/// Questions about one topic hang; the others go on, and so does it afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_does_not_answer() {
    let broker = broker().await;
    let mut reading = caught_up(&broker);
    broker.hang(ApiKey::ListOffsets);
    reading.handle.ask_ends();
    reading.until("the trouble", |r| {
        r.trouble(Topic::Offsets) == Some(Trouble::Unreachable)
    });
    broker.clear_faults();
    reading.until("it answers", |r| {
        Topic::ALL.iter().all(|topic| r.trouble(*topic).is_none())
    });
    broker.append(OFFSETS, partition(), own("g1")).unwrap();
    reading.settle();
    assert_eq!(reading.offsets(Topic::Offsets), [0]);

    // A fetch that hangs holds up what stands behind it on its connection.
    broker.hang(ApiKey::Fetch);
    broker.append(OFFSETS, partition(), own("g2")).unwrap();
    reading.handle.ask_ends();
    reading.until("the trouble", |r| {
        r.trouble(Topic::Offsets) == Some(Trouble::Unreachable)
    });
    broker.clear_faults();
    reading.settle();
    assert_eq!(reading.offsets(Topic::Offsets), [0, 1]);
    reading.end();
}

/// It ends in time though nothing is answered.
#[tokio::test(flavor = "multi_thread")]
async fn ends_while_the_broker_is_silent() {
    let broker = broker().await;
    let reading = caught_up(&broker);
    broker.hang(ApiKey::Fetch);
    broker.hang(ApiKey::ListOffsets);
    broker.hang(ApiKey::Metadata);
    reading.handle.ask_ends();
    std::thread::sleep(Duration::from_millis(300));
    reading.end();
}

/// Our group id is none of the things that are read: no right on it is needed.
#[tokio::test(flavor = "multi_thread")]
async fn needs_no_right_on_its_own_group() {
    let broker = broker().await;
    broker.deny(
        ApiKey::FindCoordinator,
        Target::All,
        ResponseError::GroupAuthorizationFailed,
    );
    broker.append(OFFSETS, partition(), own("g1")).unwrap();
    let mut reading = caught_up(&broker);
    reading.rest(Duration::from_secs(2));
    assert_eq!(reading.offsets(Topic::Offsets), [0]);
    for topic in Topic::ALL {
        assert_eq!(reading.troubles(topic), [None], "{topic:?}");
    }
    reading.end();
}

/// A broker that has just become leader may answer that it knows no such partition; the
/// topic is described all the same, so nothing is missing.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_does_not_know_it_yet_is_no_missing_topic() {
    let broker = broker().await;
    let mut reading = caught_up(&broker);
    broker.deny(
        ApiKey::ListOffsets,
        in_topic(STATUS),
        ResponseError::UnknownTopicOrPartition,
    );
    reading.handle.ask_ends();
    reading.until("the trouble", |r| r.trouble(Topic::Status).is_some());
    broker.clear_faults();
    reading.until("no trouble", |r| r.trouble(Topic::Status).is_none());
    let troubles: Vec<Trouble> = reading
        .seen
        .iter()
        .filter_map(|input| match &input.kind {
            InputKind::Access(access) if access.topic == Topic::Status => access.trouble,
            _ => None,
        })
        .collect();
    assert!(!troubles.is_empty());
    assert!(
        troubles.iter().all(|t| *t == Trouble::Unreachable),
        "{troubles:?}"
    );
    reading.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_way_to_reach_the_cluster() {
    let broker = broker().await;
    broker.append(OFFSETS, partition(), own("g")).unwrap();
    let status_of = |n| status("status-task-a-0", n);
    broker.append(STATUS, 0, status_of(0)).unwrap();
    let mut reading = caught_up(&broker);
    // Nobody listens there: reading stops, and nothing is forgotten.
    let elsewhere = (
        "bootstrap.servers".to_owned(),
        Hidden("127.0.0.1:1".to_owned()),
    );
    let good = settings(&broker).connection;
    let mut bad = good.clone();
    bad.properties.extend([elsewhere]);
    reading.handle.reconnect(bad);
    reading.until("the trouble", |r| {
        Topic::ALL
            .iter()
            .all(|topic| r.trouble(*topic) == Some(Trouble::Unreachable))
    });
    broker.append(OFFSETS, partition(), own("g")).unwrap();
    broker.append(STATUS, 0, status_of(1)).unwrap();
    // While it is not reached, too, another way is taken at once.
    reading.handle.reconnect(good);
    let back = reading.until("all can be read", |r| {
        Topic::ALL.iter().all(|topic| r.trouble(*topic).is_none())
    });
    println!("reconnected to readable: {back:?}");
    reading.settle();
    assert_eq!(reading.offsets(Topic::Offsets), [0, 1], "nothing twice");
    assert_eq!(reading.offsets(Topic::Status), [0, 1], "nothing twice");
    reading.end();
}
