//! How far the reading of a group is, by what is wrong with its inputs.

use evenkeel_core::answers::Answers;
use evenkeel_core::facts::input::{Topic, Trouble};
use evenkeel_core::facts::time::ArrivalTime;

use crate::show::health::{About, Why, health};

/// What was found out so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// All that is needed was read.
    Current,
    /// Nothing more comes: what is in the way lasts.
    Stuck,
    /// No broker answers.
    Outside,
    /// None lets us in.
    Refused,
    /// It goes on.
    Reading,
}

pub(super) fn progress(answers: &Answers, now: ArrivalTime) -> Progress {
    let health = health(answers, now);
    let of_topics = health
        .reasons
        .iter()
        .filter_map(|reason| match reason.about {
            About::Topic(_) => Some(reason.why),
            About::Polls | About::All => None,
        });
    let of_topics: Vec<Why> = of_topics.collect();
    let all_are = |trouble: Trouble| {
        of_topics.len() == Topic::ALL.len()
            && of_topics.iter().all(|why| *why == Why::Trouble(trouble))
    };
    let lasts = |why: &Why| matches!(why, Why::Trouble(trouble) if trouble.lasts());
    if all_are(Trouble::Unreachable) {
        Progress::Outside
    } else if all_are(Trouble::Unauthenticated) {
        Progress::Refused
    } else if health.current {
        Progress::Current
    } else if of_topics.iter().any(lasts)
        && health.reasons.iter().all(|reason| match reason.about {
            About::Topic(_) => lasts(&reason.why),
            About::Polls => matches!(reason.why, Why::Trouble(_)),
            About::All => true,
        })
    {
        Progress::Stuck
    } else {
        Progress::Reading
    }
}
