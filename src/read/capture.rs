//! The capture format: gzip of JSON lines, one line an input, described in
//! `docs/capture-format.md`. A capture is what a replay is fed, so a line holds
//! exactly what the engine was given: values of configurations are the redacted ones.

mod line;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use reader::{CaptureReader, Skipped};
pub use writer::CaptureWriter;

/// What the first line's `format` must say.
const FORMAT: &str = "evenkeel-capture";

/// The version this release writes, and the newest it reads. It changes only when
/// a reader that skips what it does not know would derive something wrong.
pub const VERSION: u32 = 1;

/// Longest line that is read, in bytes. The largest group record that a broker
/// takes by default is 1 MB (`message.max.bytes`); base64 makes it 1.4 MB. The
/// bound stands far above raised broker limits and below what would hurt.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// The first line: where a capture comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Always `evenkeel-capture`.
    pub format: String,
    /// See [`VERSION`].
    pub version: u32,
    /// The release that wrote it.
    pub evenkeel: String,
    /// When recording began, on the recorder's clock.
    pub recorded_at_ms: i64,
    /// The testbed scenario that it shows, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Who recorded it, in the recorder's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<String>,
    /// Which Kafka it was recorded on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kafka: Option<KafkaReleases>,
}

/// The Kafka releases that took part in a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KafkaReleases {
    /// Of the brokers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broker: Option<String>,
    /// Of the Connect workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<String>,
}

/// Why a capture cannot be read, or not to its end.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file is something else.
    #[error("not an evenkeel capture: {reason}")]
    NotACapture {
        /// What was found instead.
        reason: String,
    },
    /// A later release wrote it.
    #[error("capture version {found} is not supported, this release reads versions 1 to {VERSION}")]
    UnsupportedVersion {
        /// What the header says.
        found: u64,
    },
    /// The file ends before its end marker: the recorder was killed, or a copy was
    /// not complete. All whole lines before the cut were given.
    #[error("the capture is cut: it ends after {inputs} inputs, without its end marker")]
    Cut {
        /// How many inputs were read.
        inputs: u64,
    },
    /// A line is not what the format says.
    #[error("capture line {line}: {reason}")]
    Line {
        /// Its number; the header is line 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The compressed bytes are damaged.
    #[error("the capture is damaged after {inputs} inputs, in line {line}")]
    Damaged {
        /// How many inputs were read.
        inputs: u64,
        /// The line that could not be read.
        line: u64,
        /// What the decompressor says.
        #[source]
        source: io::Error,
    },
    /// The end marker counts other inputs than were read.
    #[error("the capture's end marker counts {told} inputs, {inputs} were read")]
    Miscounted {
        /// What the marker says.
        told: u64,
        /// How many inputs were read, skipped ones included.
        inputs: u64,
    },
    /// The file cannot be read or written.
    #[error("cannot access the capture")]
    Io(#[from] io::Error),
}

// === impl Header ===

impl Header {
    /// A header of this release, of the given scenario if it shows one.
    #[must_use]
    pub fn new(recorded_at_ms: i64, scenario: Option<String>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            evenkeel: env!("CARGO_PKG_VERSION").to_owned(),
            recorded_at_ms,
            scenario,
            recorder: None,
            kafka: None,
        }
    }
}
