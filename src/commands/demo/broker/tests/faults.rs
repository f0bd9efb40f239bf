//! Faults on demand, as librdkafka meets them.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};

use super::super::{ApiKey, ResponseError, Target};
use super::*;

/// The first error that is not the end of a partition.
fn next_error(consumer: &BaseConsumer) -> KafkaError {
    loop {
        match next(consumer) {
            Ok(_) | Err(KafkaError::PartitionEOF(_)) => {}
            Err(error) => return error,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_fetch_is_an_authorization_error_until_it_is_allowed() {
    let broker = broker().await;
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    let refused = ResponseError::TopicAuthorizationFailed;
    let target = Target::Topic(TOPIC.to_owned());
    broker.deny(ApiKey::Fetch, target.clone(), refused);
    broker.deny(
        ApiKey::Fetch,
        Target::Topic("another".to_owned()),
        ResponseError::UnknownServerError,
    );
    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    assert_eq!(
        next_error(&consumer).rdkafka_error_code(),
        Some(RDKafkaErrorCode::TopicAuthorizationFailed)
    );
    broker.allow(ApiKey::Fetch, &target);
    assert_eq!(next_record(&consumer).offset, 0);
    broker.shutdown().await;
}

/// librdkafka 2.12 tells an assigned consumer nothing of a topic that it may not describe: only asking does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_topic_is_silent_in_an_assignment_and_an_error_where_it_is_asked_for() {
    let broker = broker().await;
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    let target = Target::Topic(TOPIC.to_owned());
    let refused = ResponseError::TopicAuthorizationFailed;
    broker.deny(ApiKey::Metadata, target.clone(), refused);
    broker.deny(ApiKey::ListOffsets, target.clone(), refused);
    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    let asked = broker.requests(ApiKey::Metadata);
    eventually("it asks again", || {
        assert!(consumer.poll(Duration::from_millis(5)).is_none());
        broker.requests(ApiKey::Metadata) > asked + 1
    });
    let metadata = consumer.fetch_metadata(Some(TOPIC), DEADLINE).unwrap();
    assert_eq!(
        metadata.topics()[0].error().map(RDKafkaErrorCode::from),
        Some(RDKafkaErrorCode::TopicAuthorizationFailed)
    );

    broker.allow(ApiKey::Metadata, &target);
    let fresh = super::consumer(&broker, &[]);
    let mut ask = TopicPartitionList::new();
    ask.add_partition_offset(TOPIC, 0, Offset::End).unwrap();
    let error = fresh.offsets_for_times(ask, DEADLINE).unwrap_err();
    assert_eq!(
        error.rdkafka_error_code(),
        Some(RDKafkaErrorCode::TopicAuthorizationFailed)
    );
    broker.allow(ApiKey::ListOffsets, &target);
    assert_eq!(next_record(&consumer).offset, 0);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_group_does_not_stop_an_assigned_consumer() {
    let broker = broker().await;
    broker.deny(
        ApiKey::FindCoordinator,
        Target::All,
        ResponseError::GroupAuthorizationFailed,
    );
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    // The record and the error come in either order.
    let mut read = false;
    let mut denied = false;
    while !(read && denied) {
        match next(&consumer) {
            Ok(seen) => read = seen.offset == 0,
            Err(error) => {
                denied |=
                    error.rdkafka_error_code() == Some(RDKafkaErrorCode::GroupAuthorizationFailed);
            }
        }
    }
    broker.append(TOPIC, 0, record("k", "v", 1)).unwrap();
    assert_eq!(next_record(&consumer).offset, 1);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_topic_or_partition_is_told() {
    let broker = broker().await;
    let consumer = consumer(&broker, &[("topic.metadata.propagation.max.ms", "0")]);
    assign(&consumer, "nowhere", 0, Offset::Beginning);
    assert_eq!(
        next_error(&consumer).rdkafka_error_code(),
        Some(RDKafkaErrorCode::UnknownTopicOrPartition)
    );
    assign(&consumer, TOPIC, 2, Offset::Beginning);
    assert_eq!(
        next_error(&consumer).rdkafka_error_code(),
        Some(RDKafkaErrorCode::UnknownPartition)
    );
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_broker_comes_back_on_its_port_with_its_contents() {
    let broker = broker().await;
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    assert_eq!(next_record(&consumer).offset, 0);

    let address = broker.address();
    broker.stop().await;
    broker.stop().await;
    assert_eq!(broker.connections_open(), 0);
    assert!(TcpStream::connect(address).is_err());
    while next_error(&consumer).rdkafka_error_code() != Some(RDKafkaErrorCode::AllBrokersDown) {}
    broker.append(TOPIC, 0, record("k", "v", 1)).unwrap();

    broker.resume().await.unwrap();
    broker.resume().await.unwrap();
    assert_eq!(broker.address(), address);
    assert_eq!(next_record(&consumer).offset, 1);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_hang_until_the_faults_are_cleared() {
    let broker = broker().await;
    broker.hang(ApiKey::Fetch);
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    eventually("a fetch is sent", || {
        assert!(consumer.poll(Duration::from_millis(5)).is_none());
        broker.requests(ApiKey::Fetch) > 0
    });
    assert!(consumer.poll(Duration::from_millis(200)).is_none());
    assert_eq!(broker.bytes_out(ApiKey::Fetch), 0);
    broker.clear_faults();
    assert_eq!(next_record(&consumer).offset, 0);
    assert!(broker.bytes_out(ApiKey::Fetch) > 0);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_delayed() {
    let broker = broker().await;
    let consumer = consumer(&broker, &[]);
    let took = || {
        let started = Instant::now();
        consumer.fetch_watermarks(TOPIC, 0, DEADLINE).unwrap();
        started.elapsed()
    };
    took();
    broker.delay(ApiKey::ListOffsets, Duration::from_millis(300));
    assert!(took() >= Duration::from_millis(300));
    broker.delay(ApiKey::ListOffsets, Duration::ZERO);
    assert!(took() < Duration::from_millis(300));
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_connections_are_opened_again_by_the_client() {
    let broker = broker().await;
    broker.append(TOPIC, 0, record("k", "v", 0)).unwrap();
    let consumer = consumer(&broker, &[]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    assert_eq!(next_record(&consumer).offset, 0);
    let opened = broker.connections_opened();
    broker.close_connections();
    // Appended at once, it might still be given on the old connection.
    let began = std::time::Instant::now();
    while broker.connections_opened() == opened {
        assert!(began.elapsed() < DEADLINE, "no new connection");
        assert!(
            consumer
                .poll(Duration::from_millis(10))
                .is_none_or(|got| got.is_err())
        );
    }
    broker.append(TOPIC, 0, record("k", "v", 1)).unwrap();
    assert_eq!(next_record(&consumer).offset, 1);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_in_use_is_named() {
    let first = broker().await;
    let error = Broker::start(first.address(), "second", &[])
        .await
        .unwrap_err();
    assert!(error.to_string().contains(&first.address().to_string()));
    first.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_leaves_no_task_behind() {
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let before = tasks();
    let broker = broker().await;
    let consumer = consumer(&broker, &[("fetch.wait.max.ms", "10000")]);
    assign(&consumer, TOPIC, 0, Offset::Beginning);
    eventually("a fetch waits", || broker.requests(ApiKey::Fetch) > 0);
    assert!(tasks() > before);
    broker.shutdown().await;
    // The runtime forgets a task a moment after those who wait for it are told.
    eventually("no task is left", || tasks() == before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_handle_takes_the_broker_with_it() {
    let broker = broker().await;
    let address = broker.address();
    let clone = broker.clone();
    drop(broker);
    drop(TcpStream::connect(address).unwrap());
    drop(clone);
    eventually("the port is closed", || {
        TcpStream::connect(address).is_err()
    });
}
