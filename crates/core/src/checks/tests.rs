//! Each check: an input that fires, one at the boundary that does not, and one with a value
//! missing. Inputs are written down in lines, see `tests/dsl.rs`.

mod cases;
mod dsl;
mod edges;
mod incidents;
mod lacking;

use std::collections::BTreeSet;

use super::*;
use cases::CASES;
use dsl::known;

/// One check with its three inputs.
struct Case {
    id: &'static str,
    fires: &'static str,
    boundary: &'static str,
    missing: &'static str,
}

fn of(id: &str, text: &str) -> Vec<Judgement> {
    let findings = judge(&known(text)).into_iter();
    let ours = findings.filter(|finding| finding.check.id == id);
    ours.map(|finding| finding.judgement).collect()
}

fn count(judgements: &[Judgement], outcome: Outcome) -> usize {
    let same = judgements
        .iter()
        .filter(|judgement| judgement.outcome == outcome);
    same.count()
}

#[test]
fn every_check_fires_passes_and_says_what_it_misses() {
    for case in CASES {
        let id = case.id;
        let check = all()
            .find(|check| check.id == id)
            .unwrap_or_else(|| panic!("no {id}"));
        let fired = of(id, case.fires);
        assert!(
            count(&fired, Outcome::Fired) > 0,
            "{id} does not fire: {fired:#?}"
        );
        for judgement in fired
            .iter()
            .filter(|judgement| judgement.outcome == Outcome::Fired)
        {
            assert!(!judgement.said.is_empty(), "{id} says nothing");
            assert!(
                !judgement.values.is_empty(),
                "{id} shows nothing: {}",
                judgement.said
            );
        }
        let passed = of(id, case.boundary);
        assert_eq!(
            count(&passed, Outcome::Passed),
            passed.len(),
            "{id}: {passed:#?}"
        );
        assert!(!passed.is_empty(), "{id} judges nothing");
        let missing = of(id, case.missing);
        assert_eq!(count(&missing, Outcome::Fired), 0, "{id}: {missing:#?}");
        assert!(
            count(&missing, Outcome::Undecided) > 0,
            "{id}: {missing:#?}"
        );
        for name in missing.iter().flat_map(|judgement| &judgement.missing) {
            assert!(
                check.inputs.contains(&name.as_str()),
                "{id} misses {name:?}, no input of it"
            );
        }
    }
}

#[test]
fn every_check_has_its_three_inputs() {
    let tried: BTreeSet<&str> = CASES.iter().map(|case| case.id).collect();
    let all: BTreeSet<&str> = all().map(|check| check.id).collect();
    assert_eq!(tried, all);
    assert_eq!(CASES.len(), tried.len(), "a check has two cases");
}

#[test]
fn nothing_known_is_nothing_said() {
    let findings = judge(&Known::default());
    for finding in &findings {
        let judgement = &finding.judgement;
        assert_ne!(judgement.outcome, Outcome::Fired, "{}", finding.check.id);
        assert_ne!(judgement.outcome, Outcome::Passed, "{}", finding.check.id);
    }
}

#[test]
fn the_table_reads_as_sentences() {
    for check in all() {
        let id = check.id;
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        assert!(id.bytes().all(is_plain), "{id}");
        assert!(
            !check.title.ends_with('.') && !check.title.is_empty(),
            "{id}"
        );
        for sentence in [check.consequence, check.advice] {
            assert!(sentence.ends_with('.'), "{id}: {sentence}");
            assert!(
                sentence.starts_with(|letter: char| letter.is_uppercase()),
                "{id}: {sentence}"
            );
        }
        assert!(!check.inputs.is_empty(), "{id}");
    }
}
