//! Holds the values against the shape of the tree: unknown keys, and values of another
//! kind, all of them. What is wrong is taken out, so that the rest can be looked at.

use serde_yaml::{Mapping, Value};

use super::describe::{Key, Shape};
use super::mistake::{Mistake, nearest, quoted};

/// Checks a section. Keys without a value count as not there.
pub(super) fn section(value: &mut Value, keys: &[Key], path: &str, mistakes: &mut Vec<Mistake>) {
    let map = match value {
        Value::Mapping(map) => map,
        Value::Null => return,
        other => {
            let names: Vec<_> = keys.iter().map(|key| key.name).collect();
            let expected = format!("keys: {}", names.join(", "));
            mistakes.push(Mistake::new(path, kind(other), expected));
            *other = Value::Null;
            return;
        }
    };
    map.retain(|_, value| !value.is_null());
    unknown_keys(map, keys, path, mistakes);
    for key in keys {
        let Some(value) = map.get_mut(key.name) else {
            continue;
        };
        if !of_shape(value, &key.shape, &join(path, key.name), mistakes) {
            map.remove(key.name);
        }
    }
}

fn unknown_keys(map: &mut Mapping, keys: &[Key], path: &str, mistakes: &mut Vec<Mistake>) {
    map.retain(|name, _| {
        let name = match name {
            Value::String(name) => name.as_str(),
            other => {
                mistakes.push(Mistake::new(
                    path,
                    format!("{} as a key", kind(other)),
                    "a name",
                ));
                return false;
            }
        };
        if keys.iter().any(|key| key.name == name) {
            return true;
        }
        let names = keys.iter().map(|key| key.name);
        let mistake = Mistake::new(join(path, name), "an unknown key", "a key of the reference");
        mistakes.push(match nearest(name, names.clone()) {
            Some(near) => mistake.hint(format!("did you mean {near}?")),
            None => mistake.hint(format!(
                "there are {}",
                names.collect::<Vec<_>>().join(", ")
            )),
        });
        false
    });
}

/// Whether the value has the shape, after what is wrong inside was taken out.
fn of_shape(value: &mut Value, shape: &Shape, path: &str, mistakes: &mut Vec<Mistake>) -> bool {
    match (shape, &mut *value) {
        (Shape::Section(keys), _) => {
            section(value, keys, path, mistakes);
            !value.is_null()
        }
        (Shape::List(keys), Value::Sequence(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                section(item, keys, &format!("{path}[{index}]"), mistakes);
                if item.is_null() {
                    *item = Value::Mapping(Mapping::new());
                }
            }
            true
        }
        (Shape::Map, Value::Mapping(map)) => {
            map.retain(|name, value| property(name, value, path, mistakes));
            true
        }
        (Shape::Text, Value::String(_)) => true,
        (Shape::Word(words), Value::String(word)) => {
            let is_known = words.contains(&word.as_str());
            if !is_known {
                let expected = format!("one of {}", words.join(", "));
                let mistake = Mistake::new(path, quoted(word), expected);
                let near = nearest(word, words.iter().copied());
                mistakes.push(match near {
                    Some(near) => mistake.hint(format!("did you mean {near}?")),
                    None => mistake,
                });
            }
            is_known
        }
        (Shape::Number, Value::String(text)) => match text.parse::<u64>() {
            Ok(number) => {
                *value = Value::Number(number.into());
                true
            }
            Err(_) => {
                mistakes.push(Mistake::new(path, quoted(text), "a whole number"));
                false
            }
        },
        (Shape::Switch, Value::String(text)) => match text.parse::<bool>() {
            Ok(is_on) => {
                *value = Value::Bool(is_on);
                true
            }
            Err(_) => {
                mistakes.push(Mistake::new(path, quoted(text), "true or false"));
                false
            }
        },
        (shape, other) => {
            mistakes.push(Mistake::new(path, kind(other), wanted(shape)));
            false
        }
    }
}

/// A property of librdkafka. Its value is never shown, not even when it is wrong.
fn property(name: &Value, value: &Value, path: &str, mistakes: &mut Vec<Mistake>) -> bool {
    let Value::String(name) = name else {
        mistakes.push(Mistake::new(
            path,
            format!("{} as a key", kind(name)),
            "a property's name",
        ));
        return false;
    };
    let is_text = matches!(value, Value::String(_));
    if !is_text {
        mistakes.push(Mistake::new(join(path, name), kind(value), "a text"));
    }
    is_text
}

fn wanted(shape: &Shape) -> &'static str {
    match shape {
        Shape::Text | Shape::Word(_) => "a text",
        Shape::Number => "a whole number",
        Shape::Switch => "true or false",
        Shape::Map => "names with their values",
        Shape::Section(_) => "a section",
        Shape::List(_) => "a list",
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) | Value::Number(_) | Value::String(_) => "a text",
        Value::Sequence(_) => "a list",
        Value::Mapping(_) => "a section",
        Value::Tagged(_) => "a tagged value",
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
