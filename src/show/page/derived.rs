//! What a group looks like, on the page: the pattern of the last half hour, and how evenly
//! work is spread.

use evenkeel_core::answers::{Answers, Pattern};

use super::html::Html;

/// A badge for a pattern that is worth one: its class, and its words.
pub(super) fn badge(answers: &Answers) -> Option<(&'static str, &'static str)> {
    let answer = answers.pattern.as_ref()?;
    let class = match answer.pattern {
        Pattern::Loop | Pattern::Storm | Pattern::Flapping | Pattern::Churn => "warn",
        Pattern::Rollout => "",
        Pattern::Quiet => return None,
    };
    Some((class, answer.pattern.label()))
}

/// Facts for the list.
pub(super) fn facts(answers: &Answers) -> impl Iterator<Item = (&'static str, String)> {
    let pattern = answers.pattern.as_ref();
    let pattern = pattern.map(|answer| ("pattern", answer.pattern.label().to_owned()));
    let balance = answers.balance.as_ref().map(|balance| {
        let kinds = balance.kinds.iter();
        let above = kinds.map(|each| format!("{} {}s", each.imbalance, each.kind.label()));
        let above: Vec<String> = above.collect();
        ("above the best split", above.join(" · "))
    });
    pattern.into_iter().chain(balance)
}

/// What says that it is that pattern.
pub(super) fn line(out: &mut Html, answers: &Answers) {
    let Some(answer) = &answers.pattern else {
        return;
    };
    if answer.pattern != Pattern::Quiet {
        let line = format!("Pattern {}: {}.", answer.pattern.label(), answer.evidence);
        out.element("p", "class=\"alert\"", line);
    }
}
