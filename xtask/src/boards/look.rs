//! Colours and words of values: the same thing looks the same on every board.

pub(crate) const GOOD: &str = "green";
pub(crate) const CALM: &str = "blue";
pub(crate) const WARN: &str = "orange";
pub(crate) const BAD: &str = "red";
pub(crate) const DIM: &str = "#808080";

/// A value, the word that stands for it, its colour.
pub(crate) type Word = (u32, &'static str, &'static str);

pub(crate) const YES_IS_GOOD: &[Word] = &[(0, "no", BAD), (1, "yes", GOOD)];
pub(crate) const REBALANCING: &[Word] = &[(0, "no", GOOD), (1, "yes", WARN)];

/// From calm to worst, as [`coded`](super::expr::coded) numbers them.
pub(crate) const PATTERNS: &[&str] = &["quiet", "rollout", "churn", "flapping", "storm", "loop"];
pub(crate) const PATTERN_WORDS: &[Word] = &[
    (0, "quiet", GOOD),
    (1, "rollout", CALM),
    (2, "churn", "yellow"),
    (3, "flapping", WARN),
    (4, "storm", BAD),
    (5, "loop", "dark-red"),
];

pub(crate) const STATES: &[&str] = &[
    "stable",
    "completing_rebalance",
    "preparing_rebalance",
    "empty",
    "dead",
];
pub(crate) const STATE_WORDS: &[Word] = &[
    (0, "stable", GOOD),
    (1, "completing", "yellow"),
    (2, "preparing", WARN),
    (3, "empty", BAD),
    (4, "dead", "dark-red"),
];

pub(crate) const MODES: &[&str] = &[
    "full",
    "sampled",
    "no_polls",
    "no_offsets_topic",
    "topics_only",
    "blind",
];
pub(crate) const MODE_WORDS: &[Word] = &[
    (0, "full", GOOD),
    (1, "sampled", "yellow"),
    (2, "no polls", "yellow"),
    (3, "no offsets topic", WARN),
    (4, "topics only", WARN),
    (5, "blind", BAD),
];

/// A worker in the group, as the board of rebalances numbers it.
pub(crate) const WORKER_WORDS: &[Word] = &[
    (1, "without work", DIM),
    (2, "has work", GOOD),
    (3, "leads", CALM),
];

/// Why work has no owner.
pub(crate) const UNOWNED: &[(&str, &str)] = &[
    ("lost", BAD),
    ("dropped", "dark-orange"),
    ("revoked", "yellow"),
    ("new", CALM),
    ("mismatch", "purple"),
    ("config_hazard", "dark-purple"),
    ("unknown", DIM),
];

/// Why running work stopped.
pub(crate) const STOPPED: &[(&str, &str)] = &[
    ("lost", BAD),
    ("dropped", "dark-orange"),
    ("failed", "dark-red"),
    ("handover", "yellow"),
    ("restarted", CALM),
    ("reconfigured", "purple"),
    ("paused", DIM),
    ("stopped", "#a0a0a0"),
    ("deleted", "#606060"),
];

/// How a worker left.
pub(crate) const LEFT: &[(&str, &str)] = &[
    ("graceful", GOOD),
    ("cut_short", "yellow"),
    ("unresponsive", WARN),
    ("crashed", BAD),
    ("unknown", DIM),
    ("unsettled", "purple"),
];

/// What work does.
pub(crate) const DOING: &[(&str, &str)] = &[
    ("running", GOOD),
    ("starting", "light-green"),
    ("stopping", "yellow"),
    ("restarting", CALM),
    ("paused", DIM),
    ("stopped", "#a0a0a0"),
    ("unassigned", WARN),
    ("lost", BAD),
    ("failed", "dark-red"),
    ("unknown", "purple"),
];

/// How a generation ended.
pub(crate) const ENDED: &[(&str, &str)] = &[
    ("completed", GOOD),
    ("aborted", BAD),
    ("mismatch", "purple"),
    ("emptied", WARN),
    ("unknown", DIM),
];
