//! Puts environment variables and flags over the file. Keys are written as in
//! `kafka.bootstrap`; `groups.config_topic` means the only group.

use serde_yaml::{Mapping, Value};

use super::describe::{Key, Shape};
use super::load::Override;
use super::mistake::{Mistake, nearest};

/// What our environment variables begin with.
pub(super) const PREFIX: &str = "EVENKEEL_";
/// The variable that names the file.
pub(super) const FILE_VARIABLE: &str = "EVENKEEL_CONFIG";
/// The variables of librdkafka properties begin with this.
const PROPERTIES_PREFIX: &str = "EVENKEEL_KAFKA_PROPERTIES_";

/// Every key with a value of its own, as overrides name it, and its shape.
pub(super) fn leaves(keys: &[Key]) -> Vec<(String, Shape)> {
    let mut leaves = Vec::new();
    for key in keys {
        match &key.shape {
            Shape::Section(inner) | Shape::List(inner) => {
                let inner = self::leaves(inner).into_iter();
                leaves.extend(inner.map(|(name, shape)| (format!("{}.{name}", key.name), shape)));
            }
            shape => leaves.push((key.name.to_owned(), shape.clone())),
        }
    }
    leaves
}

/// The environment variable of a key: `http.listen` is `EVENKEEL_HTTP_LISTEN`; the keys
/// of the only group go without their section (`EVENKEEL_CONFIG_TOPIC`).
pub(super) fn variable(key: &str) -> String {
    let key = key.strip_prefix("groups.").unwrap_or(key);
    format!("{PREFIX}{}", key.replace('.', "_").to_uppercase())
}

/// The overrides that environment variables make. Those that Kubernetes sets for a
/// service called evenkeel are not ours.
pub(super) fn from_env(
    vars: &[(String, String)],
    keys: &[Key],
    mistakes: &mut Vec<Mistake>,
) -> Vec<Override> {
    let leaves = leaves(keys);
    let named: Vec<_> = leaves.iter().map(|(key, _)| (variable(key), key)).collect();
    let mut overrides = Vec::new();
    let ours = vars.iter().filter(|(name, _)| name.starts_with(PREFIX));
    for (name, value) in ours.filter(|(name, _)| name != FILE_VARIABLE && !is_service(name)) {
        let key = match named.iter().find(|(variable, _)| variable == name) {
            Some((_, key)) => Some((*key).clone()),
            None => name
                .strip_prefix(PROPERTIES_PREFIX)
                .filter(|rest| !rest.is_empty())
                .map(|rest| format!("kafka.properties.{}", rest.to_lowercase().replace('_', "."))),
        };
        match key {
            Some(key) => overrides.push(Override {
                key,
                value: value.clone(),
                origin: name.clone(),
            }),
            None => {
                let known = named.iter().map(|(variable, _)| variable.as_str());
                mistakes.push(unknown(name, "the name of a key", nearest(name, known)));
            }
        }
    }
    overrides
}

/// `EVENKEEL_SERVICE_HOST`, `EVENKEEL_PORT_9790_TCP_ADDR` and the like.
fn is_service(name: &str) -> bool {
    let rest = name.strip_prefix(PREFIX).unwrap_or(name);
    let is_port = rest == "PORT" || rest.starts_with("PORT_");
    let is_named = [
        "SERVICE_HOST",
        "SERVICE_PORT",
        "_TCP_ADDR",
        "_TCP_PORT",
        "_TCP_PROTO",
    ];
    is_port || is_named.iter().any(|part| rest.contains(part))
}

