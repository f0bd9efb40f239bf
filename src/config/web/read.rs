//! Takes a section of a web configuration apart, key by key; what is unknown or of
//! another kind is told, and never quoted unless it is one of a set of words.

use serde_yaml::{Mapping, Value};

use crate::config::mistake::{Mistake, nearest, quoted};

/// Items of a list.
const ITEMS_MAX: usize = 100;

/// A section whose keys are all known.
#[derive(Debug)]
pub(super) struct Section {
    path: String,
    map: Mapping,
}

/// The section `value`, without the keys that are refused or not `known`; those are told.
pub(super) fn section(
    value: Value,
    path: &str,
    known: &[&str],
    refused: &[(&str, &str)],
    mistakes: &mut Vec<Mistake>,
) -> Section {
    let mut map = match value {
        Value::Mapping(map) => map,
        Value::Null => Mapping::new(),
        _ => {
            let expected = format!("keys: {}", known.join(", "));
            mistakes.push(Mistake::new(path, "something else", expected));
            Mapping::new()
        }
    };
    map.retain(|key, value| {
        let name = key.as_str().unwrap_or_default();
        if let Some((_, why)) = refused.iter().find(|(refused, _)| *refused == name) {
            let mistake = Mistake::new(join(path, name), "a value", "this key to be left out");
            mistakes.push(mistake.hint(*why));
            return false;
        }
        if !known.contains(&name) {
            mistakes.push(unknown(path, name, known));
            return false;
        }
        !value.is_null()
    });
    Section {
        path: path.to_owned(),
        map,
    }
}

fn unknown(path: &str, name: &str, known: &[&str]) -> Mistake {
    // A long or odd name is a value in the wrong place, and may be a secret.
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_plain = !name.is_empty() && name.len() <= 40 && name.chars().all(is_word);
    let at = if is_plain {
        join(path, name)
    } else {
        path.to_owned()
    };
    let mistake = Mistake::new(at, "an unknown key", "a key of the web configuration");
    match nearest(name, known.iter().copied()) {
        Some(near) => mistake.hint(format!("did you mean {near}?")),
        None => mistake.hint(format!("there are {}", known.join(", "))),
    }
}

// === impl Section ===

impl Section {
    /// The full name of a key.
    pub(super) fn at(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// What stands there; null for nothing.
    pub(super) fn take(&mut self, key: &str) -> Value {
        self.map.remove(key).unwrap_or(Value::Null)
    }

    /// A text; an empty one is none.
    pub(super) fn text(&mut self, key: &str, mistakes: &mut Vec<Mistake>) -> Option<String> {
        match self.take(key) {
            Value::Null => None,
            Value::String(text) => (!text.is_empty()).then_some(text),
            _ => {
                mistakes.push(Mistake::new(self.at(key), "something else", "a text"));
                None
            }
        }
    }

    /// A truth, in the words of YAML 1.1, which the toolkit reads.
    pub(super) fn truth(&mut self, key: &str, default: bool, mistakes: &mut Vec<Mistake>) -> bool {
        let text = self.text(key, mistakes).map(|text| text.to_lowercase());
        match text.as_deref() {
            None => default,
            Some("true" | "yes" | "on") => true,
            Some("false" | "no" | "off") => false,
            Some(text) => {
                mistakes.push(Mistake::new(self.at(key), quoted(text), "true or false"));
                default
            }
        }
    }

    /// One of a set of words.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &str,
        words: &[(&str, T)],
        mistakes: &mut Vec<Mistake>,
    ) -> Option<T> {
        let text = self.text(key, mistakes)?;
        chosen(&self.at(key), &text, words, mistakes)
    }

    /// Texts; nothing is an empty list.
    pub(super) fn texts(&mut self, key: &str, mistakes: &mut Vec<Mistake>) -> Vec<String> {
        let at = self.at(key);
        let items = match self.take(key) {
            Value::Null => return Vec::new(),
            Value::Sequence(items) if items.len() <= ITEMS_MAX => items,
            Value::Sequence(items) => {
                let found = format!("{} items", items.len());
                mistakes.push(Mistake::new(at, found, format!("at most {ITEMS_MAX}")));
                return Vec::new();
            }
            _ => {
                mistakes.push(Mistake::new(at, "something else", "a list of texts"));
                return Vec::new();
            }
        };
        let mut texts = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            match item {
                Value::String(text) if !text.is_empty() => texts.push(text),
                _ => mistakes.push(Mistake::new(format!("{at}[{index}]"), "no text", "a text")),
            }
        }
        texts
    }

    /// Some of a set of words.
    pub(super) fn words<T: Copy>(
        &mut self,
        key: &str,
        words: &[(&str, T)],
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<T> {
        let at = self.at(key);
        let texts = self.texts(key, mistakes).into_iter().enumerate();
        texts
            .filter_map(|(index, text)| chosen(&format!("{at}[{index}]"), &text, words, mistakes))
            .collect()
    }
}

fn chosen<T: Copy>(
    at: &str,
    text: &str,
    words: &[(&str, T)],
    mistakes: &mut Vec<Mistake>,
) -> Option<T> {
    let found = words.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        let names = words.iter().map(|(word, _)| *word);
        let known: Vec<_> = names.clone().collect();
        let mistake = Mistake::new(at, quoted(text), format!("one of {}", known.join(", ")));
        mistakes.push(match nearest(text, names) {
            Some(near) => mistake.hint(format!("did you mean {near}?")),
            None => mistake,
        });
    }
    found.map(|(_, meaning)| *meaning)
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}
