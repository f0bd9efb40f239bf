//! Durations, each with how it is known.

use serde::{Deserialize, Serialize};

/// A duration and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DurationAnswer {
    /// The best that can be said.
    pub ms: i64,
    /// How it is known.
    pub bound: Bound,
    /// Where the truth lies, where it is an interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub between_ms: Option<(i64, i64)>,
}

/// How a duration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Two instants of one clock, both recorded.
    Exact,
    /// The truth lies inside the stated interval.
    Poll,
    /// It is no shorter.
    AtLeast,
    /// It is no longer.
    AtMost,
}

// === impl DurationAnswer ===

impl DurationAnswer {
    /// Known to the millisecond.
    #[must_use]
    pub fn exact(ms: i64) -> Self {
        Self {
            ms,
            bound: Bound::Exact,
            between_ms: None,
        }
    }

    /// Known to lie in an interval; the middle stands for it unless `ms` says better.
    #[must_use]
    pub fn within(ms: i64, least_ms: i64, most_ms: i64) -> Self {
        let least_ms = least_ms.max(0);
        let most_ms = most_ms.max(least_ms);
        Self {
            ms: ms.clamp(least_ms, most_ms),
            bound: Bound::Poll,
            between_ms: Some((least_ms, most_ms)),
        }
    }

    /// No shorter than this.
    #[must_use]
    pub fn at_least(ms: i64) -> Self {
        Self {
            ms: ms.max(0),
            bound: Bound::AtLeast,
            between_ms: None,
        }
    }

    /// Whether a histogram may take it: what is only bounded on one side would lie.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        matches!(self.bound, Bound::Exact | Bound::Poll)
    }
}
