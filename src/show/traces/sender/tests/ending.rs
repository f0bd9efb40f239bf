//! The end of the agent: what waits is sent, nothing twice, and nobody is waited for longer than
//! that.

use std::time::Duration;

use super::{PACE, ROOM, Receiver, sample, sender, stats, traces, until};
use crate::config::TraceProtocol;
use crate::show::traces::sender::{Pace, channel_of};
use crate::show::traces::wire::receiver::{Answer, client};

#[tokio::test]
async fn the_end_sends_what_waits_and_what_is_handed_over_late() {
    let receiver = Receiver::start(Answer::Take).await;
    let patient = Pace {
        batch_after: Duration::from_secs(60),
        ..PACE
    };
    let (queue, sender) = channel_of(client(&receiver, TraceProtocol::Http), ROOM, patient);
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let task = tokio::spawn(sender.run(async {
        assert!(ended.await.is_ok());
    }));
    assert!(queue.offer(sample(1, 4)).is_some());
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(receiver.requests(), 0, "the batch waits for others");
    end.send(()).unwrap();
    receiver.asked(1).await;
    assert!(queue.offer(sample(2, 5)).is_some());
    until(&queue, stats(9, 0, 0)).await;
    drop(queue);
    task.await.unwrap();
}

#[tokio::test]
async fn the_end_waits_for_a_silent_receiver_no_longer_than_it_may() {
    let receiver = Receiver::start(Answer::Silence).await;
    let (queue, sender) = sender(&receiver, ROOM);
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let task = tokio::spawn(sender.run(async {
        assert!(ended.await.is_ok());
    }));
    assert!(queue.offer(sample(1, 4)).is_some());
    receiver.asked(1).await;
    for trace in traces(3, 2) {
        assert!(queue.offer(trace).is_some());
    }
    end.send(()).unwrap();
    let ended = tokio::time::timeout(PACE.drain_max * 5, task).await;
    ended.expect("it ends").unwrap();
    assert_eq!(queue.stats(), stats(0, 0, 10));
    assert!(
        queue.offer(sample(9, 1)).is_none(),
        "nobody takes it any more"
    );
    assert_eq!(queue.stats(), stats(0, 0, 11));
}

#[tokio::test]
async fn what_is_on_its_way_at_the_end_is_not_sent_again() {
    let receiver = Receiver::start(Answer::Take).await;
    receiver.answer_first([Answer::TakeLate(200)]);
    let (queue, sender) = sender(&receiver, ROOM);
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let task = tokio::spawn(sender.run(async {
        assert!(ended.await.is_ok());
    }));
    assert!(queue.offer(sample(1, 4)).is_some());
    receiver.asked(1).await;
    end.send(()).unwrap();
    assert!(queue.offer(sample(2, 5)).is_some());
    until(&queue, stats(9, 0, 0)).await;
    assert_eq!(receiver.spans_of_requests(), [4, 5]);
    drop(queue);
    task.await.unwrap();
}

#[tokio::test]
async fn who_asked_for_patience_is_asked_once_more_at_the_end() {
    let receiver = Receiver::start(Answer::Take).await;
    receiver.answer_first([Answer::Busy(503, 60)]);
    let (queue, sender) = sender(&receiver, ROOM);
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let task = tokio::spawn(sender.run(async {
        assert!(ended.await.is_ok());
    }));
    assert!(queue.offer(sample(1, 4)).is_some());
    receiver.asked(1).await;
    end.send(()).unwrap();
    until(&queue, stats(4, 0, 0)).await;
    assert_eq!(receiver.requests(), 2);
    drop(queue);
    task.await.unwrap();
}
