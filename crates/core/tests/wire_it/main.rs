//! Decoders on fixtures: what each one says, and what no mutilation of it may do.
#![allow(clippy::unwrap_used)]
// The bans are on the core; its tests read files, a budget and a stopwatch.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod describe;
mod fixture;
mod hostile;
mod mask;
mod mutation;
mod sinks;

use fixture::{Fixture, fixtures};
use serde_json::Value;

/// Set to rewrite `expect` in every fixture; review the difference.
const UPDATE: &str = "EVENKEEL_UPDATE_FIXTURES";

#[test]
fn every_fixture_decodes_to_what_it_expects() {
    let update = std::env::var_os(UPDATE).is_some();
    let mut differing = Vec::new();
    for mut fixture in fixtures() {
        let found = describe::describe(&fixture);
        if found == fixture.expect {
            continue;
        }
        if update {
            fixture.expect = found;
            fixture.write();
        } else {
            let found = serde_json::to_string_pretty(&found).unwrap();
            differing.push(format!("{}: decodes to {found}", fixture.name));
        }
    }
    assert!(
        differing.is_empty(),
        "set {UPDATE} to accept:\n{}",
        differing.join("\n")
    );
}

#[test]
fn every_fixture_says_where_it_comes_from() {
    let all = fixtures();
    assert!(all.len() >= 30, "only {} fixtures found", all.len());
    for fixture in all {
        assert!(
            fixture.provenance.len() > 10,
            "{}: no provenance",
            fixture.name
        );
        assert_ne!(
            fixture.expect,
            Value::Null,
            "{}: expects nothing",
            fixture.name
        );
    }
}

#[test]
fn every_fixture_is_listed_in_the_document() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/wire-formats.md");
    let document = std::fs::read_to_string(path).unwrap();
    let listed = |name: &str| document.contains(&format!("`{name}`"));
    let missing: Vec<String> = fixtures()
        .into_iter()
        .map(|fixture| fixture.name)
        .filter(|name| !listed(name))
        .collect();
    assert!(
        missing.is_empty(),
        "not in docs/wire-formats.md: {missing:?}"
    );
}

/// Runs everything this crate has for the fixture's kind on other bytes.
fn attack(fixture: &Fixture, key: &[u8], value: &[u8]) -> Result<(), &'static str> {
    use evenkeel_core::wire::attack;
    match fixture.kind.as_str() {
        "offsets" => attack::offsets_record(key, value),
        "config" => attack::config_record(key, value),
        "status" => attack::status_record(key, value),
        _ => attack::member_bytes(value),
    }
}
