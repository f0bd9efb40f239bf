//! Whether a group's answers are true at a given moment, and why not: one verdict for
//! metrics, `/readyz`, the page and the log.

use evenkeel_core::answers::{Answers, InputAnswer, Mode, PollsAnswer};
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
    /// Which input.
    pub about: About,
    /// What.
    pub why: Why,
}

/// What a reason is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// One of the topics.
    Topic(Topic),
    /// The answers of the group's coordinator.
    Polls,
    /// No single input.
    All,
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
    /// There are more records than are read: the newest of each second alone.
    Sampled,
    /// Current, but the history behind the answers has a hole.
    HistoryIncomplete,
    /// The input is not what it should be: a finding says how.
    Contradicted,
    /// The records are read, and none is of the group.
    GroupAbsent,
}

/// Findings that say that an input is another one than the group's: a topic that is not
/// what the group works with, or an id that is another group's.
const CONTRADICTIONS: [&str; 4] = [
    "topic_swapped",
    "config_partitions",
    "config_offset_beyond_end",
    "foreign_group",
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
        let well = input.is_some_and(|input| is_recent(input.confirmed, now) || !input.needed);
        confirmed &= well;
        reasons.extend(of_input(topic, input, now));
    }
    confirmed &= is_recent(answers.polls.confirmed, now) || !answers.polls.needed;
    reasons.extend(of_polls(answers.mode, &answers.polls, now));
    let current = answers.fresh && confirmed;
    if !current && reasons.is_empty() {
        reasons.push(Reason {
            about: About::All,
            why: Why::Settling,
        });
    }
    let by_records = matches!(answers.mode, Mode::Full | Mode::Sampled | Mode::NoPolls);
    // A right that was given back a moment ago: the records are there, but not read yet.
    if current && !by_records && reasons.is_empty() {
        reasons.push(Reason {
            about: About::All,
            why: Why::Settling,
        });
    }
    if current && answers.mode == Mode::Sampled {
        reasons.push(Reason {
            about: About::Topic(Topic::Offsets),
            why: Why::Sampled,
        });
    }
    if current && by_records && answers.whole_since.is_none() {
        reasons.push(Reason {
            about: About::All,
            why: Why::HistoryIncomplete,
        });
    }
    if current {
        reasons.extend(contradicted(answers));
    }
    Health {
        current,
        trusted: current && reasons.is_empty(),
        reasons,
    }
}

/// The finding that nobody has heard of the group: nothing contradicts it, either.
const ABSENT: &str = "group_absent";

/// The inputs that findings say are other ones than the group's, each once.
fn contradicted(answers: &Answers) -> Vec<Reason> {
    let is_named = |finding: &str, subject: &str| {
        let mut findings = answers.findings.iter();
        findings.any(|found| found.finding == finding && found.subject == subject)
    };
    let settings = &answers.settings;
    let names = [
        (Topic::Offsets, &settings.group),
        (Topic::Config, &settings.config_topic),
        (Topic::Status, &settings.status_topic),
    ];
    let about = |(topic, name): (Topic, &String)| {
        CONTRADICTIONS
            .iter()
            .any(|finding| is_named(finding, name))
            .then_some(Reason {
                about: About::Topic(topic),
                why: Why::Contradicted,
            })
    };
    let absent = is_named(ABSENT, &settings.group).then_some(Reason {
        about: About::All,
        why: Why::GroupAbsent,
    });
    names.into_iter().filter_map(about).chain(absent).collect()
}

fn is_recent(confirmed: Option<ArrivalTime>, now: ArrivalTime) -> bool {
    confirmed.is_some_and(|confirmed| now.since_ms(confirmed) <= FRESH_MS_MAX)
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
        about: About::Topic(topic),
        why,
    })
}

/// What is wrong with the coordinator's answers. While nothing at all can be reached, the
/// topics have said so; a right that is missing is another than theirs.
fn of_polls(mode: Mode, polls: &PollsAnswer, now: ArrivalTime) -> Option<Reason> {
    let age_ms = polls.confirmed.map(|confirmed| now.since_ms(confirmed));
    let why = match (polls.trouble, age_ms) {
        (trouble, _) if mode == Mode::Blind && trouble != Some(Trouble::Denied) => return None,
        (Some(refused), _) if refused != Trouble::Unreachable && refused != Trouble::Other => {
            Why::Trouble(refused)
        }
        (_, Some(age_ms)) if age_ms <= FRESH_MS_MAX => return None,
        (Some(trouble), _) => Why::Trouble(trouble),
        (None, Some(age_ms)) => Why::Unconfirmed { age_ms },
        (None, None) => Why::NotStarted,
    };
    Some(Reason {
        about: About::Polls,
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
            Self::Sampled => "sampled",
            Self::HistoryIncomplete => "history_incomplete",
            Self::Contradicted => "contradicted",
            Self::GroupAbsent => "group_absent",
        }
    }
}

#[cfg(test)]
mod tests;
