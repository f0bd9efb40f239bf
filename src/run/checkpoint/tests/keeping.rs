//! When a state is written, and what is shown of counters meanwhile.

use std::path::Path;
use std::time::Duration;

use evenkeel_core::answers::Counters;
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{Ends, Input, InputKind, Start, Topic};

use super::capture;
use crate::read::kafka::{Identity, ReadSettings};
use crate::run::checkpoint::{Keeper, Source, begin};
use crate::run::clock;

struct Nobody;

impl Source for Nobody {
    fn identity(&self, _topic: Topic) -> Identity {
        Identity::default()
    }

    fn next_content(&self) -> u32 {
        0
    }
}

fn settings() -> ReadSettings {
    ReadSettings {
        group: "connect".to_owned(),
        ..ReadSettings::default()
    }
}

fn keeper(folder: &Path) -> Keeper {
    begin(folder, &settings(), clock::now()).keeper.unwrap()
}

fn take(keeper: &mut Keeper, engine: &mut Engine, inputs: &[Input]) {
    for input in inputs {
        let mut input = input.clone();
        assert!(keeper.meet(&mut input).is_none());
        let changes = engine.apply(&input);
        keeper.took(&input, &changes, &Nobody);
    }
}

/// What a scrape would show.
fn shown(keeper: &mut Keeper, engine: &Engine) -> Counters {
    let mut answers = engine.answers();
    keeper.show(engine, &mut answers, &Nobody);
    answers.counters
}

fn counted(engine: &Engine) -> Counters {
    engine.state().counters().clone()
}

fn restored(folder: &Path) -> Counters {
    counted(&begin(folder, &settings(), clock::now()).engine)
}

/// Two moments of a recording at which all is true, and something was counted in between.
fn moments() -> (Vec<Input>, usize, usize) {
    let inputs = capture("membership");
    let mut engine = Engine::new();
    let mut fresh = Vec::new();
    for (place, input) in inputs.iter().enumerate() {
        engine.apply(input);
        if engine.answers().fresh {
            fresh.push((place + 1, counted(&engine)));
        }
    }
    let first = fresh[fresh.len() / 3].clone();
    let last = fresh.last().unwrap();
    assert_ne!(first.1, last.1);
    (inputs, first.0, last.0)
}

#[tokio::test]
async fn nothing_is_shown_that_a_restart_would_not_bring_back() {
    let (inputs, first, last) = moments();
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::new();
    let mut one = keeper(folder.path());
    take(&mut one, &mut engine, &inputs[..first]);
    let before = counted(&engine);
    // The first one is on its way, and what it holds may be shown, no more.
    assert_eq!(shown(&mut one, &engine), before);
    take(&mut one, &mut engine, &inputs[first..last]);
    assert_eq!(shown(&mut one, &engine), before);
    one.wrote().await;
    assert_eq!(shown(&mut one, &engine), before);
    drop(one);
    assert_eq!(restored(folder.path()), before);
}

#[tokio::test(start_paused = true)]
async fn a_counter_that_changed_is_written_and_then_shown() {
    let (inputs, first, last) = moments();
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::new();
    let mut one = keeper(folder.path());
    take(&mut one, &mut engine, &inputs[..first]);
    shown(&mut one, &engine);
    one.wrote().await;
    take(&mut one, &mut engine, &inputs[first..last]);
    // One was written a moment ago, which rests the disk for a second, or more on a slow one.
    one.rest = Duration::ZERO;
    tokio::time::advance(Duration::from_millis(1_001)).await;
    assert_ne!(shown(&mut one, &engine), counted(&engine));
    one.wrote().await;
    assert_eq!(shown(&mut one, &engine), counted(&engine));
    // Nothing changed: it is left alone for a minute.
    one.rest = Duration::ZERO;
    tokio::time::advance(Duration::from_secs(59)).await;
    shown(&mut one, &engine);
    assert!(one.writing.is_none());
    tokio::time::advance(Duration::from_secs(2)).await;
    shown(&mut one, &engine);
    assert!(one.writing.is_some());
}

#[tokio::test]
async fn before_all_was_read_the_state_on_disk_stays() {
    let (inputs, first, _) = moments();
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::new();
    let mut one = keeper(folder.path());
    take(&mut one, &mut engine, &inputs[..5]);
    shown(&mut one, &engine);
    assert!(one.writing.is_none());
    one.end(&engine, &Nobody).await;
    assert!(!folder.path().join("connect.state").exists());
    take(&mut one, &mut engine, &inputs[5..first]);
    shown(&mut one, &engine);
    one.end(&engine, &Nobody).await;
    assert!(folder.path().join("connect.state").exists());
}

#[tokio::test(start_paused = true)]
async fn where_it_cannot_be_written_counters_go_on_and_none_is_left() {
    let (inputs, first, last) = moments();
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::new();
    let mut one = keeper(folder.path());
    take(&mut one, &mut engine, &inputs[..first]);
    shown(&mut one, &engine);
    one.wrote().await;
    let (state, new) = (
        folder.path().join("connect.state"),
        folder.path().join("connect.new"),
    );
    assert!(state.exists());
    // In the place of the file that is written: nobody, not even root, removes it as a file.
    std::fs::create_dir(&new).unwrap();
    take(&mut one, &mut engine, &inputs[first..last]);
    one.rest = Duration::ZERO;
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_ne!(shown(&mut one, &engine), counted(&engine));
    one.wrote().await;
    assert_eq!(shown(&mut one, &engine), counted(&engine));
    // A restart would begin at zero, as it does without a folder.
    assert!(!state.exists());
    std::fs::remove_dir(&new).unwrap();
    tokio::time::advance(Duration::from_secs(11)).await;
    shown(&mut one, &engine);
    one.wrote().await;
    assert!(state.exists());
    drop(one);
    assert_eq!(restored(folder.path()), counted(&engine));
}

/// The clock of the process before may have been ahead: nothing waits for that one to pass.
#[test]
fn a_state_from_a_clock_that_was_ahead_goes_on_at_once() {
    let (inputs, first, last) = moments();
    let mut engine = Engine::new();
    inputs[..first]
        .iter()
        .for_each(|input| drop(engine.apply(input)));
    // A record came, and no question was asked since: its verdict waits.
    let mut following = inputs[first..last].iter();
    let record = following.find(|input| {
        engine.apply(input);
        engine.wants_ends()
    });
    let now = record.unwrap().at.plus_ms(-30_000);
    let state = serde_json::to_vec(engine.state()).unwrap();
    let mut engine = Engine::resume(serde_json::from_slice(&state).unwrap(), now);
    assert!(!engine.answers().fresh);
    let read_to = Topic::ALL.map(|topic| (topic, engine.state().read_to(topic)));
    for (topic, ends) in read_to {
        for &(partition, end) in &ends {
            let offset = end;
            let start = Start {
                topic,
                partition,
                offset,
                end,
                anew: false,
            };
            engine.apply(&Input {
                at: now,
                kind: InputKind::Start(start),
            });
        }
        let asked = now.plus_ms(1);
        let ends = Ends { topic, asked, ends };
        engine.apply(&Input {
            at: asked,
            kind: InputKind::Ends(ends),
        });
    }
    assert!(engine.answers().fresh);
    assert!(!engine.wants_ends());
}
