//! The sample file and the reference, from the declarations of the tree.

use super::describe::{Key, Shape};
use super::flags::FLAGS;
use super::load::keys;
use super::overlay::variable;

const SAMPLE_HEAD: &str = "\
# Every key of evenkeel with its default. A file needs only what differs.
#
# Over this file go EVENKEEL_* environment variables, over those go flags; below it lie
# the worker's own file and CONNECT_* variables (docs/worker-file.md). Unknown keys are
# errors. `evenkeel config --check` tells all mistakes without starting anything.
# Written from the declarations in the code; a test holds it to them.
";

/// Of keys without a default: all of them stand in a worker's file, too.
const REQUIRED: &str = "required where no worker says it";

const REFERENCE_HEAD: &str = "\
# Configuration

Written from the declarations in the code; do not edit.

A YAML file (`--config FILE` or `EVENKEEL_CONFIG`), then `EVENKEEL_*` environment
variables, then flags; the later ones win. Below all of them lie the settings of the worker
beside the agent ([worker-file.md](worker-file.md)): `--worker-properties FILE` is enough, and
so are `--bootstrap`, `--group`, `--config-topic` and `--status-topic`. Every key is in `config/evenkeel.yaml` with its
default.

- Unknown keys, also in the environment, are errors, told with the nearest known one. All
  mistakes are told at once, those in the files that it names included, each with its key, what was
  found, what was expected. Only a file of its own that cannot be read, or is no YAML, is told alone.
- Variables that Kubernetes sets for a service of the name evenkeel are left alone.
- Keys of `groups` have a variable and a flag for the only group; a file with several
  groups refuses them.
- A librdkafka property is set by `EVENKEEL_KAFKA_PROPERTIES_` and its name in capitals with
  underscores for dots, or by `--set kafka.properties.NAME=VALUE`; a header of traces by
  `--set traces.headers.NAME=VALUE`.
- Values stay as they are written: `3.10` and `0x10` need no quotes. YAML's merge keys (`<<`)
  work. The file may have 1 MiB.
- Secrets belong into `${env:NAME}` or `${file:/path}`. Values of properties are never logged or
  printed, except those known to be harmless.
";

/// `config/evenkeel.yaml`.
#[must_use]
pub fn sample() -> String {
    let mut out = String::from(SAMPLE_HEAD);
    for key in keys() {
        out.push('\n');
        sample_key(&mut out, &key, "", &path("", &key));
    }
    out
}

fn sample_key(out: &mut String, key: &Key, indent: &str, path: &str) {
    comment(out, key, indent, path);
    match &key.shape {
        Shape::Section(keys) => {
            out.push_str(&format!("{indent}{}:\n", key.name));
            for inner in keys {
                sample_key(
                    out,
                    inner,
                    &format!("{indent}  "),
                    &format!("{path}.{}", inner.name),
                );
            }
        }
        Shape::List(keys) => {
            out.push_str(&format!("{indent}{}: []\n", key.name));
            sample_item(out, keys, path);
        }
        Shape::Map => out.push_str(&format!(
            "{indent}#  {}\n{indent}{}: {{}}\n",
            key.example, key.name
        )),
        Shape::Text | Shape::Number | Shape::Switch | Shape::Word(_) => {
            match &key.default {
                // Unset is not the same as set to something.
                None if !key.required => {
                    out.push_str(&format!("#{indent}{}: {}\n", key.name, key.example));
                }
                default => {
                    let default = default.as_deref().unwrap_or("\"\"");
                    out.push_str(&format!("{indent}{}: {default}\n", key.name));
                }
            }
        }
    }
}

/// One entry of a list, with examples, commented out: `#` alone before what is YAML,
/// so that taking those away makes it one.
fn sample_item(out: &mut String, keys: &[Key], path: &str) {
    for (index, key) in keys.iter().enumerate() {
        let mut text = String::new();
        comment(&mut text, key, "  ", &format!("{path}.{}", key.name));
        text.push_str(&format!("  {}: {}\n", key.name, key.example));
        for (line, content) in text.lines().enumerate() {
            let dash = index == 0 && line == 0;
            let content = content.strip_prefix("  ").unwrap_or(content);
            out.push_str(&format!("#{} {content}\n", if dash { "-" } else { " " }));
        }
    }
}

fn comment(out: &mut String, key: &Key, indent: &str, path: &str) {
    for line in &key.doc {
        out.push_str(&format!("{indent}# {line}\n"));
    }
    if let Some(line) = facts(key, path) {
        out.push_str(&format!("{indent}# {line}\n"));
    }
}

/// What a value may be and how else it is set, in a line.
fn facts(key: &Key, path: &str) -> Option<String> {
    let mut facts = Vec::new();
    match &key.shape {
        Shape::Section(_) | Shape::List(_) | Shape::Map => return None,
        Shape::Word(words) => facts.push(words.join(" | ")),
        Shape::Switch => facts.push("true | false".to_owned()),
        Shape::Text | Shape::Number => {}
    }
    if key.required {
        facts.push(REQUIRED.to_owned());
    }
    if key.default.is_none() {
        facts.push(format!("as in {}", key.example));
    }
    facts.push(variable(path));
    facts.extend(flag(path).map(str::to_owned));
    Some(facts.join(" · "))
}

fn flag(path: &str) -> Option<&'static str> {
    FLAGS
        .iter()
        .find(|(key, _)| *key == path)
        .map(|(_, flag)| *flag)
}

/// `docs/configuration.md`.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::from(REFERENCE_HEAD);
    for key in keys() {
        if let Shape::Section(inner) | Shape::List(inner) = &key.shape {
            let list = matches!(key.shape, Shape::List(_));
            let suffix = if list { " (a list)" } else { "" };
            out.push_str(&format!(
                "\n## `{}`{suffix}\n\n{}\n",
                key.name,
                key.doc.join(" ")
            ));
            for inner in inner {
                reference_key(&mut out, inner, &path(key.name, inner));
            }
        }
    }
    out
}

fn reference_key(out: &mut String, key: &Key, path: &str) {
    let kind = match &key.shape {
        Shape::Text => "text".to_owned(),
        Shape::Number => "whole number".to_owned(),
        Shape::Switch => "`true` or `false`".to_owned(),
        Shape::Word(words) => words
            .iter()
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(" or "),
        Shape::Map => "names with values".to_owned(),
        Shape::Section(_) | Shape::List(_) => "keys".to_owned(),
    };
    let default = match &key.default {
        _ if key.required => REQUIRED.to_owned(),
        Some(default) => format!("default `{default}`"),
        None => "unset by default".to_owned(),
    };
    out.push_str(&format!("\n### `{path}`\n\n{kind} · {default}"));
    if !matches!(key.shape, Shape::Map) {
        out.push_str(&format!(" · `{}`", variable(path)));
    }
    if let Some(flag) = flag(path) {
        out.push_str(&format!(" · `{flag}`"));
    }
    out.push_str(&format!(
        "\n\n{}\n\nExample: `{}`\n",
        key.doc.join(" "),
        key.example
    ));
}

fn path(section: &str, key: &Key) -> String {
    if section.is_empty() {
        key.name.to_owned()
    } else {
        format!("{section}.{}", key.name)
    }
}

#[cfg(test)]
mod tests;
