//! Traces of recorded scenarios: what holds for each of them, and what two of them look like.

mod alike;
mod bytes;
mod draw;
mod secrets;
mod sent;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use evenkeel::read::capture::CaptureReader;
use evenkeel::show::traces::tree::{EVENTS_MAX, KeyValue, SPANS_MAX, SpanData, Value};
use evenkeel::show::traces::{Trace, of_episode, trace};
use evenkeel_core::answers::{EpisodeAnswer, EpisodeOutcome, PolledBounds};
use evenkeel_core::engine::{Change, Engine, State};
use evenkeel_core::facts::input::{Input, InputKind};
use evenkeel_core::facts::time::ArrivalTime;

use crate::replays::{captures, is_telling};

/// The inputs of a capture. Some were recorded before a cluster was asked for its id.
fn inputs(path: &Path) -> Vec<Input> {
    let reader = CaptureReader::open(path).unwrap();
    let mut inputs: Vec<Input> = reader.map(Result::unwrap).collect();
    for input in &mut inputs {
        if let InputKind::Settings(settings) = &mut input.kind {
            let id = settings
                .cluster_id
                .get_or_insert_with(|| "unnamed".to_owned());
            assert!(!id.is_empty());
        }
    }
    inputs
}

/// An episode that closed, with its trace.
struct Closed {
    episode: Arc<EpisodeAnswer>,
    trace: Option<Trace>,
}

fn take(engine: &mut Engine, input: &Input) -> Vec<Closed> {
    let changes = engine.apply(input).into_iter();
    let settings = engine.state().settings();
    let closed = changes.filter_map(|change| match change {
        Change::Closed(episode, beside) => Some(Closed {
            trace: trace(settings, &episode, &beside),
            episode,
        }),
        _ => None,
    });
    closed.collect()
}

fn derived(inputs: &[Input]) -> Vec<Closed> {
    let mut engine = Engine::new();
    let mut closed: Vec<Closed> = inputs
        .iter()
        .flat_map(|input| take(&mut engine, input))
        .collect();
    for input in engine.ends_here() {
        closed.extend(take(&mut engine, &input));
    }
    closed
}

fn traces(inputs: &[Input]) -> Vec<Trace> {
    let closed = derived(inputs).into_iter();
    closed.filter_map(|closed| closed.trace).collect()
}

fn of<'a>(attributes: &'a [KeyValue], name: &str) -> Option<&'a Value> {
    let mut attributes = attributes.iter();
    let found = attributes.find(|known| known.key.as_str() == name)?;
    Some(&found.value)
}

fn id(span: &SpanData) -> [u8; 8] {
    span.span_context.span_id().to_bytes()
}

/// Zeros stand for none.
fn parent(span: &SpanData) -> Option<[u8; 8]> {
    let parent = span.parent_span_id.to_bytes();
    (parent != [0; 8]).then_some(parent)
}

/// What holds for every trace.
fn assert_whole(trace: &Trace, of: &str) {
    let mut seen: BTreeMap<[u8; 8], &SpanData> = BTreeMap::new();
    let (root, inner) = trace.spans.split_first().unwrap();
    assert!(trace.spans.len() <= SPANS_MAX, "{of}");
    assert_eq!((&*root.name, parent(root)), ("rebalance", None), "{of}");
    seen.insert(id(root), root);
    for span in inner {
        let parent = seen.get(&parent(span).unwrap());
        let parent = parent.unwrap_or_else(|| panic!("{of}: {} is an orphan", span.name));
        assert!(
            parent.start_time <= span.start_time && span.end_time <= parent.end_time,
            "{of}: {} lies outside of {}",
            span.name,
            parent.name
        );
        assert!(
            seen.insert(id(span), span).is_none(),
            "{of}: an id comes twice"
        );
    }
    for span in &trace.spans {
        assert_eq!(span.span_context.trace_id().to_bytes(), trace.id, "{of}");
        assert!(span.start_time <= span.end_time, "{of}");
        assert!(id(span) != [0; 8], "{of}");
        assert!(span.events.len() <= EVENTS_MAX, "{of}");
        for event in &span.events.events {
            let during = span.start_time..=span.end_time;
            assert!(during.contains(&event.timestamp), "{of}");
        }
        let names = span.attributes.iter().map(|known| known.key.as_str());
        let names: Vec<&str> = names.collect();
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), distinct.len(), "{of}: {names:?}");
        let ours = ["evenkeel.", "messaging.", "server."];
        assert!(
            names
                .iter()
                .all(|name| ours.iter().any(|own| name.starts_with(own)))
        );
        let bound = self::of(&span.attributes, "evenkeel.duration.bound");
        assert!(bound.is_some(), "{of}: {}", span.name);
    }
}

