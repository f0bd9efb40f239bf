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

use evenkeel_core::answers::{Answers, DisagreementAnswer, EpisodeAnswer, Pattern};
use evenkeel_core::facts::input::Settings;

use super::ids::{self, SpanId, TraceId};
pub(super) use attributes::Attributes;
pub use attributes::Value;

/// Spans of one trace, and of one request: what receivers take without a question.
pub const SPANS_MAX: usize = 512;

/// Events of one span: what OpenTelemetry's SDKs keep (`OTEL_SPAN_EVENT_COUNT_LIMIT`).
pub const EVENTS_MAX: usize = 128;

/// What is known beside the episode when it closes.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// What is watched.
    pub settings: &'a Settings,
    /// What the last half hour looks like.
    pub pattern: Option<Pattern>,
    /// Where the status topic and the group disagree.
    pub now: &'a [DisagreementAnswer],
    /// Where they did.
    pub over: &'a [DisagreementAnswer],
}

/// A trace: the outermost span first, each before those inside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Its id.
    pub id: TraceId,
    /// At most [`SPANS_MAX`].
    pub spans: Vec<Span>,
}

/// One span.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Its id.
    pub id: SpanId,
    /// That of the span it lies in; `None` for the outermost.
    pub parent: Option<SpanId>,
    /// One of a few names.
    pub name: &'static str,
    /// When it begins, in milliseconds since 1970.
    pub start_ms: i64,
    /// When it ends; no earlier.
    pub end_ms: i64,
    /// What it says.
    pub attributes: Vec<(String, Value)>,
    /// What happened in it, by time.
    pub events: Vec<Event>,
    /// Events beyond [`EVENTS_MAX`].
    pub events_left_out: u32,
    /// Traces it goes on with.
    pub links: Vec<Link>,
    /// Why it is an error, where it is one.
    pub error: Option<&'static str>,
}

/// Something that happened at one instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// One of a few names.
    pub name: &'static str,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What it says.
    pub attributes: Vec<(String, Value)>,
}

/// Another trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its id.
    pub trace: TraceId,
    /// Its outermost span.
    pub span: SpanId,
    /// The id of the episode it is of.
    pub episode: String,
}

/// A span on its way: its key instead of its id.
#[derive(Debug)]
struct Draft {
    key: String,
    parent: Option<String>,
    span: Span,
}

/// The trace of an episode; `None` where it has none: it is not over, its first record was
/// not read, or the cluster has no id.
#[must_use]
pub fn trace(episode: &EpisodeAnswer, scene: &Scene<'_>) -> Option<Trace> {
    let closed = episode.closed?;
    let (id, _) = ids::of_episode(scene.settings, episode)?;
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

// === impl Scene ===

impl<'a> Scene<'a> {
    /// What these answers say, at the moment at which an episode closed.
    #[must_use]
    pub fn of(answers: &'a Answers) -> Self {
        let disagreements = answers.disagreements.as_ref();
        Self {
            settings: &answers.settings,
            pattern: answers.pattern.as_ref().map(|pattern| pattern.pattern),
            now: disagreements.map_or(&[], |found| &found.now),
            over: disagreements.map_or(&[], |found| &found.over),
        }
    }
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
            span: Span {
                id: SpanId::default(),
                parent: None,
                name,
                start_ms,
                end_ms: end_ms.max(start_ms),
                attributes: attributes.into_list(),
                events: Vec::new(),
                events_left_out: 0,
                links: Vec::new(),
                error: None,
            },
        }
    }

    fn finish(self, trace: TraceId) -> Span {
        Span {
            id: ids::span_id(trace, &self.key),
            parent: self.parent.map(|parent| ids::span_id(trace, &parent)),
            ..self.span
        }
    }
}

#[cfg(test)]
mod tests;
