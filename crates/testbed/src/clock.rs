//! The wall clock of the script: the only place of this crate that reads it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, the unit of Kafka's records and of the parsed log lines.
#[allow(clippy::disallowed_methods, reason = "the clock of the testbed")]
pub fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
}
