//! One mistake in the configuration: where, what was found, what was expected, and
//! what to do. All mistakes are told at once.

use std::fmt;

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

/// The known word that is nearest to `word`, if one is near enough to be meant.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known
        .into_iter()
        .map(|known| (distance(word, known), known));
    let (distance, known) = near.min_by_key(|(distance, _)| *distance)?;
    // Two slips, and a third in a long word, still look like the same word.
    let slips_max = if known.chars().count() > 8 { 3 } else { 2 };
    (distance <= slips_max).then_some(known)
}

/// Letters to change, insert, drop or swap with their neighbour (optimal string
/// alignment), capitals and the two kinds of dash aside.
fn distance(a: &str, b: &str) -> usize {
    let plain = |text: &str| -> Vec<char> {
        let lower = text.chars().flat_map(char::to_lowercase);
        lower
            .map(|letter| if letter == '-' { '_' } else { letter })
            .collect()
    };
    let (a, b) = (plain(a), plain(b));
    // Row i, column j: from the first i letters of one to the first j of the other.
    let start = |i: usize| (0..=b.len()).map(|j| if i == 0 { j } else { i }).collect();
    let mut rows: Vec<Vec<usize>> = (0..=a.len()).map(start).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            best = best.min(rows[i - 1][j - 1] + changed);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests;
