//! The table, held against what real releases of Kafka know.

use std::collections::BTreeSet;

use evenkeel_core::checks::releases::{Whose, tables};

use super::*;
use crate::config::mistake::nearest;
use crate::config::worker::names;

/// Those whose settings a worker's file may hold without a prefix.
const OF_WORKERS: [Whose; 3] = [Whose::Worker, Whose::Admin, Whose::Consumer];

fn all() -> BTreeSet<&'static str> {
    let names = OF_WORKERS
        .into_iter()
        .flat_map(|whose| tables().names(whose));
    names.collect()
}

#[test]
fn every_setting_of_every_release_has_a_verdict() {
    let ours: BTreeSet<_> = SETTINGS.iter().map(|(name, _)| *name).collect();
    for release in &tables().releases {
        for whose in OF_WORKERS {
            let names = tables().names(whose);
            let names = names.filter(|name| tables().has(whose, name, *release));
            let theirs: Vec<_> = names.filter(|name| names::is_security(name)).collect();
            assert!(theirs.len() > 30, "{release} has {}", theirs.len());
            for name in theirs {
                assert!(ours.contains(name), "{release}: {name}");
            }
        }
    }
    let theirs = all();
    for name in ours {
        assert!(theirs.contains(name), "{name} is of no release");
    }
    assert!(SETTINGS.is_sorted_by_key(|(name, _)| *name));
}

#[test]
fn every_name_that_is_read_is_one_of_kafka() {
    let theirs = all();
    // Gone in 3.0 and still in files; 2.5.1 knows them.
    for name in names::all() {
        assert!(theirs.contains(name), "{name}");
    }
}

#[test]
fn no_name_of_kafka_looks_like_a_slip() {
    for name in all() {
        if !names::is_read(name) {
            let near = nearest(name, names::all());
            assert_eq!(near, None, "{name} would be told to be a slip");
        }
    }
}

#[test]
fn a_reason_is_a_reason() {
    for (name, verdict) in SETTINGS {
        if let Harmless(why) | Refused(why) = verdict {
            assert!(why.len() > 20 && !why.ends_with('.'), "{name}");
        }
    }
}

/// The table of `docs/worker-file.md`, which says what a setting becomes.
#[test]
fn the_document_says_it_of_each() {
    let document = include_str!("../../../../docs/worker-file.md");
    for (name, verdict) in SETTINGS {
        let told = match verdict {
            Translated => "translated".to_owned(),
            Harmless(why) => format!("not needed: {why}"),
            Refused(instead) => format!("refused; {instead}"),
        };
        let row = format!("| `{name}` | {told} |");
        assert!(document.contains(&row), "no row: {row}");
    }
    for name in names::all() {
        assert!(document.contains(&format!("`{name}`")), "{name}");
    }
}
