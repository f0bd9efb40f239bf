//! The layout of the state, held against the list that goes with its version: a state that
//! was written down is read by its fields, and a field that is new, gone or of another kind
//! would be read wrongly, or taken for one that is absent.
//!
//! Renew the list with `UPDATE_GOLDEN=1`, and count `STATE_VERSION` up where a release has
//! written states of the version before.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use evenkeel_core::engine::{Engine, STATE_VERSION};
use serde_json::Value;

use crate::dsl::{Step, inputs};

/// As much of everything as the scenarios hold.
const SCENARIOS: [&str; 2] = [
    include_str!("layout/records.txt"),
    include_str!("layout/hidden.txt"),
];

/// Each field with the kinds of value that it has; items of a list are one, and so are the
/// values of a map by names.
fn collect(fields: &mut BTreeMap<String, String>, path: &str, value: &Value) {
    let kind = match value {
        // Absent: another scenario has the value.
        Value::Null => return,
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(items) => {
            let is_pair = items.len() == 2 && items[0].is_array() != items[1].is_array();
            for (place, item) in items.iter().enumerate() {
                let place = if is_pair {
                    place.to_string()
                } else {
                    String::new()
                };
                collect(fields, &format!("{path}[{place}]"), item);
            }
            "list"
        }
        Value::Object(items) => {
            for (name, item) in items {
                let is_field = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
                let name = if is_field { name } else { "*" };
                collect(fields, &format!("{path}.{name}"), item);
            }
            "object"
        }
    };
    let kinds = fields.entry(path.to_owned()).or_default();
    if !kinds.split('|').any(|known| known == kind) {
        let separator = if kinds.is_empty() { "" } else { "|" };
        write!(kinds, "{separator}{kind}").unwrap();
    }
}

#[test]
#[allow(clippy::disallowed_methods)] // The list is a file of the repository; the core reads none.
fn the_layout_of_the_state_is_that_of_its_version() {
    let mut fields = BTreeMap::new();
    for scenario in SCENARIOS {
        let mut engine = Engine::new();
        for step in inputs(scenario) {
            if let Step::Input(input) = step {
                engine.apply(&input);
                let state = serde_json::to_value(engine.state()).unwrap();
                collect(&mut fields, "", &state);
            }
        }
    }
    let mut text = format!("version {STATE_VERSION}\n");
    for (path, kinds) in fields {
        writeln!(text, "{path} {kinds}").unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/layout/fields.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (known, found) = (lines(&known), lines(&text));
    let gone: Vec<_> = known.iter().filter(|line| !found.contains(line)).collect();
    let new: Vec<_> = found.iter().filter(|line| !known.contains(line)).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "the state has another layout: count STATE_VERSION up if a release wrote the one before, \
         and renew the list with UPDATE_GOLDEN=1\ngone {gone:#?}\nnew {new:#?}"
    );
}
