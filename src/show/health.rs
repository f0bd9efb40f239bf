//! Whether a group's answers are true at a given moment, and why not: one verdict for
//! metrics, `/readyz`, the page and the log.

use evenkeel_core::answers::{Answers, InputAnswer};
use evenkeel_core::facts::input::{Topic, Trouble};
use evenkeel_core::facts::time::ArrivalTime;
use evenkeel_core::limits::FRESH_MS_MAX;

/// The state of one group's answers at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Whether they are true now, so that its series may be shown.
    pub current: bool,
    /// Whether every input is current and readable and the history is whole since a
    /// stated time: `evenkeel_trust`.
    pub trusted: bool,
    /// What is wrong, by input.
    pub reasons: Vec<Reason>,
}

/// One thing that is wrong with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// Which input; absent when the reason is not about a single one.
    pub topic: Option<Topic>,
    /// What.
    pub why: Why,
}

/// What can be wrong: a closed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It cannot be read.
    Trouble(Trouble),
    /// Nothing was heard of it yet.
    NotStarted,
    /// It was not yet read to the end it had at start.
    CatchingUp {
        /// Records between what was read and the newest known end.
        lag_records: i64,
    },
    /// It was read to its end once, but not lately.
    Unconfirmed {
        /// How long ago it was last proven that nothing was unread.
        age_ms: i64,
    },
    /// All inputs look well, but the engine has not settled on them yet.
    Settling,
    /// Current, but the history behind the answers has a hole.
    HistoryIncomplete,
    /// The input is not what it should be: a finding says how.
    Contradicted,
}

/// Findings that say that an input is another one than the group's.
const CONTRADICTIONS: [(&str, Topic); 3] = [
    ("topic_swapped", Topic::Config),
    ("config_partitions", Topic::Config),
    ("config_offset_beyond_end", Topic::Config),
];

/// The health of `answers` at `now`. The engine has said whether they were true when
/// they were published; that is looked at again, because nothing may be published
/// since.
#[must_use]
pub fn health(answers: &Answers, now: ArrivalTime) -> Health {
    let mut reasons = Vec::new();
    let mut confirmed = true;
    for topic in Topic::ALL {
        let input = answers.inputs.iter().find(|input| input.topic == topic);
        let well = input.is_some_and(|input| is_confirmed(input, now) || is_done_without(input));
        confirmed &= well;
        reasons.extend(of_input(topic, input, now));
    }
    let current = answers.fresh && confirmed;
    if !current && reasons.is_empty() {
        reasons.push(Reason {
            topic: None,
            why: Why::Settling,
        });
    }
    if current && answers.whole_since.is_none() {
        reasons.push(Reason {
            topic: None,
            why: Why::HistoryIncomplete,
        });
    }
    let contradicted = CONTRADICTIONS
        .iter()
        .find(|(name, _)| answers.findings.iter().any(|found| found.finding == *name));
    if let (true, Some((_, topic))) = (current, contradicted) {
        reasons.push(Reason {
            topic: Some(*topic),
            why: Why::Contradicted,
        });
    }
    Health {
        current,
        trusted: current && reasons.is_empty(),
        reasons,
    }
}

fn is_confirmed(input: &InputAnswer, now: ArrivalTime) -> bool {
    input
        .confirmed
        .is_some_and(|confirmed| now.since_ms(confirmed) <= FRESH_MS_MAX)
}

/// Whether the answers leave out what a topic would add that nobody can read until
/// somebody changes something. Without the group's own records there are none.
fn is_done_without(input: &InputAnswer) -> bool {
    input.topic != Topic::Offsets
        && matches!(input.trouble, Some(Trouble::Denied | Trouble::Missing))
}

/// Whether anything is known of a topic: before that a lag of zero means nothing.
#[must_use]
pub fn is_heard_of(input: &InputAnswer) -> bool {
    input.caught_up || input.records > 0 || input.lag_records > 0
}

/// What is wrong with one input: the trouble itself if there is one, since it
/// explains the others.
fn of_input(topic: Topic, input: Option<&InputAnswer>, now: ArrivalTime) -> Option<Reason> {
    let why = match input {
        None => Why::NotStarted,
        Some(input) => match (input.trouble, input.caught_up, input.confirmed) {
            (Some(trouble), _, _) => Why::Trouble(trouble),
            (None, false, _) if !is_heard_of(input) => Why::NotStarted,
            (None, false, _) => Why::CatchingUp {
                lag_records: input.lag_records,
            },
            (None, true, None) => Why::NotStarted,
            (None, true, Some(confirmed)) => {
                let age_ms = now.since_ms(confirmed);
                if age_ms <= FRESH_MS_MAX {
                    return None;
                }
                Why::Unconfirmed { age_ms }
            }
        },
    };
    Some(Reason {
        topic: Some(topic),
        why,
    })
}

// === impl Why ===

impl Why {
    /// The reason in one word, for JSON and the log.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Trouble(trouble) => trouble.label(),
            Self::NotStarted => "not_started",
            Self::CatchingUp { .. } => "catching_up",
            Self::Unconfirmed { .. } => "unconfirmed",
            Self::Settling => "settling",
            Self::HistoryIncomplete => "history_incomplete",
            Self::Contradicted => "contradicted",
        }
    }
}

#[cfg(test)]
mod tests;
