//! References, and names that come twice.

use std::fs;

use super::*;

fn env(name: &str) -> Option<String> {
    (name == "NAME").then(|| "value".to_owned())
}

#[test]
fn references_are_looked_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    fs::write(&path, "from file\r\n").unwrap();
    let path = path.display();
    let cases = [
        ("plain", "plain".to_owned()),
        ("${env:NAME}", "value".to_owned()),
        ("a ${env:NAME} b ${env:NAME}", "a value b value".to_owned()),
        (&format!("${{file:{path}}}"), "from file".to_owned()),
        ("$${env:NAME}", "${env:NAME}".to_owned()),
        ("a$b $ {x}", "a$b $ {x}".to_owned()),
    ];
    for (text, expected) in cases {
        assert_eq!(expand(text, &env), Ok(expected), "{text}");
    }
}

#[test]
fn a_reference_that_leads_nowhere_says_where() {
    let found = |text: &str| expand(text, &env).unwrap_err().found;
    assert_eq!(found("${env:OTHER}"), "a reference to OTHER");
    assert_eq!(
        found("${file:/no/such/file}"),
        "a reference to /no/such/file"
    );
    assert_eq!(found("${vault:topsecret}"), "a reference of another kind");
    assert_eq!(found("${NAME}"), "a reference of another kind");
    assert_eq!(found("topsecret${env:NAME"), "a ${ without its }");
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large");
    fs::write(&large, "x".repeat(1024 * 1024 + 1)).unwrap();
    let told = expand(&format!("${{file:{}}}", large.display()), &env).unwrap_err();
    assert!(told.expected.contains("more than 1 MiB"), "{told:?}");
}

#[test]
fn every_broken_reference_is_told() {
    let properties: Properties = [("a", "${env:X}"), ("b", "well"), ("c", "${env:Y}")]
        .into_iter()
        .collect();
    let mistakes = properties.resolved(&env).unwrap_err();
    let paths: Vec<_> = mistakes
        .iter()
        .map(|mistake| mistake.path.as_str())
        .collect();
    assert_eq!(paths, ["kafka.properties.a", "kafka.properties.c"]);
}

#[test]
fn a_name_comes_once() {
    let twice =
        serde_yaml::from_str::<Properties>("a: topsecret\nb: 2\na: topsecret\n").unwrap_err();
    assert!(
        twice.to_string().contains("property a is set twice"),
        "{twice}"
    );
    assert!(!twice.to_string().contains("topsecret"));
}
