//! The map of librdkafka properties: duplicates are errors, values are secrets, and
//! `${env:NAME}` and `${file:/path}` are looked up when they are needed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::describe::{Describe, Shape};
use super::file;
use super::mistake::Mistake;
use super::secret::{HIDDEN, Secret};
use super::tree::KafkaTree;
use super::typed::ConnectionConfig;

/// Names of properties whose values may be shown: how the agent connects, not with
/// what. A name that is not here is hidden.
const OPEN: [&str; 16] = [
    "bootstrap.servers",
    "broker.address.family",
    "client.id",
    "debug",
    "enable.sasl.oauthbearer.unsecure.jwt",
    "enable.ssl.certificate.verification",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.username",
    "security.protocol",
    "socket.timeout.ms",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.cipher.suites",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.location",
];

/// A secret is a line or a key, never a data set.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Whether the values of this property may be shown.
#[must_use]
pub fn is_open(name: &str) -> bool {
    OPEN.contains(&name)
}

/// Judges a connection as librdkafka would take it: which property will not do, or `None`
/// for all of them together, and why. The reasons hold no value.
pub type Judge = fn(&ConnectionConfig) -> Vec<(Option<String>, String)>;

/// Properties of librdkafka, as written. Their values are not shown unless they are
/// known to be harmless.
#[derive(Clone, Default, PartialEq)]
pub struct Properties {
    map: BTreeMap<String, Secret>,
}

// === impl Properties ===

impl Properties {
    /// Names and values as written, without anything looked up.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.map.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Names and values as librdkafka takes them, references looked up now: when the agent
    /// starts, and again when a file that the connections are made from has changed. A
    /// variable is what it was when the agent started.
    ///
    /// # Errors
    ///
    /// Every reference that leads nowhere.
    pub fn resolved(
        &self,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<BTreeMap<String, Secret>, Vec<Mistake>> {
        let (resolved, mistakes) = self.looked_up(env);
        if mistakes.is_empty() {
            Ok(resolved)
        } else {
            Err(mistakes)
        }
    }

    /// What `judge` says of those that are not in `told` already, and, where they are the
    /// `whole` that a connection is made from, of all together.
    pub(super) fn judged(
        &self,
        env: &dyn Fn(&str) -> Option<String>,
        judge: Judge,
        told: &[Mistake],
        whole: Option<&KafkaTree>,
    ) -> Vec<Mistake> {
        let is_told = |name: &str| told.iter().any(|mistake| mistake.path == path(name));
        let (mut resolved, _) = self.looked_up(env);
        resolved.retain(|name, _| !is_told(name));
        let all = whole.is_some() && resolved.len() == self.map.len();
        let token_file = whole.and_then(|kafka| kafka.token_file.as_ref());
        let connection = ConnectionConfig {
            properties: resolved,
            token_file: token_file.map(PathBuf::from),
        };
        let found = judge(&connection).into_iter();
        found
            .filter_map(|(name, why)| match name {
                Some(name) => Some(
                    Mistake::new(
                        path(&name),
                        "what librdkafka does not take",
                        "one of its properties, with a value that fits",
                    )
                    .hint(why),
                ),
                // Whether they fit together can only be said of all of them.
                None => all.then(|| {
                    Mistake::new(
                        "kafka.properties",
                        "properties that do not fit together",
                        "what librdkafka makes a client of",
                    )
                    .hint(why)
                }),
            })
            .collect()
    }

    /// What the references lead to, and those that lead nowhere.
    pub(super) fn looked_up(
        &self,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> (BTreeMap<String, Secret>, Vec<Mistake>) {
        let mut mistakes = Vec::new();
        let mut resolved = BTreeMap::new();
        for (name, value) in self.iter() {
            match expand(value.expose(), env) {
                Ok(value) => {
                    resolved.insert(name.to_owned(), Secret::new(value));
                }
                Err(Reference { found, expected }) => {
                    mistakes.push(Mistake::new(path(name), found, expected));
                }
            }
        }
        (resolved, mistakes)
    }

    /// The files whose contents a reference puts into a value.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for value in self.map.values() {
            let parts = value.expose().split("${file:").skip(1);
            let ends = parts.filter_map(|part| part.split_once('}'));
            files.extend(ends.map(|(file, _)| PathBuf::from(file)));
        }
        files
    }

