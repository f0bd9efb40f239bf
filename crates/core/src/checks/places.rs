//! Where workers are and what they share: addresses, groups, names of topics.

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::{
    ADVERTISED, BOOTSTRAP, DELAY, GROUP, HOSTS, NEIGHBOURS, OTHERS, STRAY, TOPICS,
};
use super::known::Worker;
use super::look::{each_worker, fires_if, group, passes, span};
use super::source::{Source, Value};
use super::{Check, Harm, Judgement, Known, Severity};

/// How much longer than the delay a status of a worker that left may stand: others have to
/// start the task first.
const STRAY_MARGIN_MS: i64 = 60_000;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "groups_share_topics",
        severity: Severity::Error,
        harm: Harm::RunsTwice,
        title: "two groups use the same config, offset or status topic",
        inputs: &[TOPICS[0], TOPICS[1], TOPICS[2], BOOTSTRAP, NEIGHBOURS],
        consequence: "Both groups run the same connectors, overwrite each other's offsets and statuses, and take each other's changes for their own.",
        advice: "Give each group topics of its own.",
        decide: groups_share_topics,
    },
    Check {
        id: "deployments_share_group",
        severity: Severity::Error,
        harm: Harm::RunsTwice,
        title: "two deployments that are groups of their own have the same `group.id`",
        inputs: &[GROUP, BOOTSTRAP],
        consequence: "Their workers form one group: connectors of one run on workers of the other, whose plug-ins, secrets and topics may be others.",
        advice: "Give each deployment a group.id and three topics of its own.",
        decide: deployments_share_group,
    },
    Check {
        id: "group_split_topics",
        severity: Severity::Error,
        harm: Harm::RunsTwice,
        title: "workers of one group use different config, offset or status topics",
        inputs: &[TOPICS[0], TOPICS[1], TOPICS[2], OTHERS],
        consequence: "They are one group for the broker and know different connectors: assignments name work that others have never heard of, and offsets are lost when work moves.",
        advice: "Give all workers of the group the same three topics, or this one another group.id.",
        decide: group_split_topics,
    },
    Check {
        id: "topics_collide",
        severity: Severity::Error,
        harm: Harm::KeptOut,
        title: "one topic serves two purposes",
        inputs: &TOPICS,
        consequence: "Records of one kind are read as another: workers fail to start, or lose configurations or offsets.",
        advice: "Name three different topics.",
        decide: topics_collide,
    },
    Check {
        id: "advertised_shared",
        severity: Severity::Error,
        harm: Harm::Unreachable,
        title: "several workers advertise the same address",
        inputs: &[ADVERTISED, OTHERS],
        consequence: "Requests for the leader end at the wrong worker, and statuses cannot be told apart: any of them may overwrite those of the others.",
        advice: "Set rest.advertised.host.name to each worker's own name, or leave it out where the machine's own name can be resolved.",
        decide: advertised_shared,
    },
    Check {
        id: "advertised_loopback",
        severity: Severity::Error,
        harm: Harm::Unreachable,
        title: "a worker advertises a loopback address in a group of several hosts",
        inputs: &[ADVERTISED, HOSTS],
        consequence: "No other worker can reach it: while it leads, task configurations are not published and requests by REST fail.",
        advice: "Set rest.advertised.host.name to a name that the other workers can resolve.",
        decide: advertised_loopback,
    },
    Check {
        id: "stray_running",
        severity: Severity::Warning,
        harm: Harm::RunsTwice,
        title: "a task has been RUNNING for long by a worker that is not in the group",
        inputs: &[STRAY, DELAY],
        consequence: "The worker died without a word, or still runs the task outside of the group. What dashboards show is wrong.",
        advice: "Look whether that process is still alive, and stop it.",
        decide: stray_running,
    },
];

fn groups_share_topics(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let Some(own) = look.known.group.as_ref() else {
            look.misses(GROUP);
            return None;
        };
        // Each pair of groups is told once.
        let neighbours = known
            .neighbours
            .iter()
            .filter(|other| own.value < other.group);
        let mut shared: Vec<&str> = Vec::new();
        let mut is_known = false;
        for worker in &known.workers {
            for setting in TOPICS {
                let Some(topic) = worker.text(setting).or(of_group(known, setting)) else {
                    continue;
                };
                is_known = true;
                for other in neighbours.clone() {
                    let same = other
                        .topics
                        .iter()
                        .filter(|(_, theirs)| theirs.value == topic.value);
                    for (theirs_setting, theirs) in same {
                        look.show_of(&worker.name, setting, &topic);
                        look.show_of(&other.group, theirs_setting, theirs);
                        if !shared.contains(&other.group.as_str()) {
                            shared.push(&other.group);
                        }
                    }
                }
            }
        }
        if !is_known {
            TOPICS.iter().for_each(|topic| look.misses(topic));
            return None;
        }
        fires_if(!shared.is_empty(), || {
            format!(
                "groups {} and {} share topics",
                own.value,
                shared.join(", ")
            )
        })
    })
}

