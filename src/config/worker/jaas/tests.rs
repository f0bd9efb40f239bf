//! Held against Kafka's own reader.

use super::*;
use crate::config::worker::tests::cell;

/// What kafka-clients 4.4.0 makes of each text; see `tests/java/JaasTable.java`.
const TABLE: &str = include_str!("../../../../tests/fixtures/worker_file/jaas.txt");

#[test]
fn every_text_is_read_as_kafka_reads_it() {
    let mut refused = 0;
    for line in TABLE.lines() {
        let cells: Vec<String> = line.split('\t').map(cell).collect();
        let (text, rest) = cells.split_first().unwrap();
        let found = parse(text);
        if rest == ["refused"] {
            refused += 1;
            assert!(found.is_err(), "{text:?} gave {found:?}");
            continue;
        }
        let (module, options) = rest.split_first().unwrap();
        let pair = |pair: &[String]| (pair[0].clone(), Secret::new(pair[1].clone()));
        let expected = Login {
            module: module.clone(),
            options: options.chunks(2).map(pair).collect(),
        };
        assert_eq!(found, Ok(expected), "{text:?}");
    }
    let count = TABLE.lines().count();
    assert!(
        refused > 100 && count - refused > 100,
        "{refused} of {count}"
    );
}

#[test]
fn an_error_holds_nothing_of_the_text() {
    for text in [
        "topsecret",
        "M required password=topsecret",
        "M required topsecret;",
        "M topsecret;",
        "M required; topsecret required;",
    ] {
        let told = parse(text).unwrap_err();
        assert!(!format!("{told} {told:?}").contains("topsecret"), "{told}");
    }
}
