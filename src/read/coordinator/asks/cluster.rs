//! What brokers and topics are set to: two small questions, both to the coordinator. Only
//! what is compared is asked for.

use evenkeel_core::facts::cluster::{
    COORDINATOR_SETTINGS, Cluster, ClusterTopic, TOPIC_SETTINGS, TopicRole,
};
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::{ApiKey, DescribeConfigsRequest, MetadataRequest, TopicName};
use kafka_protocol::protocol::StrBytes;

use super::super::error::AskError;
use super::super::reply::cluster::{self as reply, Resource, Shape};
use super::super::socket::Connection;
use super::Answered;
use crate::read::kafka::Now;

/// `ConfigResource.Type` of Kafka.
const TOPIC: i8 = 2;
const BROKER: i8 = 4;

/// The first version of `Metadata` that can be told not to create a topic.
const NO_CREATION_VERSION: i16 = 4;

/// `None` where the broker serves no version of the questions that is known.
pub(in super::super) async fn cluster(
    connection: &mut Connection,
    node: i32,
    topics: &[(TopicRole, String)],
    now: &Now,
) -> Result<Option<Answered<Cluster>>, AskError> {
    let shapes = connection.version(ApiKey::Metadata, NO_CREATION_VERSION, 12);
    let settings = connection.version(ApiKey::DescribeConfigs, 1, 4);
    let (Some(shapes), Some(settings)) = (shapes, settings) else {
        return Ok(None);
    };
    let request = MetadataRequest::default()
        .with_topics(Some(topics.iter().map(named).collect()))
        .with_allow_auto_topic_creation(false);
    let first = connection.ask("Metadata", &request, shapes, now).await?;
    let (brokers, shapes) = reply::shapes(first.body.bytes(), shapes)?;

    let broker = (BROKER, node.to_string(), &COORDINATOR_SETTINGS[..]);
    let of_topics = topics
        .iter()
        .map(|(_, name)| (TOPIC, name.clone(), &TOPIC_SETTINGS[..]));
    let resources = std::iter::once(broker).chain(of_topics).map(resource);
    let request = DescribeConfigsRequest::default().with_resources(resources.collect());
    let second = connection.ask("DescribeConfigs", &request, settings, now);
    let second = second.await?;
    let told = reply::settings(second.body.bytes(), settings)?;
    let value = put_together(node, brokers, &shapes, told, topics);
    Ok(Some(Answered {
        asked: first.asked,
        at: second.at,
        bytes: first.body.wire_len() + second.body.wire_len(),
        value,
    }))
}

fn named((_, name): &(TopicRole, String)) -> MetadataRequestTopic {
    let name = StrBytes::from_string(name.clone());
    MetadataRequestTopic::default().with_name(Some(TopicName(name)))
}

fn resource((kind, name, keys): (i8, String, &'static [&'static str])) -> DescribeConfigsResource {
    let keys = keys.iter().map(|key| StrBytes::from_static_str(key));
    DescribeConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(StrBytes::from_string(name))
        .with_configuration_keys(Some(keys.collect()))
}

fn put_together(
    node: i32,
    brokers: u32,
    shapes: &[Shape],
    told: Vec<Resource>,
    topics: &[(TopicRole, String)],
) -> Cluster {
    let of = |kind: i8, name: &str| {
        let found = told.iter().find(|one| one.kind == kind && one.name == name);
        found.map(|one| one.told.clone()).unwrap_or_default()
    };
    let topics = topics.iter().map(|(role, name)| {
        let shape = shapes.iter().find(|shape| shape.name == *name);
        ClusterTopic {
            role: *role,
            name: name.clone(),
            partitions: shape.and_then(|shape| shape.partitions),
            replicas: shape.and_then(|shape| shape.replicas),
            trouble: shape.and_then(|shape| shape.trouble),
            settings: of(TOPIC, name),
        }
    });
    Cluster {
        brokers: (brokers > 0).then_some(brokers),
        coordinator: of(BROKER, &node.to_string()),
        topics: topics.collect(),
    }
}
