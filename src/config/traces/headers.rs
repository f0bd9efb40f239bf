//! Headers that are sent along: those of OpenTelemetry's variables, and over them those of the
//! section `traces`. One that is not sent would be missed: a receiver may take spans for those
//! of another tenant.

use std::collections::BTreeMap;

use super::lookup::{Lookup, variables};
use super::noted::{Noted, Then};
use super::pairs;
use crate::config::Headers;
use crate::config::mistake::{Mistake, quoted};
use crate::config::secret::Secret;

pub(super) fn read(
    lookup: &Lookup<'_>,
    set: &Headers,
    noted: &mut Noted,
) -> BTreeMap<String, Secret> {
    let mut headers = BTreeMap::new();
    if let Some(said) = lookup.first(&variables("HEADERS")) {
        match pairs::read(&said.value) {
            Ok(pairs) => {
                for (index, (name, value)) in pairs.into_iter().enumerate() {
                    let (name, value) = (name.to_ascii_lowercase(), Secret::new(value));
                    if !is_header(&name, &value) {
                        // Where a comma stands in a value, the rest of it looks like a name.
                        let is_name = OURS.contains(&name.as_str());
                        let found = found(is_name.then_some(name.as_str()), Some(index + 1));
                        noted.wrong(wrong(&said.path, found), Then::NotSent);
                    }
                    headers.insert(name, value);
                }
            }
            // What is wrong may be a secret.
            Err(nth) => {
                let found = format!("something else in place {nth} [hidden]");
                let expected = "NAME=VALUE, separated by commas";
                noted.wrong(
                    Mistake::new(said.path.as_str(), found, expected),
                    Then::NotSent,
                );
            }
        }
    }
    let (resolved, unresolved) = set.map().looked_up(lookup.env);
    for mistake in unresolved {
        let name = mistake.path.strip_prefix("kafka.properties.");
        let path = match name.filter(|name| is_token(name)) {
            Some(name) => format!("traces.headers.{name}"),
            None => "traces.headers".to_owned(),
        };
        noted.wrong(Mistake { path, ..mistake }, Then::NotSent);
    }
    for (name, value) in resolved {
        let name = name.to_ascii_lowercase();
        if !is_header(&name, &value) {
            // A key with a blank or a colon in it is a whole header, with its value.
            let found = found(is_token(&name).then_some(name.as_str()), None);
            noted.wrong(wrong("traces.headers", found), Then::NotSent);
        }
        headers.insert(name, value);
    }
    headers
}

/// A header that cannot be sent, by its name where that is surely no secret.
fn found(name: Option<&str>, place: Option<usize>) -> String {
    match (name, place) {
        (Some(name), _) => format!("a header {} that cannot be sent", quoted(name)),
        (None, Some(place)) => format!("something else in place {place} [hidden]"),
        (None, None) => "a header [hidden] that cannot be sent".to_owned(),
    }
}

fn wrong(path: &str, found: String) -> Mistake {
    let expected = "letters, digits, dashes and the like as its name, one line of plain text as \
                    its value, and none that OTLP sets itself";
    Mistake::new(path, found, expected)
}

/// The transport's own.
const OURS: [&str; 9] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "grpc-encoding",
    "grpc-timeout",
    "host",
    "te",
    "transfer-encoding",
];

/// Whether a header may be called so (RFC 9110, 5.1).
fn is_token(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_letter)
}

/// Whether a header can be sent (RFC 9110, 5.1 and 5.5), and is not one of the transport's own.
fn is_header(name: &str, value: &Secret) -> bool {
    let is_text = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte);
    is_token(name) && !OURS.contains(&name) && value.expose().bytes().all(is_text)
}
