//! The only now: everything else gets the time handed in.

use std::time::{SystemTime, UNIX_EPOCH};

use evenkeel_core::facts::time::ArrivalTime;

/// The agent's clock. A clock set before 1970 reads zero.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "the clock of the agent")]
pub fn now() -> ArrivalTime {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    ArrivalTime(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
