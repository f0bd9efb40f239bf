//! Topics that are deleted and created again, and logs that lose records.

use evenkeel_core::facts::input::{InputKind, Topic};

use super::*;

/// Everything of the status topic that came after the last `anew`.
fn since_anew(reading: &Reading, topic: Topic) -> Vec<(i32, i64)> {
    let mut records = Vec::new();
    for kind in reading.kinds() {
        match kind {
            InputKind::Start(start) if start.topic == topic && start.anew => records.clear(),
            InputKind::Record(record) if record.topic == topic => {
                records.push((record.partition, record.offset));
            }
            _ => {}
        }
    }
    records.sort_unstable();
    records
}

fn has_anew(reading: &Reading, topic: Topic, partition: i32) -> bool {
    let starts = reading.starts(topic);
    starts
        .iter()
        .any(|start| start.anew && start.partition == partition)
}

fn caught_up(broker: &Broker) -> Reading {
    let mut reading = read(broker);
    reading.until("all starts", |r| {
        Topic::ALL.iter().all(|topic| !r.starts(*topic).is_empty())
    });
    reading.settle();
    reading
}

/// The new topic is shorter than what was read of the old one.
#[tokio::test(flavor = "multi_thread")]
async fn a_topic_replaced_by_a_shorter_one() {
    let broker = broker().await;
    for n in 0..10 {
        broker
            .append(STATUS, 0, status("status-task-a-0", n))
            .unwrap();
    }
    let mut reading = caught_up(&broker);
    broker.recreate_topic(STATUS).unwrap();
    broker
        .append(STATUS, 0, status("status-task-b-0", 1))
        .unwrap();
    broker
        .append(STATUS, 1, status("status-task-b-1", 1))
        .unwrap();
    reading.handle.ask_ends();
    let elapsed = reading.until("both anew", |r| {
        has_anew(r, Topic::Status, 0) && has_anew(r, Topic::Status, 1)
    });
    println!("shorter topic noticed in {elapsed:?}");
    reading.settle();
    assert_eq!(since_anew(&reading, Topic::Status), [(0, 0), (1, 0)]);
    assert_eq!(reading.trouble(Topic::Status), None);
    assert_eq!(reading.starts(Topic::Config).len(), 1, "the others read on");
    reading.end();
}

/// The new topic grew beyond what was read before anybody looked: only its id tells.
#[tokio::test(flavor = "multi_thread")]
async fn a_topic_replaced_by_a_longer_one() {
    let broker = broker().await;
    broker
        .append(CONFIG, 0, keyed("commit-a", r#"{"tasks":1}"#))
        .unwrap();
    let mut reading = caught_up(&broker);
    broker.recreate_topic(CONFIG).unwrap();
    for n in 0..5 {
        broker
            .append(CONFIG, 0, keyed("commit-b", &format!(r#"{{"tasks":{n}}}"#)))
            .unwrap();
    }
    let elapsed = reading.until("it is begun anew", |r| has_anew(r, Topic::Config, 0));
    println!("longer topic noticed in {elapsed:?}");
    reading.settle();
    assert_eq!(
        since_anew(&reading, Topic::Config),
        [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]
    );
    reading.end();
}

/// The same for the offsets topic: the group is searched for again.
#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_offsets_topic_is_searched_again() {
    let broker = broker().await;
    let p = partition();
    broker
        .append_many(OFFSETS, p, [own("g1"), foreign(), own("g2")])
        .unwrap();
    let mut reading = caught_up(&broker);
    broker.recreate_topic(OFFSETS).unwrap();
    broker
        .append_many(OFFSETS, p, [foreign(), own("g1")])
        .unwrap();
    reading.handle.ask_ends();
    reading.until("it is begun anew", |r| has_anew(r, Topic::Offsets, p));
    reading.settle();
    assert_eq!(since_anew(&reading, Topic::Offsets), [(p, 1)]);
    reading.end();
}

/// A leader epoch that goes back betrays another log at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_epoch_that_goes_back() {
    let broker = broker().await;
    broker.set_leader_epoch(STATUS, 0, 5).unwrap();
    broker
        .append(STATUS, 0, status("status-task-a-0", 1))
        .unwrap();
    let mut reading = caught_up(&broker);
    assert_eq!(reading.records(Topic::Status)[0].leader_epoch, Some(5));
    broker.recreate_topic(STATUS).unwrap();
    for n in 0..4 {
        broker
            .append(STATUS, 0, status("status-task-b-0", n))
            .unwrap();
    }
    reading.until("it is begun anew", |r| has_anew(r, Topic::Status, 0));
    reading.settle();
    assert_eq!(
        since_anew(&reading, Topic::Status),
        [(0, 0), (0, 1), (0, 2), (0, 3)]
    );
    reading.end();
}

/// A leader epoch that goes forward is a coordinator that moved, nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_epoch_that_goes_forward() {
    let broker = broker().await;
    let mut reading = caught_up(&broker);
    broker.append(OFFSETS, partition(), own("g1")).unwrap();
    reading.settle();
    broker.set_leader_epoch(OFFSETS, partition(), 3).unwrap();
    broker.append(OFFSETS, partition(), own("g2")).unwrap();
    reading.until("the second record", |r| {
        r.records(Topic::Offsets).len() == 2
    });
    let epochs: Vec<Option<i32>> = reading
        .records(Topic::Offsets)
        .iter()
        .map(|record| record.leader_epoch)
        .collect();
    assert_eq!(epochs, [Some(0), Some(3)]);
    reading.settle();
    assert_eq!(reading.starts(Topic::Offsets).len(), 1);
    reading.end();
}

/// Deleted for a while, then created again.
#[tokio::test(flavor = "multi_thread")]
async fn a_topic_deleted_for_a_while() {
    let broker = broker().await;
    broker
        .append(STATUS, 0, status("status-task-a-0", 1))
        .unwrap();
    let mut reading = caught_up(&broker);
    broker.delete_topic(STATUS).unwrap();
    reading.handle.ask_ends();
    reading.until("the trouble", |r| {
        r.trouble(Topic::Status) == Some(Trouble::Missing)
    });
    broker
        .create_topic(&TopicSpec {
            name: STATUS.to_owned(),
            partitions: 3,
        })
        .unwrap();
    broker
        .append(STATUS, 2, status("status-task-a-0", 1))
        .unwrap();
    reading.until("it is begun anew", |r| has_anew(r, Topic::Status, 2));
    reading.settle();
    assert_eq!(since_anew(&reading, Topic::Status), [(2, 0)]);
    assert_eq!(reading.settings().last().unwrap().status_partitions, 3);
    reading.end();
}

/// Records were deleted before they were read: a gap, and the same topic.
#[tokio::test(flavor = "multi_thread")]
async fn records_deleted_before_they_were_read() {
    let broker = broker().await;
    broker
        .append(STATUS, 0, status("status-task-a-0", 1))
        .unwrap();
    let mut reading = caught_up(&broker);
    broker.stop().await;
    for n in 0..9 {
        broker
            .append(STATUS, 0, status("status-task-a-0", n))
            .unwrap();
    }
    broker.truncate_front(STATUS, 0, 6).unwrap();
    broker.resume().await.unwrap();
    reading.until("the gap", |r| {
        r.starts(Topic::Status)
            .iter()
            .any(|start| start.partition == 0 && start.offset == 6)
    });
    reading.settle();
    let starts = reading.starts(Topic::Status);
    assert!(starts.iter().all(|start| !start.anew), "{starts:?}");
    assert_eq!(reading.offsets(Topic::Status), [0, 6, 7, 8, 9]);
    reading.end();
}
