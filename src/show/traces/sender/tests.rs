//! The sender against receivers that answer, refuse, are silent, are dead, and come back.

mod by_hand;
mod counted;
mod ending;

use std::path::Path;
use std::time::{Duration, Instant};

use super::{AGE_MAX, Fate, Pace, Queue, Sender, WAITING_MAX, channel_of};
use crate::config::TraceProtocol;
use crate::show::traces::tree::{SPANS_MAX, Trace};
use crate::show::traces::wire::receiver::{Answer, Receiver, client, sample};
use crate::show::view::TraceStats;

const ROOM: usize = 8 * SPANS_MAX;

const PACE: Pace = Pace {
    batch_after: Duration::from_millis(20),
    retry_min: Duration::from_millis(20),
    retry_max: Duration::from_millis(40),
    age_max: Duration::from_secs(60),
    drain_max: Duration::from_millis(400),
};

/// A sender with room for so many spans, not yet at work.
fn sender(receiver: &Receiver, room: usize) -> (Queue, Sender) {
    channel_of(client(receiver, TraceProtocol::Http), room, PACE)
}

/// What became of spans, none of which waits any more.
fn stats(exported: u64, failed: u64, dropped: u64) -> TraceStats {
    TraceStats {
        exported,
        failed,
        dropped,
        waiting: 0,
    }
}

/// So many wait, and none was sent yet.
fn waiting(waiting: u64) -> TraceStats {
    TraceStats {
        waiting,
        ..TraceStats::default()
    }
}

async fn until(queue: &Queue, wanted: TraceStats) {
    let reached = async {
        while queue.stats() != wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), reached).await;
    assert!(waited.is_ok(), "{:?} is not {wanted:?}", queue.stats());
}

fn traces(count: usize, spans: usize) -> Vec<Trace> {
    let number = |number| sample(u8::try_from(number).unwrap(), spans);
    (1..=count).map(number).collect()
}

#[tokio::test]
async fn traces_go_out_in_batches_that_a_receiver_takes() {
    let receiver = Receiver::start(Answer::Take).await;
    let (queue, sender) = sender(&receiver, ROOM);
    for trace in traces(5, SPANS_MAX / 2) {
        assert!(queue.offer(trace).is_some());
    }
    let task = tokio::spawn(sender.run(std::future::pending()));
    let all = u64::try_from(5 * (SPANS_MAX / 2)).unwrap();
    until(&queue, stats(all, 0, 0)).await;
    // Two fill a request; the fifth goes alone.
    assert_eq!(
        receiver.spans_of_requests(),
        [SPANS_MAX, SPANS_MAX, SPANS_MAX / 2]
    );
    // The last queue is gone: the task ends by itself.
    drop(queue);
    task.await.unwrap();
}

#[tokio::test]
async fn what_finds_no_room_is_dropped_and_counted_and_nobody_waits() {
    let receiver = Receiver::start(Answer::Take).await;
    let (queue, sender) = sender(&receiver, 8);
    // It is spans that are counted: where a large trace finds no room, a small one may.
    let taken: Vec<bool> = [(1, 3), (2, 3), (3, 3), (4, 2), (5, 1)]
        .into_iter()
        .map(|(number, spans)| queue.offer(sample(number, spans)).is_some())
        .collect();
    assert_eq!(taken, [true, true, false, true, false]);
    let full = TraceStats {
        dropped: 4,
        ..waiting(8)
    };
    assert_eq!(queue.stats(), full);
    let task = tokio::spawn(sender.run(std::future::pending()));
    until(&queue, stats(8, 0, 4)).await;
    // What was sent makes room.
    assert!(queue.offer(sample(6, 8)).is_some());
    until(&queue, stats(16, 0, 4)).await;
    drop(queue);
    task.await.unwrap();
}

#[tokio::test]
async fn a_dead_receiver_that_returns_gets_everything_once() {
    let mut receiver = Receiver::start(Answer::Take).await;
    receiver.die();
    let (queue, sender) = sender(&receiver, ROOM);
    let task = tokio::spawn(sender.run(std::future::pending()));
    for trace in traces(3, 4) {
        assert!(queue.offer(trace).is_some());
    }
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(queue.stats(), waiting(12), "it is kept and tried again");
    receiver.return_to_life(Answer::Take).await;
    until(&queue, stats(12, 0, 0)).await;
    assert_eq!(receiver.spans(), 12);
    drop(queue);
    task.await.unwrap();
}

