//! Against the embedded broker, with its faults: what is said of rights, of brokers that do not
//! answer, and how soon.

use std::time::Duration;

use super::*;
use crate::commands::demo::broker::{ApiKey, Broker, ResponseError, Target, TopicSpec};

const TOPICS: [&str; 3] = ["__consumer_offsets", "configs", "statuses"];

/// What it waits for at most; each case ends long before.
const WAIT: Duration = Duration::from_secs(60);

async fn broker() -> Broker {
    let listen = "127.0.0.1:0".parse().unwrap();
    let topics = TOPICS.map(|name| TopicSpec {
        name: name.to_owned(),
        partitions: 1,
    });
    Broker::start(listen, "check-test", &topics).await.unwrap()
}

fn flags(bootstrap: impl ToString) -> ConfigFlags {
    ConfigFlags {
        bootstrap: Some(bootstrap.to_string()),
        group: Some("g".to_owned()),
        config_topic: Some("configs".to_owned()),
        status_topic: Some("statuses".to_owned()),
        set: vec!["kafka.properties.reconnect.backoff.max.ms=300".to_owned()],
        ..ConfigFlags::default()
    }
}

/// On a thread of its own, as the command runs.
async fn read_there(flags: ConfigFlags) -> (Watched, Duration) {
    read_for(flags, WAIT).await
}

async fn read_for(flags: ConfigFlags, wait: Duration) -> (Watched, Duration) {
    let began = Instant::now();
    let read = tokio::task::spawn_blocking(move || read(&flags, wait));
    let mut watched = read.await.unwrap().unwrap();
    assert_eq!(watched.len(), 1);
    (watched.remove(0), began.elapsed())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_nobody_joined_is_said_to_be_absent() {
    let broker = broker().await;
    let (watched, took) = read_there(flags(broker.address())).await;
    assert!(watched.is_reached);
    assert_eq!(watched.read.troubles, Vec::<String>::new());
    let notes = watched.read.notes.join("\n");
    assert!(notes.contains("no record of this group exists"), "{notes}");
    assert!(took < Duration::from_secs(25), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_right_that_is_missing_is_named_and_ends_the_wait() {
    let broker = broker().await;
    for api in [ApiKey::Metadata, ApiKey::Fetch, ApiKey::ListOffsets] {
        let target = Target::Topic("configs".to_owned());
        broker.deny(api, target, ResponseError::TopicAuthorizationFailed);
    }
    let (watched, took) = read_there(flags(broker.address())).await;
    assert!(watched.is_reached);
    let told = watched.read.troubles.join("\n");
    assert!(
        told.contains("configs may not be read: the agent's principal needs READ and DESCRIBE"),
        "{told}"
    );
    assert!(took < Duration::from_secs(25), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_groups_own_right_is_named_too() {
    let broker = broker().await;
    let target = Target::Group("g".to_owned());
    for api in [ApiKey::FindCoordinator, ApiKey::DescribeGroups] {
        let error = ResponseError::GroupAuthorizationFailed;
        broker.deny(api, target.clone(), error);
    }
    let (watched, _) = read_there(flags(broker.address())).await;
    assert!(watched.is_reached);
    let told = watched.read.troubles.join("\n");
    assert!(told.contains("group g may not be described"), "{told}");
    assert!(told.contains("needs DESCRIBE on it"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nobody_answers_the_wait_is_short() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let (watched, took) = read_there(flags(address)).await;
    assert!(!watched.is_reached);
    let told = watched.read.troubles.join("\n");
    assert!(told.contains("no broker answers"), "{told}");
    assert!(took < Duration::from_secs(30), "{took:?}");
}

/// A short wait is over before anybody has counted as unreachable.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nobody_answered_in_a_short_wait_it_is_not_well() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    for wait_s in [1, 4] {
        let (watched, _) = read_for(flags(address), Duration::from_secs(wait_s)).await;
        assert!(!watched.is_reached);
        assert_eq!(watched.read.troubles.len(), 1, "{:?}", watched.read);
        assert_eq!(watched.read.notes, Vec::<String>::new());
    }
}

/// What one group cannot be read for takes nothing from the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_cannot_be_read_is_told_beside_the_others() {
    let broker = broker().await;
    let well = flags(broker.address());
    let (well, _) = read_there(well).await;
    let bad = || io::Error::other("no such certificate");
    let reading: Vec<(String, Option<String>, BoxedRead)> = vec![
        (
            "a".to_owned(),
            Some("User:x".to_owned()),
            Box::pin(async move { Err(bad()) }),
        ),
        ("g".to_owned(), None, Box::pin(async move { Ok(well) })),
        (
            "c".to_owned(),
            None,
            Box::pin(async { panic!("a task that ends badly") }),
        ),
    ];
    let watched = all(reading).await;
    let groups: Vec<&str> = watched.iter().map(|it| it.read.group.as_str()).collect();
    assert_eq!(groups, ["a", "g", "c"]);
    let troubles: Vec<usize> = watched.iter().map(|it| it.read.troubles.len()).collect();
    assert_eq!(troubles, [1, 0, 1]);
    assert_eq!(watched[0].read.principal.as_deref(), Some("User:x"));
    let told = &watched[0].read.troubles[0];
    assert_eq!(told, "it could not be read: no such certificate");
}

type BoxedRead = std::pin::Pin<Box<dyn Future<Output = io::Result<Watched>> + Send>>;
