//! What brokers say of themselves and of the group's topics, as the checks compare it.

use crate::checks::known::{Broker, Topic};
use crate::checks::source::{Source, Value};
use crate::facts::cluster::{
    CLEANUP, Cluster, ClusterTopic, INITIAL_DELAY, MESSAGE_MAX, SESSION_MAX, SESSION_MIN, Told,
    TopicRole,
};
use crate::facts::input::Settings;

const CONFIG_TOPIC: &str = "config.storage.topic";

/// What is known of the brokers. Whoever reads the config topic knows its partitions, also
/// where brokers say nothing else.
pub(super) fn broker(settings: &Settings, cluster: Option<&Cluster>) -> Broker {
    let mut broker = cluster.map(told).unwrap_or_default();
    let topics = broker.topics.get_or_insert_default();
    let read = i64::from(settings.config_partitions);
    let read = (read > 0).then(|| Value::new(read, of_topic(&settings.config_topic)));
    match topics
        .iter_mut()
        .find(|topic| topic.setting == CONFIG_TOPIC)
    {
        Some(topic) => topic.partitions = topic.partitions.take().or(read),
        None => topics.push(Topic {
            setting: CONFIG_TOPIC,
            name: settings.config_topic.clone(),
            partitions: read,
            cleanup: None,
            replicas: None,
        }),
    }
    broker
}

fn told(cluster: &Cluster) -> Broker {
    let number = |told: &Told, name: &str, source: Source| {
        told.number(name).map(|number| Value::new(number, source))
    };
    let of_coordinator = |name| number(&cluster.coordinator, name, Source::Broker);
    let groups = cluster
        .topics
        .iter()
        .find(|topic| topic.role == TopicRole::Groups);
    let count = cluster.brokers.filter(|count| *count > 0);
    Broker {
        count: count.map(|count| Value::new(count.into(), Source::Broker)),
        session_min_ms: of_coordinator(SESSION_MIN),
        session_max_ms: of_coordinator(SESSION_MAX),
        initial_delay_ms: of_coordinator(INITIAL_DELAY),
        record_bytes_max: groups
            .and_then(|topic| number(&topic.settings, MESSAGE_MAX, of_topic(&topic.name))),
        topics: Some(cluster.topics.iter().filter_map(topic).collect()),
    }
}

fn topic(topic: &ClusterTopic) -> Option<Topic> {
    let setting = topic.role.setting()?;
    let source = || of_topic(&topic.name);
    let shape = |count: Option<u32>| Some(Value::new(i64::from(count?), source()));
    let policy = topic.settings.values.get(CLEANUP);
    Some(Topic {
        setting,
        name: topic.name.clone(),
        partitions: shape(topic.partitions),
        cleanup: policy.map(|policy| Value::new(policy.clone(), source())),
        replicas: shape(topic.replicas),
    })
}

fn of_topic(name: &str) -> Source {
    Source::Topic {
        name: name.to_owned(),
    }
}
