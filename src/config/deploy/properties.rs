//! A worker's own file, as Java reads it: one worker, and what it does not set has Kafka's
//! default.

use std::collections::BTreeMap;

use evenkeel_core::checks::known::{Given, Unknown, Worker};
use evenkeel_core::checks::source::Source;

use super::{Deployed, Format};
use crate::config::worker::properties_file::{self, Entry};

pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Deployed, String> {
    // A byte is a letter, as in `Properties.load(InputStream)`.
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let entries = properties_file::parse(&text).map_err(|malformed| malformed.to_string())?;
    if entries.is_empty() {
        return Err("no setting in it".to_owned());
    }
    let mut settings = BTreeMap::new();
    let mut notes = Vec::new();
    for entry in entries {
        let line = entry.line;
        let given = given(file, &entry);
        if settings.insert(entry.name.clone(), given).is_some() {
            let name = entry.name.escape_debug();
            notes.push(format!("line {line}: {name} again; the last one holds"));
        }
    }
    let worker = Worker {
        name: file.to_owned(),
        settings,
        is_complete: true,
        ..Worker::default()
    };
    Ok(Deployed {
        file: file.to_owned(),
        format: Format::Properties,
        workers: vec![worker],
        count: None,
        notes,
    })
}

fn given(file: &str, entry: &Entry) -> Given {
    let text = entry.value.expose();
    let unknown = if is_swallowed(entry) {
        Some(Unknown::Swallowed)
    } else {
        text.contains("${").then_some(Unknown::Reference)
    };
    Given {
        text: unknown.map_or_else(|| Ok(text.to_owned()), Err),
        source: Source::File {
            file: file.to_owned(),
            line: Some(entry.line),
        },
    }
}

/// A backslash at the end of a line joins it with the next, and whatever secret stands there.
fn is_swallowed(entry: &Entry) -> bool {
    entry.is_continued && entry.value.expose().contains(['=', ':', ' ', '\t'])
}
