//! Which files hold a key, and what is said of the others.

use std::fs;

use super::*;

fn of(path: &str) -> Result<Option<Secret>, Mistake> {
    let config = PrivacyConfig {
        mask_names: true,
        mask_key_file: Some(path.to_owned()),
    };
    config.mask_key()
}

#[test]
fn a_key_is_the_file_without_its_line_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    for text in [
        "0123456789abcdef",
        "0123456789abcdef\n",
        "0123456789abcdef\r\n",
    ] {
        fs::write(&path, text).unwrap();
        let key = of(path.to_str().unwrap()).unwrap().unwrap();
        assert_eq!(key.expose(), "0123456789abcdef");
    }
}

#[test]
fn a_key_that_will_not_do_is_a_mistake_that_does_not_repeat_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let too_long = "k".repeat(5_000);
    let cases: [(&[u8], &str); 4] = [
        (b"guessed\n", "7 characters"),
        (b"\n", "empty"),
        (&[0xff; 32], "no text"),
        (too_long.as_bytes(), "more than 4 KiB"),
    ];
    for (bytes, expected) in cases {
        fs::write(&path, bytes).unwrap();
        let text = of(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("guessed"), "{text}");
    }
    let text = of("/nowhere/key").unwrap_err().to_string();
    assert!(text.contains("/nowhere/key"), "{text}");
}

#[test]
fn without_a_file_there_is_no_key() {
    assert_eq!(PrivacyConfig::default().mask_key(), Ok(None));
}
