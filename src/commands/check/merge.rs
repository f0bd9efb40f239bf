//! Files beside what is read of the running group: workers of files are found again among
//! the members, and what records, brokers and measurements say counts for all of them.

use evenkeel_core::checks::known::{Known, Neighbour, Worker};
use evenkeel_core::checks::source::{Source, Value};
use evenkeel_core::checks::{self, Finding};

use super::live::Watched;

/// Where a group of the files runs: what its brokers and records say is added. Groups that are
/// in no file stay as they were read.
pub(super) fn with_live(files: &mut [Known], live: &[Watched]) -> Vec<usize> {
    let mut in_files = Vec::new();
    for (index, watched) in live.iter().enumerate() {
        let id = watched.known.group.as_ref().map(|group| &group.value);
        let same = |known: &&mut Known| known.group.as_ref().map(|group| &group.value) == id;
        if let Some(known) = files.iter_mut().find(same) {
            join(known, watched);
            in_files.push(index);
        }
    }
    in_files
}

/// Groups of one cluster beside each other: topics that two of them share.
pub(super) fn beside_each_other(live: &mut [Watched]) {
    let neighbours: Vec<Neighbour> = live.iter().map(|one| neighbour(&one.known)).collect();
    let clusters: Vec<Option<String>> = live.iter().map(|one| one.cluster.clone()).collect();
    for (index, watched) in live.iter_mut().enumerate() {
        let others = neighbours.iter().zip(&clusters).enumerate();
        let others = others.filter(|(other, (_, cluster))| {
            *other != index && cluster.is_some() && **cluster == watched.cluster
        });
        let others: Vec<Neighbour> = others.map(|(_, (other, _))| other.clone()).collect();
        if others.is_empty() {
            continue;
        }
        watched.known.neighbours = others;
        let is_of_pairs = |finding: &Finding| finding.check.id == "groups_share_topics";
        watched.findings.retain(|finding| !is_of_pairs(finding));
        let again = checks::judge(&watched.known).into_iter();
        watched.findings.extend(again.filter(is_of_pairs));
    }
}

fn neighbour(known: &Known) -> Neighbour {
    let group = known.group.as_ref();
    let topics = known.broker.topics.iter().flatten();
    let topics = topics.filter(|topic| !topic.name.is_empty());
    Neighbour {
        group: group.map(|group| group.value.clone()).unwrap_or_default(),
        topics: topics
            .map(|topic| (topic.setting, Value::new(topic.name.clone(), Source::Said)))
            .collect(),
    }
}

fn join(files: &mut Known, watched: &Watched) {
    let live = &watched.known;
    files.records = live.records.clone();
    files.measured = live.measured.clone();
    files.broker = live.broker.clone();
    files.producers = live.producers.clone();
    for other in &live.neighbours {
        let mut named = files.neighbours.iter();
        if !named.any(|named| named.group == other.group) {
            files.neighbours.push(other.clone());
        }
    }
    files.worker_count = live.worker_count.clone().or(files.worker_count.take());
    files.hosts = live.hosts.clone().or(files.hosts.take());
    let mut members = live.workers.clone();
    let is_one = files.workers.len() == 1 && members.len() == 1;
    for worker in &mut files.workers {
        let place = members.iter().position(|member| {
            let is_beside = watched.is_of_own(worker) && watched.is_own(member);
            is_one || is_beside || is_named(worker, member)
        });
        if let Some(place) = place {
            let member = members.remove(place);
            worker.told = member.told;
            worker.given_up = member.given_up;
            worker.out_after_ms = member.out_after_ms;
            worker.held_up_ms = member.held_up_ms;
            worker.advertised = worker.advertised.take().or(member.advertised);
        }
    }
    files.workers.extend(members);
}

/// Whether the address that the file gives the worker is that of the member.
fn is_named(worker: &Worker, member: &Worker) -> bool {
    let address = |worker: &Worker| worker.advertised.as_ref().map(|it| it.value.clone());
    let of_file = address(worker);
    of_file.is_some() && of_file == address(member)
}

#[cfg(test)]
mod tests;
