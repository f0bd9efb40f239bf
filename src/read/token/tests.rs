//! Tokens from files and made here; what they say of themselves.

use std::fs;

use super::*;
use crate::read::connection::Hidden;

const NOW: WallTime = WallTime(1_700_000_000_000);

fn token(claims: &str) -> Token {
    Token {
        text: format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims)),
        extensions: Vec::new(),
    }
}

#[test]
fn what_a_token_says_of_itself() {
    let good = token(r#"{"sub":"connect","exp":1700000060}"#);
    assert_eq!(good.good_until(NOW), Ok(NOW.plus_ms(60_000)));
    assert_eq!(good.subject(), "connect");
    let late = token(r#"{"exp":1700000000}"#);
    assert_eq!(late.good_until(NOW), Err(TokenError::Expired));
    for text in [
        "",
        "opaque",
        "a.b",
        "a.%%%.c",
        "a.bnVsbA.c",
        "a.eyJleHAiOiJ4In0.c",
    ] {
        let opaque = Token {
            text: text.to_owned(),
            extensions: Vec::new(),
        };
        assert_eq!(opaque.good_until(NOW), Ok(NOW.plus_ms(300_000)), "{text}");
        assert_eq!(opaque.subject(), "evenkeel");
    }
    assert_eq!(format!("{good:?}"), "***");
}

#[test]
fn a_file_is_read_anew_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let source = TokenSource::File(path.clone());
    let missing = TokenError::File(io::ErrorKind::NotFound);
    assert_eq!(source.token(NOW), Err(missing));
    fs::write(&path, " first\n").unwrap();
    assert_eq!(source.token(NOW).unwrap().text, "first");
    fs::write(&path, "second").unwrap();
    assert_eq!(source.token(NOW).unwrap().text, "second");
    for wrong in ["", "\n", "two words", "a\u{7f}b"] {
        fs::write(&path, wrong).unwrap();
        assert_eq!(source.token(NOW), Err(TokenError::None), "{wrong:?}");
    }
    let folder = TokenSource::File(folder.path().to_owned());
    assert!(folder.token(NOW).is_err());
    let endless = TokenSource::File("/dev/zero".into());
    assert_eq!(endless.token(NOW), Err(TokenError::None));
}

#[test]
fn which_source_a_connection_has() {
    let mut connection = Connection::default();
    assert!(TokenSource::of(&connection).is_none());
    let mut set = |name: &str, value: &str| {
        let value = Hidden(value.to_owned());
        connection.properties.insert(name.to_owned(), value);
    };
    set(UNSECURED, "true");
    set(UNSECURED_CONFIG, "principal=evenkeel lifeSeconds=60");
    let made = TokenSource::of(&connection).unwrap().token(NOW).unwrap();
    assert_eq!(made.subject(), "evenkeel");
    assert_eq!(made.good_until(NOW), Ok(NOW.plus_ms(60_000)));
    connection.token_file = Some("token".into());
    assert!(matches!(
        TokenSource::of(&connection),
        Some(TokenSource::File(_))
    ));
}
