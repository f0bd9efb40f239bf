//! Small samples, each with what the table says of it.

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
fn a_floor_uses_floors_below_it() {
    check_file(
        "crates/core/src/story/rounds.rs",
        "use crate::view::statuses::X;\nuse crate::{facts, answers, limits};\nuse super::findings;",
        &[],
    );
    check_file(
        "crates/core/src/facts/group.rs",
        "use crate::wire::cursor::Cursor;",
        &[],
    );
    check_file(
        "crates/core/src/engine.rs",
        "fn f() { crate::checks::run(); }",
        &[],
    );
}

#[test]
fn a_floor_uses_none_above_it() {
    check_file(
        "crates/core/src/view/statuses.rs",
        "//! Statuses.\nuse crate::story::rounds;",
        &["crates/core/src/view/statuses.rs:2: `view` must not use `story`: crate::story::rounds"],
    );
    check_file(
        "crates/core/src/wire/cursor.rs",
        "fn f() { super::super::facts::g() }",
        &["crates/core/src/wire/cursor.rs:1: `wire` must not use `facts`: crate::facts::g"],
    );
    check_file(
        "crates/core/src/story.rs",
        "use evenkeel_core::engine::Engine;",
        &[
            "crates/core/src/story.rs:1: `story` must not use `engine`: evenkeel_core::engine::Engine",
        ],
    );
}

#[test]
fn only_facts_see_kafkas_structs() {
    for floor in ["view", "story", "checks", "engine"] {
        check_file(
            &format!("crates/core/src/{floor}/a.rs"),
            "use crate::wire::Unknown;",
            &[&format!(
                "crates/core/src/{floor}/a.rs:1: `{floor}` must not use `wire`: crate::wire::Unknown"
            )],
        );
    }
}

#[test]
fn a_new_module_needs_a_row_and_the_root_is_no_module() {
    check_file(
        "crates/core/src/attic.rs",
        "",
        &[
            "crates/core/src/attic.rs: `attic` has no row in the table of imports (xtask/src/tidy/imports.rs)",
        ],
    );
    check_file(
        "crates/core/src/view/a.rs",
        "use super::super::*;",
        &["crates/core/src/view/a.rs:1: crate::*: name the module that it comes from"],
    );
    check_file(
        "crates/core/src/lib.rs",
        "pub use crate::engine::Engine;",
        &[],
    );
}

#[test]
fn read_and_show_never_meet() {
    check_file(
        "src/run/agent.rs",
        "use crate::read::kafka;\nuse crate::show::http;",
        &[],
    );
    check_file(
        "src/commands/run.rs",
        "use crate::{config, read, run, show};",
        &[],
    );
    check_file(
        "src/read/kafka.rs",
        "use crate::show::http;",
        &["src/read/kafka.rs:1: `read` must not use `show`: crate::show::http"],
    );
    check_file(
        "src/show/http.rs",
        "use evenkeel::read::capture;",
        &["src/show/http.rs:1: `show` must not use `read`: evenkeel::read::capture"],
    );
    check_file(
        "src/config/load.rs",
        "use crate::{read, show};",
        &[
            "src/config/load.rs:1: `config` must not use `read`: crate::read",
            "src/config/load.rs:1: `config` must not use `show`: crate::show",
        ],
    );
    check_file(
        "src/show/http.rs",
        "use crate::run::clock;",
        &["src/show/http.rs:1: `show` must not use `run`: crate::run::clock"],
    );
}

#[test]
fn foreign_crates_stay_in_their_rooms() {
    for (path, text) in [
        ("src/read/kafka/client.rs", "use rdkafka::Offset;"),
        ("src/read/ffi.rs", "use rdkafka_sys::x;"),
        (
            "src/commands/demo/broker.rs",
            "use kafka_protocol::messages;",
        ),
        (
            "src/show/traces.rs",
            "use opentelemetry_sdk::trace;\nuse hyper_util::rt;",
        ),
        ("src/config/yaml.rs", "serde_yaml::from_str(text)"),
        (
            "src/show/exposition/tests.rs",
            "use prometheus::TextEncoder;",
        ),
        (
            "src/show/families.rs",
            "mod prometheus_text;\nuse prometheus_text::x;",
        ),
        (
            "src/show/http.rs",
            "/// [`rdkafka::Offset`]\nuse hyper::body;",
        ),
    ] {
        check_file(path, text, &[]);
    }
    check_file(
        "src/run/agent.rs",
        "\nfn f(offset: rdkafka::Offset) {}",
        &[
            "src/run/agent.rs:2: rdkafka is used only in src/read/kafka.rs, src/read/kafka/, src/read/ffi.rs",
        ],
    );
    check_file(
        "src/show/routes.rs",
        "use hyper_util::rt;",
        &[
            "src/show/routes.rs:1: hyper_util is used only in src/show/http.rs, src/show/http/, src/show/traces.rs, src/show/traces/",
        ],
    );
    check_file(
        "crates/testbed/src/broker.rs",
        "use rdkafka_sys as sys;",
        &[
            "crates/testbed/src/broker.rs:1: rdkafka_sys is used only in src/read/kafka.rs, src/read/kafka/, src/read/ffi.rs",
        ],
    );
}

#[test]
fn the_truth_does_not_use_the_core() {
    check_file(
        "crates/testbed/src/truth.rs",
        "use evenkeel_core::facts;",
        &["crates/testbed/src/truth.rs:1: crates/testbed/ must not use evenkeel_core"],
    );
    check_file(
        "crates/testbed/src/truth.rs",
        "use evenkeel_testbed::Cluster;",
        &[],
    );
    check_file(
        "crates/sim/src/lib.rs",
        "use evenkeel_core::{facts, wire};",
        &[],
    );
    check_file(
        "crates/sim/src/lib.rs",
        "use evenkeel_core::{facts, view::statuses};",
        &["crates/sim/src/lib.rs:1: crates/sim/src/ must not use evenkeel_core::view"],
    );
}
