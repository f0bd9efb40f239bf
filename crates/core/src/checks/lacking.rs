//! What a worker does not get although it needs it, or somebody meant it to: settings that
//! Kafka demands, and the one behind a byte order mark.

use super::inputs::{BESIDE, FILE, RELEASE};
use super::known::{Given, Worker};
use super::look::{fires_if, look_at, passes};
use super::naming::no_name;
use super::releases::{Release, Whose, tables};
use super::source::{Source, Value};
use super::{Check, Harm, Judgement, Known, Severity};

/// The mark, as letters of a file in which each byte is one.
const MARK: &str = "\u{ef}\u{bb}\u{bf}";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "setting_missing",
        severity: Severity::Error,
        harm: Harm::KeptOut,
        title: "a setting that Kafka demands is not set, or is empty",
        inputs: &[FILE, RELEASE, BESIDE],
        consequence: "The worker does not start, or no broker lets it into a group: there is no default.",
        advice: "Set it in what the worker is started with.",
        decide: setting_missing,
    },
    Check {
        id: "byte_order_mark",
        severity: Severity::Error,
        harm: Harm::Inert,
        title: "a byte order mark stands before the first setting of a worker's file",
        inputs: &[FILE],
        consequence: "Java takes the mark for a part of the name: the setting that was meant is not set, and has its default, or none.",
        advice: "Save the file as UTF-8 without a byte order mark (BOM).",
        decide: byte_order_mark,
    },
];

/// The name behind a mark: Java's is another one.
pub(super) fn unmarked(name: &str) -> Option<&str> {
    name.strip_prefix(MARK)
        .or_else(|| name.strip_prefix('\u{feff}'))
}

fn setting_missing(known: &Known) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    for worker in &known.workers {
        let Some(release) = &worker.release else {
            judgements.push(look_at(known, worker, no_name));
            continue;
        };
        // Of a release that nobody named only what all demand is sure.
        let is_assumed = matches!(release.source, Source::Default { .. });
        let release = release.value;
        let mut lacking = lacking(worker, release);
        let count = lacking.len();
        if is_assumed {
            lacking.retain(|(name, _)| tables().is_demanded_by_all(Whose::Worker, name));
        }
        let hangs_on_release = lacking.len() < count;
        // Who is in the group was started, whatever the file says now.
        if !worker.is_started_so || !worker.is_complete || !worker.told.is_empty() {
            judgements.push(look_at(known, worker, |look| {
                if count == 0 {
                    return passes();
                }
                if look.file().is_some() {
                    look.misses(BESIDE);
                }
                None
            }));
            continue;
        }
        for &(name, given) in &lacking {
            judgements.push(look_at(known, worker, |look| {
                let spelled = worker.spelling.of(name);
                let (what, source) = match given {
                    Some(given) => ("empty", given.source.clone()),
                    None => ("not set", whole(worker, release)),
                };
                look.show(&spelled, &Value::new(format!("[{what}]"), source));
                fires_if(true, || format!("{spelled} is {what}"))
            }));
        }
        if hangs_on_release {
            judgements.push(look_at(known, worker, |look| {
                look.misses(RELEASE);
                None
            }));
        } else if lacking.is_empty() {
            judgements.push(look_at(known, worker, |_| passes()));
        }
    }
    judgements
}

/// What Kafka demands and nobody sets, with where it stands if it is empty.
fn lacking(worker: &Worker, release: Release) -> Vec<(&'static str, Option<&Given>)> {
    let demanded = tables().demanded(Whose::Worker, release);
    let lacking = demanded.filter_map(|name| {
        let given = worker.settings.get(name);
        let text = given.map(|given| given.text.as_deref());
        let is_there = match text {
            None => false,
            // What is looked up elsewhere is set.
            Some(Err(_)) => true,
            Some(Ok(text)) => !text.trim_matches(|letter| letter <= ' ').is_empty(),
        };
        (!is_there).then_some((name, given))
    });
    lacking.collect()
}

/// The file in which it would stand.
fn whole(worker: &Worker, release: Release) -> Source {
    let mut sources = worker.settings.values().map(|given| &given.source);
    let file = sources.find_map(|source| match source {
        Source::File { file, .. } => Some(file.clone()),
        _ => None,
    });
    file.map_or(Source::Default { release }, |file| Source::File {
        file,
        line: None,
    })
}

fn byte_order_mark(known: &Known) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    for worker in &known.workers {
        // Before a comment or nothing it spoils nothing.
        let marked = worker.settings.iter().find_map(|(name, given)| {
            let name = unmarked(name).filter(|name| is_name(name))?;
            Some((name, given))
        });
        judgements.push(look_at(known, worker, |look| {
            let Some((name, given)) = marked else {
                look.file()?;
                return passes();
            };
            look.mention(name, &given.source);
            fires_if(true, || {
                format!("{name} is not set: a mark stands before it")
            })
        }));
    }
    judgements
}

/// Whether somebody meant a setting by it, and no password.
fn is_name(name: &str) -> bool {
    let is_known = |whose| tables().lifetime(whose, name).is_some();
    is_known(Whose::Worker)
        || super::naming::CLIENTS.iter().any(|(prefix, whose)| {
            let name = name.strip_prefix(prefix);
            name.is_some_and(|name| tables().lifetime(*whose, name).is_some())
        })
}
