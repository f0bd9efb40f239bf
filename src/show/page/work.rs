//! What work does, on the page: how many are in which state, what has no owner, and where the
//! status topic and the group disagree.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::answers::{Answers, EffectiveState, ItemAnswer, UnassignedReason};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};

use super::group::{ROWS_MAX, more};
use super::html::Html;
use super::time::instant;
use crate::show::spans::span;

/// A badge where something disagrees: its class, and its words.
pub(super) fn badge(answers: &Answers) -> Option<(&'static str, String)> {
    let count = count(answers);
    let word = if count == 1 {
        "disagreement"
    } else {
        "disagreements"
    };
    (count > 0).then(|| ("warn", format!("{count} {word}")))
}

/// What connectors and tasks do, for the list of facts.
pub(super) fn facts(answers: &Answers) -> impl Iterator<Item = (&'static str, String)> {
    let mut connectors: BTreeMap<EffectiveState, u64> = BTreeMap::new();
    let mut tasks: BTreeMap<EffectiveState, u64> = BTreeMap::new();
    let states = answers.states.as_ref();
    for each in states.into_iter().flat_map(|states| &states.connectors) {
        *connectors.entry(each.state).or_default() += 1;
        for (state, count) in &each.tasks {
            *tasks.entry(*state).or_default() += count;
        }
    }
    let listed = |(what, counts): (&'static str, BTreeMap<EffectiveState, u64>)| {
        let counts = counts.iter();
        let told: Vec<String> = counts
            .map(|(state, count)| format!("{count} {}", state.label()))
            .collect();
        (!told.is_empty()).then(|| (what, told.join(" · ")))
    };
    [("connectors do", connectors), ("tasks do", tasks)]
        .into_iter()
        .filter_map(listed)
}

/// What has no owner, a line for each connector, reason and last owner.
pub(super) fn unassigned(out: &mut Html, answers: &Answers, now: ArrivalTime) {
    let Some(_) = &answers.configured else { return };
    out.element(
        "h3",
        "",
        format!("Without an owner: {}", answers.without_owner().len()),
    );
    if let Some(deadline) = answers.deadline {
        let left = deadline.at.0.saturating_sub(now.0);
        let when = if left > 0 {
            format!("ends in {}", span(left))
        } else {
            format!("ended {} ago", span(-left))
        };
        let line = format!(
            "The scheduled delay {when} ({} UTC). Reason: {}.",
            instant(deadline.at.0),
            deadline.reason.label().replace('_', " ")
        );
        out.element("p", "class=\"alert\"", line);
    }
    if answers.without_owner().is_empty() {
        out.element(
            "p",
            "class=\"quiet\"",
            "Everything that is configured has an owner.",
        );
        return;
    }
    type Key<'a> = (&'a str, UnassignedReason, Option<&'a Arc<str>>);
    let mut lines: BTreeMap<Key<'_>, (Vec<String>, Option<EventTime>)> = BTreeMap::new();
    for each in answers.without_owner() {
        let key = (&*each.item.connector, each.reason, each.last_owner.as_ref());
        let (items, since) = lines.entry(key).or_default();
        items.push(
            each.item
                .task
                .map_or("connector".to_owned(), |task| task.to_string()),
        );
        *since = (*since).into_iter().chain(each.since).min();
    }
    let count = lines.len();
    out.table(["connector", "what", "reason", "for", "last owner"]);
    for ((connector, reason, owner), (items, since)) in lines.into_iter().take(ROWS_MAX) {
        out.row([
            connector.to_owned(),
            listed(&items),
            reason.label().replace('_', " "),
            since.map_or_else(String::new, |since| span(now.delay_after_ms(since))),
            owner.map_or_else(String::new, ToString::to_string),
        ]);
    }
    out.table_end();
    more(out, count);
}

/// `connector, tasks 0, 1, 2`, cut where it is long.
fn listed(items: &[String]) -> String {
    const ITEMS_MAX: usize = 12;
    let (connector, tasks): (Vec<_>, Vec<_>) = items.iter().partition(|item| *item == "connector");
    let mut parts = Vec::new();
    if !connector.is_empty() {
        parts.push("connector".to_owned());
    }
    if !tasks.is_empty() {
        let shown: Vec<&str> = tasks
            .iter()
            .take(ITEMS_MAX)
            .map(|task| task.as_str())
            .collect();
        let rest = tasks.len().saturating_sub(shown.len());
        let rest = if rest > 0 {
            format!(" and {rest} more")
        } else {
            String::new()
        };
        let word = if tasks.len() == 1 { "task" } else { "tasks" };
        parts.push(format!("{word} {}{rest}", shown.join(", ")));
    }
    parts.join(", ")
}

/// What disagrees, a line each.
pub(super) fn disagreements(out: &mut Html, answers: &Answers, now: ArrivalTime) {
    let Some(told) = answers.disagreements.as_ref() else {
        return;
    };
    let count = usize::try_from(count(answers)).unwrap_or(usize::MAX);
    if count == 0 {
        return;
    }
    let heading = format!("Status topic and group disagree: {count}");
    out.element("h3", "", heading);
    out.table(["what", "type", "worker", "for", "how sure", "evidence"]);
    for each in told.now.iter().take(ROWS_MAX) {
        out.row([
            named(&each.item),
            each.kind.label().replace('_', " "),
            each.worker.to_string(),
            span(now.delay_after_ms(each.since)),
            each.confidence.label().to_owned(),
            each.evidence.clone(),
        ]);
    }
    out.table_end();
    more(out, count);
}

fn count(answers: &Answers) -> u64 {
    let told = answers.disagreements.iter();
    told.flat_map(|told| told.counts.values()).sum()
}

fn named(item: &ItemAnswer) -> String {
    match item.task {
        Some(task) => format!("{}-{task}", item.connector),
        None => item.connector.to_string(),
    }
}
