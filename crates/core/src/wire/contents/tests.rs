//! Numbers of contents: stable, distinct, bounded, silent.
#![allow(clippy::unwrap_used)]

use super::{Content, Contents};

const KEY: [u8; 16] = *b"0123456789abcdef";

fn of(contents: &mut Contents, pairs: &[(&str, Option<&str>)]) -> Content {
    let mut digest = contents.digest();
    for (name, value) in pairs {
        digest.add(name.as_bytes(), value.map(str::as_bytes));
    }
    contents.of_properties(digest)
}

#[test]
fn numbers_follow_first_appearance_and_ignore_the_order_of_properties() {
    let mut contents = Contents::new(KEY, 0);
    let a = of(&mut contents, &[("a", Some("1")), ("b", Some("2"))]);
    let again = of(&mut contents, &[("b", Some("2")), ("a", Some("1"))]);
    let other = of(&mut contents, &[("a", Some("1")), ("b", Some("3"))]);
    assert_eq!((a.ordinal, again.ordinal, other.ordinal), (0, 0, 1));
    assert_eq!(contents.next_ordinal(), 2);
}

#[test]
fn contents_that_look_alike_are_told_apart() {
    let mut contents = Contents::new(KEY, 0);
    let look_alikes: [&[(&str, Option<&str>)]; 11] = [
        &[],
        &[("", Some(""))],
        &[("", None)],
        &[("ab", Some("c"))],
        &[("a", Some("bc"))],
        &[("a", Some("b")), ("c", Some("d"))],
        &[("a", Some("d")), ("c", Some("b"))],
        &[("a", Some("b"))],
        &[("a", Some("b")), ("a", Some("b"))],
        &[("a\u{1}b", Some("c"))],
        &[("a", Some("b\u{1}c"))],
    ];
    for (expected, pairs) in (0..).zip(look_alikes) {
        assert_eq!(of(&mut contents, pairs).ordinal, expected, "{pairs:?}");
    }
    assert_eq!(contents.of_bytes(b"").ordinal, 11);
    assert_eq!(contents.of_bytes(b"a").ordinal, 12);
    assert_eq!(contents.of_bytes(b"a").ordinal, 12);
}

#[test]
fn a_full_memory_forgets_all_says_so_and_never_reuses_a_number() {
    let mut contents = Contents {
        max: 3,
        ..Contents::new(KEY, 0)
    };
    let first: Vec<u32> = (0..3_u8).map(|n| contents.of_bytes(&[n]).ordinal).collect();
    assert_eq!(first, [0, 1, 2]);
    assert_eq!(contents.forgotten(), 0);
    let fourth = contents.of_bytes(&[3]);
    assert_eq!(
        (fourth, contents.forgotten()),
        (
            Content {
                ordinal: 3,
                since: 3
            },
            1
        )
    );
    assert_eq!(
        contents.of_bytes(&[0]),
        Content {
            ordinal: 4,
            since: 3
        }
    );
    assert_eq!(Contents::new(KEY, 0).max, super::CONTENTS_MAX);
}

#[test]
fn same_changed_and_no_longer_known() {
    let content = |ordinal, since| Content { ordinal, since };
    assert_eq!(content(5, 0).same_as_before(content(5, 0)), Some(true));
    assert_eq!(content(5, 0).same_as_before(content(4, 0)), Some(false));
    // The older one was forgotten before the newer one was numbered.
    assert_eq!(content(5, 5).same_as_before(content(4, 0)), None);
    assert_eq!(content(7, 5).same_as_before(content(5, 5)), Some(false));
    assert_eq!(content(4, 3).same_as_before(content(6, 3)), Some(false));
    assert_eq!(
        content(u32::MAX, 0).same_as_before(content(u32::MAX, 0)),
        None
    );
}

#[test]
fn a_restart_continues_above_the_numbers_of_the_saved_state() {
    let mut before = Contents::new(KEY, 0);
    let old = before.of_bytes(b"config");
    let mut after = Contents::new(*b"another key here", before.next_ordinal());
    let new = after.of_bytes(b"config");
    assert_eq!(
        new,
        Content {
            ordinal: 1,
            since: 1
        }
    );
    assert_eq!(new.same_as_before(old), None);
}

#[test]
fn numbers_run_out_without_harm() {
    let mut contents = Contents::new(KEY, u32::MAX);
    assert_eq!(contents.of_bytes(b"a").ordinal, u32::MAX);
    assert_eq!(contents.of_bytes(b"b").ordinal, u32::MAX);
}

#[test]
fn debug_shows_neither_key_nor_hashes() {
    let mut contents = Contents::new(KEY, 0);
    contents.of_bytes(b"secret");
    let expected = "Contents { remembered: 1, since: 0, next: 1, forgotten: 0, .. }";
    assert_eq!(format!("{contents:?}"), expected);
}
