//! One mistake in the configuration: where, what was found, what was expected, and
//! what to do. All mistakes are told at once.

use std::fmt;

pub(super) use evenkeel_core::checks::near::nearest;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The key, as in `groups[0].config_topic`; empty for the configuration as a whole.
    pub path: String,
    /// What is there. Never a secret.
    pub found: String,
    /// What should be there.
    pub expected: String,
    /// What to do about it, where that is not plain.
    pub hint: Option<String>,
    /// Where the value came from, unless it is the file.
    pub origin: Option<String>,
}

/// All mistakes of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Mistakes(pub Vec<Mistake>);

// === impl Mistake ===

impl Mistake {
    pub(super) fn new(
        path: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            found: found.into(),
            expected: expected.into(),
            hint: None,
            origin: None,
        }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "found {}, expected {}", self.found, self.expected)?;
        if let Some(origin) = &self.origin {
            write!(f, " (set by {origin})")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

// === impl Mistakes ===

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        write!(
            f,
            "{count} mistake{} in the configuration",
            if count == 1 { "" } else { "s" }
        )?;
        self.0
            .iter()
            .try_for_each(|mistake| write!(f, "\n{mistake}"))
    }
}

/// A value as a message shows it: quoted, cut where it is long.
pub(super) fn quoted(value: &str) -> String {
    const CHARS_MAX: usize = 60;
    match value.char_indices().nth(CHARS_MAX) {
        None => format!("{value:?}"),
        Some((end, _)) => format!("{:?}…", &value[..end]),
    }
}

#[cfg(test)]
mod tests;
