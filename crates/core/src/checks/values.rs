//! Values that Kafka refuses.

use super::inputs::{FILE, RELEASE};
use super::known::Unknown;
use super::look::{fires_if, look_at, passes};
use super::naming::{CLIENTS, no_name};
use super::releases::{Kind, Release, Setting, Whose, tables};
use super::{Check, Harm, Judgement, Known, Severity};

pub(super) const CHECKS: &[Check] = &[Check {
    id: "value_refused",
    severity: Severity::Error,
    harm: Harm::KeptOut,
    title: "a setting has a value that Kafka refuses",
    inputs: &[FILE, RELEASE],
    consequence: "The worker, or the client that the setting is for, does not start with it.",
    advice: "Write what is expected: numbers without units, in milliseconds where the name ends in ms.",
    decide: value_refused,
}];

fn value_refused(known: &Known) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    for worker in &known.workers {
        let before = judgements.len();
        let release = worker.release.as_ref().map(|release| release.value);
        let mut unresolved = Vec::new();
        for (name, given) in &worker.settings {
            let Some(setting) = release.and_then(|release| setting(name, release)) else {
                continue;
            };
            let refused = match &given.text {
                Ok(text) => setting.refuses(text),
                // Lists, passwords and logins go on with the next line as people mean it.
                Err(Unknown::Swallowed) if !matches!(setting.kind, Kind::Text | Kind::Other) => {
                    Some("a value of one line: a backslash joins it with the next".to_owned())
                }
                Err(_) => {
                    if setting.is_bounded() {
                        unresolved.push(name.clone());
                    }
                    None
                }
            };
            if let Some(expected) = refused {
                judgements.push(look_at(known, worker, |look| {
                    // What is refused may be anything, a password in the wrong line as well.
                    let called = given.called(name);
                    look.mention(&called, &given.source);
                    let verdict = fires_if(true, || format!("{called} is not {expected}"))?;
                    let text = given.text.as_deref().unwrap_or_default();
                    let is_number = !matches!(setting.kind, Kind::Text | Kind::Boolean);
                    match slip(name, text).filter(|_| is_number) {
                        Some(advice) => verdict.advise(|| advice.to_owned()),
                        None => Some(verdict),
                    }
                }));
            }
        }
        if judgements.len() == before {
            judgements.push(look_at(known, worker, |look| {
                no_name(look)?;
                unresolved.iter().for_each(|name| look.misses(name));
                look.nothing_missing().then_some(()).and_then(|()| passes())
            }));
        }
    }
    judgements
}

/// What was probably meant where a number belongs, without a letter of what is there.
fn slip(name: &str, text: &str) -> Option<&'static str> {
    let text = text.trim();
    let digits = text.trim_start_matches(['-', '+']);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let unit = digits.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_unit = ["ms", "s", "sec", "m", "min", "h", "d"]
        .iter()
        .any(|known| unit.trim().eq_ignore_ascii_case(known));
    let joined: String = digits.replace(['_', ',', '.', ' ', '\''], "");
    if text.contains([' ', '\t']) && text.contains(['#', '!']) {
        Some("Put the comment on a line of its own: behind a value it is a part of the value.")
    } else if text.len() > 1 && text.starts_with(['"', '\'']) && text.ends_with(['"', '\'']) {
        Some("Take the quotation marks away: they are a part of the value.")
    } else if is_unit && digits.len() > unit.len() && name.ends_with(".ms") {
        Some("Leave the unit out, and give the number in milliseconds.")
    } else if is_number(digits) {
        Some("Give a number that is expected: this one is too small or too large.")
    } else if is_grouped(digits) {
        Some("Give the digits alone, without what stands between them.")
    } else if is_number(&joined) {
        Some("Give a whole number.")
    } else {
        None
    }
}

/// Whether digits are parted in groups of three, as people write large numbers.
fn is_grouped(digits: &str) -> bool {
    let mut groups = digits.split(['_', ',', '.', ' ', '\'']);
    let is_number = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let first = groups.next().filter(|first| is_number(first));
    first.is_some_and(|first| (1..=3).contains(&first.len()))
        && groups.all(|group| group.len() == 3 && is_number(group))
}

/// The setting that a name in a worker's file is, its own or a client's.
pub(super) fn setting(name: &str, release: Release) -> Option<&'static Setting> {
    let own = tables().setting(Whose::Worker, name, release);
    own.or_else(|| {
        let mut clients = CLIENTS.iter();
        clients.find_map(|(prefix, whose)| {
            tables().setting(*whose, name.strip_prefix(prefix)?, release)
        })
    })
}
