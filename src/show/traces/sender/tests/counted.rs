//! Whatever a receiver answers, in whatever order: each span becomes one thing, and none that a
//! receiver took is sent again.

use std::collections::BTreeSet;

use super::{PACE, ROOM, Receiver, sample, until};
use crate::config::TraceProtocol;
use crate::show::traces::sender::{Fate, channel_of};
use crate::show::traces::wire::receiver::{Answer, Asked, client};
use crate::show::view::TraceStats;

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

fn answers(dice: &mut Dice, protocol: TraceProtocol) -> Vec<Answer> {
    let (later, refused, unwelcome) = match protocol {
        TraceProtocol::Http => (503, 413, 401),
        TraceProtocol::Grpc => (14, 8, 16),
    };
    (0..60)
        .map(|_| match dice.below(7) {
            0 => Answer::Take,
            1 => Answer::Reject(i64::try_from(dice.below(6)).unwrap()),
            // More than it was sent.
            2 => Answer::Reject(1_000),
            3 => Answer::Status(later),
            4 | 5 => Answer::Status(refused),
            _ => Answer::Status(unwelcome),
        })
        .collect()
}

/// What a receiver has of a request, by its own answer.
fn has(asked: &Asked) -> usize {
    let spans = asked.spans();
    match asked.answer {
        Answer::Take => spans,
        Answer::Reject(rejected) => spans.saturating_sub(usize::try_from(rejected).unwrap()),
        _ => 0,
    }
}

#[tokio::test]
async fn each_span_becomes_one_thing() {
    for seed in 1..=12 {
        for protocol in [TraceProtocol::Http, TraceProtocol::Grpc] {
            let mut dice = Dice(seed);
            let receiver = Receiver::start(Answer::Take).await;
            receiver.answer_first(answers(&mut dice, protocol));
            let (queue, sender) = channel_of(client(&receiver, protocol), ROOM, PACE);
            let mut all = 0;
            let offered: Vec<(u8, Fate)> = (1..=40)
                .map(|number| {
                    let spans = usize::try_from(1 + dice.below(40)).unwrap();
                    all += u64::try_from(spans).unwrap();
                    (number, queue.offer(sample(number, spans)).unwrap())
                })
                .collect();
            let task = tokio::spawn(sender.run(std::future::pending()));
            let settled = async {
                while queue.stats().waiting > 0 {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            };
            let settled = tokio::time::timeout(std::time::Duration::from_secs(60), settled).await;
            assert!(settled.is_ok(), "{:?}", queue.stats());
            let asked = receiver.all();
            let exported = u64::try_from(asked.iter().map(has).sum::<usize>()).unwrap();
            let expected = TraceStats {
                exported,
                failed: all - exported,
                dropped: 0,
                waiting: 0,
            };
            until(&queue, expected).await;
            // What was answered with success is never sent again, in whole or in part.
            let mut answered: BTreeSet<u8> = BTreeSet::new();
            let mut whole: BTreeSet<u8> = BTreeSet::new();
            for one in &asked {
                let traces: BTreeSet<u8> = one.traces().collect();
                assert!(
                    traces.is_disjoint(&answered),
                    "{seed} {traces:?} come again"
                );
                match one.answer {
                    Answer::Take | Answer::Reject(0) => whole.extend(&traces),
                    _ => {}
                }
                if matches!(one.answer, Answer::Take | Answer::Reject(_)) {
                    answered.extend(traces);
                }
            }
            for (number, fate) in offered {
                assert_eq!(
                    fate.is_exported(),
                    whole.contains(&number),
                    "{seed} {number}"
                );
            }
            drop(queue);
            task.await.unwrap();
        }
    }
}

#[tokio::test]
async fn who_knows_nobody_is_not_asked_for_each_trace() {
    for (protocol, status) in [
        (TraceProtocol::Http, 401),
        (TraceProtocol::Http, 404),
        (TraceProtocol::Http, 307),
        (TraceProtocol::Grpc, 12),
        (TraceProtocol::Grpc, 16),
    ] {
        let receiver = Receiver::start(Answer::Status(status)).await;
        let (queue, sender) = channel_of(client(&receiver, protocol), ROOM, PACE);
        for number in 1..=9 {
            assert!(queue.offer(sample(number, 2)).is_some());
        }
        let task = tokio::spawn(sender.run(std::future::pending()));
        until(&queue, super::stats(0, 18, 0)).await;
        assert_eq!(receiver.requests(), 1, "{status}");
        drop(queue);
        task.await.unwrap();
    }
}
