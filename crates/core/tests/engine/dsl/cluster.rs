//! What brokers say of themselves and of topics, from the words of a scenario.

use evenkeel_core::facts::cluster::{Cluster, ClusterTopic, Told, TopicRole};
use evenkeel_core::facts::input::{Input, InputKind, Trouble};
use evenkeel_core::facts::time::ArrivalTime;

use super::Step;

/// `cluster BROKERS SETTINGS | ROLE NAME PARTITIONS REPLICAS SETTINGS | ...`
pub(super) fn told(at: i64, rest: &str) -> Step {
    let mut parts = rest.split('|');
    let head: Vec<&str> = parts.next().unwrap().split_whitespace().collect();
    let cluster = Cluster {
        brokers: head[1].parse().ok(),
        coordinator: settings(&head[2..]),
        topics: parts.map(topic).collect(),
    };
    Step::Input(Input {
        at: ArrivalTime(at),
        kind: InputKind::Cluster(cluster),
    })
}

fn topic(text: &str) -> ClusterTopic {
    let words: Vec<&str> = text.split_whitespace().collect();
    let shape: Vec<Option<u32>> = words[2..].iter().map(|word| word.parse().ok()).collect();
    let is_told = shape.first().is_some_and(Option::is_some);
    let settings = settings(if is_told { &words[4..] } else { &words[2..] });
    ClusterTopic {
        role: match words[0] {
            "config" => TopicRole::Config,
            "offset" => TopicRole::Offset,
            "status" => TopicRole::Status,
            "groups" => TopicRole::Groups,
            other => panic!("unknown topic {other}"),
        },
        name: words[1].to_owned(),
        partitions: shape.first().copied().flatten(),
        replicas: shape.get(1).copied().flatten(),
        trouble: (!is_told).then_some(Trouble::Denied),
        settings,
    }
}

fn settings(words: &[&str]) -> Told {
    if words == ["denied"] {
        return Told::failed(Trouble::Denied);
    }
    let pair = |word: &&str| {
        let (name, value) = word.split_once('=').expect("a setting");
        (name.to_owned(), value.to_owned())
    };
    Told {
        values: words.iter().map(pair).collect(),
        trouble: None,
    }
}
