//! YAML with every scalar as the text that stands in the file. YAML itself would read
//! `3.10` as 3.1, `0x10` as 16 and a password `1e5` as 100000.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Mapping, Value};

use super::mistake::Mistake;

/// Opening brackets in a file: references and flow lists take some dozens.
const BRACKETS_MAX: usize = 1_000;

/// The value of a document; null for an empty one.
pub(super) fn parse(text: &str) -> Result<Value, Mistake> {
    // Some editors put a byte order mark before everything.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let wrong = |error: &serde_yaml::Error| {
        // Only where, not what: the text of the error may quote the file.
        let place = error
            .location()
            .map(|at| format!(" at line {} column {}", at.line(), at.column()));
        let place = place.unwrap_or_default();
        let found = match duplicate(error) {
            // The parser tells where the section begins that has it.
            Some(key) => {
                match second_line(text, &key, error.location().map_or(1, |at| at.line())) {
                    Some(line) => format!("the key {key} twice, again at line {line}"),
                    None => format!("the key {key} twice{place}"),
                }
            }
            None => format!("what is no YAML{place}"),
        };
        Mistake::new("", found, "a YAML document with each key once")
    };
    // Every bracket may nest, and what nests deeply costs the square of it to read.
    if text
        .bytes()
        .filter(|byte| matches!(byte, b'[' | b'{'))
        .count()
        > BRACKETS_MAX
    {
        let found = format!("more than {BRACKETS_MAX} brackets");
        return Err(Mistake::new("", found, "a configuration, which has few"));
    }
    let value: Value = serde_yaml::from_str(text).map_err(|error| wrong(&error))?;
    let seed = AsText(&value);
    let mut value = seed
        .deserialize(serde_yaml::Deserializer::from_str(text))
        .map_err(|error| wrong(&error))?;
    value.apply_merge().map_err(|error| wrong(&error))?;
    Ok(value)
}

/// The key of a duplicate, which is the only word of an error that is safe to show:
/// it is a name, not a value.
fn duplicate(error: &serde_yaml::Error) -> Option<String> {
    let text = error.to_string();
    let (_, rest) = text.split_once("duplicate entry with key \"")?;
    let (key, _) = rest.split_once('"')?;
    Some(key.to_owned())
}

/// The line in which a key stands for the second time in one section, from `from` on;
/// `None` where that cannot be told from lines, as within braces.
fn second_line(text: &str, key: &str, from: usize) -> Option<usize> {
    let mut section: Option<usize> = None;
    let lines = text.lines().enumerate().skip(from.saturating_sub(1));
    for (index, line) in lines {
        let mut body = line.trim_start();
        // An item of a list that is a section begins behind its dash.
        while let Some(rest) = body.strip_prefix("- ") {
            body = rest.trim_start();
        }
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        let indent = line.len() - body.len();
        if section.is_some_and(|section| indent < section) {
            section = None;
        }
        let name = body.split_once(':').map(|(name, _)| name.trim_end());
        if name.map(|name| name.trim_matches(['"', '\''])) == Some(key) {
            if section == Some(indent) {
                return Some(index + 1);
            }
            section = Some(indent);
        }
    }
    None
}

/// Reads the document again along the value it has, taking scalars as text. Null stays
/// null: nothing is not a text.
#[derive(Debug, Clone, Copy)]
struct AsText<'a>(&'a Value);

impl<'de> DeserializeSeed<'de> for AsText<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.0 {
            Value::Mapping(_) => deserializer.deserialize_map(self),
            Value::Sequence(_) => deserializer.deserialize_seq(self),
            Value::String(_) | Value::Bool(_) | Value::Number(_) => {
                deserializer.deserialize_str(self)
            }
            Value::Null | Value::Tagged(_) => {
                deserializer.deserialize_ignored_any(serde::de::IgnoredAny)?;
                Ok(self.0.clone())
            }
        }
    }
}

impl<'de> Visitor<'de> for AsText<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the same document again")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let mut map = Mapping::new();
        while let Some(key) = pairs.next_key::<Value>()? {
            let known = self.0.get(&key).unwrap_or(&Value::Null);
            map.insert(key.clone(), pairs.next_value_seed(AsText(known))?);
        }
        Ok(Value::Mapping(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let known = self.0.get(list.len()).unwrap_or(&Value::Null);
            match items.next_element_seed(AsText(known))? {
                Some(item) => list.push(item),
                None => return Ok(Value::Sequence(list)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
