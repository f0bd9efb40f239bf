//! Bytes to Kafka's structs: every record format evenkeel reads, and nothing else.
//!
//! Each reader is total: for any input it returns a value or a [`DecodeError`],
//! never panics, and never allocates more than a small multiple of the bytes it
//! was given. Record types and versions that this build does not know are
//! [`Unknown`] values to be counted, not failures. No error, and no `Debug`
//! output, carries bytes of the input.
#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::as_conversions
)]

mod cursor;
mod error;
mod json;
mod names;

#[cfg(feature = "encode")]
pub mod attack;
pub mod config_record;
pub mod connect_protocol;
pub mod consumer_protocol;
pub mod consumer_record;
pub mod contents;
#[cfg(feature = "encode")]
pub mod encode;
pub mod group_record;
pub mod mask;
pub mod offset_commit;
pub mod offsets_key;
pub mod redact;
pub mod settings;
pub mod status_record;

pub use error::{DecodeError, Decoded, JsonProblem, Unknown, UnknownInput};
pub use json::VALUE_BYTES_MAX;
