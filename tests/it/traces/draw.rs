//! Draws a trace as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evenkeel::show::traces::Trace;
use evenkeel::show::traces::ids::hex;
use evenkeel::show::traces::tree::{Span, Value};

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
        writeln!(out, "{line} [{}]", hex(&span.id)).unwrap();
        for (name, value) in &span.attributes {
            writeln!(out, "{inner}    {name} = {}", shown(value)).unwrap();
        }
        for event in &span.events {
            let at = seconds(event.at_ms - trace.spans[0].start_ms);
            writeln!(out, "{inner}    at {at} {}", event.name).unwrap();
            for (name, value) in &event.attributes {
                writeln!(out, "{inner}        {name} = {}", shown(value)).unwrap();
            }
        }
        for link in &span.links {
            writeln!(out, "{inner}    goes on with {}", link.episode).unwrap();
        }
        if let Some(error) = span.error {
            writeln!(out, "{inner}    error: {error}").unwrap();
        }
    });
    out
}

/// A line a span.
pub(super) fn outline(trace: &Trace) -> String {
    let mut out = String::new();
    drawn(trace, &mut |span, line, inner| {
        let listed = span
            .attributes
            .iter()
            .filter(|(name, _)| SHOWN.contains(&name.as_str()));
        let listed = listed.map(|(name, value)| {
            let name = name.trim_start_matches("evenkeel.");
            format!("  {name}={}", shown(value))
        });
        writeln!(out, "{line}{}", listed.collect::<String>()).unwrap();
        for event in &span.events {
            let at = seconds(event.at_ms - trace.spans[0].start_ms);
            let about = event.attributes.iter().find(|(name, _)| {
                matches!(name.as_str(), "evenkeel.worker" | "evenkeel.connector")
            });
            let about = about.map(|(_, value)| format!(" {}", self::shown(value)));
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
fn drawn(trace: &Trace, tell: &mut dyn FnMut(&Span, &str, &str)) {
    let mut inner: BTreeMap<[u8; 8], Vec<&Span>> = BTreeMap::new();
    for span in &trace.spans {
        if let Some(parent) = span.parent {
            inner.entry(parent).or_default().push(span);
        }
    }
    branch(trace, &trace.spans[0], "", "", &inner, tell);
}

fn branch(
    trace: &Trace,
    span: &Span,
    own: &str,
    below: &str,
    inner: &BTreeMap<[u8; 8], Vec<&Span>>,
    tell: &mut dyn FnMut(&Span, &str, &str),
) {
    let at = seconds(span.start_ms - trace.spans[0].start_ms);
    let lasted = seconds(span.end_ms - span.start_ms);
    let none = Vec::new();
    let children = inner.get(&span.id).unwrap_or(&none);
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

fn seconds(ms: i64) -> String {
    format!("{}.{:03} s", ms / 1_000, ms % 1_000)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Truth(truth) => truth.to_string(),
        Value::Texts(texts) => texts.join("; "),
    }
}
