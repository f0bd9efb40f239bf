//! Held against Java's own spelling.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::config::worker::tests::cell;

/// Names and what `X500Principal` makes of them; see `tests/java/SubjectTable.java`.
const TABLE: &str = include_str!("../../../../tests/fixtures/worker_file/subjects.txt");

#[test]
fn every_name_is_spelled_as_java_spells_it() {
    for line in TABLE.lines() {
        let (der, name) = line.split_once('\t').unwrap();
        let der = STANDARD.decode(der).unwrap();
        assert_eq!(of_der(&der), Some(cell(name)), "{line}");
    }
    assert!(TABLE.lines().count() > 15);
}

#[test]
fn broken_bytes_are_no_name() {
    for line in TABLE.lines() {
        let (der, _) = line.split_once('\t').unwrap();
        let der = STANDARD.decode(der).unwrap();
        for end in 0..der.len() {
            assert_eq!(of_der(&der[..end]), None, "{line} {end}");
        }
        for at in 0..der.len() {
            let mut stirred = der.clone();
            stirred[at] ^= 0x81;
            // Whatever it says, it says it without a panic.
            let _name = of_der(&stirred);
        }
    }
}