#[test]
fn every_closed_rebalance_of_every_capture_is_one_whole_trace() {
    let (mut all, mut names) = (0, BTreeSet::new());
    for capture in captures() {
        let of = capture.display().to_string();
        let inputs = inputs(&capture);
        let mut ids = BTreeSet::new();
        for closed in derived(&inputs) {
            let is_known = closed.episode.whole && !closed.episode.rest;
            assert_eq!(closed.trace.is_some(), is_known, "{of}");
            let Some(trace) = closed.trace else { continue };
            assert!(ids.insert(trace.id), "{of}: a trace comes twice");
            assert_whole(&trace, &of);
            let rounds = trace.spans.iter().filter(|span| span.name == "round");
            assert_eq!(rounds.count(), closed.episode.rounds.len(), "{of}");
            let error = closed.episode.outcome == Some(EpisodeOutcome::Unresolved);
            let status = format!("{:?}", trace.spans[0].status);
            assert_eq!(status.starts_with("Error"), error, "{of}: {status}");
            for span in trace.spans {
                names.insert(span.name);
                names.extend(span.events.into_iter().map(|event| event.name));
            }
            all += 1;
        }
    }
    assert!(all > 300, "{all} traces");
    // Nothing of what a trace can hold is missing in all of them.
    let known = [
        "connector changed",
        "join",
        "member joined",
        "member left",
        "parked",
        "protocol changed",
        "rebalance",
        "round",
        "start",
        "stop",
        "sync",
        "task",
        "zombie suspected",
    ];
    assert_eq!(names.into_iter().collect::<Vec<_>>(), known);
}

#[test]
fn two_replays_tell_the_same_trace_to_the_last_byte() {
    for capture in captures().iter().filter(|capture| is_telling(capture)) {
        let inputs = inputs(capture);
        let told = |traces: Vec<Trace>| format!("{traces:?}");
        assert_eq!(told(traces(&inputs)), told(traces(&inputs)));
    }
}

/// What every sidecar derives alike: all but when joins began, which polls narrow.
fn shape(trace: &Trace) -> Vec<(String, [u8; 8], Option<[u8; 8]>)> {
    let spans = trace.spans.iter();
    spans
        .map(|span| (span.name.to_string(), id(span), parent(span)))
        .collect()
}

