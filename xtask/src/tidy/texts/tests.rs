//! Small samples, each with what the rules say of it.

use super::*;

#[track_caller]
fn check_file(path: &str, text: &str, expected: &[&str]) {
    let file = File {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let found: Vec<String> = check(&file).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_file_stays_under_its_lines() {
    let lines = |count: usize| "//! Lines.\n".repeat(count);
    check_file("src/a.rs", &lines(399), &[]);
    check_file(
        "src/a.rs",
        &lines(400),
        &["src/a.rs: 400 lines; a file stays under 400"],
    );
    check_file("docs/a.md", &lines(400), &[]);
}

#[test]
fn a_file_begins_with_its_responsibility() {
    let missing = |path: &str| {
        format!("{path}: does not begin with a comment that says what it is responsible for")
    };
    check_file("src/a.rs", "//! One thing.\n", &[]);
    check_file("src/a.rs", "// One thing.\n", &[&missing("src/a.rs")]);
    check_file("src/a.rs", "", &[&missing("src/a.rs")]);
    check_file("a/A.java", "/** One thing. */\nclass A {}\n", &[]);
    check_file(
        "a/A.java",
        "package a;\n\nimport b.B;\n\n/** One thing. */\nclass A {}\n",
        &[],
    );
    check_file("a/A.java", "class A {}\n", &[&missing("a/A.java")]);
}

#[test]
fn no_module_is_called_mod() {
    check_file(
        "src/a/mod.rs",
        "//! One thing.",
        &["src/a/mod.rs: a module is `name.rs` beside `name/`, never `mod.rs`"],
    );
    check_file("src/a/remod.rs", "//! One thing.", &[]);
}

#[test]
fn banned_words_are_found_in_code_only() {
    check_file(
        "xtask/src/a.rs",
        "//! A.\n#[ignore = \"slow\"]\n#[should_panic]\nfn a() { todo!() }\n",
        &[
            "xtask/src/a.rs:2: `#[ignore`: a test that does not run proves nothing; a skip is printed",
            "xtask/src/a.rs:3: `#[should_panic`: name the error that is expected instead",
            "xtask/src/a.rs:4: `todo!`: nothing is a stub",
        ],
    );
    check_file(
        "src/a.rs",
        "//! A.\n// todo!()\nlet a = \"dbg!\";\nnot_todo!();\n",
        &[],
    );
}

#[test]
fn the_agent_and_the_core_do_not_sleep() {
    let text = "//! A.\nstd::thread::sleep(x);\n";
    let told =
        |path: &str| format!("{path}:2: `thread::sleep`: wait for a condition, with a deadline");
    check_file("src/a.rs", text, &[&told("src/a.rs")]);
    check_file(
        "crates/core/src/a.rs",
        text,
        &[&told("crates/core/src/a.rs")],
    );
    check_file("crates/core/tests/a.rs", text, &[]);
    check_file("crates/testbed/src/wait.rs", text, &[]);
    check_file(WAITERS[0], text, &[]);
}

#[test]
fn no_file_names_a_machine_or_a_registry() {
    let place = PLACES[0];
    let host = HOSTS[0];
    check_file(
        "docs/a.md",
        &format!("see {place}x\nand https://{host}/y\n"),
        &[
            &format!("docs/a.md:1: names `{place}`: a folder of one machine"),
            &format!("docs/a.md:2: names `{host}`: where packages come from is set up per machine"),
        ],
    );
    check_file("Cargo.lock", &format!("registry+https://{host}\n"), &[]);
    check_file(
        "docs/a.md",
        "crates.io, /etc/evenkeel and homework/ are fine\n",
        &[],
    );
}

#[test]
fn the_changelog_has_a_place_for_the_next_release() {
    let file = |text: &str| File {
        path: "CHANGELOG.md".to_owned(),
        text: text.to_owned(),
    };
    assert_eq!(
        changelog(&[file("# Changelog\n\n## Unreleased\n\n- A.\n")]),
        []
    );
    assert_eq!(
        changelog(&[file("# Changelog\n\n## Unreleased changes\n")]).len(),
        1
    );
    assert_eq!(changelog(&[]).len(), 1);
}
