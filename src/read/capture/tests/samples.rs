//! Inputs of every kind, as captures hold them.

use evenkeel_core::facts::cluster::{Cluster, ClusterTopic, Told, TopicRole};
use evenkeel_core::facts::input::{
    Access, Ends, Input, InputKind, Reached, Record, Sampled, Settings, Start, Topic, Trouble,
    WorkerSetting,
};
use evenkeel_core::facts::poll::{Description, PollAnswer, Polled, PolledMember, PolledState};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};

/// One of each kind, and records with every form of key and value.
pub(super) fn samples() -> Vec<Input> {
    let kinds = vec![
        InputKind::Settings(Settings {
            cluster_id: Some("4L6g3nShT-eMCtK--X86sw".to_owned()),
            group: "connect-cluster".to_owned(),
            offsets_topic: "__consumer_offsets".to_owned(),
            offsets_partition: 13,
            config_topic: "connect-configs".to_owned(),
            config_partitions: 1,
            status_topic: "connect-status".to_owned(),
            status_partitions: 5,
            worker_release: Some("3.9.1".to_owned()),
            own_worker: None,
            own_addresses: vec!["10.0.0.7".to_owned()],
            worker_settings: vec![WorkerSetting {
                name: "session.timeout.ms".to_owned(),
                value: "10000".to_owned(),
                source: "connect.properties:3".to_owned(),
            }],
            masked: false,
        }),
        InputKind::Settings(Settings {
            masked: true,
            ..Settings::default()
        }),
        InputKind::Start(Start {
            topic: Topic::Offsets,
            partition: 13,
            offset: 12,
            end: 99,
            anew: true,
        }),
        record(1, Some(b"status-task-a-0"), Some(br#"{"state":"RUNNING"}"#)),
        record(2, Some(&[0, 2, 0, 1, b'g']), Some(&[0, 3, 0xff, 0xfe])),
        record(3, Some(b""), Some(b"")),
        record(4, None, None),
        record(
            5,
            Some("zwei\nZeilen".as_bytes()),
            Some("ä \u{85}".as_bytes()),
        ),
        record(6, Some(b"t:x"), Some(b"b:eA==")),
        InputKind::Reached(Reached {
            topic: Topic::Config,
            partition: 0,
            offset: i64::MAX,
        }),
        InputKind::Ends(Ends {
            topic: Topic::Status,
            asked: ArrivalTime(-5),
            ends: vec![(0, 10), (4, 0)],
        }),
        InputKind::Access(Access {
            topic: Topic::Offsets,
            trouble: Some(Trouble::Denied),
            asked: None,
        }),
        InputKind::Access(Access {
            topic: Topic::Offsets,
            trouble: None,
            asked: Some(ArrivalTime(-7)),
        }),
        polled(PollAnswer::Listed(None)),
        polled(PollAnswer::Listed(Some(PolledState::PreparingRebalance))),
        polled(PollAnswer::Failed(Trouble::Denied)),
        polled(PollAnswer::Described(Description {
            state: PolledState::Stable,
            protocol_type: "connect".to_owned(),
            protocol: "sessioned".to_owned(),
            members: vec![PolledMember {
                member_id: "connect-1-a".to_owned(),
                instance_id: None,
                client_id: "connect-1".to_owned(),
                client_host: "/10.0.0.7".to_owned(),
                metadata: vec![0, 2, 255],
                assignment: Vec::new(),
            }],
        })),
        InputKind::Tick,
        InputKind::Sampled(Sampled {
            partition: 7,
            offset: 12,
            on: true,
        }),
        InputKind::Cluster(Cluster {
            brokers: Some(3),
            coordinator: Told::failed(Trouble::Denied),
            topics: vec![ClusterTopic {
                role: TopicRole::Config,
                name: "connect-configs".to_owned(),
                partitions: Some(1),
                replicas: None,
                trouble: None,
                settings: Told {
                    values: [("cleanup.policy".to_owned(), "compact".to_owned())].into(),
                    trouble: None,
                },
            }],
        }),
    ];
    let mut at = 1_700_000_000_000;
    kinds
        .into_iter()
        .map(|kind| {
            at += 1_500;
            Input {
                at: ArrivalTime(at),
                kind,
            }
        })
        .collect()
}

fn polled(answer: PollAnswer) -> InputKind {
    InputKind::Polled(Polled {
        asked: ArrivalTime(1_699_999_999_990),
        answer,
    })
}

pub(super) fn record(offset: i64, key: Option<&[u8]>, value: Option<&[u8]>) -> InputKind {
    InputKind::Record(Record {
        topic: Topic::Status,
        partition: 3,
        offset,
        leader_epoch: (offset % 2 == 0).then_some(7),
        timestamp: (offset % 3 != 0).then_some(EventTime(1_700_000_000_000 + offset)),
        append_time: offset % 5 == 0,
        key: key.map(<[u8]>::to_vec),
        value: value.map(<[u8]>::to_vec),
    })
}
