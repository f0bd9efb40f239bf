//! What every file keeps to: size, a header, and words that must not be in it.

use super::Problem;
use super::scan;
use super::tree::File;

/// A file has fewer lines than this.
const LINES_END: usize = 400;

/// Leave a test out, or let it pass for the wrong failure, or leave work undone.
const BANNED: &[(&str, &str)] = &[
    (
        "#[ignore",
        "a test that does not run proves nothing; a skip is printed",
    ),
    ("#[should_panic", "name the error that is expected instead"),
    ("todo!", "nothing is a stub"),
    ("unimplemented!", "nothing is a stub"),
    ("dbg!", "left from a search"),
];

/// In the agent and the core. Tests and the testbed wait through helpers with a deadline;
/// a pause of theirs is a step: that nothing happens can only be seen by waiting.
const SLEEP: (&str, &str) = ("thread::sleep", "wait for a condition, with a deadline");

/// Where the waiting is done for all others: the threads of the reader, which end when
/// told.
const WAITERS: &[&str] = &["src/read/kafka/emit.rs"];

/// Folders of a person's or a builder's machine, spelled so that this file holds none.
const PLACES: &[&str] = &[
    concat!("/work", "/"),
    concat!("/root", "/"),
    concat!("/home", "/"),
    concat!("/Users", "/"),
    concat!("..", "/shared"),
];

/// Where packages come from is the business of each machine's own settings.
const HOSTS: &[&str] = &[
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("github.com/rust-lang/crates", ".io-index"),
    concat!("repo.maven.apache", ".org"),
    concat!("repo1.maven", ".org"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("registry.npmjs", ".org"),
    concat!("proxy.golang", ".org"),
    concat!("deb.debian", ".org"),
];

/// All rules on one file.
pub(crate) fn check(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    if file.is("rs") || file.is("java") {
        problems.extend(shape(file));
    }
    if file.is("rs") {
        problems.extend(banned(file));
    }
    if !file.is("lock") {
        problems.extend(places(file));
    }
    problems
}

fn shape(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut tell = |what: String| problems.push(Problem::new(&file.path, what));
    let lines = file.text.lines().count();
    if lines >= LINES_END {
        tell(format!("{lines} lines; a file stays under {LINES_END}"));
    }
    let header = if file.is("rs") {
        file.text.starts_with("//! ")
    } else {
        java_header(&file.text)
    };
    if !header {
        tell("does not begin with a comment that says what it is responsible for".to_owned());
    }
    if file.path == "mod.rs" || file.path.ends_with("/mod.rs") {
        tell("a module is `name.rs` beside `name/`, never `mod.rs`".to_owned());
    }
    problems
}

/// A comment before the type, which may follow the imports as Javadoc wants it.
fn java_header(text: &str) -> bool {
    let comment = |line: &str| line.starts_with("/*") || line.starts_with("// ");
    let before = |line: &&str| {
        line.is_empty() || line.starts_with("package ") || line.starts_with("import ")
    };
    text.lines().find(|line| !before(line)).is_some_and(comment)
}

fn banned(file: &File) -> Vec<Problem> {
    let agent = file.path.starts_with("src/") || file.path.starts_with("crates/core/");
    let sleep = agent && !file.is_test() && !WAITERS.contains(&file.path.as_str());
    let words = BANNED.iter().chain(sleep.then_some(&SLEEP));
    let code = scan::code(&file.text);
    let mut problems = Vec::new();
    for (word, reason) in words {
        for (number, line) in code.lines().enumerate() {
            if has_word(line, word) {
                let told = format!("`{word}`: {reason}");
                problems.push(Problem::at(&file.path, number + 1, told));
            }
        }
    }
    problems
}

/// `todo!` is in `todo!()`, not in `not_todo!()`.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c == '_' || c.is_alphanumeric())
    })
}

fn places(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        let mut tell = |told| problems.push(Problem::at(&file.path, number + 1, told));
        for place in PLACES {
            if line.contains(place) {
                tell(format!("names `{place}`: a folder of one machine"));
            }
        }
        for host in HOSTS {
            if line.contains(host) {
                tell(format!(
                    "names `{host}`: where packages come from is set up per machine"
                ));
            }
        }
    }
    problems
}

/// The changelog has a place for what is not released yet.
pub(crate) fn changelog(files: &[File]) -> Vec<Problem> {
    let path = "CHANGELOG.md";
    let Some(file) = files.iter().find(|file| file.path == path) else {
        return vec![Problem::new(path, "is not there".to_owned())];
    };
    if file
        .text
        .lines()
        .any(|line| line.trim_end() == "## Unreleased")
    {
        return Vec::new();
    }
    vec![Problem::new(
        path,
        "has no section `## Unreleased`".to_owned(),
    )]
}

#[cfg(test)]
mod tests;