#[tokio::test]
async fn what_waits_too_long_is_dropped_and_what_came_later_is_sent() {
    let receiver = Receiver::start(Answer::Status(503)).await;
    let hasty = Pace {
        age_max: Duration::from_millis(600),
        ..PACE
    };
    let (queue, sender) = channel_of(client(&receiver, TraceProtocol::Http), ROOM, hasty);
    let task = tokio::spawn(sender.run(std::future::pending()));
    assert!(queue.offer(sample(1, 4)).is_some());
    receiver.asked(2).await;
    // It waits behind the first, and no longer than that.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(queue.offer(sample(2, 5)).is_some());
    let first_gone = TraceStats {
        dropped: 4,
        ..waiting(5)
    };
    until(&queue, first_gone).await;
    receiver.answer(Answer::Take);
    until(&queue, stats(5, 0, 4)).await;
    let last = receiver.all().pop().unwrap();
    let spans = &last.message.resource_spans[0].scope_spans[0].spans;
    assert_eq!((spans.len(), &spans[0].trace_id[..]), (5, &[2; 16][..]));
    drop(queue);
    task.await.unwrap();
}

#[tokio::test]
async fn a_receiver_that_asks_for_patience_gets_it() {
    for (protocol, status) in [
        (TraceProtocol::Http, 503),
        (TraceProtocol::Grpc, 14),
        (TraceProtocol::Grpc, 8),
    ] {
        let receiver = Receiver::start(Answer::Busy(status, 1)).await;
        let (queue, sender) = channel_of(client(&receiver, protocol), ROOM, PACE);
        let task = tokio::spawn(sender.run(std::future::pending()));
        assert!(queue.offer(sample(1, 4)).is_some());
        receiver.asked(1).await;
        receiver.answer(Answer::Take);
        let begun = Instant::now();
        until(&queue, stats(4, 0, 0)).await;
        // Much longer than by its own pace.
        let waited = begun.elapsed();
        assert!(waited > Duration::from_millis(700), "{status}: {waited:?}");
        assert_eq!(receiver.requests(), 2, "{status}");
        drop(queue);
        task.await.unwrap();
    }
}

#[tokio::test]
async fn a_receiver_that_is_busy_is_asked_again() {
    for busy in [429, 502, 503, 504] {
        let receiver = Receiver::start(Answer::Status(busy)).await;
        let (queue, sender) = sender(&receiver, ROOM);
        let task = tokio::spawn(sender.run(std::future::pending()));
        assert!(queue.offer(sample(1, 4)).is_some());
        receiver.asked(2).await;
        assert_eq!(queue.stats(), waiting(4), "{busy}");
        receiver.answer(Answer::Take);
        until(&queue, stats(4, 0, 0)).await;
        drop(queue);
        task.await.unwrap();
    }
}

#[tokio::test]
async fn what_is_refused_is_failed_and_not_sent_again() {
    for refused in [400, 401, 403, 404, 413, 500] {
        let receiver = Receiver::start(Answer::Status(refused)).await;
        let (queue, sender) = sender(&receiver, ROOM);
        let task = tokio::spawn(sender.run(std::future::pending()));
        assert!(queue.offer(sample(1, 4)).is_some());
        until(&queue, stats(0, 4, 0)).await;
        receiver.answer(Answer::Take);
        assert!(queue.offer(sample(2, 3)).is_some());
        until(&queue, stats(3, 4, 0)).await;
        assert_eq!(receiver.requests(), 2, "{refused}");
        drop(queue);
        task.await.unwrap();
    }
}

#[tokio::test]
async fn what_a_receiver_takes_in_part_is_counted_in_parts() {
    let receiver = Receiver::start(Answer::Reject(3)).await;
    let (queue, sender) = sender(&receiver, ROOM);
    let task = tokio::spawn(sender.run(std::future::pending()));
    assert!(queue.offer(sample(1, 10)).is_some());
    until(&queue, stats(7, 3, 0)).await;
    drop(queue);
    task.await.unwrap();
}

#[test]
fn the_documentation_has_the_bounds() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/traces.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    assert_eq!(WAITING_MAX, 4_096);
    assert!(docs.contains("up to 4,096 spans wait"));
    assert_eq!(AGE_MAX, Duration::from_secs(60 * 60));
    assert!(docs.contains("an hour after its rebalance was over is dropped"));
}

#[tokio::test]
async fn what_is_refused_takes_nothing_else_with_it() {
    let receiver = Receiver::start(Answer::TakeUpTo(4)).await;
    let (queue, sender) = sender(&receiver, ROOM);
    let fates: Vec<Fate> = [(1, 3), (2, 5), (3, 2)]
        .into_iter()
        .filter_map(|(number, spans)| queue.offer(sample(number, spans)))
        .collect();
    let task = tokio::spawn(sender.run(std::future::pending()));
    until(&queue, stats(5, 5, 0)).await;
    let exported: Vec<bool> = fates.iter().map(Fate::is_exported).collect();
    assert_eq!(exported, [true, false, true]);
    // Together, then each alone; what comes later is sent together again.
    assert_eq!(receiver.spans_of_requests(), [10, 3, 5, 2]);
    assert!(queue.offer(sample(4, 1)).is_some());
    assert!(queue.offer(sample(5, 1)).is_some());
    until(&queue, stats(7, 5, 0)).await;
    assert_eq!(receiver.spans_of_requests().last(), Some(&2));
    drop(queue);
    task.await.unwrap();
}
