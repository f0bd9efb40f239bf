//! The group's topics as brokers have them, or will make them.

use super::inputs::{BOOTSTRAP, BROKER_TOPICS, BROKERS, CONFIG_TOPIC, REPLICATION, TOPICS};
use super::known::Topic;
use super::look::{Look, Verdict, each_worker, fires_if, group, passes, subject};
use super::source::Value;
use super::{Check, Harm, Judgement, Known, Severity};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "internal_topic_not_compacted",
        severity: Severity::Error,
        harm: Harm::DataAtRisk,
        title: "the config, offset or status topic is not compacted, or not only compacted",
        inputs: &[BROKER_TOPICS],
        consequence: "Old records are deleted: connectors, offsets or statuses vanish after the topic's retention. Workers refuse to start on such a topic.",
        advice: "Set cleanup.policy=compact on the topic.",
        decide: internal_topic_not_compacted,
    },
    Check {
        id: "config_topic_partitions",
        severity: Severity::Error,
        harm: Harm::GroupStalls,
        title: "the config topic has more than one partition",
        inputs: &[BROKER_TOPICS],
        consequence: "Its records have no order any more: workers never agree on how far they have read, and the group rebalances without end. Newer releases refuse to start.",
        advice: "Make a new config topic with one partition, copy the connectors into it, and name it in all workers' files.",
        decide: config_topic_partitions,
    },
    Check {
        id: "internal_topic_single_replica",
        severity: Severity::Warning,
        harm: Harm::DataAtRisk,
        title: "an internal topic has one replica in a cluster of several brokers",
        inputs: &[
            REPLICATION[0],
            REPLICATION[1],
            REPLICATION[2],
            BROKERS,
            BROKER_TOPICS,
        ],
        consequence: "While one broker restarts, the group cannot read or write that topic; if its disk is lost, so are the connectors, or their offsets.",
        advice: "Use three replicas where there are three brokers. A topic that exists keeps what it has: add replicas with kafka-reassign-partitions.",
        decide: internal_topic_single_replica,
    },
];

fn each_topic(
    known: &Known,
    decide: impl Fn(&mut Look<'_>, &Topic) -> Option<Verdict>,
) -> Vec<Judgement> {
    let Some(topics) = &known.broker.topics else {
        return group(known, |look| {
            look.misses(BROKER_TOPICS);
            None
        });
    };
    let judged = topics
        .iter()
        .flat_map(|topic| subject(known, &topic.name, |look| decide(look, topic)));
    judged.collect()
}

fn internal_topic_not_compacted(known: &Known) -> Vec<Judgement> {
    each_topic(known, |look, topic| {
        let Some(cleanup) = &topic.cleanup else {
            look.misses(BROKER_TOPICS);
            return None;
        };
        look.show("cleanup.policy", cleanup);
        fires_if(cleanup.value.trim() != "compact", || {
            format!("{} ({}) is not only compacted", topic.name, topic.setting)
        })
    })
}

fn config_topic_partitions(known: &Known) -> Vec<Judgement> {
    each_topic(known, |look, topic| {
        if topic.setting != CONFIG_TOPIC {
            return passes();
        }
        let Some(partitions) = &topic.partitions else {
            look.misses(BROKER_TOPICS);
            return None;
        };
        look.show("partitions", partitions);
        fires_if(partitions.value > 1, || {
            format!("{} has {} partitions", topic.name, partitions.value)
        })
    })
}

fn internal_topic_single_replica(known: &Known) -> Vec<Judgement> {
    let lonely = |look: &mut Look<'_>, name: &str, replicas: &Value<i64>| {
        look.show(name, replicas);
        if replicas.value != 1 {
            return passes();
        }
        let Some(brokers) = brokers(look) else {
            look.misses(BROKERS);
            return None;
        };
        fires_if(brokers > 1, || {
            format!("one replica on {brokers} brokers or more")
        })
    };
    if known.broker.topics.is_some() {
        return each_topic(known, |look, topic| match &topic.replicas {
            Some(replicas) => lonely(look, "replicas", replicas),
            None => {
                look.misses(BROKER_TOPICS);
                None
            }
        });
    }
    let one = |(topic, setting): (&'static str, &'static str)| {
        let mut judged = each_worker(known, move |look| match look.worker.number(setting) {
            Some(replicas) => lonely(look, setting, &replicas),
            None => {
                look.misses(setting);
                None
            }
        });
        // A worker makes three topics: each is a subject of its own.
        for (judgement, worker) in judged.iter_mut().zip(&known.workers) {
            let named = worker.text(topic);
            let named = named.map_or_else(|| topic.to_owned(), |named| named.value.to_owned());
            judgement.subject = format!("{} ({named})", worker.name);
        }
        judged
    };
    TOPICS.into_iter().zip(REPLICATION).flat_map(one).collect()
}

/// How many brokers there are, or at least as many as the worker names.
fn brokers(look: &mut Look<'_>) -> Option<i64> {
    if let Some(count) = &look.known.broker.count {
        look.show(BROKERS, count);
        return Some(count.value);
    }
    let named = look.worker.text(BOOTSTRAP)?;
    let mut hosts: Vec<&str> = named.value.split(',').map(str::trim).collect();
    hosts.retain(|host| !host.is_empty());
    hosts.sort_unstable();
    hosts.dedup();
    let count = i64::try_from(hosts.len()).unwrap_or(i64::MAX);
    // One name may stand for many brokers.
    if count < 2 {
        return None;
    }
    look.show(
        "brokers in bootstrap.servers",
        &Value::new(count, named.source),
    );
    Some(count)
}
