//! Reading that goes on where another process was: each topic by itself, and nothing of it
//! twice.

use std::collections::BTreeMap;

use super::*;
use crate::read::kafka::{ReadTo, TopicReadTo, start_at};

/// Reads as far as the broker has records; gives how far that was.
fn read_all(broker: &Broker) -> ReadTo {
    let mut reading = read(broker);
    reading.until("all starts", |r| {
        Topic::ALL.iter().all(|topic| !r.starts(*topic).is_empty())
    });
    reading.settle();
    let read_to = |topic| {
        let mut epochs = BTreeMap::new();
        for record in reading.records(topic) {
            epochs.extend(record.leader_epoch.map(|epoch| (record.partition, epoch)));
        }
        let starts = reading.starts(topic);
        let partitions = starts.iter().map(|start| start.partition);
        let read_to = TopicReadTo {
            positions: partitions
                .map(|partition| (partition, reading.reached(topic, partition)))
                .collect(),
            epochs: epochs.into_iter().collect(),
            identity: reading.handle.identity(topic),
        };
        (topic, read_to)
    };
    let read_to = ReadTo {
        topics: Topic::ALL.map(read_to).into(),
        contents: reading.handle.next_content(),
    };
    reading.end();
    read_to
}

fn go_on(broker: &Broker, read_to: &ReadTo) -> Reading {
    let (sender, inputs) = mpsc::channel(1_000);
    let mut reading = Reading {
        handle: start_at(settings(broker), Arc::new(now), sender, read_to).unwrap(),
        inputs,
        seen: Vec::new(),
    };
    reading.until("all starts", |r| {
        Topic::ALL.iter().all(|topic| !r.starts(*topic).is_empty())
    });
    reading.settle();
    reading
}

fn starts(reading: &Reading, topic: Topic) -> Vec<(i32, i64, i64, bool)> {
    let starts = reading.starts(topic).into_iter();
    starts
        .map(|start| (start.partition, start.offset, start.end, start.anew))
        .collect()
}

async fn filled() -> Broker {
    let broker = broker().await;
    for n in 0..4 {
        broker
            .append(OFFSETS, partition(), own("a record"))
            .unwrap();
        broker.append(OFFSETS, partition(), foreign()).unwrap();
        broker
            .append(STATUS, 1, status("status-task-a-0", n))
            .unwrap();
    }
    let settings = r#"{"properties":{"name":"a"}}"#;
    broker
        .append(CONFIG, 0, keyed("connector-a", settings))
        .unwrap();
    broker
}

/// Only what was written meanwhile comes, as history: it ends where each log did.
#[tokio::test(flavor = "multi_thread")]
async fn reading_goes_on_at_the_offsets_it_had() {
    let broker = filled().await;
    let read_to = read_all(&broker);
    assert!(read_to.contents > 0);
    broker
        .append(OFFSETS, partition(), own("meanwhile"))
        .unwrap();
    broker
        .append(STATUS, 1, status("status-task-a-0", 9))
        .unwrap();
    let mut reading = go_on(&broker, &read_to);
    assert_eq!(
        starts(&reading, Topic::Offsets),
        [(partition(), 8, 9, false)]
    );
    assert_eq!(starts(&reading, Topic::Config), [(0, 1, 1, false)]);
    assert_eq!(
        starts(&reading, Topic::Status),
        [(0, 0, 0, false), (1, 4, 5, false)]
    );
    broker
        .append(
            CONFIG,
            0,
            keyed("connector-a", r#"{"properties":{"name":"a"}}"#),
        )
        .unwrap();
    reading.settle();
    assert_eq!(reading.offsets(Topic::Offsets), [8]);
    assert_eq!(reading.offsets(Topic::Status), [4]);
    // Numbers of contents go on, since those before were given under another key.
    let record = reading.records(Topic::Config)[0].clone();
    let value = String::from_utf8(record.value.unwrap()).unwrap();
    let ordinal = format!("\"content\":{}", read_to.contents);
    assert!(value.replace(' ', "").contains(&ordinal), "{value}");
    // A new connection goes on in silence, as ever.
    reading.handle.reconnect(settings(&broker).connection);
    reading.settle();
    assert_eq!(reading.starts(Topic::Offsets).len(), 1);
    reading.end();
    assert_only_observed(&broker);
}

/// Each topic is judged by itself: one made anew, one whose first records are gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_does_not_go_on_is_read_from_its_beginning() {
    let broker = filled().await;
    let read_to = read_all(&broker);
    broker.recreate_topic(CONFIG).unwrap();
    for n in 0..3 {
        broker
            .append(CONFIG, 0, keyed("commit-b", &format!(r#"{{"tasks":{n}}}"#)))
            .unwrap();
    }
    for n in 0..4 {
        broker
            .append(STATUS, 1, status("status-task-a-0", n))
            .unwrap();
    }
    broker.truncate_front(STATUS, 1, 6).unwrap();
    let reading = go_on(&broker, &read_to);
    assert_eq!(starts(&reading, Topic::Config), [(0, 0, 3, true)]);
    assert_eq!(reading.offsets(Topic::Config), [0, 1, 2]);
    assert_eq!(
        starts(&reading, Topic::Status),
        [(0, 0, 0, false), (1, 6, 8, false)]
    );
    assert_eq!(reading.offsets(Topic::Status), [6, 7]);
    assert_eq!(
        starts(&reading, Topic::Offsets),
        [(partition(), 8, 8, false)]
    );
    reading.end();
}

/// The names are the same, the logs are as long, and all of it is of another cluster.
#[tokio::test(flavor = "multi_thread")]
async fn another_cluster_is_read_from_its_beginning() {
    let broker = filled().await;
    let mut read_to = read_all(&broker);
    for of_topic in read_to.topics.values_mut() {
        of_topic.identity.cluster_id = Some("another".to_owned());
        of_topic.identity.topic_id = None;
    }
    let reading = go_on(&broker, &read_to);
    assert_eq!(starts(&reading, Topic::Config), [(0, 0, 1, true)]);
    assert_eq!(reading.offsets(Topic::Offsets), [0, 2, 4, 6]);
    assert_eq!(reading.offsets(Topic::Status), [0, 1, 2, 3]);
    reading.end();
}
