//! The catalogue of metrics as its document has it, which is held to the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, ensure};

/// All families by name.
pub(crate) struct Catalogue(pub(crate) BTreeMap<String, Family>);

/// What the document says of a metric.
#[derive(Debug, Default)]
pub(crate) struct Family {
    /// `counter`, `gauge`, …
    pub(crate) kind: String,
    /// Labels, and their values where they are a closed set.
    pub(crate) labels: BTreeMap<String, Option<BTreeSet<String>>>,
}

/// What a histogram's series end in.
const SUFFIXES: [&str; 3] = ["_bucket", "_sum", "_count"];

impl Catalogue {
    pub(crate) fn read(root: &Path) -> anyhow::Result<Catalogue> {
        let path = "docs/metrics.md";
        let text = std::fs::read_to_string(root.join(path)).with_context(|| path)?;
        let catalogue = Catalogue::parse(&text);
        ensure!(!catalogue.0.is_empty(), "{path} names no metric");
        Ok(catalogue)
    }

    pub(crate) fn parse(text: &str) -> Catalogue {
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        let mut name = String::new();
        for line in text.lines() {
            if let Some(found) = line.strip_prefix("### `") {
                name = found.trim_end_matches('`').to_owned();
                families.insert(name.clone(), Family::default());
            } else if let Some(family) = families.get_mut(&name) {
                if family.kind.is_empty() && line.contains(" · ") {
                    let kind = line.split([',', ' ']).next().unwrap_or_default();
                    family.kind = kind.to_owned();
                } else if let Some((label, values)) = label(line) {
                    family.labels.insert(label, values);
                }
            }
        }
        Catalogue(families)
    }

    /// The family that a series belongs to.
    pub(crate) fn family_of(&self, series: &str) -> Option<(&str, &Family)> {
        let base = SUFFIXES
            .iter()
            .find_map(|suffix| series.strip_suffix(suffix))
            .filter(|base| {
                self.0
                    .get(*base)
                    .is_some_and(|family| family.kind == "histogram")
            });
        let (name, family) = self.0.get_key_value(base.unwrap_or(series))?;
        Some((name, family))
    }
}

impl Family {
    /// Whether its series only grow.
    pub(crate) fn grows(&self) -> bool {
        self.kind == "counter" || self.kind == "histogram"
    }
}

/// A row of a table of labels.
fn label(line: &str) -> Option<(String, Option<BTreeSet<String>>)> {
    let (label, values) = line.strip_prefix("| `")?.split_once("` | ")?;
    let values = values.trim_end_matches(" |");
    let parts: Vec<&str> = values.split('`').collect();
    // Names between marks, and nothing but commas between them.
    let closed = parts
        .iter()
        .step_by(2)
        .all(|between| between.trim_matches([',', ' ']).is_empty());
    let set = || {
        parts
            .iter()
            .skip(1)
            .step_by(2)
            .map(|name| (*name).to_owned())
            .collect()
    };
    Some((label.to_owned(), closed.then(set)))
}
