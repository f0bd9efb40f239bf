//! From a Java client's connection settings to librdkafka's: what the agent connects with,
//! each property with where it comes from. What `kafka.properties` sets is not translated,
//! so that it is a way around everything that is refused here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::security::{self, Verdict};
use super::settings::{Lookup, Settings};
use super::{sasl, tls};
use crate::config::secret::Secret;
use crate::config::validate::is_broker;

/// What a worker's settings make of a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::config) struct Translated {
    /// Properties of librdkafka, and where each comes from.
    pub(in crate::config) properties: BTreeMap<String, (Secret, String)>,
    /// A file with the token of OAUTHBEARER, and where it is named.
    pub(in crate::config) token_file: Option<(PathBuf, String)>,
}

/// What a person set besides, which goes over the worker's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Over<'a> {
    /// `kafka.properties`, looked up.
    pub(super) properties: &'a BTreeMap<String, Secret>,
    /// Whether `kafka.token_file` is set.
    pub(super) has_token_file: bool,
    /// Whether `kafka.bootstrap` is set.
    pub(super) has_brokers: bool,
}

// === impl Over ===

impl Over<'_> {
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.properties.contains_key(*name))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(Secret::expose)
    }
}

// === impl Translated ===

impl Translated {
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>, source: &str) {
        let value = (Secret::new(value), source.to_owned());
        self.properties.insert(name.to_owned(), value);
    }
}

/// Translates what decides the connection.
pub(super) fn translate(settings: &mut Settings<'_>, over: Over<'_>) -> Translated {
    let mut out = Translated::default();
    if !over.has_brokers {
        brokers(settings, &mut out);
    }
    let Some(protocol) = protocol(settings, over, &mut out) else {
        return out;
    };
    let has_tls = protocol.ends_with("ssl");
    let has_sasl = protocol.starts_with("sasl_");
    refuse(settings, over, has_tls, has_sasl);
    if has_tls {
        tls::translate(settings, over, &mut out);
    }
    if has_sasl {
        sasl::translate(settings, over, &mut out);
    }
    out
}

/// The brokers to begin with. Java takes `PROTOCOL://host:port`, too, and looks at host and
/// port alone.
fn brokers(settings: &mut Settings<'_>, out: &mut Translated) {
    const NAME: &str = "bootstrap.servers";
    let Some(found) = settings.text(NAME) else {
        return;
    };
    let brokers = found.text().split(',').map(str::trim);
    let plain = brokers.filter(|broker| !broker.is_empty()).map(|broker| {
        let (_, plain) = broker.split_once("://").unwrap_or(("", broker));
        plain
    });
    let plain: Vec<_> = plain.collect();
    if plain.is_empty() || !plain.iter().all(|broker| is_broker(broker)) {
        let hint = "a value may hold what it should not, so it is not shown";
        settings.wrong(NAME, "what is no list of brokers", "host:port,…", hint);
        return;
    }
    out.set(NAME, plain.join(","), &found.source);
}

/// The protocol in force, in small letters; `None` where it is wrong.
fn protocol(settings: &mut Settings<'_>, over: Over<'_>, out: &mut Translated) -> Option<String> {
    const NAME: &str = "security.protocol";
    if let Some(protocol) = over.get(NAME) {
        return Some(protocol.to_lowercase());
    }
    let found = match settings.look(NAME) {
        Lookup::Absent => None,
        Lookup::Broken => return None,
        Lookup::Found(found) => Some(found),
    };
    let protocol = found
        .as_ref()
        .map_or("plaintext".to_owned(), |found| found.text().to_lowercase());
    let known = ["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"];
    if !known.contains(&protocol.as_str()) {
        let expected = "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL";
        settings.wrong(NAME, "another protocol", expected, "");
        return None;
    }
    if let Some(found) = &found {
        out.set(NAME, protocol.as_str(), &found.source);
    }
    if !protocol.starts_with("sasl_") {
        let login = ["sasl.jaas.config", "sasl.mechanism"];
        if let Some(name) = login.into_iter().find(|name| settings.is_set(name)) {
            let found = format!("a login, and security.protocol {}", protocol.to_uppercase());
            let hint = "set security.protocol; \
                 where nobody logs in, set kafka.properties.security.protocol to say so";
            settings.wrong(name, &found, "SASL_SSL or SASL_PLAINTEXT", hint);
        }
    }
    Some(protocol)
}

/// Refuses what the table refuses, where it matters and nothing else is set instead.
fn refuse(settings: &mut Settings<'_>, over: Over<'_>, has_tls: bool, has_sasl: bool) {
    for (name, verdict) in security::SETTINGS {
        let Verdict::Refused(instead) = verdict else {
            continue;
        };
        let matters = if name.starts_with("ssl.") {
            has_tls && !over.has_any(&tls::TRUST)
        } else {
            has_sasl
        };
        if !matters {
            continue;
        }
        let Some(found) = settings.text(name) else {
            continue;
        };
        if found.text() != tls::ENGINE_DEFAULT {
            settings.wrong(
                name,
                "a Java class",
                "none, since it cannot be loaded here",
                instead,
            );
        }
    }
}

#[cfg(test)]
mod tests;
