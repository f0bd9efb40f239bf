//! Headers that are sent along: a map like that of librdkafka's properties, of which no value
//! is shown, whatever a header is called.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::describe::{Describe, Shape};
use super::properties::{Properties, is_reference};
use super::secret::HIDDEN;

/// Names and values of headers, as written.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Headers(Properties);

// === impl Headers ===

impl Headers {
    /// The map they are kept in.
    pub(super) fn map(&self) -> &Properties {
        &self.0
    }

    /// Each with what may be seen of its value: where it is, never what it is.
    fn shown(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| {
            let value = value.expose();
            (name, if is_reference(value) { value } else { HIDDEN })
        })
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.shown()).finish()
    }
}

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.shown())
    }
}

impl Describe for Headers {
    fn shape() -> Shape {
        Properties::shape()
    }

    fn shown(&self) -> Option<String> {
        self.0.shown()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a property of that name the value may be seen.
    #[test]
    fn no_header_is_shown_by_its_name() {
        let headers: Headers = [
            ("client.id", "k-1"),
            ("debug", "${env:A}k-2${env:B}"),
            ("authorization", "${file:/run/k}"),
        ]
        .into_iter()
        .collect();
        let told = format!("{headers:?} {}", serde_json::to_string(&headers).unwrap());
        assert!(!told.contains("k-1") && !told.contains("k-2"), "{told}");
        assert_eq!(told.matches("${file:/run/k}").count(), 2);
    }
}
