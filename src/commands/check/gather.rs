//! From files to what is known of each group.

use std::collections::BTreeSet;

use evenkeel_core::checks::known::{Known, Neighbour, Worker};
use evenkeel_core::checks::releases::{Release, tables};
use evenkeel_core::checks::source::{Source, Value};

use crate::config::deploy::Deployed;

const TOPICS: [&str; 3] = [
    "config.storage.topic",
    "offset.storage.topic",
    "status.storage.topic",
];

/// Other groups that one is compared with.
const NEIGHBOURS_MAX: usize = 50;

/// The workers of one group, while files are read.
struct Group {
    id: Option<Value<String>>,
    /// `host:port` of brokers; empty where no worker names any.
    brokers: BTreeSet<String>,
    workers: Vec<Worker>,
    in_containers: bool,
}

/// One `Known` for each group: workers with one `group.id` whose brokers are not known to
/// be others. Workers that name no group are a group of their own.
pub(super) fn groups(read: Vec<Deployed>, release: Option<Release>) -> Vec<Known> {
    let mut groups: Vec<Group> = Vec::new();
    for deployed in read {
        for mut worker in deployed.workers {
            settle_release(&mut worker, release);
            add(&mut groups, worker, deployed.in_containers);
        }
    }
    let neighbours: Vec<_> = groups.iter().map(neighbour).collect();
    let known = groups.iter().enumerate().map(|(index, group)| {
        let others = neighbours.iter().enumerate().filter(|(other, neighbour)| {
            *other != index && neighbour.is_some() && groups[*other].shares_brokers(group)
        });
        let others = others.filter_map(|(_, neighbour)| neighbour.as_ref());
        // Those with which it has a topic in common first: of hundreds all the same is said.
        let (mut neighbours, rest): (Vec<&Neighbour>, Vec<&Neighbour>) =
            others.partition(|other| shares_topic(other, neighbours[index].as_ref()));
        neighbours.extend(rest);
        neighbours.truncate(NEIGHBOURS_MAX);
        Known {
            group: group.id.clone(),
            worker_count: count(&group.workers),
            hosts: group.in_containers.then(|| hosts(&group.workers)).flatten(),
            workers: group.workers.clone(),
            neighbours: neighbours.into_iter().cloned().collect(),
            ..Known::default()
        }
    });
    known.collect()
}

fn shares_topic(other: &Neighbour, own: Option<&Neighbour>) -> bool {
    let own = own.into_iter().flat_map(|own| &own.topics);
    let mut own = own.map(|(_, topic)| &topic.value);
    own.any(|topic| {
        other
            .topics
            .iter()
            .any(|(_, theirs)| theirs.value == *topic)
    })
}

fn add(groups: &mut Vec<Group>, worker: Worker, in_containers: bool) {
    let id = worker.text("group.id");
    let id = id.map(|id| Value::new(id.value.to_owned(), id.source));
    let brokers = brokers(&worker);
    let is_same = |group: &&mut Group| {
        let same_id = match (&group.id, &id) {
            (Some(theirs), Some(ours)) => theirs.value == ours.value,
            _ => false,
        };
        same_id && may_be_same(&group.brokers, &brokers)
    };
    match groups.iter_mut().find(is_same) {
        Some(group) => {
            group.brokers.extend(brokers);
            group.workers.push(worker);
            group.in_containers &= in_containers;
        }
        None => groups.push(Group {
            id,
            brokers,
            workers: vec![worker],
            in_containers,
        }),
    }
}

fn brokers(worker: &Worker) -> BTreeSet<String> {
    let named = worker.text("bootstrap.servers");
    let named = named.iter().flat_map(|named| named.value.split(','));
    let named = named.map(|broker| broker.trim().to_lowercase());
    named.filter(|broker| !broker.is_empty()).collect()
}

/// Whether nothing says that they are brokers of different clusters.
fn may_be_same(ours: &BTreeSet<String>, theirs: &BTreeSet<String>) -> bool {
    ours.is_empty() || theirs.is_empty() || !ours.is_disjoint(theirs)
}

fn neighbour(group: &Group) -> Option<Neighbour> {
    let id = group.id.as_ref()?;
    let mut topics = Vec::new();
    for worker in &group.workers {
        for setting in TOPICS {
            if let Some(topic) = worker.text(setting) {
                topics.push((setting, Value::new(topic.value.to_owned(), topic.source)));
            }
        }
    }
    Some(Neighbour {
        group: id.value.clone(),
        topics,
    })
}

/// How many processes there are, where every file says how many it stands for.
fn count(workers: &[Worker]) -> Option<Value<i64>> {
    let first = workers.first()?.replicas.clone()?;
    let rest = workers.iter().skip(1);
    rest.map(|worker| worker.replicas.as_ref())
        .try_fold(first, |sum, count| {
            Some(Value::new(
                sum.value.saturating_add(count?.value),
                sum.source,
            ))
        })
}

/// Each process in a container is a host to the others.
fn hosts(workers: &[Worker]) -> Option<Value<i64>> {
    let sum = workers.iter().map(Worker::processes).sum();
    let mut sources = workers
        .iter()
        .filter_map(|worker| worker.settings.values().next());
    let source = sources.next().map(|given| given.source.clone())?;
    let file = match source {
        Source::File { file, .. } => Source::File { file, line: None },
        other => other,
    };
    Some(Value::new(sum, file))
}

/// What a person says goes over what a file says; where nobody does, it is the newest.
fn settle_release(worker: &mut Worker, release: Option<Release>) {
    let said = release.map(|release| Value::new(release, Source::Said));
    let newest = tables().newest();
    let found = said.or(worker.release.take());
    worker.release =
        found.or_else(|| Some(Value::new(newest, Source::Default { release: newest })));
}

// === impl Group ===

impl Group {
    /// Whether both name a broker that is the same.
    fn shares_brokers(&self, other: &Self) -> bool {
        !self.brokers.is_disjoint(&other.brokers)
    }
}

#[cfg(test)]
mod tests;
