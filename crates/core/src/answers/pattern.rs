//! What the last half hour looks like, in one word.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What the last half hour looks like: the label `pattern`. The first that applies (D13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Rounds fail one after the other, or revocations are followed by revocations.
    Loop,
    /// Many generations that nobody asked for.
    Storm,
    /// One worker leaves again and again, and not in good order.
    Flapping,
    /// The tasks of one connector are written again and again.
    Churn,
    /// Workers stop in good order and are replaced, one after the other.
    Rollout,
    /// Nothing of that.
    Quiet,
}

/// The pattern, with the numbers it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PatternAnswer {
    /// Which.
    pub pattern: Pattern,
    /// About which workers or connectors, the worst first; none where it is about the group.
    pub subjects: Vec<Arc<str>>,
    /// What in the logs says so; empty where it is quiet.
    pub evidence: String,
    /// What was counted for each pattern, and how much it takes.
    pub numbers: Vec<PatternNumber>,
}

/// What is counted of rounds that failed.
pub const FAILED_ROUNDS: &str = "rounds";

/// What was counted for one pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PatternNumber {
    /// For which.
    pub pattern: Pattern,
    /// What.
    pub what: &'static str,
    /// How many there were.
    pub counted: u64,
    /// From how many on it is that pattern.
    pub needed: u64,
    /// In how long a time.
    pub window_ms: i64,
}

// === impl Pattern ===

impl Pattern {
    /// All, in the order in which they are tried.
    pub const ALL: [Self; 6] = [
        Self::Loop,
        Self::Storm,
        Self::Flapping,
        Self::Churn,
        Self::Rollout,
        Self::Quiet,
    ];

    /// The label value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Storm => "storm",
            Self::Flapping => "flapping",
            Self::Churn => "churn",
            Self::Rollout => "rollout",
            Self::Quiet => "quiet",
        }
    }
}
