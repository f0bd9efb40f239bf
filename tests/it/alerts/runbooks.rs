//! The commands in the runbooks on a sidecar that watches a group: whoever copies one at night
//! gets an answer.
//!
//! Skipped, with a line that says so, where `bash`, `curl` or `jq` is missing.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use evenkeel_testbed::{request, wait_until};
use serde_json::Value;

use super::scraped::demo;

const WAIT_MAX: Duration = Duration::from_secs(60);

/// What stands for something in a command, and something.
const FILLED: [(&str, &str); 4] = [
    ("NAME", "alpha"),
    ("HOST:PORT", "a:1"),
    ("…", "a:1"),
    // Tables need it.
    ("\\|", "|"),
];

/// Quoted commands, and quoted addresses that are to be asked.
fn commands(page: &str) -> Vec<String> {
    let quoted = page
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let command = |text: &str| {
        let text = FILLED.iter().fold(text.to_owned(), |text, (sign, value)| {
            text.replace(sign, value)
        });
        if let Some(rest) = text.strip_prefix("curl -s ") {
            Some(format!("curl -sS --fail {rest}"))
        } else {
            let is_address = text.starts_with("/api/") || text.starts_with("/readyz");
            is_address.then(|| format!("curl -sS --fail \"SIDECAR{text}\""))
        }
    };
    quoted.filter_map(command).collect()
}

/// What fails where a field is not there: jq by itself says null of it, and a `select` by it
/// finds nothing.
const STRICT: &str =
    "def field($name): if has($name) then .[$name] else error(\"no \" + $name) end; ";

/// The command with each field of its jq program asked for by `STRICT`.
fn strict(command: &str) -> Option<String> {
    let (before, rest) = command.split_once("jq ")?;
    let (options, rest) = rest.split_once('\'')?;
    let (program, after) = rest.split_once('\'')?;
    let mut strict = String::from(STRICT);
    // Every other piece is a text in quotes.
    for (place, piece) in program.split('"').enumerate() {
        match place % 2 {
            0 => strict.push_str(&with_fields(piece)),
            _ => strict.push_str(&format!("\"{piece}\"")),
        }
    }
    Some(format!("{before}jq {options}'{strict}'{after}"))
}

fn name_at(text: &str) -> &str {
    let is_of = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let end = text.find(|letter| !is_of(letter)).unwrap_or(text.len());
    &text[..end]
}

