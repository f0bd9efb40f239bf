//! Lines of variables, as `docker run --env-file`, systemd and shells read them: one worker.

use std::path::Path;

use evenkeel_core::checks::known::Worker;

use super::settings::{Dialect, Settings, at};
use super::variables::{GUESSED, Image, looks_like_debezium};
use super::{Deployed, Format, Unread};

/// Whether a file is one: by its name, or by a variable of Connect in it.
pub(super) fn is_one(path: &Path, bytes: &[u8]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name == ".env" || name.ends_with(".env") || name.starts_with(".env.") {
        return true;
    }
    let text = String::from_utf8_lossy(bytes);
    let mut variables = text.lines().filter_map(assignment);
    variables.any(|(variable, _)| variable.starts_with("CONNECT_"))
}

pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Deployed, Unread> {
    let text = std::str::from_utf8(bytes).map_err(|_| Unread::found("bytes that are no UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let variables = || {
        text.lines()
            .filter_map(assignment)
            .map(|(variable, _)| variable)
    };
    let has_prefix = variables().any(|variable| variable.starts_with("CONNECT_"));
    let image = if !has_prefix && looks_like_debezium(variables()) {
        Image::Debezium
    } else {
        Image::Plain
    };
    let mut settings = Settings::default();
    let mut notes = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        let Some((variable, value)) = assignment(line) else {
            notes.push(format!("line {}: no variable, not read", index + 1));
            continue;
        };
        if let Some(setting) = image.setting(variable) {
            let value = unquoted(value);
            let text = Dialect::Shell.text(value);
            settings.put_variable(&setting, variable, text, at(file, Some(index + 1)));
        } else if let Some(told) = image.overruled(variable) {
            notes.push(format!("line {}: {told}", index + 1));
        }
    }
    if settings.map.is_empty() {
        return Err(Unread::found("no variable of a Connect worker"));
    }
    if image == Image::Debezium {
        notes.push(GUESSED.to_owned());
        image.fill(&mut settings);
    }
    let worker = Worker {
        name: file.to_owned(),
        settings: settings.map,
        spelling: image.spelling(),
        is_complete: true,
        ..Worker::default()
    };
    Ok(Deployed {
        file: file.to_owned(),
        format: Format::EnvFile,
        workers: vec![worker],
        in_containers: false,
        notes,
    })
}

/// Name and value of a line that sets a variable.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let (name, value) = line.split_once('=')?;
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(is_letter);
    is_name.then_some((name, value.trim()))
}

/// Without the quotes around all of it.
fn unquoted(value: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(value)
}
