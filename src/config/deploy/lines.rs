//! In which line of a YAML document something stands. The parser gives values without
//! lines; they are found again by keys and their indentation, as far as that can be told.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Keys nested deeper are found by their last parents alone; documents of people have a dozen.
const DEPTH_MAX: usize = 32;

/// Where the keys of one document stand. Made once: a file may have as many lines as settings
/// are asked for.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The first line that sets a leaf below these parents.
    below: HashMap<(u64, String), usize>,
    /// All lines that set a leaf, each with the top key that it stands below.
    anywhere: HashMap<String, Vec<(usize, Option<String>)>>,
}

// === impl Lines ===

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let mut lines = Self::default();
        let mut above: Vec<(usize, &str)> = Vec::new();
        let mut top = None;
        for (index, line) in text.lines().enumerate() {
            let Some((indent, body)) = body(line) else {
                continue;
            };
            while above.last().is_some_and(|(last, _)| *last >= indent) {
                above.pop();
            }
            let key = key(body);
            if indent == 0 {
                top = key;
            }
            let path = path(above.iter().map(|(_, key)| *key));
            for leaf in leaves(body, key) {
                let place = (path, leaf.to_owned());
                lines.below.entry(place).or_insert(index + 1);
                let anywhere = lines.anywhere.entry(leaf.to_owned()).or_default();
                anywhere.push((index + 1, top.map(str::to_owned)));
            }
            if let Some(key) = key.filter(|_| above.len() < DEPTH_MAX) {
                above.push((indent, key));
            }
        }
        lines
    }

    /// The line of the key `leaf` below the keys `parents`, of an item `leaf=…` of a list there,
    /// or of an item with `name: leaf`. What is merged into a section from elsewhere (`<<`)
    /// stands in the only line outside of the first parent that sets `leaf`, or of the whole
    /// document.
    pub(super) fn line_of(&self, parents: &[&str], leaf: &str) -> Option<usize> {
        let path = path(parents.iter().copied());
        let below = self.below.get(&(path, leaf.to_owned())).copied();
        below
            .or_else(|| self.only(leaf, parents.first().copied()))
            .or_else(|| self.only(leaf, None))
    }

    fn only(&self, leaf: &str, but_below: Option<&str>) -> Option<usize> {
        let all = self.anywhere.get(leaf)?.iter();
        let mut outside = all.filter(|(_, top)| but_below.is_none() || top.as_deref() != but_below);
        let (line, _) = outside.next()?;
        outside.next().is_none().then_some(*line)
    }
}

/// Keys from the top, as one number: that two paths of one file have the same is not to be
/// expected, and would name another line.
fn path<'a>(keys: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    keys.for_each(|key| key.hash(&mut hasher));
    hasher.finish()
}

/// Where the text of a line begins behind its dashes, and the text; none for comments.
fn body(line: &str) -> Option<(usize, &str)> {
    let mut body = line.trim_start();
    while let Some(rest) = body.strip_prefix("- ") {
        body = rest.trim_start();
    }
    (!body.is_empty() && !body.starts_with('#')).then_some((line.len() - body.len(), body))
}

fn key(body: &str) -> Option<&str> {
    let body = body.strip_prefix(['"', '\'']).unwrap_or(body);
    // A key ends at a colon that a blank or the end follows.
    let end = body
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| body[at + 1..].is_empty() || body[at + 1..].starts_with(' '))?;
    Some(body[..end].trim_end_matches(['"', '\'']))
}

/// What a line sets: its key, what stands before an equals sign, the value of a `name`.
fn leaves<'a>(body: &'a str, key: Option<&'a str>) -> impl Iterator<Item = &'a str> {
    let bare = body.strip_prefix(['"', '\'']).unwrap_or(body);
    let assigned = bare.split_once('=').map(|(leaf, _)| leaf);
    let named = key
        .filter(|key| *key == "name")
        .and_then(|_| body.split_once(':'));
    let named = named.map(|(_, name)| name.trim().trim_matches(['"', '\'']));
    let key = key.filter(|key| assigned != Some(*key));
    [assigned, named, key].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::Lines;

    const TEXT: &str = "\
# A=1 is a comment
x-common: &common
  C: 7
  D: 8
services:
  one:
    environment:
      A: 1
      \"B\": 2
  two:
    environment:
    - A=3
    - 'C=4'
  three:
    env:
      - name: A
        value: 5
";

    #[test]
    fn keys_are_found_below_their_parents() {
        let lines = Lines::of(TEXT);
        let find = |service: &str, section: &str, leaf: &str| {
            lines.line_of(&["services", service, section], leaf)
        };
        assert_eq!(find("one", "environment", "A"), Some(8));
        assert_eq!(find("one", "environment", "B"), Some(9));
        assert_eq!(find("two", "environment", "A"), Some(12));
        assert_eq!(find("two", "environment", "C"), Some(13));
        assert_eq!(find("three", "env", "A"), Some(16));
        // Merged from elsewhere.
        assert_eq!(find("one", "environment", "C"), Some(3));
        assert_eq!(find("one", "environment", "D"), Some(4));
        assert_eq!(lines.line_of(&["other"], "B"), Some(9));
        // Several times elsewhere: nobody knows which.
        assert_eq!(find("four", "environment", "A"), None);
    }
}
