//! `/api/v1/checks`: which clocks contradict each other, and what is missing to tell.

use std::sync::Arc;

use evenkeel_core::answers::{Answers, ChecksAnswer};
use evenkeel_core::facts::time::ArrivalTime;
use serde::Serialize;

use super::{NoSuchGroup, json};
use crate::show::health::health;
use crate::show::view::Published;

#[derive(Debug, Serialize)]
struct Checks<'a> {
    now: ArrivalTime,
    groups: Vec<GroupChecks<'a>>,
}

#[derive(Debug, Serialize)]
struct GroupChecks<'a> {
    group: &'a str,
    /// Whether what is said is current.
    current: bool,
    /// Absent where the group's records are not read: they say what holds.
    checks: Option<&'a ChecksAnswer>,
}

/// The answer: of all groups, or of the one that is wanted; an error if there is none of
/// that name.
pub(in crate::show) fn checks(
    published: &Published,
    now: ArrivalTime,
    wanted: Option<&str>,
) -> Result<String, String> {
    let name = |answers: &Arc<Answers>| wanted.is_none_or(|name| answers.settings.group == name);
    let groups = published.groups.iter().filter(|answers| name(answers));
    let groups: Vec<_> = groups
        .map(|answers| GroupChecks {
            group: &answers.settings.group,
            current: health(answers, now).current,
            checks: answers.checks.as_deref(),
        })
        .collect();
    if let (Some(name), true) = (wanted, groups.is_empty()) {
        return Err(json(&NoSuchGroup::of(name, published)));
    }
    Ok(json(&Checks { now, groups }))
}
