//! From an episode that is over to the spans of its trace, as plain values.
//!
//! ```text
//! rebalance                       the whole of it
//! ├─ round                        one pass of join and sync, with what workers did then
//! │  ├─ join                      members join, until the coordinator stops waiting
//! │  ├─ sync                      the leader computes, members are told
//! │  ├─ stop                      one worker stops what it was told to
//! │  │  └─ task                   one of the slowest
//! │  └─ start                     one worker starts what it was told to
//! │     └─ task
//! └─ parked                       nothing happens until a scheduled delay is over
//! ```
//!
//! Which spans there are, and their ids, is the same on every sidecar; polls narrow only when
//! a join began. A child lies inside its parent, and every span but the first has one.

mod attributes;
mod events;
mod fit;
mod root;
mod rounds;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use evenkeel_core::answers::{ClosingAnswer, EpisodeAnswer};
use evenkeel_core::facts::input::Settings;
use opentelemetry::InstrumentationScope;
use opentelemetry::trace::{self, SpanContext, SpanKind, Status, TraceFlags, TraceState};
use opentelemetry_sdk::trace::{SpanEvents, SpanLinks};

use super::ids::{self, SpanId, TraceId};
use attributes::Attributes;
pub use opentelemetry::{Array, KeyValue, Value};
pub use opentelemetry_sdk::trace::SpanData;

/// Spans of one trace, and of one request: what receivers take without a question.
pub const SPANS_MAX: usize = 512;

/// Events of one span: what OpenTelemetry's SDKs keep (`OTEL_SPAN_EVENT_COUNT_LIMIT`).
pub const EVENTS_MAX: usize = 128;

/// What a trace is made of, beside the episode.
#[derive(Debug, Clone, Copy)]
struct Scene<'a> {
    /// What is watched.
    settings: &'a Settings,
    /// What was known beside it when it closed.
    beside: &'a ClosingAnswer,
}

/// A trace: the outermost span first, each before those inside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Its id.
    pub id: TraceId,
    /// At most [`SPANS_MAX`].
    pub spans: Vec<SpanData>,
}

/// A span on its way: keys instead of ids, milliseconds since 1970 instead of instants.
#[derive(Debug)]
struct Draft {
    key: String,
    parent: Option<String>,
    name: &'static str,
    start_ms: i64,
    /// No earlier.
    end_ms: i64,
    attributes: Attributes,
    /// By time.
    events: SpanEvents,
    links: SpanLinks,
    status: Status,
}

/// The trace of an episode; `None` where it has none: it is not over, its first record was
/// not read, or the cluster has no id.
///
/// The episode is the one that [`Change::Closed`](evenkeel_core::engine::Change::Closed) tells: what
/// is known at that instant by the order of the log. Answers know more a moment later, or with
/// the same input, and how much that is hangs on what each sidecar reads first.
#[must_use]
pub fn trace(
    settings: &Settings,
    episode: &EpisodeAnswer,
    beside: &ClosingAnswer,
) -> Option<Trace> {
    let closed = episode.closed?;
    let (id, _) = ids::of_episode(settings, episode)?;
    let scene = Scene { settings, beside };
    let chosen = fit::choose(episode);
    let rounds = rounds::drafts(episode, &chosen, closed);
    let root = root::draft(episode, scene, &chosen, &rounds, closed);
    let mut drafts = vec![root];
    drafts.extend(rounds);
    fit::inside(&mut drafts);
    debug_assert!(drafts.len() <= SPANS_MAX, "a trace fits into one request");
    let spans = drafts.into_iter().map(|draft| draft.finish(id)).collect();
    Some(Trace { id, spans })
}

// === impl Draft ===

impl Draft {
    fn new(
        key: impl Into<String>,
        parent: Option<&str>,
        name: &'static str,
        (start_ms, end_ms): (i64, i64),
        attributes: Attributes,
    ) -> Self {
        Self {
            key: key.into(),
            parent: parent.map(str::to_owned),
            name,
            start_ms,
            end_ms: end_ms.max(start_ms),
            attributes,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
        }
    }

    fn finish(self, trace: TraceId) -> SpanData {
        let id = |key: &str| ids::span_id(trace, key);
        SpanData {
            span_context: context(trace, id(&self.key)),
            parent_span_id: match &self.parent {
                Some(parent) => trace::SpanId::from_bytes(id(parent)),
                None => trace::SpanId::INVALID,
            },
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: self.name.into(),
            start_time: instant(self.start_ms),
            end_time: instant(self.end_ms),
            attributes: self.attributes.into_list(),
            dropped_attributes_count: 0,
            events: self.events,
            links: self.links,
            status: self.status,
            instrumentation_scope: InstrumentationScope::builder(env!("CARGO_PKG_NAME"))
                .with_version(env!("CARGO_PKG_VERSION"))
                .build(),
        }
    }
}

/// Where a span is found, as one that was sampled.
fn context(trace: TraceId, span: SpanId) -> SpanContext {
    let trace = trace::TraceId::from_bytes(trace);
    let span = trace::SpanId::from_bytes(span);
    SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
}

/// An instant before 1970 is one that no record of Kafka has.
fn instant(ms: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

#[cfg(test)]
mod tests;
