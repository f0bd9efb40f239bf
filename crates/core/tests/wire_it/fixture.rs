//! Fixtures: files under `tests/fixtures`, one record or member's bytes each.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One fixture file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fixture {
    /// `offsets`, `config` or `status` for a record; `connect_subscription`,
    /// `connect_assignment`, `consumer_subscription` or `consumer_assignment` for
    /// bytes inside one.
    pub(crate) kind: String,
    /// Who wrote the bytes: a release and how, or "constructed" and from what.
    pub(crate) provenance: String,
    /// The key; spaces are for the reader. Empty where there is none.
    pub(crate) key_hex: String,
    /// The value; null for a tombstone.
    pub(crate) value_hex: Option<String>,
    /// What `describe` says of it.
    pub(crate) expect: Value,
    /// The file's name without its ending.
    #[serde(skip)]
    pub(crate) name: String,
}

impl Fixture {
    pub(crate) fn key(&self) -> Vec<u8> {
        self.bytes(&self.key_hex)
    }

    pub(crate) fn value(&self) -> Option<Vec<u8>> {
        self.value_hex.as_deref().map(|hex| self.bytes(hex))
    }

    fn bytes(&self, hex: &str) -> Vec<u8> {
        let digit = |c: char| {
            c.to_digit(16)
                .unwrap_or_else(|| panic!("{}: {c:?}", self.name))
        };
        let digits: Vec<u32> = hex
            .chars()
            .filter(|c| !c.is_whitespace())
            .map(digit)
            .collect();
        assert!(
            digits.len().is_multiple_of(2),
            "{}: odd number of digits",
            self.name
        );
        digits
            .chunks_exact(2)
            .map(|two| u8::try_from(two[0] * 16 + two[1]).unwrap())
            .collect()
    }

    pub(crate) fn write(&self) {
        let text = serde_json::to_string_pretty(self).unwrap() + "\n";
        std::fs::write(folder().join(&self.name).with_extension("json"), text).unwrap();
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

/// All fixtures, by name.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    let read = |path: &PathBuf| -> Fixture {
        let text = std::fs::read_to_string(path).unwrap();
        let fixture = serde_json::from_str(&text);
        let mut fixture: Fixture = fixture.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        fixture.name = path.file_stem().unwrap().to_string_lossy().into_owned();
        fixture
    };
    paths.iter().map(read).collect()
}
