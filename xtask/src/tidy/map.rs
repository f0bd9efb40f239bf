//! The code map of ARCHITECTURE.md: every source file of the agent and the core with the
//! first sentence of its header.

use super::Problem;
use super::tree::File;

pub(crate) const DOCUMENT: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- code map -->";
const END: &str = "<!-- code map end -->";

/// Top-down, as data flows.
const SOURCES: [&str; 2] = ["src/", "crates/core/src/"];

/// The map, as it stands between the markers.
pub(crate) fn generate(files: &[File]) -> String {
    let mut out = String::new();
    for source in SOURCES {
        let mut mapped: Vec<&File> = files
            .iter()
            .filter(|file| is_mapped(file, source))
            .collect();
        // A module stands before its parts: `a.rs`, then `a/b.rs`, then `a_b.rs`.
        mapped.sort_by_key(|file| {
            let name = file.path.trim_end_matches(".rs");
            name.split('/').map(str::to_owned).collect::<Vec<_>>()
        });
        for file in mapped {
            out.push_str(&format!(
                "- `{}` — {}\n",
                file.path,
                first_sentence(&file.text)
            ));
        }
        out.push('\n');
    }
    out
}

/// Tests stand beside what they test and are not listed.
fn is_mapped(file: &File, source: &str) -> bool {
    file.is("rs") && file.path.starts_with(source) && !file.is_test()
}

/// The first sentence of a header, without the marks of links to code.
fn first_sentence(text: &str) -> String {
    let mut sentence = String::new();
    for line in text.lines() {
        let Some(words) = line.strip_prefix("//!") else {
            break;
        };
        if words.trim().is_empty() {
            break;
        }
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.push_str(words.trim());
    }
    if let Some(end) = sentence.find(". ") {
        sentence.truncate(end);
    }
    let plain = sentence.replace("[`", "`").replace("`]", "`");
    plain.trim_end_matches('.').to_owned()
}

/// The document with the map as it should be; `None` where the markers are missing.
pub(crate) fn replace(document: &str, files: &[File]) -> Option<String> {
    let begin = document.find(BEGIN)? + BEGIN.len();
    let end = begin + document[begin..].find(END)?;
    let map = generate(files);
    Some(format!(
        "{}\n\n{}{}",
        &document[..begin],
        map,
        &document[end..]
    ))
}

/// Whether the document has the map.
pub(crate) fn check(files: &[File]) -> Vec<Problem> {
    let Some(document) = files.iter().find(|file| file.path == DOCUMENT) else {
        return vec![Problem::new(DOCUMENT, "is not there".to_owned())];
    };
    let Some(wanted) = replace(&document.text, files) else {
        return vec![Problem::new(
            DOCUMENT,
            format!("has no code map between `{BEGIN}` and `{END}`; `cargo xtask docs` fills it"),
        )];
    };
    if wanted == document.text {
        return Vec::new();
    }
    let mut problems: Vec<Problem> = wanted
        .lines()
        .filter(|line| !document.text.lines().any(|found| found == *line))
        .map(|line| Problem::new(DOCUMENT, format!("the code map lacks: {line}")))
        .collect();
    problems.push(Problem::new(
        DOCUMENT,
        "the code map is out of date; `cargo xtask docs` writes it".to_owned(),
    ));
    problems
}

#[cfg(test)]
mod tests;
