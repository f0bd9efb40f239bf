//! The map of small trees, and documents with and without it.

use super::*;

fn tree(document: Option<&str>) -> Vec<File> {
    let file = |path: &str, text: &str| File {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let mut files = vec![
        file(
            "crates/core/src/view.rs",
            "//! What is so now. No history.\n",
        ),
        file(
            "src/run/agent.rs",
            "//! Owns the engines: one\n//! a group, see [`Engine`].\n//!\n//! More.\n",
        ),
        file("src/run.rs", "//! Runs.\nmod agent;\n"),
        file("src/run/agent/tests.rs", "//! Tests.\n"),
        file("src/run_later.rs", "//! Later.\n"),
        file("crates/testbed/src/lib.rs", "//! Testbed.\n"),
    ];
    files.extend(document.map(|text| file(DOCUMENT, text)));
    files
}

const MAP: &str = "\
- `src/run.rs` — Runs
- `src/run/agent.rs` — Owns the engines: one a group, see `Engine`
- `src/run_later.rs` — Later

- `crates/core/src/view.rs` — What is so now

";

#[test]
fn files_are_listed_with_their_first_sentence() {
    assert_eq!(generate(&tree(None)), MAP);
}

#[test]
fn a_document_with_the_map_is_right_and_stays_as_it_is() {
    let document = format!("# A\n{BEGIN}\n\n{MAP}{END}\nmore\n");
    let files = tree(Some(&document));
    assert_eq!(check(&files), []);
    assert_eq!(replace(&document, &files), Some(document.clone()));
}

#[test]
fn what_is_missing_is_named() {
    let told = |document: Option<&str>| -> Vec<String> {
        check(&tree(document))
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(told(None), ["ARCHITECTURE.md: is not there"]);
    assert_eq!(
        told(Some("# A\n")),
        [
            "ARCHITECTURE.md: has no code map between `<!-- code map -->` and \
          `<!-- code map end -->`; `cargo xtask docs` fills it"
        ]
    );
    let map = MAP.replace("- `src/run.rs` — Runs\n", "");
    assert_eq!(
        told(Some(&format!("{BEGIN}\n\n{map}{END}\n"))),
        [
            "ARCHITECTURE.md: the code map lacks: - `src/run.rs` — Runs",
            "ARCHITECTURE.md: the code map is out of date; `cargo xtask docs` writes it",
        ]
    );
    let stale = format!("{BEGIN}\n\n{MAP}- `src/gone.rs` — Gone\n{END}\n");
    assert_eq!(
        told(Some(&stale)),
        ["ARCHITECTURE.md: the code map is out of date; `cargo xtask docs` writes it"]
    );
}
