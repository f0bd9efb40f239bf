//! References that lead somewhere, nowhere, and those that are none.

use super::*;

fn declared(classes: &[(&str, &str)]) -> Providers {
    let aliases: Vec<_> = classes.iter().map(|(alias, _)| *alias).collect();
    Providers::declared(|name| {
        if name == "config.providers" {
            return Some(aliases.join(" , "));
        }
        let class = |(alias, _): &&(&str, &str)| name == format!("config.providers.{alias}.class");
        classes
            .iter()
            .find(class)
            .map(|(_, class)| (*class).to_owned())
    })
}

fn all() -> Providers {
    declared(&[
        (
            "file",
            "org.apache.kafka.common.config.provider.FileConfigProvider",
        ),
        (
            "env",
            "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
        ),
        (
            "dir",
            "org.apache.kafka.common.config.provider.DirectoryConfigProvider",
        ),
        ("vault", "com.example.VaultConfigProvider"),
        ("none", ""),
    ])
}

fn env(name: &str) -> Option<String> {
    (name == "NAME").then(|| "value".to_owned())
}

fn resolve(text: &str) -> Result<(String, bool), String> {
    let mut files = BTreeSet::new();
    match all().resolve(text, &env, &mut files) {
        Ok(resolved) => Ok((resolved.text, resolved.has_stranger)),
        Err(broken) => Err(broken.found),
    }
}

#[test]
fn references_lead_to_values() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets.properties");
    std::fs::write(&file, "a=one\na=two\n\\u0062=é\nc:d=e\n").unwrap();
    std::fs::write(folder.path().join("key"), "kept\n").unwrap();
    let (file, folder) = (file.display(), folder.path().display());
    let cases = [
        ("plain", "plain".to_owned()),
        ("${env:NAME}", "value".to_owned()),
        ("x${env:NAME}y${env:NAME}", "xvalueyvalue".to_owned()),
        (&format!("${{file:{file}:a}}"), "two".to_owned()),
        (&format!("${{file:{file}:b}}"), "é".to_owned()),
        // In a properties file the first colon parts name and value.
        (&format!("${{file:{file}:c}}"), "d=e".to_owned()),
        (&format!("${{dir:{folder}:key}}"), "kept\n".to_owned()),
        // No references.
        ("${NAME}", "${NAME}".to_owned()),
        ("${env:NAME", "${env:NAME".to_owned()),
        ("$env:NAME}", "$env:NAME}".to_owned()),
        ("${} ${env:NAME}", "${} value".to_owned()),
        ("$${env:NAME}", "$value".to_owned()),
    ];
    for (text, expected) in cases {
        assert_eq!(resolve(text), Ok((expected, false)), "{text}");
    }
    // Not declared: the worker takes it as it stands.
    for text in ["${ENV:NAME}", "${other:a:b}", "${:a}"] {
        assert_eq!(resolve(text), Ok((text.to_owned(), true)), "{text}");
    }
    // What a reference leads to is not looked at again.
    std::fs::write(file.to_string(), "a=${env:NAME}").unwrap();
    let again = resolve(&format!("${{file:{file}:a}}"));
    assert_eq!(again, Ok(("${env:NAME}".to_owned(), false)));
}

#[test]
fn references_that_lead_nowhere_say_where() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets.properties");
    std::fs::write(&file, "a=topsecret\n").unwrap();
    let (file, folder) = (file.display(), folder.path().display());
    let cases = [
        ("topsecret ${env:OTHER}".to_owned(), "the variable OTHER"),
        ("${env:path:NAME}".to_owned(), "a path"),
        (format!("${{file:{file}:b}}"), "a key that"),
        (format!("${{file:{file}x:b}}"), "No such file"),
        (format!("${{file:{folder}:b}}"), "a folder"),
        (format!("${{dir:{folder}:none}}"), "No such file"),
        (format!("${{dir:{folder}:../x}}"), "no name of a file"),
        (format!("${{dir:{folder}:}}"), "no name of a file"),
        (
            "${vault:secret/kafka:password}".to_owned(),
            "the provider vault",
        ),
        ("${none:a}".to_owned(), "the provider none"),
    ];
    for (text, expected) in cases {
        let found = resolve(&text).unwrap_err();
        assert!(
            found.contains(expected) && !found.contains("topsecret"),
            "{text}: {found}"
        );
    }
}

#[test]
fn files_are_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let (file, key) = (folder.path().join("f"), folder.path().join("k"));
    std::fs::write(&file, "a=b").unwrap();
    std::fs::write(&key, "v").unwrap();
    let mut files = BTreeSet::new();
    let text = format!(
        "${{file:{}:a}}${{dir:{}:k}}",
        file.display(),
        folder.path().display()
    );
    assert_eq!(all().resolve(&text, &env, &mut files).unwrap().text, "bv");
    assert_eq!(files.into_iter().collect::<Vec<_>>(), [file, key]);
}
