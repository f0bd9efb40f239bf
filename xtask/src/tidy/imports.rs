//! Who may use whom: the floors of the core, the verbs of the agent, and the rooms of
//! foreign crates.

use super::Problem;
use super::scan::{self, Path};
use super::tree::File;

/// A module right below the root of a crate, and the modules it may use besides itself.
type Row = (&'static str, &'static [&'static str]);

/// Lowest first. `answers` and `limits` are plain values that every floor but `wire` may
/// use; only `facts` sees Kafka's structs.
const CORE: &[Row] = &[
    ("limits", &[]),
    ("answers", &["facts", "limits"]),
    ("wire", &["limits"]),
    ("facts", &["answers", "limits", "wire"]),
    ("view", &["answers", "limits", "facts"]),
    ("story", &["answers", "limits", "facts", "view"]),
    ("checks", &["answers", "limits", "facts", "view", "story"]),
    (
        "engine",
        &["answers", "limits", "facts", "view", "story", "checks"],
    ),
];

/// Reading and showing never meet; `config` is plain values and sees neither.
const AGENT: &[Row] = &[
    ("config", &[]),
    ("read", &["config"]),
    ("show", &["config"]),
    ("run", &["config", "read", "show"]),
    ("commands", &["config", "read", "show", "run"]),
];

/// What tests of every module may use besides: the broker that fails on demand.
const FOR_TESTS: &str = "crate::commands::demo::broker";

/// Foreign crates, and where alone they are used. A place that ends in a slash is a
/// folder. Tests may use them anywhere: they compare with what others make.
const ROOMS: &[(&[&str], &[&str])] = &[
    (
        &["rdkafka", "rdkafka_sys"],
        &["src/read/kafka.rs", "src/read/kafka/", "src/read/ffi.rs"],
    ),
    (
        &["kafka_protocol"],
        &[
            "src/read/coordinator.rs",
            "src/read/coordinator/",
            "src/commands/demo.rs",
            "src/commands/demo/",
        ],
    ),
    (
        &[
            "opentelemetry",
            "opentelemetry_http",
            "opentelemetry_otlp",
            "opentelemetry_proto",
            "opentelemetry_sdk",
            "prost",
        ],
        &["src/show/traces.rs", "src/show/traces/"],
    ),
    (
        &["hyper", "hyper_openssl", "hyper_util"],
        &[
            "src/show/http.rs",
            "src/show/http/",
            "src/show/traces.rs",
            "src/show/traces/",
        ],
    ),
    (
        &["openssl", "tokio_openssl"],
        &[
            "src/config/worker/",
            "src/read/coordinator.rs",
            "src/read/coordinator/",
            "src/read/ffi.rs",
            "src/read/mask.rs",
            "src/show/http.rs",
            "src/show/http/",
            "src/show/traces/",
        ],
    ),
    (&["if_addrs"], &["src/commands/wiring.rs"]),
    (&["bcrypt"], &["src/show/http/gate.rs"]),
    (
        &["serde_yaml"],
        &["src/config.rs", "src/config/", "src/commands/config.rs"],
    ),
    (
        &["prometheus"],
        &["src/show/process.rs", "src/show/process/"],
    ),
    (
        &["rsasl"],
        &["src/read/coordinator.rs", "src/read/coordinator/"],
    ),
];

/// The truth is told by code that never uses the core; the simulator shares its formats
/// and words, never its verdicts.
const STRANGERS: &[(&str, &[&str])] = &[
    ("crates/testbed/", &["evenkeel", "evenkeel_core"]),
    (
        "crates/sim/src/",
        &[
            "evenkeel_core::view",
            "evenkeel_core::story",
            "evenkeel_core::checks",
            "evenkeel_core::engine",
        ],
    ),
];

/// All rules on one file.
pub(crate) fn check(file: &File) -> Vec<Problem> {
    if !file.is("rs") || !(file.path.starts_with("src/") || file.path.starts_with("crates/")) {
        return Vec::new();
    }
    let core = module(&file.path, "crates/core/src/");
    let agent = module(&file.path, "src/");
    let names: Vec<&str> = core
        .iter()
        .chain(&agent)
        .flatten()
        .map(String::as_str)
        .collect();
    let paths = scan::paths(&scan::code(&file.text), &names);
    let mut problems = Vec::new();
    if let Some(module) = core {
        problems.extend(rows(CORE, file, &module, "evenkeel_core", &paths));
    }
    if let Some(module) = agent {
        problems.extend(rows(AGENT, file, &module, "evenkeel", &paths));
    }
    problems.extend(rooms(file, &paths));
    problems.extend(strangers(file, &paths));
    problems
}

/// `src/a/b.rs` is `["a", "b"]`; the roots of a crate are `[]`.
fn module(path: &str, source: &str) -> Option<Vec<String>> {
    let name = path.strip_prefix(source)?.strip_suffix(".rs")?;
    if name == "lib" || name == "main" {
        return Some(Vec::new());
    }
    Some(name.split('/').map(str::to_owned).collect())
}

fn rows(table: &[Row], file: &File, module: &[String], own: &str, paths: &[Path]) -> Vec<Problem> {
    let Some(here) = module.first() else {
        // The root declares the modules; the program's root starts a command.
        return Vec::new();
    };
    let Some((_, allowed)) = table.iter().find(|(name, _)| name == here) else {
        return vec![Problem::new(
            &file.path,
            format!("`{here}` has no row in the table of imports (xtask/src/tidy/imports.rs)"),
        )];
    };
    let mut problems = Vec::new();
    for path in paths {
        let Some(used) = path.segments.get(1) else {
            continue;
        };
        let root = &path.segments[0];
        if (root != "crate" && root != own) || used == here || allowed.contains(&used.as_str()) {
            continue;
        }
        if file.is_test() && path.segments.join("::").starts_with(FOR_TESTS) {
            continue;
        }
        let told = if table.iter().any(|(name, _)| name == used) {
            format!(
                "`{here}` must not use `{used}`: {}",
                path.segments.join("::")
            )
        } else {
            format!(
                "{}: name the module that it comes from",
                path.segments.join("::")
            )
        };
        problems.push(Problem::at(&file.path, path.line, told));
    }
    problems
}

fn rooms(file: &File, paths: &[Path]) -> Vec<Problem> {
    if file.is_test() {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for path in paths {
        let name = path.segments[0].as_str();
        let Some((_, rooms)) = ROOMS.iter().find(|(crates, _)| crates.contains(&name)) else {
            continue;
        };
        if rooms.iter().any(|room| in_room(&file.path, room)) {
            continue;
        }
        problems.push(Problem::at(
            &file.path,
            path.line,
            format!("{name} is used only in {}", rooms.join(", ")),
        ));
    }
    problems
}

fn in_room(path: &str, room: &str) -> bool {
    if room.ends_with('/') {
        path.starts_with(room)
    } else {
        path == room
    }
}

fn strangers(file: &File, paths: &[Path]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (folder, banned) in STRANGERS {
        if !file.path.starts_with(folder) {
            continue;
        }
        for path in paths {
            let used = path.segments.join("::");
            let met = banned.iter().find(|banned| {
                used.strip_prefix(**banned)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            });
            if let Some(met) = met {
                problems.push(Problem::at(
                    &file.path,
                    path.line,
                    format!("{folder} must not use {met}"),
                ));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests;
