//! What is code, what is not, and which paths are in it.

use super::*;

#[track_caller]
fn check(module: &[&str], text: &str, expected: &[&str]) {
    let found: Vec<String> = paths(&code(text), module)
        .into_iter()
        .map(|path| format!("{} {}", path.line, path.segments.join("::")))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn comments_strings_and_characters_are_no_code() {
    let text = r####"
a // todo!()
b /* x /* dbg! */ y */ c "d \" e" 'f' '\'' '"' g
r"h" r#"i " i"# br##"j "# j"## b"k" c"l" 'm: &'m str m'n
"####;
    let kept = code(text);
    let words: Vec<&str> = kept.split_whitespace().collect();
    assert_eq!(words, ["a", "b", "c", "g", "'m:", "&'m", "str", "m'n"]);
    assert_eq!(kept.lines().count(), text.lines().count());
}

#[test]
fn what_never_ends_ends_with_the_text() {
    for text in ["\"a", "/* a", "r#\"a", "'\\x", "// a", "b\"\\"] {
        assert_eq!(code(text).trim(), "", "{text}");
    }
}

#[test]
fn use_trees_are_spelled_out() {
    check(
        &["view"],
        "use std::fmt;\nuse crate::{\n    facts::{self, ids::Name as N, *},\n    limits,\n};\npub(crate) use ::rdkafka;",
        &[
            "1 std::fmt",
            "3 crate::facts",
            "3 crate::facts::ids::Name",
            "3 crate::facts::*",
            "4 crate::limits",
            "6 rdkafka",
        ],
    );
}

#[test]
fn relative_paths_are_resolved() {
    check(
        &["facts", "group"],
        "use self::a::b;\nuse super::ids;\nfn f() { super::super::view::g(); self.h(); }",
        &[
            "1 crate::facts::group::a::b",
            "2 crate::facts::ids",
            "3 crate::view::g",
        ],
    );
}

#[test]
fn inline_modules_count() {
    check(
        &["facts"],
        "mod tests { use super::*; fn f() { if a { b } } use super::super::wire; }\nuse super::view;",
        &["1 crate::facts::*", "1 crate::wire", "2 crate::view"],
    );
}

#[test]
fn paths_in_expressions_types_and_macros_count() {
    check(
        &[],
        "fn f(a: &hyper::Body) -> Vec<rdkafka::Offset> {\n$crate::view::g(); a.b::<u8>(); Vec::<u8>::new(); x }\nextern crate log;",
        &[
            "1 hyper::Body",
            "1 rdkafka::Offset",
            "2 crate::view::g",
            "3 log",
        ],
    );
}

#[test]
fn names_in_strings_and_comments_do_not() {
    check(
        &[],
        "/// See [`crate::view::x`]\nfn f() { g(\"crate::story::y\"); } // rdkafka::z",
        &[],
    );
}
