//! Metadata: the one broker, and the topics it leads.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{ApiKey, BrokerId, MetadataRequest, MetadataResponse, TopicName};

use super::request::text;
use super::shared::{NODE_ID, Shared};
use super::store::{Store, Topic};

/// Topics that pattern subscriptions skip (`org.apache.kafka.common.internals.Topic`).
const INTERNAL_TOPICS: [&str; 3] = [
    "__consumer_offsets",
    "__transaction_state",
    "__share_group_state",
];

/// "Not computed", for authorized operations (KIP-430).
const OPERATIONS_UNKNOWN: i32 = i32::MIN;

pub(super) fn describe(
    shared: &Shared,
    request: &MetadataRequest,
    version: i16,
) -> MetadataResponse {
    let store = shared.store();
    let topics = match &request.topics {
        None => all(shared, &store),
        // Version 0 has no null: there an empty list asks for all topics.
        Some(wanted) if wanted.is_empty() && version == 0 => all(shared, &store),
        Some(wanted) => wanted
            .iter()
            .map(|topic| one(shared, &store, topic))
            .collect(),
    };
    MetadataResponse::default()
        .with_brokers(vec![
            MetadataResponseBroker::default()
                .with_node_id(BrokerId(NODE_ID))
                .with_host(text(&shared.host()))
                .with_port(shared.port()),
        ])
        .with_cluster_id(Some(text(&shared.cluster_id)))
        .with_controller_id(BrokerId(NODE_ID))
        .with_cluster_authorized_operations(OPERATIONS_UNKNOWN)
        .with_topics(topics)
}

/// Topics that the client may not describe are left out of a full list, as a broker does.
fn all(shared: &Shared, store: &Store) -> Vec<MetadataResponseTopic> {
    store
        .topics()
        .filter(|(name, _)| shared.faults.on_topic(ApiKey::Metadata, name).is_none())
        .map(|(name, topic)| known(name, topic))
        .collect()
}

fn one(shared: &Shared, store: &Store, wanted: &MetadataRequestTopic) -> MetadataResponseTopic {
    let Some(name) = &wanted.name else {
        return match store.topic_by_id(wanted.topic_id.as_u128()) {
            Some((name, topic)) => match shared.faults.on_topic(ApiKey::Metadata, name) {
                Some(error) => refused(error).with_topic_id(wanted.topic_id),
                None => known(name, topic),
            },
            None => refused(ResponseError::UnknownTopicId).with_topic_id(wanted.topic_id),
        };
    };
    let denied = shared.faults.on_topic(ApiKey::Metadata, name);
    match (denied, store.topic(name)) {
        (Some(error), _) => refused(error).with_name(Some(name.clone())),
        (None, Some(topic)) => known(name, topic),
        (None, None) => {
            refused(ResponseError::UnknownTopicOrPartition).with_name(Some(name.clone()))
        }
    }
}

fn refused(error: ResponseError) -> MetadataResponseTopic {
    MetadataResponseTopic::default()
        .with_error_code(error.code())
        // Null only where the client asked by id; a caller that knows the name sets it.
        .with_name(None)
        .with_topic_authorized_operations(OPERATIONS_UNKNOWN)
}

fn known(name: &str, topic: &Topic) -> MetadataResponseTopic {
    let node = BrokerId(NODE_ID);
    let partitions = topic.partitions().map(|(index, log)| {
        MetadataResponsePartition::default()
            .with_partition_index(index)
            .with_leader_id(node)
            .with_leader_epoch(log.leader_epoch())
            .with_replica_nodes(vec![node])
            .with_isr_nodes(vec![node])
    });
    MetadataResponseTopic::default()
        .with_name(Some(TopicName(text(name))))
        .with_topic_id(uuid(topic.id))
        .with_is_internal(INTERNAL_TOPICS.contains(&name))
        .with_topic_authorized_operations(OPERATIONS_UNKNOWN)
        .with_partitions(partitions.collect())
}

/// The protocol crate's uuid type, without naming the crate it comes from.
fn uuid<U: TryFrom<Vec<u8>> + Default>(id: u128) -> U {
    U::try_from(id.to_be_bytes().to_vec()).unwrap_or_default()
}
