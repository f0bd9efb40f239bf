//! Ids of traces and spans, from what is known of them: every sidecar and every replay
//! computes the same, so a span that is sent twice is recognised as one.

use evenkeel_core::answers::EpisodeAnswer;
use evenkeel_core::facts::input::Settings;
use openssl::sha::{Sha256, sha256};

/// The id of a trace, as W3C Trace Context has it.
pub type TraceId = [u8; 16];

/// The id of a span, as W3C Trace Context has it.
pub type SpanId = [u8; 8];

/// Stands before what is hashed. With another form of ids it must change, too, or old and
/// new ones could meet.
const FORM: &[u8] = b"evenkeel trace 1\0";

/// The key of the span that all others of a trace lie in.
pub(super) const ROOT: &str = "rebalance";

/// The ids of an episode's trace and of its outermost span, open or closed; `None` where the
/// broker did not tell the cluster's id, or the agent did not read the episode from its first
/// record on: such an episode has no trace.
#[must_use]
pub fn of_episode(settings: &Settings, episode: &EpisodeAnswer) -> Option<(TraceId, SpanId)> {
    (episode.whole && !episode.rest).then_some(())?;
    let trace = of_id(settings, &episode.id)?;
    Some((trace, span_id(trace, ROOT)))
}

/// The trace that the episode of this id has, where it has one.
pub(super) fn of_id(settings: &Settings, episode: &str) -> Option<TraceId> {
    let cluster = settings.cluster_id.as_deref()?;
    let (generation, joined_ms) = episode.split_once('@')?;
    let generation = generation.parse().ok()?;
    let joined_ms = joined_ms.parse().ok()?;
    Some(trace_id(cluster, &settings.group, generation, joined_ms))
}

/// The id of the trace of one episode: its cluster, its group, the generation of its first
/// record and that record's `currentStateTimestamp`.
#[must_use]
pub fn trace_id(
    cluster_id: &str,
    group: &str,
    first_generation: i32,
    first_state_timestamp_ms: i64,
) -> TraceId {
    let mut hash = Sha256::new();
    hash.update(FORM);
    // With its length before it, no text can pass for the end of another.
    for text in [cluster_id, group] {
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        hash.update(&bytes.to_be_bytes());
        hash.update(text.as_bytes());
    }
    hash.update(&first_generation.to_be_bytes());
    hash.update(&first_state_timestamp_ms.to_be_bytes());
    cut(&hash.finish())
}

/// The id of a span: of its trace, and what tells it from all others of that trace.
#[must_use]
pub fn span_id(trace_id: TraceId, key: &str) -> SpanId {
    let mut bytes = trace_id.to_vec();
    bytes.extend_from_slice(key.as_bytes());
    cut(&sha256(&bytes))
}

/// An id in the form that logs, pages and exemplars have: lower case hexadecimal.
#[must_use]
pub fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The beginning of a hash. Receivers take an id of zeros for none, so none has it.
fn cut<const BYTES: usize>(hash: &[u8; 32]) -> [u8; BYTES] {
    let mut id = [0; BYTES];
    for (byte, hashed) in id.iter_mut().zip(hash) {
        *byte = *hashed;
    }
    if let (true, Some(last)) = (id == [0; BYTES], id.last_mut()) {
        *last = 1;
    }
    id
}

#[cfg(test)]
mod tests;
