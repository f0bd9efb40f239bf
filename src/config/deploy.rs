//! Files that say how Connect workers are set up, in the formats in which people keep them:
//! each becomes workers with their settings, and where each setting stands. What is not
//! understood is said, never guessed.

mod properties;

use std::path::Path;

use evenkeel_core::checks::known::Worker;
use evenkeel_core::checks::source::Value;

use super::file;
use super::mistake::Mistake;

/// A file of settings is pages; more is a mistaken path.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// What one file says.
#[derive(Debug, Clone)]
pub struct Deployed {
    /// The file, as it was named.
    pub file: String,
    /// What it was read as.
    pub format: Format,
    /// The workers that it sets up.
    pub workers: Vec<Worker>,
    /// How many processes run of them, where the file says so.
    pub count: Option<Value<i64>>,
    /// What it holds that was not understood.
    pub notes: Vec<String>,
}

/// The formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Java properties.
    Properties,
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
    if bytes.is_empty() {
        return Err(wrong("an empty file".to_owned()));
    }
    if bytes.contains(&0) {
        return Err(wrong("bytes that are no text".to_owned()));
    }
    properties::read(&name, &bytes).map_err(wrong)
}

// === impl Format ===

impl Format {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Properties => "properties file",
        }
    }
}
