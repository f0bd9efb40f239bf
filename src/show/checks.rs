//! What checks found, for people and for programs.

mod github;
mod json;
mod markdown;
mod sarif;
mod text;

use std::borrow::Cow;
use std::path::Path;

use evenkeel_core::checks::releases::Release;
use evenkeel_core::checks::source::Source;
use evenkeel_core::checks::{Finding, Outcome};

pub use github::github;
pub use json::json;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::text;

/// All that is shown of one run.
#[derive(Debug, Clone)]
pub struct Report {
    /// What was read.
    pub files: Vec<FileRead>,
    /// Its groups, and how many sets of settings each has.
    pub groups: Vec<(Option<String>, usize)>,
    /// Which release was taken.
    pub release: Taken,
    /// Running groups that were read, too.
    pub live: Vec<LiveRead>,
    /// What all checks say.
    pub findings: Vec<Finding>,
}

/// A running group that was read.
#[derive(Debug, Clone, Default)]
pub struct LiveRead {
    /// Its `group.id`.
    pub group: String,
    /// Whom the brokers see, where the settings say so.
    pub principal: Option<String>,
    /// How many workers are in it; none where its records could not be read.
    pub workers: Option<usize>,
    /// What could not be read and is needed, in sentences: a right that is missing, what stands
    /// in the way.
    pub troubles: Vec<String>,
    /// What is known less of: settings that may not be read, a reading that was cut short.
    pub notes: Vec<String>,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub struct FileRead {
    /// As it was named.
    pub file: String,
    /// What it was read as.
    pub format: &'static str,
    /// What was not understood.
    pub notes: Vec<String>,
}

/// The release whose defaults were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// A person named it; `known` is what stands for it in the tables.
    Said {
        /// As it was named.
        release: Release,
        /// Itself, if it is in the tables.
        known: Release,
    },
    /// Each file named its own.
    OfFiles,
    /// Nobody named one, at least for some worker.
    Newest(Release),
}

fn fired(report: &Report) -> impl Iterator<Item = &Finding> {
    let findings = report.findings.iter();
    findings.filter(|finding| finding.judgement.outcome == Outcome::Fired)
}

/// Where the values of a finding stand that a person set in files; where none is, the file
/// that it is about.
fn places<'a>(report: &'a Report, finding: &'a Finding) -> Vec<(&'a str, Option<usize>)> {
    let judgement = &finding.judgement;
    let set = judgement
        .values
        .iter()
        .filter_map(|shown| match &shown.source {
            Source::File { file, line } => Some((file.as_str(), *line)),
            _ => None,
        });
    let places: Vec<_> = set.collect();
    if !places.is_empty() {
        return places;
    }
    let is_about = |read: &&FileRead| {
        let rest = judgement.subject.strip_prefix(&read.file);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    let about = report.files.iter().find(is_about).or(report.files.first());
    about
        .map(|read| (read.file.as_str(), None))
        .into_iter()
        .collect()
}

/// What is said of a finding in one line.
fn line(finding: &Finding) -> String {
    let judgement = &finding.judgement;
    let values: Vec<String> = judgement
        .values
        .iter()
        .map(|shown| format!("{} = {} ({})", shown.name, shown.value, shown.source))
        .collect();
    let advice = judgement.advice.as_deref().unwrap_or(finding.check.advice);
    format!(
        "{}: {}. {} {advice}",
        judgement.said,
        values.join(", "),
        finding.check.consequence
    )
}

/// Without letters that steer a terminal or end a line.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let letters = text.chars().map(|letter| {
        if letter.is_control() {
            letter.escape_debug().to_string()
        } else {
            letter.to_string()
        }
    });
    Cow::Owned(letters.collect())
}

/// A path as a URI: of a file where it begins at the root, else relative.
fn uri(path: &str) -> String {
    let mut out = String::new();
    if Path::new(path).is_absolute() {
        out.push_str("file://");
    }
    for byte in path.trim_start_matches("./").bytes() {
        let is_open = byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        if is_open {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests;
