use std::fs;

use super::*;

fn of(path: Option<&str>) -> (PrivacyConfig, Vec<Mistake>) {
    let mut mistakes = Vec::new();
    let tree = PrivacyTree {
        mask_names: true,
        mask_key_file: path.map(str::to_owned),
    };
    let config = of_privacy(&tree, &mut mistakes);
    (config, mistakes)
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
        let (config, mistakes) = of(path.to_str());
        assert_eq!(mistakes, []);
        assert!(config.mask_names);
        assert_eq!(config.mask_key.unwrap().expose(), "0123456789abcdef");
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
        let (config, mistakes) = of(path.to_str());
        assert_eq!(config.mask_key, None);
        let text = mistakes[0].to_string();
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("guessed"), "{text}");
    }
    let (_, mistakes) = of(Some("/nowhere/key"));
    assert!(mistakes[0].to_string().contains("/nowhere/key"));
}

#[test]
fn without_a_file_there_is_no_key() {
    for path in [None, Some("")] {
        let (config, mistakes) = of(path);
        assert_eq!((config.mask_key, mistakes), (None, vec![]));
    }
}
