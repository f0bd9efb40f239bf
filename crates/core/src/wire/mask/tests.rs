//! The form of a masked name, and of what a consumer group becomes. The law that holds for
//! records is tested on the fixtures (`tests/wire_it/mask.rs`).

use super::*;

/// A code that shows which text it stands for.
fn code(text: &[u8]) -> Code {
    let mut code = [0; CODE_BYTES];
    for (byte, letter) in code.iter_mut().zip(text) {
        *byte = *letter;
    }
    code
}

#[test]
fn a_code_is_written_in_hex() {
    let name = MaskedName::of([0x00, 0x0f, 0xf0, 0x12, 0xab, 0xff]);
    assert_eq!(name.as_str(), "c-000ff012abff");
    assert_eq!(format!("{name} {name:?}"), "c-000ff012abff c-000ff012abff");
}

#[test]
fn the_default_group_of_a_sink_stays_that_of_its_connector() {
    let mut code = code;
    let mut mask = Mask::new(&mut code);
    let connector = mask.name("abc").to_string();
    assert_eq!(connector, "c-616263000000");
    assert_eq!(
        mask.consumer_group("connect-abc"),
        format!("connect-{connector}")
    );
    assert_eq!(mask.consumer_group("abc"), connector);
    // A masked group keeps the shape that the whitelist asks for.
    assert_eq!(mask.consumer_group("connect-"), "connect-c-000000000000");
}

#[test]
fn keys_that_are_as_bad_stay_as_bad() {
    let mut code = code;
    let mut mask = Mask::new(&mut code);
    for (key, expected) in [
        (&b"task-orders"[..], &b"task-"[..]),
        (b"connector-", b"connector-"),
        (b"commit-\xff", b"commit-"),
        (b"\xff\xfe", b"\xff"),
        (b"status-task-orders", b"status-task-"),
        (b"session-key", b"session-key"),
        (b"logger-cluster-org.apache", b"logger-cluster-org.apache"),
    ] {
        let (masked, value) = mask.config_record(Some(key), None);
        assert_eq!(masked.as_deref(), Some(expected));
        assert_eq!(value, None);
    }
    assert_eq!(mask.config_record(None, None), (None, None));
    assert_eq!(mask.offsets_record(None, Some(b"x")), (None, Some(vec![])));
    let foreign = [0, 1, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 0];
    let masked = mask.offsets_record(Some(&foreign), Some(b"offset"));
    assert_eq!(masked, (Some(vec![0, 0, 0, 0]), Some(vec![])));
}
