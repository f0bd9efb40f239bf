//! From what a person wrote to what the agent runs on; every mistake is collected.
//! Each function takes its section apart key by key, so that a new key cannot be
//! forgotten here.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use super::mistake::{Mistake, Mistakes, quoted};
use super::properties::{Properties, path};
use super::tree::{
    GROUPS_MAX, GroupTree, HttpTree, KafkaTree, LogTree, MetricsTree, PrivacyTree, Tree,
};
use super::typed::{
    Config, GroupConfig, HttpConfig, KafkaConfig, LogConfig, MetricsConfig, PrivacyConfig,
};

/// Longest topic name (`org.apache.kafka.common.internals.Topic`).
const TOPIC_CHARS_MAX: usize = 249;
/// Room for the agent's own series and at least one group's.
const SERIES_MIN: usize = 1_000;
const SERIES_LIMIT: usize = 1_000_000;
const SUBJECTS_LIMIT: usize = 10_000;

/// Properties that the agent decides, or must not have, and why.
const REFUSED: [(&str, &str); 14] = [
    ("bootstrap.servers", "set kafka.bootstrap"),
    ("metadata.broker.list", "set kafka.bootstrap"),
    (
        "group.id",
        "the agent has one of its own, which never joins and never commits",
    ),
    ("group.instance.id", "the agent never joins a group"),
    ("group.protocol", "the agent never joins a group"),
    ("enable.auto.commit", "the agent never commits"),
    ("enable.auto.offset.store", "the agent never commits"),
    (
        "enable.partition.eof",
        "the agent decides how it finds the end of a topic",
    ),
    (
        "isolation.level",
        "each topic needs its own: offsets uncommitted, config committed",
    ),
    ("auto.offset.reset", "the agent decides where it reads"),
    ("auto.commit.enable", "the agent never commits"),
    (
        "client.rack",
        "a follower's end of the log is not the leader's, on which every proof rests",
    ),
    ("plugin.library.paths", "nothing is loaded into the agent"),
    (
        "allow.auto.create.topics",
        "the agent never changes the cluster",
    ),
];

/// Properties of Java clients that librdkafka does not take, and what to set instead.
const JAVA: [(&str, &str); 8] = [
    ("sasl.jaas.config", "set sasl.username and sasl.password"),
    (
        "ssl.truststore.location",
        "convert it to PEM and set ssl.ca.location",
    ),
    (
        "ssl.truststore.password",
        "a PEM file for ssl.ca.location has none",
    ),
    (
        "ssl.truststore.type",
        "convert it to PEM and set ssl.ca.location",
    ),
    ("ssl.truststore.certificates", "set ssl.ca.pem"),
    (
        "ssl.keystore.type",
        "ssl.keystore.location takes PKCS#12, ssl.key.location PEM",
    ),
    (
        "sasl.login.callback.handler.class",
        "a Java class cannot be loaded here",
    ),
    (
        "sasl.client.callback.handler.class",
        "a Java class cannot be loaded here",
    ),
];

/// Why the agent refuses a property of librdkafka: it would make the agent more than an
/// observer, or what it says untrue. `None` for all that a person may set.
#[must_use]
pub fn refused(property: &str) -> Option<&'static str> {
    if property.starts_with("test.mock.") {
        return Some("the agent watches a real cluster");
    }
    let refused = REFUSED.iter().find(|(refused, _)| *refused == property);
    refused.map(|(_, why)| *why)
}

/// Checks a tree.
///
/// # Errors
///
/// All mistakes, in the order of the tree.
pub fn validate(tree: &Tree, env: &dyn Fn(&str) -> Option<String>) -> Result<Config, Mistakes> {
    let mut mistakes = Vec::new();
    let Tree {
        kafka,
        groups,
        http,
        privacy,
        metrics,
        log,
    } = tree;
    let kafka = of_kafka(kafka, env, &mut mistakes);
    let groups = of_groups(groups, &mut mistakes);
    let http = of_http(http, &mut mistakes);
    let PrivacyTree {
        mask_names,
        mask_key_file,
    } = privacy;
    let metrics = of_metrics(metrics, &mut mistakes);
    let LogTree { level, format } = *log;
    match (mistakes.is_empty(), http) {
        (true, Some(http)) => Ok(Config {
            kafka,
            groups,
            http,
            privacy: PrivacyConfig {
                mask_names: *mask_names,
                mask_key_file: mask_key_file.clone(),
            },
            metrics,
            log: LogConfig { level, format },
        }),
        _ => Err(Mistakes(mistakes)),
    }
}

