//! Draws a trace as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::SystemTime;

use evenkeel::show::traces::Trace;
use evenkeel::show::traces::ids::hex;
use evenkeel::show::traces::tree::{Array, SpanData, Value};

use super::{id, of, parent};

/// Attributes that an outline shows.
const SHOWN: [&str; 8] = [
    "evenkeel.cause",
    "evenkeel.subject",
    "evenkeel.outcome",
    "evenkeel.generation",
    "evenkeel.worker",
    "evenkeel.connector",
    "evenkeel.task",
    "evenkeel.delay_ms",
];

/// Everything that it holds.
pub(super) fn whole(trace: &Trace) -> String {
    let mut out = format!("trace {}\n", hex(&trace.id));
    drawn(trace, &mut |span, line, inner| {
        writeln!(out, "{line} [{}]", hex(&id(span))).unwrap();
        for known in &span.attributes {
            writeln!(out, "{inner}    {} = {}", known.key, shown(&known.value)).unwrap();
        }
        for event in &span.events.events {
            let at = since(trace.spans[0].start_time, event.timestamp);
            writeln!(out, "{inner}    at {at} {}", event.name).unwrap();
            for known in &event.attributes {
                writeln!(
                    out,
                    "{inner}        {} = {}",
                    known.key,
                    shown(&known.value)
                )
                .unwrap();
            }
        }
        for link in &span.links.links {
            let episode = of(&link.attributes, "evenkeel.episode").unwrap();
            writeln!(out, "{inner}    goes on with {}", shown(episode)).unwrap();
        }
        if span.status != Default::default() {
            writeln!(out, "{inner}    {:?}", span.status).unwrap();
        }
    });
    out
}

/// A line a span.
pub(super) fn outline(trace: &Trace) -> String {
    let mut out = String::new();
    drawn(trace, &mut |span, line, inner| {
        let listed = span.attributes.iter();
        let listed = listed.filter(|known| SHOWN.contains(&known.key.as_str()));
        let listed = listed.map(|known| {
            let name = known.key.as_str().trim_start_matches("evenkeel.");
            format!("  {name}={}", shown(&known.value))
        });
        writeln!(out, "{line}{}", listed.collect::<String>()).unwrap();
        for event in &span.events.events {
            let at = since(trace.spans[0].start_time, event.timestamp);
            let about = of(&event.attributes, "evenkeel.worker");
            let about = about.or_else(|| of(&event.attributes, "evenkeel.connector"));
            let about = about.map(|value| format!(" {}", self::shown(value)));
            writeln!(
                out,
                "{inner}• {at} {}{}",
                event.name,
                about.unwrap_or_default()
            )
            .unwrap();
        }
    });
    out
}

/// Tells each span with its line and what stands before the lines inside it.
fn drawn(trace: &Trace, tell: &mut dyn FnMut(&SpanData, &str, &str)) {
    let mut inner: BTreeMap<[u8; 8], Vec<&SpanData>> = BTreeMap::new();
    for span in &trace.spans {
        if let Some(parent) = parent(span) {
            inner.entry(parent).or_default().push(span);
        }
    }
    branch(trace, &trace.spans[0], "", "", &inner, tell);
}

fn branch(
    trace: &Trace,
    span: &SpanData,
    own: &str,
    below: &str,
    inner: &BTreeMap<[u8; 8], Vec<&SpanData>>,
    tell: &mut dyn FnMut(&SpanData, &str, &str),
) {
    let at = since(trace.spans[0].start_time, span.start_time);
    let lasted = since(span.start_time, span.end_time);
    let none = Vec::new();
    let children = inner.get(&id(span)).unwrap_or(&none);
    let bar = if children.is_empty() { "  " } else { "│ " };
    tell(
        span,
        &format!("{own}{} at {at} for {lasted}", span.name),
        &format!("{below}{bar}"),
    );
    for (place, child) in children.iter().enumerate() {
        let is_last = place + 1 == children.len();
        let (mark, rest) = if is_last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        branch(
            trace,
            child,
            &format!("{below}{mark}"),
            &format!("{below}{rest}"),
            inner,
            tell,
        );
    }
}

fn since(from: SystemTime, to: SystemTime) -> String {
    let lasted = to.duration_since(from).unwrap();
    format!("{}.{:03} s", lasted.as_secs(), lasted.subsec_millis())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(Array::String(texts)) => {
            let texts: Vec<&str> = texts.iter().map(|text| text.as_str()).collect();
            texts.join("; ")
        }
        value => value.to_string(),
    }
}
