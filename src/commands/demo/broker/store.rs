//! The topics of the broker: names, ids, partitions.

use std::collections::BTreeMap;

use super::log::PartitionLog;
use super::{BrokerError, TopicSpec};

/// Topics at once.
const TOPICS_MAX: usize = 1_000;

/// Partitions of one topic.
const PARTITIONS_MAX: i32 = 1_000;

#[derive(Debug)]
pub(super) struct Topic {
    /// Differs between a topic and its successor of the same name (KIP-516).
    pub(super) id: u128,
    partitions: Vec<PartitionLog>,
}

impl Topic {
    pub(super) fn partitions(&self) -> impl Iterator<Item = (i32, &PartitionLog)> {
        (0..).zip(&self.partitions)
    }

    pub(super) fn partition(&self, partition: i32) -> Option<&PartitionLog> {
        self.partitions.get(usize::try_from(partition).ok()?)
    }
}

/// All topics by name.
#[derive(Debug, Default)]
pub(super) struct Store {
    topics: BTreeMap<String, Topic>,
    topics_created: u128,
}

impl Store {
    pub(super) fn create_topic(&mut self, spec: &TopicSpec) -> Result<(), BrokerError> {
        if !(1..=PARTITIONS_MAX).contains(&spec.partitions) || self.topics.len() >= TOPICS_MAX {
            return Err(BrokerError::TopicRefused {
                topic: spec.name.clone(),
                partitions: spec.partitions,
            });
        }
        if self.topics.contains_key(&spec.name) {
            return Err(BrokerError::TopicExists {
                topic: spec.name.clone(),
            });
        }
        self.topics_created += 1;
        let topic = Topic {
            // Zero is "no id" on the wire.
            id: self.topics_created,
            partitions: (0..spec.partitions)
                .map(|_| PartitionLog::default())
                .collect(),
        };
        self.topics.insert(spec.name.clone(), topic);
        Ok(())
    }

    pub(super) fn delete_topic(&mut self, topic: &str) -> Result<i32, BrokerError> {
        let gone = self
            .topics
            .remove(topic)
            .ok_or_else(|| BrokerError::UnknownTopic {
                topic: topic.to_owned(),
            })?;
        Ok(i32::try_from(gone.partitions.len()).unwrap_or(PARTITIONS_MAX))
    }

    pub(super) fn topics(&self) -> impl Iterator<Item = (&str, &Topic)> {
        self.topics
            .iter()
            .map(|(name, topic)| (name.as_str(), topic))
    }

    pub(super) fn topic(&self, name: &str) -> Option<&Topic> {
        self.topics.get(name)
    }

    pub(super) fn topic_by_id(&self, id: u128) -> Option<(&str, &Topic)> {
        self.topics().find(|(_, topic)| topic.id == id)
    }

    pub(super) fn partition(&self, topic: &str, partition: i32) -> Option<&PartitionLog> {
        self.topic(topic)?.partition(partition)
    }

    pub(super) fn partition_mut(
        &mut self,
        topic: &str,
        partition: i32,
    ) -> Result<&mut PartitionLog, BrokerError> {
        usize::try_from(partition)
            .ok()
            .and_then(|index| self.topics.get_mut(topic)?.partitions.get_mut(index))
            .ok_or_else(|| BrokerError::UnknownPartition {
                topic: topic.to_owned(),
                partition,
            })
    }
}
