//! Answers as a broker writes them, in every version, and cut at every byte.

use bytes::BytesMut;
use kafka_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{BrokerId, DescribeConfigsResponse, MetadataResponse, TopicName};
use kafka_protocol::protocol::{Encodable, StrBytes};

use super::*;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn bytes(answer: &impl Encodable, version: i16) -> BytesMut {
    let mut bytes = BytesMut::new();
    answer.encode(&mut bytes, version).unwrap();
    bytes
}

fn partition(index: i32, replicas: &[i32]) -> MetadataResponsePartition {
    let nodes: Vec<BrokerId> = replicas.iter().copied().map(BrokerId).collect();
    MetadataResponsePartition::default()
        .with_partition_index(index)
        .with_leader_id(BrokerId(1))
        .with_replica_nodes(nodes.clone())
        .with_isr_nodes(nodes)
}

fn topic(name: &str, error: i16, partitions: &[&[i32]]) -> MetadataResponseTopic {
    let partitions = partitions.iter().zip(0..).map(|(r, i)| partition(i, r));
    MetadataResponseTopic::default()
        .with_name(Some(TopicName(text(name))))
        .with_error_code(error)
        .with_partitions(partitions.collect())
}

fn metadata() -> MetadataResponse {
    let broker = |node| {
        MetadataResponseBroker::default()
            .with_node_id(BrokerId(node))
            .with_host(text("b"))
            .with_port(9092)
    };
    MetadataResponse::default()
        .with_brokers(vec![broker(1), broker(2)])
        .with_cluster_id(Some(text("c")))
        .with_topics(vec![
            topic("configs", 0, &[&[1, 2]]),
            topic("uneven", 0, &[&[1, 2], &[2]]),
            topic("hidden", 29, &[]),
            topic("absent", 3, &[]),
        ])
}

#[test]
fn shapes_of_topics_in_every_version() {
    for version in 4..=12 {
        let bytes = bytes(&metadata(), version);
        let (brokers, shapes) = shapes(&bytes, version).unwrap();
        assert_eq!(brokers, 2, "version {version}");
        let told: Vec<_> = shapes
            .iter()
            .map(|shape| {
                let counts = (shape.partitions, shape.replicas);
                (shape.name.as_str(), shape.trouble, counts)
            })
            .collect();
        assert_eq!(
            told,
            [
                ("configs", None, (Some(1), Some(2))),
                ("uneven", None, (Some(2), Some(1))),
                ("hidden", Some(Trouble::Denied), (None, None)),
                ("absent", Some(Trouble::Missing), (None, None)),
            ],
            "version {version}"
        );
    }
}

fn told_setting(name: &str, value: &str, is_sensitive: bool) -> DescribeConfigsResourceResult {
    let synonym = DescribeConfigsSynonym::default()
        .with_name(text("log.cleanup.policy"))
        .with_value(Some(text("delete")));
    DescribeConfigsResourceResult::default()
        .with_name(text(name))
        .with_value(Some(text(value)))
        .with_is_sensitive(is_sensitive)
        .with_synonyms(vec![synonym])
}

fn configs() -> DescribeConfigsResponse {
    let result = |error, kind, name, configs| {
        DescribeConfigsResult::default()
            .with_error_code(error)
            .with_resource_type(kind)
            .with_resource_name(text(name))
            .with_configs(configs)
    };
    let long = "9".repeat(VALUE_BYTES_MAX + 1);
    DescribeConfigsResponse::default().with_results(vec![
        result(31, 4, "1", Vec::new()),
        result(
            0,
            2,
            "configs",
            vec![
                told_setting("cleanup.policy", "compact", false),
                told_setting("max.message.bytes", &long, false),
                told_setting("ssl.keystore.password", "hunter2", false),
            ],
        ),
        result(
            0,
            2,
            "secret",
            vec![told_setting("cleanup.policy", "x", true)],
        ),
    ])
}

#[test]
fn settings_in_every_version_and_nothing_that_was_not_asked_for() {
    for version in 1..=4 {
        let bytes = bytes(&configs(), version);
        let told = settings(&bytes, version).unwrap();
        assert_eq!(told[0].told, Told::failed(Trouble::Denied));
        assert_eq!((told[0].kind, told[0].name.as_str()), (4, "1"));
        let policy = ("cleanup.policy".to_owned(), "compact".to_owned());
        let values: Vec<_> = told[1].told.values.clone().into_iter().collect();
        assert_eq!(values, [policy], "version {version}");
        assert_eq!(told[2].told, Told::default());
    }
}

#[test]
fn an_answer_that_is_cut_is_refused() {
    for version in 4..=12 {
        let whole = bytes(&metadata(), version);
        // What follows the topics is not read.
        let (_, of_topics) = shapes(&whole, version).unwrap();
        for cut in 0..whole.len() {
            if let Ok((_, cut_short)) = shapes(&whole[..cut], version) {
                assert_eq!(cut_short, of_topics, "version {version}, {cut} bytes");
            }
        }
        assert!(shapes(&whole[..whole.len() / 2], version).is_err());
    }
    for version in 1..=4 {
        let whole = bytes(&configs(), version);
        let end = whole.len() - usize::from(version == 4);
        for cut in 0..end {
            assert!(settings(&whole[..cut], version).is_err(), "{version} {cut}");
        }
    }
    // A length that is not there.
    let mut lie = BytesMut::from(&[0u8; 4][..]);
    lie.extend_from_slice(&i32::MAX.to_be_bytes());
    assert!(shapes(&lie, 4).is_err());
    assert!(settings(&lie, 1).is_err());
}