    /// The value, if it may be seen.
    pub(super) fn shown<'a>(name: &str, value: &'a Secret) -> &'a str {
        if is_open(name) || is_reference(value.expose()) {
            value.expose()
        } else {
            HIDDEN
        }
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Properties {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let pairs = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), Secret::new(value)));
        Self {
            map: pairs.collect(),
        }
    }
}

impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(
                self.iter()
                    .map(|(name, value)| (name, Self::shown(name, value))),
            )
            .finish()
    }
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.iter()
                .map(|(name, value)| (name, Self::shown(name, value))),
        )
    }
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Pairs)
    }
}

/// Reads the map itself, because a derived one keeps the last of two equal names.
#[derive(Debug)]
struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Properties;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names of librdkafka properties with their values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Properties, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((name, Scalar(value))) = pairs.next_entry::<String, Scalar>()? {
            if map.insert(name.clone(), Secret::new(value)).is_some() {
                return Err(A::Error::custom(format!("property {name} is set twice")));
            }
        }
        Ok(Properties { map })
    }
}

/// A scalar of any kind as its text: `1000` and `true` need no quotes.
#[derive(Debug)]
struct Scalar(String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde_yaml::Value;
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            Value::Bool(truth) => Ok(Self(truth.to_string())),
            Value::Number(number) => Ok(Self(number.to_string())),
            Value::Null => Err(D::Error::custom("invalid type: nothing, expected a text")),
            _ => Err(D::Error::custom(
                "invalid type: a map or a list, expected a text",
            )),
        }
    }
}

impl Describe for Properties {
    fn shape() -> Shape {
        Shape::Map
    }

    fn shown(&self) -> Option<String> {
        None
    }
}

/// Whether a value is a reference and nothing else: it tells where a secret is, not what it is.
pub(super) fn is_reference(value: &str) -> bool {
    value.starts_with("${") && value.find('}') == Some(value.len() - 1)
}

/// The path of a property in messages.
pub(super) fn path(name: &str) -> String {
    format!("kafka.properties.{name}")
}

/// A reference that leads nowhere. Says where it leads, never what is there.
#[derive(Debug, PartialEq, Eq)]
struct Reference {
    found: String,
    expected: String,
}

fn expand(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, Reference> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let before = &rest[..start];
        let after = &rest[start + 2..];
        if let Some(before) = before.strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = after;
            continue;
        }
        out.push_str(before);
        let Some((reference, after)) = after.split_once('}') else {
            return Err(Reference {
                found: "a ${ without its }".to_owned(),
                expected: "${env:NAME} or ${file:/path}; $${ is a plain ${".to_owned(),
            });
        };
        out.push_str(&looked_up(reference, env)?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn looked_up(reference: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, Reference> {
    match reference.split_once(':') {
        Some(("env", name)) => env(name).ok_or_else(|| Reference {
            found: format!("a reference to {name}"),
            expected: "an environment variable that is set".to_owned(),
        }),
        Some(("file", path)) => file(path),
        _ => Err(Reference {
            found: "a reference of another kind".to_owned(),
            expected: "${env:NAME} or ${file:/path}; $${ is a plain ${".to_owned(),
        }),
    }
}

fn file(path: &str) -> Result<String, Reference> {
    let wrong = |what: String| Reference {
        found: format!("a reference to {path}"),
        expected: format!("a file that can be read: {what}"),
    };
    let bytes =
        file::bytes(Path::new(path), FILE_BYTES_MAX).map_err(|unread| wrong(unread.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("it holds no text".to_owned()))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests;
