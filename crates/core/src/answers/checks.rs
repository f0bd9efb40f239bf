//! What the checks say of a running group: which clocks contradict each other, and what is
//! missing to tell.

use std::sync::Arc;

use serde::Serialize;

/// How bad it is that a check fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Will break, or is broken.
    Error,
    /// Breaks under load, or at the next failure.
    Warning,
    /// Good to know.
    Info,
}

/// What all checks say, the worst first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ChecksAnswer {
    /// Those that fire, by severity, check and subject; at most `limits::CHECKS_FIRED_MAX`.
    pub fired: Vec<FiredAnswer>,
    /// Those that fire beyond that.
    pub fired_left_out: u64,
    /// Workers that were not looked at: as many others with the same clocks were.
    pub workers_left_out: u64,
    /// How many times a check passed for a subject.
    pub passed: u64,
    /// Checks that miss a value for some subject.
    pub undecided: Vec<UndecidedAnswer>,
    /// Rights without which brokers did not say how they or the topics are set, such as
    /// `DESCRIBE_CONFIGS on topic connect-configs`.
    pub rights_missing: Vec<String>,
}

/// A check that fires for a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FiredAnswer {
    /// The check's name.
    pub check: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// A worker, a topic, or the group.
    pub subject: Arc<str>,
    /// Whether it rests on the settings of the worker beside this agent, which other agents
    /// do not know.
    pub own: bool,
    /// The contradiction with its numbers.
    pub said: String,
    /// What was compared.
    pub values: Vec<ComparedAnswer>,
    /// What follows.
    pub consequence: &'static str,
    /// What to do, with what it costs.
    pub advice: String,
    /// Where the check is described.
    pub link: String,
}

/// A value that was compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedAnswer {
    /// Whose; empty for the group's.
    pub worker: String,
    /// Its name.
    pub name: String,
    /// The value: a number or a name.
    pub value: String,
    /// Where it was read, in words.
    pub source: String,
}

/// A check that misses a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndecidedAnswer {
    /// The check's name.
    pub check: &'static str,
    /// How bad it would be.
    pub severity: Severity,
    /// For how many subjects.
    pub subjects: u64,
    /// What is not known.
    pub missing: Vec<String>,
}

// === impl Severity ===

impl Severity {
    /// All of them, the worst first.
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Info];

    /// As a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}
