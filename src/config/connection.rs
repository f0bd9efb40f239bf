//! The connection of each group, everything looked up: what its worker says, over that
//! `kafka.bootstrap`, `kafka.properties` and `kafka.token_file`. And whether it makes sense.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::groups::{Origin, Workers};
use super::mistake::Mistake;
use super::properties::{Judge, Properties, path};
use super::tree::{KafkaTree, Tree};
use super::typed::{Config, ConnectionConfig};
use super::worker::{Worker, principal};

/// Properties of a login with a mechanism, in the order in which they are told.
const LOGIN: [&str; 4] = [
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.username",
    "sasl.password",
];

/// Fills in the connection of every group.
pub(super) fn complete(
    config: &mut Config,
    tree: &Tree,
    workers: &Workers,
    env: &dyn Fn(&str) -> Option<String>,
) {
    for (index, group) in config.groups.iter_mut().enumerate() {
        let worker = workers.get(index);
        group.connection = connection(&tree.kafka, worker, env);
        let ConnectionConfig {
            properties,
            token_file,
        } = &group.connection;
        group.principal = principal::of(properties, token_file.as_deref());
        group.certificate_expires_seconds = principal::expires_seconds(properties);
        let read = worker.map_or(&[][..], |worker| &worker.files);
        let mut files: BTreeSet<PathBuf> = read.iter().cloned().collect();
        files.extend(named(&tree.kafka.properties, properties));
        files.extend(token_file.clone());
        group.files = files.into_iter().collect();
        let offset_topic = worker.and_then(|worker| worker.offset_topic.as_ref());
        group.offset_storage_topic = offset_topic.map(|given| given.value.clone());
        group.worker_settings = worker.map_or(Vec::new(), |worker| {
            [&worker.timings[..], &worker.odd[..]].concat()
        });
    }
}

/// What is wrong with the connections as a whole, before a client is made of them. Where
/// a part of one is wrong already, only the others are looked at.
pub(super) fn mistakes(
    tree: &Tree,
    workers: &Workers,
    env: &dyn Fn(&str) -> Option<String>,
) -> Vec<Mistake> {
    let mut found: Vec<Mistake> = Vec::new();
    let count = tree.groups.len().max(1);
    for index in 0..count {
        let worker = workers.get(index);
        if worker.is_some_and(|worker| worker.has_mistakes) {
            continue;
        }
        let connection = connection(&tree.kafka, worker, env);
        for mistake in of_login(&tree.kafka, &connection) {
            if !found.contains(&mistake) {
                found.push(mistake);
            }
        }
    }
    if let Some(file) = &tree.kafka.token_file {
        let read = super::worker::properties_file::readable(file.as_ref());
        if let Err(what) = read {
            let told = format!("{file}: {what}");
            found.push(Mistake::new(
                "kafka.token_file",
                told,
                "a file with the token",
            ));
        }
    }
    found
}

fn of_login(kafka: &KafkaTree, connection: &ConnectionConfig) -> Vec<Mistake> {
    let get = |name: &str| connection.properties.get(name).map(|value| value.expose());
    let protocol = get("security.protocol").unwrap_or_default().to_lowercase();
    let mechanism = get("sasl.mechanism").or(get("sasl.mechanisms"));
    let mut mistakes = Vec::new();
    let is_own = |name: &&&str| kafka.properties.iter().any(|(own, _)| own == **name);
    // A protocol that is none is told as such.
    if matches!(protocol.as_str(), "" | "plaintext" | "ssl") {
        // What a worker says of a login without such a protocol is told where it is read.
        if let Some(name) = LOGIN.iter().find(is_own) {
            let found = "a login, and security.protocol without SASL";
            let mistake = Mistake::new(path(name), found, "a security.protocol that logs in");
            let hint = "set kafka.properties.security.protocol to sasl_ssl or sasl_plaintext";
            mistakes.push(mistake.hint(hint));
        }
    }
    let takes_token = protocol.starts_with("sasl_")
        && mechanism.is_some_and(|mechanism| mechanism.eq_ignore_ascii_case("OAUTHBEARER"));
    if kafka.token_file.is_some() && !takes_token {
        let found = "a token, and a connection that takes none";
        let expected = "security.protocol sasl_ssl with sasl.mechanism OAUTHBEARER";
        let mistake = Mistake::new("kafka.token_file", found, expected);
        mistakes.push(mistake.hint("set both in kafka.properties"));
    }
    mistakes
}

