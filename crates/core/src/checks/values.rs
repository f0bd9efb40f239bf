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
                Err(Unknown::Swallowed) if setting.kind != Kind::Text => {
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
                    look.mention(name, &given.source);
                    fires_if(true, || format!("{name} is not {expected}"))
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

/// The setting that a name in a worker's file is, its own or a client's.
fn setting(name: &str, release: Release) -> Option<&'static Setting> {
    let own = tables().setting(Whose::Worker, name, release);
    own.or_else(|| {
        let mut clients = CLIENTS.iter();
        clients.find_map(|(prefix, whose)| {
            tables().setting(*whose, name.strip_prefix(prefix)?, release)
        })
    })
}
