//! Settings of one worker while a file is read: a name, a text, and where it stands.

use std::collections::BTreeMap;

use evenkeel_core::checks::known::{Given, Unknown};
use evenkeel_core::checks::source::Source;
use serde_yaml::Value;

/// How a text refers to what is only known where the worker runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Dialect {
    /// Kafka's own `${provider:path:key}`.
    Kafka,
    /// `$NAME` and `${NAME}` of a shell or of Compose, `{{ … }}`, and Kafka's.
    Shell,
    /// `$(NAME)` of Kubernetes and `{{ … }}` of Helm, and Kafka's.
    Kubernetes,
}

/// The settings so far.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) map: BTreeMap<String, Given>,
}

// === impl Dialect ===

impl Dialect {
    /// The text, or why it is not known here.
    pub(super) fn text(self, text: &str) -> Result<String, Unknown> {
        let is_reference = match self {
            Self::Kafka => text.contains("${"),
            // `$$` is a plain dollar in Compose; `{{ … }}` is what Nomad and Consul fill in.
            Self::Shell => text.replace("$$", "").contains('$') || text.contains("{{"),
            Self::Kubernetes => ["${", "$(", "{{"].iter().any(|sign| text.contains(sign)),
        };
        if is_reference {
            Err(Unknown::Reference)
        } else {
            Ok(text.to_owned())
        }
    }
}

// === impl Settings ===

impl Settings {
    pub(super) fn put(
        &mut self,
        name: impl Into<String>,
        text: Result<String, Unknown>,
        source: Source,
    ) {
        let given = Given {
            text,
            source,
            variable: None,
        };
        self.map.insert(name.into(), given);
    }

    /// What a variable sets.
    pub(super) fn put_variable(
        &mut self,
        name: &str,
        variable: &str,
        text: Result<String, Unknown>,
        source: Source,
    ) {
        let given = Given {
            text,
            source,
            variable: Some(variable.to_owned()),
        };
        self.map.insert(name.to_owned(), given);
    }

    /// Only where nothing stands yet.
    pub(super) fn put_default(&mut self, name: &str, text: &str, source: Source) {
        self.map
            .entry(name.to_owned())
            .or_insert_with(|| Given::new(text, source));
    }

    /// Set by something that is not read, unless it stands there already.
    pub(super) fn put_unknown(&mut self, name: &str, source: Source) {
        let text = Err(Unknown::Reference);
        self.map.entry(name.to_owned()).or_insert(Given {
            text,
            source,
            variable: None,
        });
    }
}

/// A line of a file.
pub(super) fn at(file: &str, line: Option<usize>) -> Source {
    Source::File {
        file: file.to_owned(),
        line,
    }
}

/// A scalar as text; null is what is set elsewhere.
pub(super) fn scalar(value: &Value, dialect: Dialect) -> Option<Result<String, Unknown>> {
    match value {
        Value::String(text) => Some(dialect.text(text)),
        Value::Null => Some(Err(Unknown::Reference)),
        _ => None,
    }
}

/// Whether a section says something under that key.
pub(super) fn is_there(section: &Value, key: &str) -> bool {
    section.get(key).is_some_and(|value| !value.is_null())
}

/// A text in a section.
pub(super) fn text<'a>(section: &'a Value, key: &str) -> Option<&'a str> {
    section.get(key)?.as_str()
}
