//! What checks found, for people and for programs.

mod text;

use evenkeel_core::checks::Finding;
use evenkeel_core::checks::releases::Release;

pub use text::text;

/// All that is shown of one run.
#[derive(Debug, Clone)]
pub struct Report {
    /// What was read.
    pub files: Vec<FileRead>,
    /// The release that was taken where nobody named one.
    pub release_assumed: Option<Release>,
    /// What all checks say.
    pub findings: Vec<Finding>,
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
