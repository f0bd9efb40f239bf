//! Scalars as they stand, and documents that are none.

use super::*;

fn text(document: &str, key: &str) -> Option<String> {
    let value = parse(document).unwrap();
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

#[test]
fn scalars_stay_as_they_are_written() {
    for scalar in [
        "3.10",
        "0x10",
        "1e5",
        "007",
        "true",
        "Yes",
        "plain text",
        "1_000",
    ] {
        assert_eq!(
            text(&format!("key: {scalar}"), "key").as_deref(),
            Some(scalar)
        );
    }
    assert_eq!(text("key: '007'", "key").as_deref(), Some("007"));
    assert_eq!(
        text("key: |\n  two\n  lines\n", "key").as_deref(),
        Some("two\nlines\n")
    );
    for nothing in ["key:", "key: ~", "key: null"] {
        assert!(parse(nothing).unwrap()["key"].is_null(), "{nothing}");
    }
}

#[test]
fn aliases_and_merge_keys_work() {
    let document = "a: &a {x: 0x1, y: 2}\nb:\n  <<: *a\n  y: 3\nc: *a\nd: [*a, 0x5]\n";
    let value = parse(document).unwrap();
    assert_eq!(value["b"]["x"].as_str(), Some("0x1"));
    assert_eq!(value["b"]["y"].as_str(), Some("3"));
    assert_eq!(value["c"]["x"].as_str(), Some("0x1"));
    assert_eq!(value["d"][1].as_str(), Some("0x5"));
}

#[test]
fn what_is_no_document_is_told_without_its_text() {
    let told = |document: &str| parse(document).unwrap_err().to_string();
    let duplicate = told("a: topsecret\nb: 1\na: topsecret\n");
    assert!(
        duplicate.contains("the key a twice, again at line 3"),
        "{duplicate}"
    );
    let deep =
        told("log:\n  level: info\ngroups:\n- group: a\n- \"group\": b\n  # c\n  group: c\n");
    assert!(
        deep.contains("the key group twice, again at line 7"),
        "{deep}"
    );
    let flow = told("a: {b: 1, b: 2}\n");
    assert!(flow.contains("the key b twice at line 1"), "{flow}");
    let nested =
        told("kafka:\n  properties:\n    sasl.password: topsecret\n    sasl.password: topsecret\n");
    assert!(
        nested.contains("the key sasl.password twice, again at line 4"),
        "{nested}"
    );
    for document in [
        "a: [topsecret",
        "topsecret: *unknown",
        "\ttopsecret: 1",
        "a: !!binary topsecret\n  b: 2",
    ] {
        let told = told(document);
        assert!(told.contains("what is no YAML at line"), "{told}");
        assert!(!told.contains("topsecret"), "{told}");
    }
}

#[test]
fn a_bomb_of_aliases_is_refused() {
    let mut document = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..=9 {
        let items = vec![format!("*a{}", level - 1); 9].join(", ");
        document.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    assert!(parse(&document).is_err());
    assert!(parse(&"[".repeat(20_000)).is_err());
}