/// `.a[].b` becomes `(field("a")[]|field("b"))`, and `{a}` becomes `{a: field("a")}`.
fn with_fields(piece: &str) -> String {
    let mut made = String::new();
    let mut rest = piece;
    let mut is_object = false;
    while let Some(letter) = rest.chars().next() {
        let name = name_at(rest.trim_start_matches('.'));
        if letter == '.' && !name.is_empty() {
            let mut path = Vec::new();
            while let Some(tail) = rest.strip_prefix('.') {
                let name = name_at(tail);
                rest = &tail[name.len()..];
                let index = match rest.find(']') {
                    Some(end) if rest.starts_with('[') => &rest[..=end],
                    _ => "",
                };
                rest = &rest[index.len()..];
                path.push(format!("field(\"{name}\"){index}"));
            }
            made.push_str(&format!("({})", path.join("|")));
        } else if is_object && !name.is_empty() {
            made.push_str(&format!("{name}: field(\"{name}\")"));
            rest = &rest[name.len()..];
        } else {
            is_object = letter == '{' || (is_object && letter != '}');
            made.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    made
}

fn pages() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/runbooks");
    let pages = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    pages.collect()
}

#[test]
fn every_command_of_the_runbooks_is_answered() {
    for tool in ["bash", "curl", "jq"] {
        if Command::new(tool).arg("--version").output().is_err() {
            println!("skipped: there is no {tool}");
            return;
        }
    }
    let demo = demo();
    let (_, port) = demo.address.rsplit_once(':').unwrap();
    let port = port.parse().unwrap();
    let group = |path: &str| -> anyhow::Result<Value> {
        let answer = request(port, "GET", path, None, Duration::from_secs(5))?;
        let told: Value = serde_json::from_str(&answer.body)?;
        Ok(told["groups"][0].clone())
    };
    wait_until("a group with an episode", WAIT_MAX, || {
        let state = group("/api/v1/state")?;
        let is_known = state["group"]["members"].is_array() && state["pattern"].is_object();
        let told = group("/api/v1/episodes")?;
        let has_one = told["episodes"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        Ok((is_known && has_one && state["current"] == true).then_some(()))
    })
    .unwrap();
    let (mut asked, mut selected, mut wrong) = (0, 0, Vec::new());
    for (page, text) in pages() {
        for command in commands(&text) {
            asked += 1;
            let line = command
                .replace("THAT_SIDECAR", &demo.address)
                .replace("SIDECAR", &demo.address);
            let told = match (shell(&line), strict(&line).map(|line| shell(&line))) {
                (Ok(told), None | Some(Ok(_))) => told,
                (Err(error), _) | (_, Some(Err(error))) => {
                    wrong.push(format!("{page}: {command}: {error}"));
                    continue;
                }
            };
            // Nothing fails in the demo, and what is selected may not be there.
            let is_answered = !told.trim().is_empty() || command.contains("| select(");
            if !is_answered || told.lines().any(|line| line == "null") {
                wrong.push(format!("{page}: {command}: {told:.200}"));
            }
            selected += usize::from(command.contains("| select("));
        }
    }
    assert!(asked > 40, "{asked}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(selected < 5, "{selected} may be answered by nothing");
}

/// What it prints, or why it failed.
fn shell(line: &str) -> Result<String, String> {
    let script = format!("set -o pipefail; {line}");
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(told);
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("{error}{told:.200}"))
}

#[test]
fn commands_are_what_is_quoted() {
    let page = "1. `curl -s \"SIDECAR/api/v1/episodes?since=1h&worker=HOST:PORT\"`, or `/readyz`; `up`.\n\
        | `curl -s SIDECAR/api/v1/state \\| jq '.groups'` |\n";
    assert_eq!(
        commands(page),
        [
            "curl -sS --fail \"SIDECAR/api/v1/episodes?since=1h&worker=a:1\"",
            "curl -sS --fail \"SIDECAR/readyz\"",
            "curl -sS --fail SIDECAR/api/v1/state | jq '.groups'",
        ]
    );
}

#[test]
fn a_field_that_is_not_there_is_an_error() {
    let jq = Command::new("jq").arg("--version").output();
    if jq.is_err() {
        println!("skipped: there is no jq");
        return;
    }
    let told = r#"{"groups":[{"on":[{"worker":"a","host":null}],"off":[]}]}"#;
    let asked = |program: &str| {
        let command = format!("echo '{told}' | jq -c '{program}'");
        shell(&strict(&command).unwrap())
    };
    let found = [
        (
            ".groups[].on[] | {worker, host}",
            r#"{"worker":"a","host":null}"#,
        ),
        (".groups[] | (.on + .off)[] | .worker", r#""a""#),
        (".groups[].on[0]", r#"{"worker":"a","host":null}"#),
        (r#".groups[].on[] | select(.worker|startswith("b"))"#, ""),
    ];
    for (program, answer) in found {
        assert_eq!(
            asked(program).as_deref().map(str::trim),
            Ok(answer),
            "{program}"
        );
    }
    for program in [
        ".groups[].on[] | {worker, client}",
        ".groups[] | (.on + .of)[] | .worker",
        r#".groups[].on[] | select(.who=="b")"#,
        ".groups[].members",
    ] {
        let error = asked(program).unwrap_err();
        assert!(error.contains("no "), "{program}: {error}");
    }
}
