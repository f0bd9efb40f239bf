//! From what a person wrote to what the agent runs on; every mistake is collected.
//! Each function takes its section apart key by key, so that a new key cannot be
//! forgotten here.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::connection;
use super::groups::Workers;
use super::mistake::{Mistake, Mistakes, quoted};
use super::properties::{Properties, path};
use super::refused::{JAVA, refused};
use super::traces;
use super::tree::{
    GROUPS_MAX, GroupTree, HttpTree, KafkaTree, LogTree, MetricsTree, PrivacyTree, StateTree, Tree,
};
use super::typed::{
    Config, ConnectionConfig, GroupConfig, HttpConfig, KafkaConfig, LogConfig, MetricsConfig,
    PrivacyConfig, StateConfig,
};

/// Longest topic name (`org.apache.kafka.common.internals.Topic`).
const TOPIC_CHARS_MAX: usize = 249;
/// Room for the agent's own series and at least one group's.
const SERIES_MIN: usize = 1_000;
const SERIES_LIMIT: usize = 1_000_000;
const SUBJECTS_LIMIT: usize = 10_000;

/// Checks a tree.
///
/// # Errors
///
/// All mistakes, in the order of the tree.
pub fn validate(tree: &Tree, env: &dyn Fn(&str) -> Option<String>) -> Result<Config, Mistakes> {
    validate_with(tree, &Workers::default(), env)
}

/// As [`validate`], with what the workers say, which the tree is filled with already.
pub(super) fn validate_with(
    tree: &Tree,
    workers: &Workers,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Config, Mistakes> {
    let mut mistakes = Vec::new();
    let whole = tree;
    let Tree {
        kafka,
        groups,
        http,
        privacy,
        state,
        metrics,
        traces,
        log,
    } = tree;
    let kafka = of_kafka(kafka, workers, env, &mut mistakes);
    let groups = of_groups(groups, &mut mistakes);
    let http = of_http(http, &mut mistakes);
    let metrics = of_metrics(metrics, &mut mistakes);
    let traces = traces::of_traces(traces, env, &mut mistakes);
    let LogTree { level, format } = *log;
    mistakes.extend(connection::mistakes(whole, workers, env));
    match (mistakes.is_empty(), http) {
        (true, Some(http)) => {
            let mut config = Config {
                kafka,
                groups,
                http,
                privacy: privacy.config(),
                state: state.config(),
                metrics,
                traces,
                log: LogConfig { level, format },
            };
            connection::complete(&mut config, whole, workers, env);
            Ok(config)
        }
        _ => Err(Mistakes(mistakes)),
    }
}

fn of_kafka(
    tree: &KafkaTree,
    workers: &Workers,
    env: &dyn Fn(&str) -> Option<String>,
    mistakes: &mut Vec<Mistake>,
) -> KafkaConfig {
    let KafkaTree {
        bootstrap,
        properties,
        token_file,
    } = tree;
    const PATH: &str = "kafka.bootstrap";
    if bootstrap.is_empty() {
        if !workers.have_brokers() {
            let expected = "at least one broker as host:port";
            let hint = "--bootstrap broker-1:9092, or --worker-properties FILE";
            mistakes.push(Mistake::new(PATH, "nothing", expected).hint(hint));
        }
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
        token_file: token_file.as_ref().map(PathBuf::from),
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
            "--worker-properties connect-distributed.properties, or \
             --group connect-cluster --config-topic connect-configs --status-topic connect-status",
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
        worker_properties: _,
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
    } else if group.chars().any(char::is_control) {
        let expected = "a group.id without control characters";
        mistakes.push(Mistake::new(at("group"), quoted(group), expected));
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
        connection: ConnectionConfig::default(),
        principal: None,
        certificate_expires_seconds: None,
        offset_storage_topic: None,
        worker_settings: Vec::new(),
        files: Vec::new(),
    }
}

fn of_http(tree: &HttpTree, mistakes: &mut Vec<Mistake>) -> Option<HttpConfig> {
    let HttpTree {
        listen,
        readiness,
        web_config_file: _,
        probes,
    } = tree;
    // `:9790` is how exporters write "all interfaces".
    let text = match listen.strip_prefix(':') {
        Some(port) => format!("0.0.0.0:{port}"),
        None => listen.replacen("localhost:", "127.0.0.1:", 1),
    };
    match text.parse::<SocketAddr>() {
        Ok(listen) => Some(HttpConfig {
            listen,
            readiness: *readiness,
            web_config_file: tree.web_config_file(),
            probes: *probes,
        }),
        Err(_) => {
            let expected = "ADDR:PORT with an IP address";
            let mistake = Mistake::new("http.listen", quoted(listen), expected);
            mistakes.push(mistake.hint("0.0.0.0:9790, [::]:9790, 127.0.0.1:9790 or :9790"));
            None
        }
    }
}

impl HttpTree {
    pub(super) fn web_config_file(&self) -> Option<PathBuf> {
        named(self.web_config_file.as_ref())
    }
}

impl PrivacyTree {
    pub(super) fn config(&self) -> PrivacyConfig {
        let Self {
            mask_names,
            mask_key_file,
        } = self;
        PrivacyConfig {
            mask_names: *mask_names,
            mask_key_file: mask_key_file.clone(),
        }
    }
}

impl StateTree {
    pub(super) fn config(&self) -> StateConfig {
        let Self { dir } = self;
        StateConfig {
            dir: named(dir.as_ref()),
        }
    }
}

/// An empty one is none, as an empty variable is.
fn named(path: Option<&String>) -> Option<PathBuf> {
    path.filter(|path| !path.is_empty()).map(PathBuf::from)
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
pub(super) fn is_broker(text: &str) -> bool {
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
