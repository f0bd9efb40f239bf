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
            Ok(pairs) => headers.extend(
                pairs
                    .into_iter()
                    .map(|(name, value)| (name.to_ascii_lowercase(), Secret::new(value))),
            ),
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
        for (name, value) in &headers {
            if !is_header(name, value) {
                noted.wrong(wrong(&said.path, name), Then::NotSent);
            }
        }
    }
    let (resolved, unresolved) = set.map().looked_up(lookup.env);
    for mistake in unresolved {
        let path = mistake
            .path
            .replacen("kafka.properties", "traces.headers", 1);
        noted.wrong(Mistake { path, ..mistake }, Then::NotSent);
    }
    for (name, value) in resolved {
        let name = name.to_ascii_lowercase();
        if !is_header(&name, &value) {
            noted.wrong(wrong("traces.headers", &name), Then::NotSent);
        }
        headers.insert(name, value);
    }
    headers
}

fn wrong(path: &str, name: &str) -> Mistake {
    let found = format!("a header {} that cannot be sent", quoted(name));
    let expected = "letters, digits, dashes and the like as its name, one line of plain text as \
                    its value, and none that OTLP sets itself";
    Mistake::new(path, found, expected)
}

/// Whether a header can be sent (RFC 9110, 5.1 and 5.5), and is not one of the transport's own.
fn is_header(name: &str, value: &Secret) -> bool {
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
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_text = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte);
    !name.is_empty()
        && name.bytes().all(is_token)
        && !OURS.contains(&name)
        && value.expose().bytes().all(is_text)
}
