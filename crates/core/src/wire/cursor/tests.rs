//! The cursor at its edges: lengths that lie, nulls, varints, tagged fields.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::Cursor;
use crate::wire::DecodeError;

fn flexible(bytes: &[u8]) -> Cursor<'_> {
    let mut cursor = Cursor::new(bytes);
    cursor.set_flexible();
    cursor
}

#[test]
fn a_length_beyond_the_end_is_refused_with_field_and_position() {
    let mut cursor = Cursor::new(&[0, 0, 0, 3, b'a', b'b']);
    cursor.i16("version").unwrap();
    let error = cursor.string("url").unwrap_err();
    assert_eq!(
        error,
        DecodeError::Truncated {
            field: "url",
            at: 4,
            needed: 3,
            left: 2
        }
    );
    assert_eq!(error.to_string(), "url at byte 4 needs 3 bytes, 2 are left");
    assert_eq!((error.label(), error.field()), ("truncated", "url"));
}

#[test]
fn a_count_that_cannot_fit_is_refused_before_anything_is_allocated() {
    let bytes = [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    let error = Cursor::new(&bytes).array_len("members", 15).unwrap_err();
    let needed = 0x7fff_ffff * 15;
    assert_eq!(
        error,
        DecodeError::Truncated {
            field: "members",
            at: 4,
            needed,
            left: 4
        }
    );
    let error = flexible(&[0xff, 0xff, 0xff, 0xff, 0x0f])
        .array_len("members", 15)
        .unwrap_err();
    assert_eq!(error.label(), "truncated");
}

#[test]
fn null_is_a_value_only_where_the_type_allows_it() {
    assert_eq!(Cursor::new(&[0xff, 0xff]).nullable_string("s"), Ok(None));
    assert_eq!(Cursor::new(&[0, 0]).nullable_string("s"), Ok(Some("")));
    assert_eq!(flexible(&[0]).nullable_string("s"), Ok(None));
    assert_eq!(flexible(&[1]).nullable_string("s"), Ok(Some("")));
    let null = |field| DecodeError::BadLength {
        field,
        at: 0,
        length: -1,
    };
    assert_eq!(Cursor::new(&[0xff, 0xff]).string("s"), Err(null("s")));
    assert_eq!(flexible(&[0]).string("s"), Err(null("s")));
    assert_eq!(Cursor::new(&[0xff; 4]).bytes("b"), Err(null("b")));
    assert_eq!(Cursor::new(&[0xff; 4]).nullable_bytes("b"), Ok(None));
    assert_eq!(Cursor::new(&[0xff; 4]).array_len("a", 1), Err(null("a")));
    assert_eq!(Cursor::new(&[0xff; 4]).nullable_array_len("a", 1), Ok(None));
}

#[test]
fn a_length_below_null_is_no_length() {
    let error = Cursor::new(&[0xff, 0xfe]).nullable_string("s").unwrap_err();
    assert_eq!(
        error,
        DecodeError::BadLength {
            field: "s",
            at: 0,
            length: -2
        }
    );
    let error = Cursor::new(&[0x80, 0, 0, 0])
        .nullable_bytes("b")
        .unwrap_err();
    assert_eq!(
        error,
        DecodeError::BadLength {
            field: "b",
            at: 0,
            length: i64::from(i32::MIN)
        }
    );
}

#[test]
fn strings_are_utf_8() {
    let error = Cursor::new(&[0, 1, 0xff]).string("group").unwrap_err();
    assert_eq!(
        error,
        DecodeError::BadUtf8 {
            field: "group",
            at: 0
        }
    );
}

#[test]
fn varints_end_after_five_bytes() {
    for (bytes, value) in [
        (&[0x00_u8][..], 0_u32),
        (&[0x7f], 127),
        (&[0x80, 0x01], 128),
        (&[0xac, 0x02], 300),
        (&[0xff, 0xff, 0xff, 0xff, 0x0f], u32::MAX),
    ] {
        assert_eq!(Cursor::new(bytes).uvarint("v"), Ok(value), "{bytes:02x?}");
    }
    let bad = DecodeError::BadVarint { field: "v", at: 0 };
    assert_eq!(
        Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0x1f]).uvarint("v"),
        Err(bad)
    );
    assert_eq!(Cursor::new(&[0x80; 6]).uvarint("v"), Err(bad));
    assert_eq!(
        Cursor::new(&[0x80]).uvarint("v").unwrap_err().label(),
        "truncated"
    );
}

#[test]
fn tagged_fields_are_skipped_and_absent_in_the_classic_encoding() {
    // Two fields: tag 0 with two bytes, tag 5 with none; then one byte of what follows.
    let mut cursor = flexible(&[2, 0, 2, 0xaa, 0xbb, 5, 0, 0x77]);
    cursor.skip_tagged_fields("tags").unwrap();
    assert_eq!(cursor.take(1, "next"), Ok(&[0x77][..]));
    assert_eq!(
        flexible(&[1, 0, 9, 1])
            .skip_tagged_fields("tags")
            .unwrap_err()
            .label(),
        "truncated"
    );
    let many = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0];
    assert_eq!(
        flexible(&many)
            .skip_tagged_fields("tags")
            .unwrap_err()
            .label(),
        "truncated"
    );
    let mut classic = Cursor::new(&[9]);
    classic.skip_tagged_fields("tags").unwrap();
    assert_eq!(classic.at(), 0);
}

#[test]
fn positions_inside_an_embedded_input_count_from_the_outer_one() {
    let mut cursor = Cursor::nested(&[0, 1], 20);
    cursor.i16("version").unwrap();
    assert_eq!(
        cursor.i16("error").unwrap_err().to_string(),
        "error at byte 22 needs 2 bytes, 0 are left"
    );
}