/// What librdkafka says of connections that a worker has a part in. Its reasons hold no
/// value.
pub(super) fn judged(config: &Config, workers: &Workers, judge: Judge) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for (index, group) in config.groups.iter().enumerate() {
        let Some(worker) = workers.get(index) else {
            continue;
        };
        for (name, why) in judge(&group.connection) {
            let key = format!("groups[{index}].worker_properties");
            let translated = name
                .as_ref()
                .and_then(|name| worker.connection.properties.get(name));
            let mistake = match (&name, translated) {
                (Some(name), Some((_, source))) => Mistake {
                    origin: Some(source.clone()),
                    ..Mistake::new(
                        key,
                        format!("what makes {name} wrong"),
                        "what librdkafka takes",
                    )
                },
                // One of kafka.properties, which holds alone and not with the others.
                (Some(name), None) => Mistake::new(
                    path(name),
                    "what librdkafka does not take",
                    "one of its properties, with a value that fits",
                ),
                (None, _) => Mistake::new(
                    key,
                    "settings that do not fit together",
                    "what librdkafka makes a client of",
                ),
            };
            let mistake = mistake.hint(why);
            // Several groups have it from the same place.
            if !mistakes.contains(&mistake) {
                mistakes.push(mistake);
            }
        }
    }
    mistakes
}

/// Where the parts of each group's connection and its worker's clocks were read.
pub(super) fn origins(config: &Config, tree: &Tree, workers: &Workers) -> Vec<Origin> {
    let mut origins = Vec::new();
    let own = &tree.kafka.properties;
    for (index, group) in config.groups.iter().enumerate() {
        let Some(worker) = workers.get(index) else {
            continue;
        };
        for (name, value) in &group.connection.properties {
            let is_own = own.iter().any(|(own, _)| own == name);
            let is_bootstrap = name == "bootstrap.servers" && !tree.kafka.bootstrap.is_empty();
            let source = match worker.connection.properties.get(name) {
                _ if is_own => "kafka.properties".to_owned(),
                _ if is_bootstrap => "kafka.bootstrap".to_owned(),
                Some((_, source)) => source.clone(),
                None => continue,
            };
            origins.push(Origin {
                key: format!("groups[{index}]: {name}"),
                value: Some(Properties::shown(name, value).to_owned()),
                source,
            });
        }
        if let (None, Some((file, source))) =
            (&tree.kafka.token_file, &worker.connection.token_file)
        {
            origins.push(Origin {
                key: format!("groups[{index}]: token file"),
                value: Some(file.display().to_string()),
                source: source.clone(),
            });
        }
        for setting in &worker.timings {
            origins.push(Origin {
                key: format!("groups[{index}]: {}", setting.name),
                value: Some(setting.value.clone()),
                source: setting.source.clone(),
            });
        }
    }
    origins
}

fn connection(
    kafka: &KafkaTree,
    worker: Option<&Worker>,
    env: &dyn Fn(&str) -> Option<String>,
) -> ConnectionConfig {
    let mut connection = ConnectionConfig::default();
    if let Some(worker) = worker {
        let translated = worker.connection.properties.iter();
        let plain = translated.map(|(name, (value, _))| (name.clone(), value.clone()));
        connection.properties.extend(plain);
        let file = worker.connection.token_file.as_ref();
        connection.token_file = file.map(|(file, _)| file.clone());
    }
    if !kafka.bootstrap.is_empty() {
        let brokers = super::secret::Secret::new(kafka.bootstrap.as_str());
        connection
            .properties
            .insert("bootstrap.servers".to_owned(), brokers);
    }
    let (own, _) = kafka.properties.looked_up(env);
    connection.properties.extend(own);
    if let Some(file) = &kafka.token_file {
        connection.token_file = Some(PathBuf::from(file));
    }
    connection
}

/// The files that properties name, or whose contents a reference puts into them.
fn named(
    own: &Properties,
    resolved: &std::collections::BTreeMap<String, super::secret::Secret>,
) -> Vec<PathBuf> {
    let locations = resolved
        .iter()
        .filter(|(name, value)| name.ends_with(".location") && value.expose() != "probe");
    let locations = locations.map(|(_, value)| PathBuf::from(value.expose()));
    own.files().into_iter().chain(locations).collect()
}

#[cfg(test)]
mod tests;
