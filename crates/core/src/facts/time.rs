//! Two clocks, two types: an instant that came from a record cannot be
//! subtracted from one of ours by accident.
//!
//! [`EventTime`] is what a record says (`CreateTime` unless the topic uses
//! `LogAppendTime`). Records of the offsets topic carry the clock of the group's
//! coordinator broker; records of the config and status topics carry the clock of
//! the worker that wrote them. [`ArrivalTime`] is when this agent saw an input,
//! on this agent's clock.

use serde::{Deserialize, Serialize};

/// Milliseconds since the epoch, as a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventTime(pub i64);

/// Milliseconds since the epoch, on the agent's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArrivalTime(pub i64);

// === impl EventTime ===

impl EventTime {
    /// This instant, `ms` milliseconds later; stops at the ends of the scale.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// This instant, `ms` milliseconds earlier; stops at the ends of the scale.
    #[must_use]
    pub fn minus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_sub(ms))
    }

    /// Milliseconds from `earlier` to this instant; negative when a clock stepped back.
    #[must_use]
    pub fn since_ms(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

// === impl ArrivalTime ===

impl ArrivalTime {
    /// This instant, `ms` milliseconds later; stops at the ends of the scale.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this instant; negative when a clock stepped back.
    #[must_use]
    pub fn since_ms(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// How much later the agent saw a record than the record says it was written.
    /// The two clocks differ, so only the smallest of many means anything.
    #[must_use]
    pub fn delay_after_ms(self, event: EventTime) -> i64 {
        self.0.saturating_sub(event.0)
    }

    /// The same instant on the clock of events, given the smallest delay seen.
    #[must_use]
    pub fn as_event(self, delay_ms_min: i64) -> EventTime {
        EventTime(self.0.saturating_sub(delay_ms_min))
    }
}
