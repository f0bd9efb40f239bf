//! Do the clocks agree: one table of checks on what is known of a group, each a pure function.
//!
//! A check compares values that live in different places, each with where it was read. It
//! fires, passes, or is undecided and says which value is missing.

mod catching_up;
mod clients;
mod expiry;
mod inputs;
pub mod known;
mod lacking;
mod look;
mod naming;
pub mod near;
mod parking;
mod places;
mod producers;
pub mod releases;
mod rounds;
pub mod source;
pub mod spelling;
mod stopping;
mod topics;
mod values;

#[cfg(test)]
mod tests;

use serde::Serialize;

pub use crate::answers::Severity;
use known::Known;
pub use look::ELSEWHERE;
use source::Source;

/// What becomes of it, in kinds; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Harm {
    /// A worker or a task does not start, or is refused.
    KeptOut,
    /// The same work runs on two workers.
    RunsTwice,
    /// Work has no owner for longer than meant.
    StandsStill,
    /// The whole group waits, or rebalances for nothing.
    GroupStalls,
    /// Records fail, or are written again.
    DataAtRisk,
    /// Workers cannot reach each other, or be told apart.
    Unreachable,
    /// A setting does nothing, or not what it seems to.
    Inert,
}

/// One check.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Its name, which others may rely on.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What becomes of it.
    pub harm: Harm,
    /// When it fires, in a line.
    pub title: &'static str,
    /// What it compares.
    pub inputs: &'static [&'static str],
    /// What follows, in a sentence.
    pub consequence: &'static str,
    /// What to do, with what it costs.
    pub advice: &'static str,
    decide: fn(&Known) -> Vec<Judgement>,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The values contradict each other.
    Fired,
    /// They do not.
    Passed,
    /// A value is missing.
    Undecided,
}

/// What a check says of one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// A worker, a topic, a connector, or the group.
    pub subject: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The contradiction with its numbers, if it fired.
    pub said: String,
    /// What to set, where that can be computed.
    pub advice: Option<String>,
    /// What was compared.
    pub values: Vec<Shown>,
    /// What is not known.
    pub missing: Vec<String>,
}

/// A value that was compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Whose; empty for the group's.
    pub worker: String,
    /// Its name.
    pub name: String,
    /// The value; a number or a name, never a password.
    pub value: String,
    /// Where it was read.
    pub source: Source,
}

/// A check with what it says.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Which.
    pub check: &'static Check,
    /// What.
    pub judgement: Judgement,
}

const TABLE: [&[Check]; 11] = [
    expiry::CHECKS,
    parking::CHECKS,
    stopping::CHECKS,
    catching_up::CHECKS,
    rounds::CHECKS,
    clients::CHECKS,
    places::CHECKS,
    topics::CHECKS,
    lacking::CHECKS,
    values::CHECKS,
    naming::CHECKS,
];

/// All checks.
pub fn all() -> impl Iterator<Item = &'static Check> {
    TABLE.iter().flat_map(|theme| theme.iter())
}

/// Whether an input is in no file, and only a running group shows it.
#[must_use]
pub fn is_watched(input: &str) -> bool {
    inputs::is_watched(input)
}

/// What all checks say of what is known.
#[must_use]
pub fn judge(known: &Known) -> Vec<Finding> {
    let findings = all().flat_map(|check| {
        let judgements = (check.decide)(known).into_iter();
        judgements.map(move |judgement| Finding { check, judgement })
    });
    findings.collect()
}

// === impl Harm ===

impl Harm {
    /// As a headline.
    #[must_use]
    pub fn headline(self) -> &'static str {
        match self {
            Self::KeptOut => "A worker or a task does not start, or the group refuses it",
            Self::RunsTwice => "The same work may run on two workers",
            Self::StandsStill => "Work stands still for longer than meant",
            Self::GroupStalls => "The whole group waits, or rebalances for nothing",
            Self::DataAtRisk => "Records may fail, or be written again",
            Self::Unreachable => "Workers cannot reach each other, or be told apart",
            Self::Inert => "Settings that do nothing, or not what they seem to",
        }
    }
}
