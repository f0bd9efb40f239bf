//! YAML: documents of one file, each given to whoever understands it.

use serde_yaml::Value;

use super::{Deployed, Format, Unread, compose, helm, resource};
use crate::config::yaml;

/// What to do about a file that is not understood.
pub(super) const HINT: &str = "docs/check-formats.md says what is read; `helm template` and `docker compose config` print files that are";

/// What was read so far of the documents of a file.
pub(super) struct Reading<'a> {
    pub(super) file: &'a str,
    /// The document, with as many empty lines before it as there are lines in the file.
    pub(super) text: &'a str,
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
    for text in documents(text) {
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

/// Documents are parted by `---`; lines count on through all of them.
fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for (index, line) in text.lines().enumerate() {
        let is_mark = line == "---" || line.starts_with("--- ");
        if is_mark {
            documents.push("\n".repeat(index + 1));
        } else if let Some(document) = documents.last_mut() {
            document.push_str(line);
            document.push('\n');
        }
    }
    documents.retain(|document| !document.trim().is_empty());
    documents
}
