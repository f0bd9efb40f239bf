//! The wall clock, for tokens alone: a broker holds what they say against its own, so that
//! a wall clock that was wrong when the agent started must not stay wrong for them. All
//! inputs keep the agent's clock, which never steps.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch by the wall clock. Not to be mixed with arrival times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub i64);

// === impl WallTime ===

impl WallTime {
    /// The wall clock now; one before 1970 reads zero.
    #[allow(clippy::disallowed_methods)] // The agent's clock does not follow a correction.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// This much later.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}
