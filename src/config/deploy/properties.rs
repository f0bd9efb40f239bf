//! A worker's own file, as Java reads it: one worker, and what it does not set has Kafka's
//! default.

use std::collections::BTreeMap;

use evenkeel_core::checks::known::{Given, Unknown, Worker};
use evenkeel_core::checks::releases::{Whose, tables};
use evenkeel_core::checks::source::Source;

use super::settings::Dialect;
use super::{Deployed, Format, STANDALONE, Unread, is_standalone};
use crate::config::worker::properties_file::{self, Entry};

/// What is said of a file that does not name the config topic.
pub const PERHAPS_A_PART: &str =
    "no config.storage.topic in it: is this all that the worker is started with?";

pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Deployed, Unread> {
    // A byte is a letter, as in `Properties.load(InputStream)`.
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let entries =
        properties_file::parse(&text).map_err(|malformed| Unread::found(malformed.to_string()))?;
    let has = |name: &str| entries.iter().any(|entry| entry.name == name);
    if is_standalone(has) {
        return Err(Unread::found(STANDALONE));
    }
    if has("clusters") && !has("group.id") {
        let found =
            "a dedicated MirrorMaker's file, which sets up a group for each pair of clusters";
        return Err(Unread::found(found));
    }
    if !has("group.id") && !entries.iter().any(|entry| is_known(&entry.name)) {
        return Err(Unread::found("no setting of a Connect worker"));
    }
    let mut settings = BTreeMap::new();
    let mut notes = Vec::new();
    let is_part = !has("config.storage.topic");
    if is_part {
        notes.push(PERHAPS_A_PART.to_owned());
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        let told = "a byte order mark begins it: to Java the first line is a setting that begins with that mark";
        notes.push(told.to_owned());
    }
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
        // Whether something is missing is asked, and not told.
        is_started_so: !is_part,
        ..Worker::default()
    };
    Ok(Deployed {
        file: file.to_owned(),
        format: Format::Properties,
        workers: vec![worker],
        in_containers: false,
        notes,
    })
}

/// Whether some release's worker knows it.
fn is_known(name: &str) -> bool {
    tables().lifetime(Whose::Worker, name).is_some()
}

fn given(file: &str, entry: &Entry) -> Given {
    let text = entry.value.expose();
    Given {
        text: if is_swallowed(entry) {
            Err(Unknown::Swallowed)
        } else {
            Dialect::Kafka.text(text)
        },
        source: Source::File {
            file: file.to_owned(),
            line: Some(entry.line),
        },
        variable: None,
    }
}

/// A backslash at the end of a line joins it with the next, and whatever secret stands there.
fn is_swallowed(entry: &Entry) -> bool {
    let text = entry.value.expose();
    let is_list = entry.name == "bootstrap.servers" && text.split(',').all(is_broker);
    entry.is_continued && !is_list && text.contains(['=', ':', ' ', '\t'])
}

/// Whether it is `host:port` or `PROTOCOL://host:port` and nothing else; also nothing at all, as
/// behind a last comma.
fn is_broker(text: &str) -> bool {
    let text = text.trim();
    let text = text.split_once("://").map_or(text, |(_, address)| address);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    let is_number = |letter: char| letter.is_ascii_hexdigit() || letter == ':';
    let is_host = |host: &str| match host.strip_prefix('[') {
        Some(rest) => rest
            .strip_suffix(']')
            .is_some_and(|it| it.chars().all(is_number)),
        None => host.chars().all(is_name),
    };
    text.is_empty()
        || text.rsplit_once(':').is_some_and(|(host, port)| {
            is_host(host) && port.bytes().all(|byte| byte.is_ascii_digit())
        })
}