fn of_kafka(
    tree: &KafkaTree,
    env: &dyn Fn(&str) -> Option<String>,
    mistakes: &mut Vec<Mistake>,
) -> KafkaConfig {
    let KafkaTree {
        bootstrap,
        properties,
    } = tree;
    const PATH: &str = "kafka.bootstrap";
    if bootstrap.is_empty() {
        let expected = "at least one broker as host:port";
        let hint = "--bootstrap broker-1:9092";
        mistakes.push(Mistake::new(PATH, "nothing", expected).hint(hint));
    } else {
        let wrong = bootstrap
            .split(',')
            .map(str::trim)
            .filter(|broker| !is_broker(broker));
        // What stands before an @ is a password more often than not.
        let shown = |broker: &str| match broker.rsplit_once('@') {
            Some((_, rest)) => quoted(&format!("[hidden]@{rest}")),
            None => quoted(broker),
        };
        mistakes.extend(wrong.map(|broker| Mistake::new(PATH, shown(broker), "host:port")));
    }
    of_properties(properties, env, mistakes);
    KafkaConfig {
        bootstrap: bootstrap.clone(),
        properties: properties.clone(),
    }
}

fn of_properties(
    properties: &Properties,
    env: &dyn Fn(&str) -> Option<String>,
    mistakes: &mut Vec<Mistake>,
) {
    for (name, _) in properties.iter() {
        let java = JAVA.iter().find(|(java, _)| *java == name);
        if let Some(why) = refused(name) {
            let mistake = Mistake::new(path(name), "a value", "this property to be left alone");
            mistakes.push(mistake.hint(why));
        } else if let Some((_, instead)) = java {
            let mistake = Mistake::new(
                path(name),
                "a property of Java clients",
                "one of librdkafka",
            );
            mistakes.push(mistake.hint(*instead));
        }
    }
    if let Err(unresolved) = properties.resolved(env) {
        mistakes.extend(unresolved);
    }
}

fn of_groups(groups: &[GroupTree], mistakes: &mut Vec<Mistake>) -> Vec<GroupConfig> {
    if groups.is_empty() {
        let mistake = Mistake::new("groups", "nothing", "at least one Connect group");
        mistakes.push(mistake.hint(
            "--group connect-cluster --config-topic connect-configs --status-topic connect-status",
        ));
    }
    if groups.len() > GROUPS_MAX {
        let found = format!("{} groups", groups.len());
        mistakes.push(Mistake::new(
            "groups",
            found,
            format!("at most {GROUPS_MAX}"),
        ));
    }
    let mut seen = BTreeSet::new();
    for (index, tree) in groups.iter().enumerate() {
        if !tree.group.is_empty() && !seen.insert(tree.group.as_str()) {
            let path = format!("groups[{index}].group");
            let found = format!("{} again", quoted(&tree.group));
            mistakes.push(Mistake::new(path, found, "each group once"));
        }
    }
    let groups = groups.iter().enumerate();
    groups
        .map(|(index, tree)| of_group(index, tree, mistakes))
        .collect()
}