/// Puts one override into the tree of values.
pub(super) fn put(root: &mut Value, over: &Override, keys: &[Key], mistakes: &mut Vec<Mistake>) {
    let (maps, leaves): (Vec<_>, Vec<_>) = leaves(keys)
        .into_iter()
        .partition(|(_, shape)| matches!(shape, Shape::Map));
    let in_map = maps.iter().find_map(|(map, _)| {
        let name = over.key.strip_prefix(map.as_str())?.strip_prefix('.')?;
        let (outer, inner) = map.split_once('.')?;
        (!name.is_empty()).then_some((outer, inner, name))
    });
    if over.key.is_empty() {
        mistakes.push(Mistake {
            origin: Some(over.origin.clone()),
            ..Mistake::new("", "a value without a key", "KEY=VALUE")
        });
        return;
    }
    let known = leaves.iter().any(|(key, _)| *key == over.key);
    if !known && in_map.is_none() {
        let mistake = several(&over.key, &maps, &leaves).unwrap_or_else(|| {
            let known = leaves.iter().map(|(key, _)| key.as_str());
            unknown(&over.key, "a key", nearest(&over.key, known))
        });
        mistakes.push(Mistake {
            origin: Some(over.origin.clone()),
            ..mistake
        });
        return;
    }
    let value = Value::String(over.value.clone());
    let placed = if let Some((outer, inner, name)) = in_map {
        section(root, outer)
            .and_then(|outer| section(outer, inner))
            .map(|map| (map, name))
    } else if let Some(name) = over.key.strip_prefix("groups.") {
        match only_group(root) {
            Ok(group) => group.map(|group| (group, name)),
            Err(count) => {
                let found = format!("{count} groups in the file");
                let expected = "one, where a flag or a variable names a key of the only group";
                mistakes.push(Mistake {
                    origin: Some(over.origin.clone()),
                    ..Mistake::new(over.key.clone(), found, expected)
                });
                None
            }
        }
    } else {
        over.key
            .split_once('.')
            .and_then(|(name, key)| Some((section(root, name)?, key)))
    };
    // Where the file has something else than a section, that mistake is told later.
    if let Some((Value::Mapping(map), name)) = placed {
        map.insert(Value::String(name.to_owned()), value);
    }
}

/// What is wrong with a key that holds several: a map, or a section.
fn several(key: &str, maps: &[(String, Shape)], leaves: &[(String, Shape)]) -> Option<Mistake> {
    let key = key.trim_end_matches('.');
    if maps.iter().any(|(map, _)| map == key) {
        let expected = format!("one value of it, as {key}.NAME=VALUE");
        return Some(Mistake::new(key, "a map", expected));
    }
    let is_in = |(leaf, _): &&(String, Shape)| {
        leaf.strip_prefix(key)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    let (leaf, _) = leaves.iter().find(is_in)?;
    let expected = format!("one key of it, as {leaf}=VALUE");
    Some(Mistake::new(key, "a section", expected))
}

fn unknown(name: &str, expected: &str, near: Option<&str>) -> Mistake {
    let mistake = Mistake::new(name, "nothing of that name", expected);
    match near {
        Some(near) => mistake.hint(format!("did you mean {near}?")),
        None => mistake,
    }
}

/// The section of that name, made where there is none.
fn section<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let Value::Mapping(map) = value else {
        return None;
    };
    let entry = map.entry(Value::String(name.to_owned()));
    let section = entry.or_insert_with(|| Value::Mapping(Mapping::new()));
    if section.is_null() {
        *section = Value::Mapping(Mapping::new());
    }
    Some(section)
}

/// The only group, made where there is none; nothing where the file has no list there;
/// how many there are where there are several.
fn only_group(root: &mut Value) -> Result<Option<&mut Value>, usize> {
    let Value::Mapping(map) = root else {
        return Ok(None);
    };
    let groups = map
        .entry(Value::String("groups".to_owned()))
        .or_insert(Value::Null);
    if groups.is_null() {
        *groups = Value::Sequence(Vec::new());
    }
    let Value::Sequence(groups) = groups else {
        return Ok(None);
    };
    if groups.is_empty() {
        groups.push(Value::Mapping(Mapping::new()));
    }
    match groups.as_mut_slice() {
        [only] => Ok(Some(only)),
        several => Err(several.len()),
    }
}

#[cfg(test)]
mod tests;
