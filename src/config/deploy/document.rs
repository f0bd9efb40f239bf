//! YAML: documents of one file, each given to whoever understands it.

use serde_yaml::Value;

use super::lines::Lines;
use super::{Deployed, Format, Unread, compose, helm, resource};
use crate::config::yaml;

/// Documents of one file: a chart of charts renders some hundreds.
const DOCUMENTS_MAX: usize = 1_000;

/// What to do about a file that is not understood.
pub(super) const HINT: &str = "docs/check-formats.md says what is read; `helm template` and `docker compose config` print files that are";

/// What was read so far of the documents of a file.
pub(super) struct Reading<'a> {
    pub(super) file: &'a str,
    /// The document, with as many empty lines before it as there are lines in the file.
    pub(super) text: &'a str,
    /// Where its keys stand.
    pub(super) lines: Lines,
    pub(super) deployed: Deployed,
}

pub(super) fn read(file: &str, text: &str) -> Result<Deployed, Unread> {
    let mut deployed = Deployed {
        file: file.to_owned(),
        format: Format::Helm,
        workers: Vec::new(),
        in_containers: true,
        notes: Vec::new(),
    };
    let documents = documents(text);
    if documents.len() > DOCUMENTS_MAX {
        let found = format!("more than {DOCUMENTS_MAX} documents");
        return Err(Unread::Found(found));
    }
    for (before, document) in documents {
        // Lines count on through all of them.
        let text = format!("{}{document}", "\n".repeat(before));
        if is_template(&text) {
            let found = "a template of Helm, which is no YAML yet";
            return Err(Unread::Malformed(crate::config::mistake::Mistake::new(
                "",
                found,
                "values, or what `helm template` prints",
            )));
        }
        let value = yaml::parse(&text).map_err(Unread::Malformed)?;
        let mut reading = Reading {
            file,
            text: &text,
            lines: Lines::of(&text),
            deployed,
        };
        match &value {
            Value::Null => {}
            Value::Mapping(_) if value.get("kind").is_some() => {
                reading.deployed.format = Format::Resource;
                resource::read(&mut reading, &value);
            }
            Value::Mapping(_) if value.get("services").is_some_and(Value::is_mapping) => {
                reading.deployed.format = Format::Compose;
                compose::read(&mut reading, &value);
            }
            Value::Mapping(_) => helm::read(&mut reading, &value)?,
            _ => return Err(Unread::found("YAML without keys")),
        }
        deployed = reading.deployed;
    }
    Ok(deployed)
}

/// A line that begins an action, not a value in quotes that holds one.
fn is_template(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("{{"))
}

/// Documents are parted by `---`; with each how many lines come before it.
fn documents(text: &str) -> Vec<(usize, String)> {
    let mut documents = vec![(0, String::new())];
    for (index, line) in text.lines().enumerate() {
        let is_mark = line == "---" || line.starts_with("--- ");
        if is_mark {
            documents.push((index + 1, String::new()));
        } else if let Some((_, document)) = documents.last_mut() {
            document.push_str(line);
            document.push('\n');
        }
    }
    documents.retain(|(_, document)| !document.trim().is_empty());
    documents
}
