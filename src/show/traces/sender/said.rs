//! What the log says of a receiver: when it fails and is well again, what it refuses, and no line
//! for each attempt.

use std::time::Duration;

use tokio::time::Instant;

use crate::show::traces::wire::{Client, SendError};

/// How soon the same refusal is told again, or another failure; counters tell each.
const SAID_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// What was said of the receiver last, so that a line is not written for each attempt.
#[derive(Debug, Default)]
pub(super) struct Said {
    failing: Option<(String, Instant)>,
    refused: Option<(String, Instant)>,
}

// === impl Said ===

impl Said {
    /// Said once, and again where the reason is another one.
    pub(super) fn failing(&mut self, receiver: &Client, error: &SendError, spans: u64) {
        let (now, reason) = (Instant::now(), error.to_string());
        let is_said = |(said, at): &(String, Instant)| {
            *said == reason || now.duration_since(*at) < SAID_AGAIN_AFTER
        };
        if !self.failing.as_ref().is_some_and(is_said) {
            tracing::warn!(%receiver, %error, spans, "traces not sent; they are tried again");
            self.failing = Some((reason, now));
        }
    }

    pub(super) fn well(&mut self, receiver: &Client) {
        if self.failing.take().is_some() {
            tracing::info!(%receiver, "traces are sent again");
        }
    }

    pub(super) fn refused(&mut self, receiver: &Client, reason: &str, spans: u64) {
        self.failing = None;
        let now = Instant::now();
        let is_said = |(said, at): &(String, Instant)| {
            said == reason && now.duration_since(*at) < SAID_AGAIN_AFTER
        };
        if !self.refused.as_ref().is_some_and(is_said) {
            tracing::warn!(%receiver, reason, spans, "spans refused");
            self.refused = Some((reason.to_owned(), now));
        }
    }

    /// Comes no more often than a receiver is tried again.
    pub(super) fn dropped(receiver: &Client, spans: u64, after: Duration) {
        let after_s = after.as_secs();
        tracing::warn!(%receiver, spans, after_s, "spans dropped: they waited too long");
    }
}
