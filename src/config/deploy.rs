//! Files that say how Connect workers are set up, in the formats in which people keep them:
//! each becomes workers with their settings, and where each setting stands. What is not
//! understood is said, never guessed.

mod compose;
mod document;
mod env_file;
mod helm;
mod lines;
mod properties;
mod resource;
mod settings;
mod variables;

use std::path::Path;

use evenkeel_core::checks::known::Worker;
use evenkeel_core::checks::releases::{Whose, tables};
use evenkeel_core::checks::source::Value;

pub use properties::PERHAPS_A_PART;

use super::file;
use super::mistake::Mistake;
use super::worker::rest;

/// A file of settings is pages; more is a mistaken path.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Settings of one worker: it has dozens, and each is compared with all that Kafka knows.
const SETTINGS_MAX: usize = 2_000;

/// Workers of one file; groups have some dozens.
const WORKERS_MAX: usize = 1_000;

/// What is told of one file.
const NOTES_MAX: usize = 20;

/// What one file says.
#[derive(Debug, Clone)]
pub struct Deployed {
    /// The file, as it was named.
    pub file: String,
    /// What it was read as.
    pub format: Format,
    /// The workers that it sets up.
    pub workers: Vec<Worker>,
    /// Whether each process is a host of its own.
    pub in_containers: bool,
    /// What it holds that was not understood.
    pub notes: Vec<String>,
}

/// The formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Java properties.
    Properties,
    /// Lines of variables.
    EnvFile,
    /// Docker Compose.
    Compose,
    /// Kubernetes: Strimzi's KafkaConnect, or workloads with variables.
    Resource,
    /// Values of a Helm chart.
    Helm,
}

/// Reads one file.
///
/// # Errors
/// Why nothing can be read of it.
pub fn read(path: &Path) -> Result<Deployed, Mistake> {
    let name = path.display().to_string();
    let wrong =
        |found: String| Mistake::new(&name, found, "a file with the settings of Connect workers");
    let bytes = file::bytes(path, FILE_BYTES_MAX).map_err(|unread| wrong(unread.to_string()))?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(wrong("an empty file".to_owned()));
    }
    if bytes.contains(&0) {
        return Err(wrong("bytes that are no text".to_owned()));
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_document = extension.is_some_and(|extension| {
        ["yaml", "yml", "json"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
    });
    let read = if is_document {
        let text =
            String::from_utf8(bytes).map_err(|_| wrong("bytes that are no UTF-8".to_owned()))?;
        document::read(&name, &text)
    } else if env_file::is_one(path, &bytes) {
        env_file::read(&name, &bytes)
    } else {
        properties::read(&name, &bytes)
    };
    let mut deployed = read.map_err(|unread| unread.told(&name))?;
    pass_over(&mut deployed);
    if deployed.workers.is_empty() {
        let notes: Vec<&str> = deployed.notes.iter().take(3).map(String::as_str).collect();
        let found = match notes.is_empty() {
            true => "no settings of a Connect worker".to_owned(),
            false => format!("no settings of a Connect worker ({})", notes.join(", ")),
        };
        return Err(wrong(found).hint(document::HINT));
    }
    let most = deployed.workers.iter().map(|worker| worker.settings.len());
    if most.max().is_some_and(|most| most > SETTINGS_MAX) {
        return Err(wrong(format!(
            "more than {SETTINGS_MAX} settings of one worker"
        )));
    }
    if deployed.workers.len() > WORKERS_MAX {
        return Err(wrong(format!("more than {WORKERS_MAX} workers")));
    }
    let more = deployed.notes.len().saturating_sub(NOTES_MAX);
    deployed.notes.truncate(NOTES_MAX);
    if more > 0 {
        deployed.notes.push(format!("and {more} more of that kind"));
    }
    deployed.workers.iter_mut().for_each(advertise);
    Ok(deployed)
}

/// Leaves out what only looked like a worker, such as a service that has to reach one, or the
/// settings of a broker: no name in it is one that workers have and other clients do not.
fn pass_over(deployed: &mut Deployed) {
    if deployed.format == Format::Properties {
        return;
    }
    let notes = &mut deployed.notes;
    deployed.workers.retain(|worker| {
        let has = |name: &str| worker.settings.contains_key(name);
        // What is not known may name topics.
        let passed = if worker.is_complete && is_standalone(has) {
            STANDALONE
        } else if !worker.settings.keys().any(|name| is_own(name)) {
            "nothing of a Connect worker"
        } else {
            return true;
        };
        notes.push(format!("{}: {passed}, passed over", worker.name));
        false
    });
}

const STANDALONE: &str = "a standalone worker, which has no group";

/// Whether a worker keeps its offsets in a file, none of its own in topics, and is of no group.
fn is_standalone(has: impl Fn(&str) -> bool) -> bool {
    let topics = [
        "config.storage.topic",
        "offset.storage.topic",
        "status.storage.topic",
    ];
    let of_group = ["group.id"].into_iter().chain(topics).any(&has);
    has("offset.storage.file.filename") && !of_group
}

/// Whether workers have it, and other clients do not.
fn is_own(name: &str) -> bool {
    tables().lifetime(Whose::Worker, name).is_some()
        && tables().lifetime(Whose::Admin, name).is_none()
}

/// Why nothing was read of a file.
#[derive(Debug)]
enum Unread {
    /// It holds that instead of what it should.
    Found(String),
    /// It is not even well-formed.
    Malformed(Mistake),
}

/// The address that the settings of a worker name.
fn advertise(worker: &mut Worker) {
    // Where something else sets the address, such as an operator, it is there already.
    if worker.advertised.is_some() {
        return;
    }
    let settings = &worker.settings;
    let is_known = |name: &str| settings.get(name).is_none_or(|given| given.text.is_ok());
    let names = [
        "rest.advertised.host.name",
        "rest.advertised.port",
        "listeners",
    ];
    if !names.into_iter().all(is_known) {
        return;
    }
    let found = rest::advertised(&mut |name| {
        let text = settings.get(name)?.text.as_deref().ok()?;
        Some(text.trim().to_owned())
    });
    let is_plain = |address: &str| {
        address.len() < 300 && address.chars().all(|letter| letter.is_ascii_graphic())
    };
    if let Some((address, name)) = found.filter(|(address, _)| is_plain(address)) {
        let source = settings.get(name).map(|given| given.source.clone());
        worker.advertised = source.map(|source| Value::new(address, source));
    }
}

// === impl Unread ===

impl Unread {
    fn found(found: impl Into<String>) -> Self {
        Self::Found(found.into())
    }

    fn told(self, file: &str) -> Mistake {
        match self {
            Self::Found(found) => {
                Mistake::new(file, found, "a file with the settings of Connect workers")
            }
            Self::Malformed(mistake) => Mistake {
                path: file.to_owned(),
                ..mistake
            },
        }
    }
}

// === impl Format ===

impl Format {
    /// In words, as in "read as …".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Properties => "a properties file",
            Self::EnvFile => "a file of environment variables",
            Self::Compose => "a Docker Compose file",
            Self::Resource => "Kubernetes resources",
            Self::Helm => "values of a Helm chart",
        }
    }
}

#[cfg(test)]
mod tests;
