//! Every fixture cut at every byte and bent at every byte: a value or an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use evenkeel_core::wire::connect_protocol::Assignment;
use evenkeel_core::wire::group_record::GroupMetadata;
use evenkeel_core::wire::offset_commit::OffsetCommit;
use evenkeel_core::wire::offsets_key::{OffsetsKey, record_type_name};

use crate::attack;
use crate::fixture::{Fixture, fixtures};

/// Runs the attack and names the bytes if a law breaks or something panics.
#[track_caller]
pub(crate) fn survive(fixture: &Fixture, key: &[u8], value: &[u8], how: &dyn Fn() -> String) {
    let outcome = catch_unwind(AssertUnwindSafe(|| attack(fixture, key, value)));
    let broken = match outcome {
        Ok(Ok(())) => return,
        Ok(Err(law)) => law,
        Err(_) => "panic",
    };
    panic!(
        "{}, {}: {broken}\nkey {key:02x?}\nvalue {value:02x?}",
        fixture.name,
        how()
    );
}

#[test]
fn every_prefix_of_every_fixture_is_a_value_or_an_error() {
    for fixture in fixtures() {
        let (key, value) = (fixture.key(), fixture.value().unwrap_or_default());
        for end in 0..key.len() {
            survive(&fixture, &key[..end], &value, &|| {
                format!("key cut to {end}")
            });
        }
        for end in 0..value.len() {
            survive(&fixture, &key, &value[..end], &|| {
                format!("value cut to {end}")
            });
        }
    }
}

#[test]
fn prefixes_of_binary_records_name_the_field_that_is_cut() {
    let mut checked = 0;
    for fixture in fixtures() {
        let (key, value) = (fixture.key(), fixture.value().unwrap_or_default());
        // Of a version that is not known no more than the version is read.
        if fixture.name.contains("unknown") {
            continue;
        }
        for end in 0..value.len() {
            let cut = &value[..end];
            let error = match OffsetsKey::decode(&key) {
                Ok(OffsetsKey::GroupMetadata { .. }) => GroupMetadata::decode(cut).err(),
                Ok(OffsetsKey::OffsetCommit { .. }) => OffsetCommit::decode(cut).err(),
                _ => continue,
            };
            let error = error.unwrap_or_else(|| panic!("{} cut to {end} decodes", fixture.name));
            assert!(!error.field().is_empty());
            assert_eq!(error.label(), "truncated", "{} cut to {end}", fixture.name);
            checked += 1;
        }
    }
    assert!(checked > 1_000, "only {checked} prefixes checked");
}

#[test]
fn every_bent_byte_of_every_fixture_is_a_value_or_an_error() {
    for fixture in fixtures() {
        let (key, value) = (fixture.key(), fixture.value().unwrap_or_default());
        let whole = [&key[..], &value[..]].concat();
        for at in 0..whole.len() {
            let bits = (0..8).map(|bit| whole[at] ^ (1 << bit));
            let values = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff];
            for byte in bits.chain(values) {
                let mut bent = whole.clone();
                bent[at] = byte;
                let (key, value) = bent.split_at(key.len());
                survive(&fixture, key, value, &|| format!("byte {at} is {byte:02x}"));
            }
        }
    }
}

#[test]
fn every_length_of_every_fixture_may_lie() {
    // Not knowing where the lengths are, every two and four bytes are taken for one.
    for fixture in fixtures() {
        let (key, value) = (fixture.key(), fixture.value().unwrap_or_default());
        for at in 0..value.len() {
            for lie in [
                &[0x7f, 0xff][..],
                &[0x80, 0],
                &[0xff; 4],
                &[0x7f, 0xff, 0xff, 0xff],
                &[0; 4],
            ] {
                let mut bent = value.clone();
                let end = bent.len().min(at + lie.len());
                bent[at..end].copy_from_slice(&lie[..end - at]);
                survive(&fixture, &key, &bent, &|| format!("{lie:02x?} at {at}"));
            }
        }
    }
}

#[test]
fn case_o_44_every_record_type_with_every_value_is_skipped_or_read() {
    let values: Vec<Vec<u8>> = fixtures().iter().filter_map(Fixture::value).collect();
    let fixture = &fixtures()[0];
    for record_type in -2..40_i16 {
        let mut key = record_type.to_be_bytes().to_vec();
        key.extend([0, 2, b'c', b'g']);
        assert_eq!(
            record_type_name(record_type).is_some(),
            (0..=24).contains(&record_type)
        );
        for value in &values {
            let offsets = Fixture {
                kind: "offsets".to_owned(),
                ..fixture.clone()
            };
            survive(&offsets, &key, value, &|| {
                format!("record type {record_type}")
            });
        }
    }
}

#[test]
fn case_o_53_a_record_of_one_megabyte_costs_what_it_holds() {
    // 20 members, each claiming the same 4,200 tasks; then a count that promises more.
    let mut assignment = vec![0, 2, 0, 0, 0, 1, b'l', 0, 1, b'u'];
    assignment.extend([0; 8]);
    assignment.extend(1_i32.to_be_bytes());
    assignment.extend([0, 1, b'c']);
    assignment.extend(250_000_i32.to_be_bytes());
    let count_at = assignment.len() - 4;
    assignment.extend(std::iter::repeat_n([0, 0, 0, 7], 250_000).flatten());
    assignment.extend([0; 8]);
    let read = Assignment::decode(&assignment).unwrap().unwrap();
    assert_eq!(read.assigned.len(), 250_000);
    assignment[count_at..count_at + 4].copy_from_slice(&i32::MAX.to_be_bytes());
    let error = Assignment::decode(&assignment).unwrap_err();
    assert_eq!((error.field(), error.label()), ("tasks", "truncated"));
}
