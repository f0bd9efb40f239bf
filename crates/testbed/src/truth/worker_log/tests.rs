//! Lines that the captured runs do not hold.

use super::*;

#[track_caller]
fn check(class: &str, level: &str, message: &str, expected: Option<What>) {
    let line = format!("2026-11-29 19:34:53,616 {level} {class} [a-thread] {message}");
    let events = parse("w", &line);
    let told = events.into_iter().next().map(|event| event.what);
    assert_eq!(told, expected, "{message}");
}

#[test]
fn stops_that_take_too_long() {
    check(
        "org.apache.kafka.connect.runtime.Worker",
        "ERROR",
        "Graceful stop of task a-b-3 failed.",
        item(ItemKind::Task, "a-b-3", Step::StopTimedOut),
    );
    for quote in ["'", "‘"] {
        check(
            "org.apache.kafka.connect.runtime.Worker",
            "ERROR",
            &format!(
                "Connector {quote}a-b{quote} failed to properly shut down, has become unresponsive"
            ),
            item(ItemKind::Connector, "a-b", Step::StopTimedOut),
        );
    }
}

#[test]
fn failures() {
    let failed = "Task threw an uncaught and unrecoverable exception. Task is being killed";
    for class in [
        "WorkerSourceTask",
        "WorkerSinkTask",
        "ExactlyOnceWorkerSourceTask",
    ] {
        check(
            "org.apache.kafka.connect.runtime.WorkerTask",
            "ERROR",
            &format!("{class}{{id=a-0}} {failed}"),
            item(ItemKind::Task, "a-0", Step::Failed),
        );
    }
    check(
        "org.apache.kafka.connect.runtime.WorkerConnector",
        "ERROR",
        "WorkerConnector{id=a} Error while starting connector",
        item(ItemKind::Connector, "a", Step::Failed),
    );
}

#[test]
fn a_worker_that_leaves_or_loses_its_coordinator() {
    let coordinator = "org.apache.kafka.connect.runtime.distributed.WorkerCoordinator";
    check(
        coordinator,
        "WARN",
        "[Worker clientId=x, groupId=c] Member m sending LeaveGroup request to coordinator h:1 (id: 1 rack: null) due to worker poll timeout has expired.",
        Some(What::Leaving {
            reason: "worker poll timeout has expired.".to_owned(),
        }),
    );
    check(
        coordinator,
        "INFO",
        "[Worker clientId=x, groupId=c] Broker coordinator was unreachable for 3000ms. Revoking previous assignment Assignment{error=0} to avoid running tasks while not being a member the group",
        Some(What::WorkDropped),
    );
}

#[test]
fn a_consumer_of_a_connector_is_not_the_worker() {
    check(
        "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
        "DEBUG",
        "[Consumer clientId=x, groupId=connect-a] Received successful JoinGroup response: JoinGroupResponseData(generationId=1, protocolName='range', leader='l', memberId='m', members=[])",
        None,
    );
}

#[test]
fn stops_before_a_rebalance_and_a_config_that_went_on() {
    let herder = "org.apache.kafka.connect.runtime.distributed.DistributedHerder";
    let own = "[Worker clientId=connect-1, groupId=connect]";
    check(
        herder,
        "INFO",
        &format!("{own} Finished stopping tasks in preparation for rebalance"),
        Some(What::StopsFinished),
    );
    check(
        herder,
        "INFO",
        &format!("{own} Finished flushing status backing store in preparation for rebalance"),
        Some(What::StatusesFlushed),
    );
    check(
        herder,
        "INFO",
        &format!(
            "{own} Current config state offset 12 does not match group assignment 10. Forcing rebalance."
        ),
        Some(What::ConfigAhead {
            own_offset: 12,
            assigned_offset: 10,
        }),
    );
}

#[test]
fn a_status_that_is_read_back() {
    check(
        "org.apache.kafka.connect.storage.KafkaStatusBackingStore",
        "TRACE",
        "Received task a-b-3 status update Status{id=a-b-3, state=RUNNING, workerId='127.0.0.1:8083', version='1', generation=4}",
        Some(What::StatusRead {
            item: Item {
                kind: ItemKind::Task,
                name: "a-b-3".to_owned(),
            },
            state: "RUNNING".to_owned(),
            worker_id: "127.0.0.1:8083".to_owned(),
        }),
    );
}
