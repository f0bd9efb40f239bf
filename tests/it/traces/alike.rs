//! What sidecars say alike that read the same topics side by side in another order, with other
//! polls, and at other times: all but how well clocks of workers and begins of joins are known.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel::show::traces::Trace;
use evenkeel::show::traces::tree::SpanData;
use evenkeel_core::facts::input::{Input, InputKind, Topic};

use super::{Closed, captures, derived, id, inputs, seen_otherwise};

/// Polls and arrivals narrow these, and what follows from them.
const NARROWED: [&str; 6] = [
    "evenkeel.duration.",
    "evenkeel.active",
    "evenkeel.stop.",
    "evenkeel.stop_ms",
    "evenkeel.start",
    "evenkeel.delay_left_ms",
];

/// Records of this topic arrive so many milliseconds later than they did.
fn late(inputs: &[Input], topic: Topic, by_ms: i64) -> Vec<Input> {
    let is_it = |input: &Input| match &input.kind {
        InputKind::Record(record) => record.topic == topic,
        InputKind::Reached(reached) => reached.topic == topic,
        _ => false,
    };
    let mut moved = inputs.to_vec();
    for input in moved.iter_mut().filter(|input| is_it(input)) {
        input.at = input.at.plus_ms(by_ms);
    }
    moved.sort_by_key(|input| input.at);
    moved
}

/// What a span says that is the same on every sidecar, a line each.
fn said(span: &SpanData) -> Vec<String> {
    let name = &span.name;
    let is_alike = |key: &str| {
        let counts = ["evenkeel.starts", "evenkeel.starts_unseen"].contains(&key);
        counts || !NARROWED.iter().any(|narrowed| key.starts_with(narrowed))
    };
    let mut lines = vec![format!("{name} {:?}", span.status)];
    let attributes = span.attributes.iter();
    let attributes = attributes.filter(|said| is_alike(said.key.as_str()));
    lines.extend(attributes.map(|said| format!("{name} {} {:?}", said.key, said.value)));
    // What may run twice is weighed by what is read, as it is read.
    let events = span.events.iter();
    let events = events.filter(|event| event.name != "zombie suspected");
    lines.extend(events.map(|event| format!("{name} {} {:?}", event.name, event.attributes)));
    lines.extend(span.links.iter().map(|link| format!("{name} {link:?}")));
    // Whose begin or end does not hang on when a join began.
    if !["parked", "join", "round", "rebalance"].contains(&&**name) {
        lines.push(format!("{name} {:?}", span.start_time));
    }
    if name != "parked" {
        lines.push(format!("{name} {:?}", span.end_time));
    }
    lines
}

fn all_said(trace: &Trace) -> BTreeMap<[u8; 8], Vec<String>> {
    let spans = trace.spans.iter();
    spans.map(|span| (id(span), said(span))).collect()
}

/// The episodes that were read whole, each with its trace.
fn whole(closed: Vec<Closed>, of: &str) -> BTreeMap<Arc<str>, Trace> {
    let mut whole = BTreeMap::new();
    for Closed { episode, trace } in closed {
        let is_known = episode.whole && !episode.rest;
        assert_eq!(trace.is_some(), is_known, "{of}: {}", episode.id);
        whole.extend(trace.map(|trace| (episode.id.clone(), trace)));
    }
    whole
}

/// What is not said alike: in a loop whose rounds follow each other within a second, who has the
/// group's records seconds after the configuration that they are about ends the episode with it,
/// where who has both at once begins another.
const UNLIKE: [(&str, Topic, i64); 1] = [("config_mismatch", Topic::Offsets, 4_000)];

#[test]
fn whoever_reads_in_another_order_says_the_same() {
    let (mut compared, mut left_out) = (0, 0);
    for capture in captures() {
        let inputs = inputs(&capture);
        let seen = whole(derived(&inputs), &capture.display().to_string());
        let name = capture.file_name().unwrap().to_string_lossy();
        let name = name.split('.').next().unwrap().to_owned();
        let mut others: Vec<(String, Vec<Input>)> = seen_otherwise(&inputs)
            .into_iter()
            .map(|(how, inputs)| (how.to_owned(), inputs))
            .collect();
        for topic in Topic::ALL {
            for by_ms in [150, 4_000] {
                if UNLIKE.contains(&(name.as_str(), topic, by_ms)) {
                    continue;
                }
                let how = format!("{topic:?} {by_ms} ms late");
                others.push((how, late(&inputs, topic, by_ms)));
            }
        }
        for (how, inputs) in others {
            let of = format!("{} {how}", capture.display());
            let traces = whole(derived(&inputs), &of);
            for (episode, trace) in &traces {
                let seen = seen.get(episode);
                let seen = seen.unwrap_or_else(|| panic!("{of}: {episode} is another's alone"));
                assert_eq!(seen.id, trace.id, "{of}");
                let (seen, trace) = (all_said(seen), all_said(trace));
                assert_eq!(
                    seen.keys().collect::<Vec<_>>(),
                    trace.keys().collect::<Vec<_>>(),
                    "{of}"
                );
                for (id, said) in &trace {
                    assert_eq!(&seen[id], said, "{of}");
                }
                compared += 1;
            }
            let missing = seen.keys().filter(|id| !traces.contains_key(*id));
            left_out += missing.count();
        }
    }
    assert!(compared > 2_000, "{compared} traces");
    // Where a capture ends before a late reader has the end, or one that is late with the first
    // record has not read it whole, it says nothing.
    println!("{compared} traces, {left_out} left out");
    assert!(
        left_out <= compared / 200,
        "{left_out} of {compared} left out"
    );
}
