//! OffsetCommit and OffsetFetch: the offsets that groups commit, kept in memory.

use std::collections::BTreeMap;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::offset_commit_response::{
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use kafka_protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};
use kafka_protocol::messages::{
    ApiKey, OffsetCommitRequest, OffsetCommitResponse, OffsetFetchRequest, OffsetFetchResponse,
    TopicName,
};
use kafka_protocol::protocol::StrBytes;

use super::membership::check_member;
use super::request::text;
use super::shared::Shared;

/// Committed partitions of all groups together; beyond that, the first other group is forgotten.
const COMMITS_MAX: usize = 10_000;

/// A commit by a consumer that is in no group.
const NO_GENERATION: i32 = -1;

/// The first version of OffsetFetch that asks for several groups (KIP-709).
const GROUPS_VERSION: i16 = 8;

/// One partition's committed offset; the default means "none".
#[derive(Debug, Clone)]
struct Committed {
    offset: i64,
    leader_epoch: i32,
    metadata: StrBytes,
}

impl Default for Committed {
    fn default() -> Self {
        Self {
            offset: -1,
            leader_epoch: -1,
            metadata: StrBytes::new(),
        }
    }
}

/// Committed offsets by group, topic and partition.
#[derive(Debug, Default)]
pub(super) struct CommittedOffsets {
    groups: BTreeMap<String, BTreeMap<(String, i32), Committed>>,
}

impl CommittedOffsets {
    fn store(&mut self, group: &str, topic: &str, partition: i32, committed: Committed) {
        let kept: usize = self.groups.values().map(BTreeMap::len).sum();
        if kept >= COMMITS_MAX {
            let other = self.groups.keys().find(|known| *known != group).cloned();
            self.groups.remove(other.as_deref().unwrap_or(group));
        }
        let offsets = self.groups.entry(group.to_owned()).or_default();
        offsets.insert((topic.to_owned(), partition), committed);
    }

    fn of(&self, group: &str, topic: &str, partition: i32) -> Committed {
        self.groups
            .get(group)
            .and_then(|offsets| offsets.get(&(topic.to_owned(), partition)))
            .cloned()
            .unwrap_or_default()
    }

    /// All partitions that `group` committed, by topic.
    fn partitions(&self, group: &str) -> Vec<(TopicName, Vec<i32>)> {
        let mut topics: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
        for (topic, partition) in self.groups.get(group).into_iter().flat_map(BTreeMap::keys) {
            topics.entry(topic).or_default().push(*partition);
        }
        topics
            .into_iter()
            .map(|(topic, partitions)| (TopicName(text(topic)), partitions))
            .collect()
    }
}

pub(super) fn commit(shared: &Shared, request: &OffsetCommitRequest) -> OffsetCommitResponse {
    let group = request.group_id.as_str();
    let generation = request.generation_id_or_member_epoch;
    let refused = shared
        .faults
        .on_group(ApiKey::OffsetCommit, group)
        .or_else(|| {
            (generation != NO_GENERATION)
                .then(|| check_member(shared, group, &request.member_id, generation).err())
                .flatten()
        });
    let store = shared.store();
    let mut committed = shared.committed();
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|partition| {
            let index = partition.partition_index;
            let unknown = store
                .partition(&topic.name, index)
                .is_none()
                .then_some(ResponseError::UnknownTopicOrPartition);
            let error = refused.or(unknown);
            if error.is_none() {
                let place = Committed {
                    offset: partition.committed_offset,
                    leader_epoch: partition.committed_leader_epoch,
                    metadata: partition.committed_metadata.clone().unwrap_or_default(),
                };
                committed.store(group, &topic.name, index, place);
            }
            OffsetCommitResponsePartition::default()
                .with_partition_index(index)
                .with_error_code(error.map_or(0, |error| error.code()))
        });
        OffsetCommitResponseTopic::default()
            .with_name(topic.name.clone())
            .with_partitions(partitions.collect())
    });
    let topics = topics.collect();
    OffsetCommitResponse::default().with_topics(topics)
}

pub(super) fn fetch(
    shared: &Shared,
    request: &OffsetFetchRequest,
    version: i16,
) -> OffsetFetchResponse {
    if version < GROUPS_VERSION {
        return fetch_one(shared, request);
    }
    let committed = shared.committed();
    let groups = request.groups.iter().map(|wanted| {
        let group = wanted.group_id.as_str();
        let answer = OffsetFetchResponseGroup::default().with_group_id(wanted.group_id.clone());
        if let Some(error) = shared.faults.on_group(ApiKey::OffsetFetch, group) {
            return answer.with_error_code(error.code());
        }
        let asked = match &wanted.topics {
            None => committed.partitions(group),
            Some(topics) => topics
                .iter()
                .map(|topic| (topic.name.clone(), topic.partition_indexes.clone()))
                .collect(),
        };
        let topics = asked.into_iter().map(|(topic, partitions)| {
            let partitions = partitions.into_iter().map(|partition| {
                let found = committed.of(group, &topic, partition);
                OffsetFetchResponsePartitions::default()
                    .with_partition_index(partition)
                    .with_committed_offset(found.offset)
                    .with_committed_leader_epoch(found.leader_epoch)
                    .with_metadata(Some(found.metadata))
            });
            OffsetFetchResponseTopics::default()
                .with_partitions(partitions.collect())
                .with_name(topic.clone())
        });
        answer.with_topics(topics.collect())
    });
    let groups = groups.collect();
    OffsetFetchResponse::default().with_groups(groups)
}

fn fetch_one(shared: &Shared, request: &OffsetFetchRequest) -> OffsetFetchResponse {
    let group = request.group_id.as_str();
    if let Some(error) = shared.faults.on_group(ApiKey::OffsetFetch, group) {
        return OffsetFetchResponse::default().with_error_code(error.code());
    }
    let committed = shared.committed();
    let asked = match &request.topics {
        None => committed.partitions(group),
        Some(topics) => topics
            .iter()
            .map(|topic| (topic.name.clone(), topic.partition_indexes.clone()))
            .collect(),
    };
    let topics = asked.into_iter().map(|(topic, partitions)| {
        let partitions = partitions.into_iter().map(|partition| {
            let found = committed.of(group, &topic, partition);
            OffsetFetchResponsePartition::default()
                .with_partition_index(partition)
                .with_committed_offset(found.offset)
                .with_committed_leader_epoch(found.leader_epoch)
                .with_metadata(Some(found.metadata))
        });
        OffsetFetchResponseTopic::default()
            .with_partitions(partitions.collect())
            .with_name(topic.clone())
    });
    let topics = topics.collect();
    OffsetFetchResponse::default().with_topics(topics)
}
