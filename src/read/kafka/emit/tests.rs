//! Handing on, and what is said of a topic's trouble.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_core::facts::input::{Access, Input, InputKind, Topic, Trouble};
use evenkeel_core::facts::time::ArrivalTime;
use tokio::sync::mpsc;

use super::{Emitter, Stopped, TopicAccess};
use crate::read::hitch::Hitch;

fn emitter(room: usize) -> (Arc<Emitter>, mpsc::Receiver<Input>) {
    let (sender, receiver) = mpsc::channel(room);
    let emitter = Emitter::new(sender, Arc::new(|| ArrivalTime(7)));
    (Arc::new(emitter), receiver)
}

fn said(receiver: &mut mpsc::Receiver<Input>) -> Vec<Option<Trouble>> {
    let mut said = Vec::new();
    while let Ok(input) = receiver.try_recv() {
        match input.kind {
            InputKind::Access(Access { trouble, .. }) => said.push(trouble),
            other => panic!("{other:?}"),
        }
    }
    said
}

#[test]
fn says_each_change_once() {
    let (emitter, mut inputs) = emitter(10);
    let access = TopicAccess::new(Topic::Config);
    access
        .questions(&emitter, ArrivalTime(5), Some(Trouble::Missing))
        .unwrap();
    access
        .questions(&emitter, ArrivalTime(5), Some(Trouble::Missing))
        .unwrap();
    access.questions(&emitter, ArrivalTime(5), None).unwrap();
    access.questions(&emitter, ArrivalTime(5), None).unwrap();
    access.records(&emitter, Some(Trouble::Denied)).unwrap();
    access.questions(&emitter, ArrivalTime(5), None).unwrap();
    access.records(&emitter, None).unwrap();
    assert_eq!(
        said(&mut inputs),
        [Some(Trouble::Missing), None, Some(Trouble::Denied), None]
    );
}

/// Who waits for a topic that is not there waits for a question that was sent since.
#[test]
fn what_lasts_is_said_with_each_question_that_finds_it() {
    let (emitter, mut inputs) = emitter(10);
    let access = TopicAccess::new(Topic::Config);
    let missing = Some(Trouble::Missing);
    for asked in [1, 2] {
        let asked = ArrivalTime(asked);
        access.questions(&emitter, asked, missing).unwrap();
    }
    let unreachable = Some(Trouble::Unreachable);
    for asked in [3, 4] {
        let asked = ArrivalTime(asked);
        access.questions(&emitter, asked, unreachable).unwrap();
    }
    // No question finds that records are refused.
    access.questions(&emitter, ArrivalTime(5), None).unwrap();
    access.records(&emitter, Some(Trouble::Denied)).unwrap();
    access.questions(&emitter, ArrivalTime(6), None).unwrap();
    let mut said = Vec::new();
    while let Ok(input) = inputs.try_recv() {
        match input.kind {
            InputKind::Access(access) => said.push((access.trouble, access.asked)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        said,
        [
            (missing, Some(ArrivalTime(1))),
            (missing, Some(ArrivalTime(2))),
            (unreachable, None),
            (None, None),
            (Some(Trouble::Denied), None),
        ]
    );
}

#[test]
fn explains_silence_by_what_the_connections_said() {
    let (emitter, mut inputs) = emitter(10);
    let access = TopicAccess::new(Topic::Config);
    access.connection(Trouble::Unauthenticated, Some(Hitch::Untrusted));
    access.connection(Trouble::Unreachable, None);
    assert_eq!(access.hitch(), Some(Hitch::Untrusted));
    access
        .questions(&emitter, ArrivalTime(5), Some(Trouble::Unreachable))
        .unwrap();
    access.questions(&emitter, ArrivalTime(5), None).unwrap();
    access
        .questions(&emitter, ArrivalTime(5), Some(Trouble::Unreachable))
        .unwrap();
    assert_eq!(
        said(&mut inputs),
        [
            Some(Trouble::Unauthenticated),
            None,
            Some(Trouble::Unreachable)
        ]
    );
}

#[test]
fn waits_for_room_and_drops_nothing() {
    let (emitter, mut inputs) = emitter(1);
    let writer = std::thread::spawn({
        let emitter = Arc::clone(&emitter);
        move || (0..100).try_for_each(|_| emitter.send(InputKind::Tick))
    });
    let mut got = 0;
    while let Some(input) = inputs.blocking_recv() {
        assert_eq!(input.at, ArrivalTime(7));
        got += 1;
        if got == 100 {
            break;
        }
    }
    writer.join().unwrap().unwrap();
    assert_eq!(got, 100);
}

#[test]
fn ends_when_told_or_when_nobody_listens() {
    let (stopped, inputs) = emitter(1);
    stopped.send(InputKind::Tick).unwrap();
    let writer = std::thread::spawn({
        let stopped = Arc::clone(&stopped);
        move || stopped.send(InputKind::Tick)
    });
    std::thread::sleep(Duration::from_millis(20));
    stopped.stop();
    assert_eq!(
        writer.join().unwrap(),
        Err(Stopped),
        "though the channel was full"
    );
    drop(inputs);
    let (alone, inputs) = emitter(1);
    drop(inputs);
    assert!(alone.is_stopped());
    assert_eq!(alone.send(InputKind::Tick), Err(Stopped));
    assert_eq!(alone.sleep(Duration::from_secs(60)), Err(Stopped));
}