fn deployments_share_group(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        if known.workers.is_empty() {
            look.misses(GROUP);
            return None;
        }
        let of_deployment = |worker: &&Worker| worker.deployment.is_some();
        let workers: Vec<&Worker> = known.workers.iter().filter(of_deployment).collect();
        let names = workers
            .iter()
            .filter_map(|worker| worker.deployment.as_ref());
        let names: BTreeSet<&str> = names.map(|name| name.value.as_str()).collect();
        if names.len() > 1
            && workers
                .iter()
                .any(|worker| worker.text(BOOTSTRAP).is_none())
        {
            // They may be of different clusters.
            look.misses(BOOTSTRAP);
            return None;
        }
        for worker in workers.iter().filter(|_| names.len() > 1) {
            if let Some(id) = worker.text(GROUP) {
                look.show_of(&worker.name, GROUP, &id);
            }
            if let Some(deployment) = &worker.deployment {
                look.show_of(&worker.name, "deployment", deployment);
            }
        }
        fires_if(names.len() > 1, || {
            let names: Vec<&str> = names.iter().copied().collect();
            format!("{} form one group", names.join(" and "))
        })
    })
}

fn group_split_topics(known: &Known) -> Vec<Judgement> {
    let one = |setting: &'static str| {
        group(known, move |look| {
            let mut workers = known.workers.iter();
            let is_unsaid = workers.all(|worker| worker.text(setting).is_none());
            if is_unsaid && of_group(known, setting).is_some() {
                look.misses(OTHERS);
                return None;
            }
            let topics = look.of_all(setting, |worker| {
                let topic = worker.text(setting)?;
                Some(Value::new(topic.value.to_owned(), topic.source))
            })?;
            fires_if(!super::look::same(&topics), || {
                format!("{setting} differs from worker to worker")
            })
        })
    };
    TOPICS.iter().flat_map(|setting| one(setting)).collect()
}

/// The topic of a running group, as whoever reads it was told.
fn of_group<'a>(known: &'a Known, setting: &str) -> Option<Value<&'a str>> {
    let topics = known.broker.topics.as_deref().unwrap_or_default();
    let topic = topics.iter().find(|topic| topic.setting == setting)?;
    (!topic.name.is_empty()).then(|| Value::new(topic.name.as_str(), Source::Said))
}

fn topics_collide(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let worker = look.worker;
        let mut topics: BTreeMap<&str, Vec<(&'static str, Value<&str>)>> = BTreeMap::new();
        for setting in TOPICS {
            match worker.text(setting).or(of_group(look.known, setting)) {
                Some(topic) => topics
                    .entry(topic.value)
                    .or_default()
                    .push((setting, topic)),
                None => look.misses(setting),
            }
        }
        let twice: Vec<_> = topics
            .into_iter()
            .filter(|(_, settings)| settings.len() > 1)
            .collect();
        for (setting, topic) in twice.iter().flat_map(|(_, settings)| settings) {
            look.show(setting, topic);
        }
        match twice.first() {
            Some((_, settings)) => {
                let names: Vec<&str> = settings.iter().map(|(setting, _)| *setting).collect();
                fires_if(true, || {
                    format!("{} name the same topic", names.join(" and "))
                })
            }
            None => look.nothing_missing().then_some(()).and_then(|()| passes()),
        }
    })
}

fn advertised_shared(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let mut workers: BTreeMap<&str, Vec<&Worker>> = BTreeMap::new();
        for worker in &known.workers {
            match &worker.advertised {
                Some(address) => workers.entry(&address.value).or_default().push(worker),
                None => look.misses(ADVERTISED),
            }
        }
        let is_shared = |workers: &&Vec<&Worker>| {
            let count: i64 = workers.iter().map(|worker| worker.processes()).sum();
            count > 1
        };
        let shared: Vec<_> = workers
            .values()
            .filter(is_shared)
            .flatten()
            .copied()
            .collect();
        for worker in &shared {
            if let Some(address) = &worker.advertised {
                look.show_of(&worker.name, ADVERTISED, address);
            }
        }
        match shared.first().and_then(|worker| worker.advertised.as_ref()) {
            Some(address) => fires_if(true, || {
                format!("{} is the address of more than one worker", address.value)
            }),
            None => {
                look.needs_others();
                look.nothing_missing().then_some(()).and_then(|()| passes())
            }
        }
    })
}

fn advertised_loopback(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let Some(address) = &look.worker.advertised else {
            look.misses(ADVERTISED);
            return None;
        };
        look.show(ADVERTISED, address);
        let host = address.value.rsplit_once(':').map_or("", |(host, _)| host);
        let is_loopback =
            host.eq_ignore_ascii_case("localhost") || host.starts_with("127.") || host == "[::1]";
        if !is_loopback {
            return passes();
        }
        let hosts = look.value(HOSTS, look.known.hosts.as_ref())?;
        fires_if(hosts > 1, || {
            format!(
                "{} means another machine on each of {hosts} hosts",
                address.value
            )
        })
    })
}

fn stray_running(known: &Known) -> Vec<Judgement> {
    let longest = known
        .workers
        .iter()
        .filter_map(|worker| worker.number(DELAY));
    let longest = longest.max_by_key(|delay| delay.value);
    group(known, |look| {
        let stray = look.value(STRAY, look.known.records.stray_running_ms.as_ref());
        let delay = look.value(DELAY, longest.as_ref());
        let (stray, delay) = (stray?, delay?);
        fires_if(stray > delay.saturating_add(STRAY_MARGIN_MS), || {
            format!(
                "RUNNING for {} by a worker that left, with a delay of {}",
                span(stray),
                span(delay)
            )
        })
    })
}