/// What another sidecar has of the same records: no polls, or answers and records that took
/// longer, each another while.
fn seen_otherwise(inputs: &[Input]) -> [(&'static str, Vec<Input>); 2] {
    let mut plain = inputs.to_vec();
    plain.retain(|input| !matches!(input.kind, InputKind::Polled(_)));
    let mut late = inputs.to_vec();
    let mut before = ArrivalTime(i64::MIN);
    for (input, place) in late.iter_mut().zip(0_i64..) {
        before = input.at.plus_ms(place * 61 % 400).max(before);
        input.at = before;
    }
    [("without polls", plain), ("later", late)]
}

#[test]
fn polls_and_arrivals_change_no_span_and_no_id() {
    let mut moved = BTreeMap::new();
    for capture in captures() {
        let inputs = inputs(&capture);
        let seen = derived(&inputs);
        for (how, otherwise) in seen_otherwise(&inputs) {
            let of = format!("{} {how}", capture.display());
            let otherwise = derived(&otherwise);
            assert_eq!(seen.len(), otherwise.len(), "{of}");
            for (seen, otherwise) in seen.iter().zip(otherwise) {
                // A capture may end before a poll would have told that nothing is unread. How soon
                // that is proven is another matter: what was settled by then may differ.
                let without = |episode: &EpisodeAnswer| EpisodeAnswer {
                    polled: PolledBounds::default(),
                    ..episode.clone()
                };
                if how == "without polls" {
                    assert_eq!(without(&seen.episode), without(&otherwise.episode), "{of}");
                }
                let (Some(seen), Some(otherwise)) = (&seen.trace, otherwise.trace) else {
                    continue;
                };
                assert_eq!(shape(seen), shape(&otherwise), "{of}");
                *moved.entry(how).or_insert(0) += u32::from(*seen != otherwise);
            }
        }
    }
    assert!(moved.values().all(|moved| *moved > 50), "{moved:?}");
}

/// Through the form in which a state is kept on disk.
fn restarted(engine: &Engine, at: &Input) -> Engine {
    let state = serde_json::to_vec(engine.state()).unwrap();
    let state: State = serde_json::from_slice(&state).unwrap();
    Engine::resume(state, at.at)
}

#[test]
fn a_restart_tells_the_same_trace_or_none() {
    let (mut same, mut cut) = (0, 0);
    for capture in captures().iter().filter(|capture| is_telling(capture)) {
        let inputs = inputs(capture);
        let whole: BTreeMap<[u8; 16], Vec<_>> = derived(&inputs)
            .into_iter()
            .filter_map(|closed| closed.trace)
            .map(|trace| (trace.id, shape(&trace)))
            .collect();
        for part in 1..12 {
            let place = inputs.len() * part / 12;
            let (before, after) = inputs.split_at(place);
            let Some(next) = after.first() else { continue };
            let mut engine = Engine::new();
            let mut sent: BTreeSet<[u8; 16]> = BTreeSet::new();
            for input in before {
                let closed = take(&mut engine, input).into_iter();
                sent.extend(closed.filter_map(|closed| Some(closed.trace?.id)));
            }
            let mut engine = restarted(&engine, next);
            for input in after {
                for closed in take(&mut engine, input) {
                    let Some(trace) = closed.trace else { continue };
                    assert!(sent.insert(trace.id), "a trace is told again");
                    assert_eq!(whole.get(&trace.id), Some(&shape(&trace)));
                    same += 1;
                }
            }
            cut += usize::from(engine.state().generation().is_some());
        }
    }
    assert!(same > 20 && cut > 20, "{same} traces after {cut} restarts");
}

#[test]
fn who_did_not_read_the_first_record_tells_no_trace() {
    let mut cut = 0;
    for capture in captures().iter().filter(|capture| is_telling(capture)) {
        let inputs = inputs(capture);
        let all: BTreeSet<[u8; 16]> = traces(&inputs).iter().map(|trace| trace.id).collect();
        // Without the group's first records.
        let is_group = |input: &&Input| {
            matches!(&input.kind, InputKind::Record(record)
                if record.topic == evenkeel_core::facts::input::Topic::Offsets)
        };
        let records = inputs.iter().filter(is_group).count();
        for left_out in 1..records.min(6) {
            let mut seen = 0;
            let mut later = inputs.clone();
            later.retain(|input| {
                seen += usize::from(is_group(&input));
                !is_group(&input) || seen > left_out
            });
            for trace in traces(&later) {
                cut += usize::from(all.contains(&trace.id));
                assert!(
                    all.contains(&trace.id),
                    "{}: without {left_out} records another trace is told",
                    capture.display()
                );
            }
        }
    }
    assert!(cut > 20, "{cut} traces without the first records");
}

#[test]
fn logs_and_traces_name_the_same_ids() {
    let capture = captures()
        .into_iter()
        .find(|path| is_telling(path))
        .unwrap();
    let inputs = inputs(&capture);
    let mut engine = Engine::new();
    let mut known = 0;
    for input in &inputs {
        for closed in take(&mut engine, input) {
            let ids = of_episode(engine.state().settings(), &closed.episode);
            let trace = closed.trace.map(|trace| (trace.id, id(&trace.spans[0])));
            assert_eq!(ids, trace);
            known += usize::from(ids.is_some());
        }
    }
    assert!(known > 0);
}

/// Holds the drawing of a capture's traces against its golden file.
#[track_caller]
fn assert_drawn(scenario: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let capture = root.join(format!("tests/captures/{scenario}.evk.gz"));
    let drawn: Vec<String> = traces(&inputs(&capture)).iter().map(draw::whole).collect();
    let drawn = drawn.join("\n");
    let golden = root.join(format!("tests/it/traces/{scenario}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &drawn).unwrap();
    }
    let known = fs::read_to_string(&golden).unwrap_or_default();
    assert!(known == drawn, "{scenario} is drawn as\n{drawn}");
}

#[test]
fn a_worker_that_is_killed_and_comes_back_looks_as_it_did() {
    assert_drawn("kill_back_inside");
}

#[test]
fn a_scale_out_looks_as_it_did() {
    assert_drawn("scale_out");
}

#[test]
fn the_example_in_the_documentation_is_drawn_from_a_capture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let capture = root.join("tests/captures/kill_back_inside.evk.gz");
    let told = traces(&inputs(&capture));
    let most = told.iter().max_by_key(|trace| trace.spans.len()).unwrap();
    let drawn = draw::outline(most);
    let docs = fs::read_to_string(root.join("docs/traces.md")).unwrap_or_default();
    assert!(docs.contains(&drawn), "docs/traces.md should have\n{drawn}");
}