fn of_group(index: usize, tree: &GroupTree, mistakes: &mut Vec<Mistake>) -> GroupConfig {
    let GroupTree {
        group,
        config_topic,
        status_topic,
        offsets_topic,
        own_worker,
        worker_release,
    } = tree;
    let at = |key: &str| format!("groups[{index}].{key}");
    if group.is_empty() {
        let expected = "the workers' group.id";
        mistakes
            .push(Mistake::new(at("group"), "nothing", expected).hint("--group connect-cluster"));
    }
    let topics = [
        (
            "config_topic",
            config_topic,
            "the workers' config.storage.topic",
        ),
        (
            "status_topic",
            status_topic,
            "the workers' status.storage.topic",
        ),
        (
            "offsets_topic",
            offsets_topic,
            "the broker's topic for group records",
        ),
    ];
    for (key, topic, what) in topics {
        if topic.is_empty() {
            mistakes.push(Mistake::new(at(key), "nothing", what));
        } else if !is_topic(topic) {
            let expected = "a topic name: letters, digits, dot, underscore, dash; at most 249";
            mistakes.push(Mistake::new(at(key), quoted(topic), expected));
        }
    }
    for (position, (key, topic, _)) in topics.iter().enumerate() {
        let before = topics[..position]
            .iter()
            .find(|(_, other, _)| other == topic);
        if let (Some((other, ..)), false) = (before, topic.is_empty()) {
            let found = format!("{}, which is {other} too", quoted(topic));
            mistakes.push(Mistake::new(at(key), found, "a topic of its own"));
        }
    }
    if let Some(worker) = own_worker.as_deref().filter(|worker| !is_broker(worker)) {
        mistakes.push(Mistake::new(at("own_worker"), quoted(worker), "host:port"));
    }
    if let Some(release) = worker_release
        .as_deref()
        .filter(|release| !is_release(release))
    {
        let expected = "a Kafka release such as 3.9.1";
        mistakes.push(Mistake::new(
            at("worker_release"),
            quoted(release),
            expected,
        ));
    }
    GroupConfig {
        group: group.clone(),
        config_topic: config_topic.clone(),
        status_topic: status_topic.clone(),
        offsets_topic: offsets_topic.clone(),
        own_worker: own_worker.clone(),
        worker_release: worker_release.clone(),
    }
}

fn of_http(tree: &HttpTree, mistakes: &mut Vec<Mistake>) -> Option<HttpConfig> {
    let HttpTree { listen, readiness } = tree;
    // `:9790` is how exporters write "all interfaces".
    let text = match listen.strip_prefix(':') {
        Some(port) => format!("0.0.0.0:{port}"),
        None => listen.replacen("localhost:", "127.0.0.1:", 1),
    };
    match text.parse::<SocketAddr>() {
        Ok(listen) => Some(HttpConfig {
            listen,
            readiness: *readiness,
        }),
        Err(_) => {
            let expected = "ADDR:PORT with an IP address";
            let mistake = Mistake::new("http.listen", quoted(listen), expected);
            mistakes.push(mistake.hint("0.0.0.0:9790, [::]:9790, 127.0.0.1:9790 or :9790"));
            None
        }
    }
}

fn of_metrics(tree: &MetricsTree, mistakes: &mut Vec<Mistake>) -> MetricsConfig {
    let MetricsTree {
        series_max,
        subjects_max,
        group_series,
    } = *tree;
    let bounds = [
        ("metrics.series_max", series_max, SERIES_MIN..=SERIES_LIMIT),
        ("metrics.subjects_max", subjects_max, 1..=SUBJECTS_LIMIT),
    ];
    for (path, value, bound) in bounds {
        if !bound.contains(&value) {
            let expected = format!("{} to {}", bound.start(), bound.end());
            mistakes.push(Mistake::new(path, value.to_string(), expected));
        }
    }
    MetricsConfig {
        series_max,
        subjects_max,
        group_series,
    }
}

/// `host:port`, with an IPv6 address in brackets. librdkafka would take a bare host
/// with port 9092; written out, it is no surprise.
fn is_broker(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let host_is_well = match host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        Some(address) => !address.is_empty(),
        None => !host.is_empty() && !host.contains([':', '/', '[', ']', ' ']),
    };
    host_is_well && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn is_topic(name: &str) -> bool {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    name.chars().all(legal) && name.len() <= TOPIC_CHARS_MAX && name != "." && name != ".."
}

fn is_release(text: &str) -> bool {
    let parts: Vec<_> = text.split('.').collect();
    matches!(parts.len(), 2..=3) && parts.iter().all(|part| part.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests;
