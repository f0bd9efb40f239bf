//! Each rule at its boundary.

use super::*;
use crate::config::refused::REFUSED;

fn tree() -> Tree {
    let group = GroupTree {
        group: "g".to_owned(),
        config_topic: "c".to_owned(),
        status_topic: "s".to_owned(),
        ..GroupTree::default()
    };
    let kafka = KafkaTree {
        bootstrap: "b:9092".to_owned(),
        ..KafkaTree::default()
    };
    Tree {
        kafka,
        groups: vec![group],
        ..Tree::default()
    }
}

/// The paths of the mistakes after a change to a good tree.
fn wrong(change: impl FnOnce(&mut Tree)) -> Vec<String> {
    let mut tree = tree();
    change(&mut tree);
    match validate(&tree, &|_| None) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes.0.into_iter().map(|mistake| mistake.path).collect(),
    }
}

#[test]
fn a_good_tree_has_no_mistake() {
    assert_eq!(wrong(|_| ()), [""; 0]);
}

#[test]
fn brokers() {
    for good in [
        "b:1",
        "b:65535",
        "10.0.0.1:9092",
        "[::1]:9092",
        "a:1,b:2, c:3",
    ] {
        assert_eq!(
            wrong(|tree| tree.kafka.bootstrap = good.to_owned()),
            [""; 0],
            "{good}"
        );
    }
    for bad in [
        "b",
        "b:",
        ":1",
        "b:0",
        "b:65536",
        "::1:9092",
        "[]:1",
        "http://b:1",
        "a:1,,b:2",
        "a b:1",
    ] {
        assert_eq!(
            wrong(|tree| tree.kafka.bootstrap = bad.to_owned()),
            ["kafka.bootstrap"],
            "{bad}"
        );
    }
}

#[test]
fn refused_properties_are_each_told() {
    for (name, _) in REFUSED.iter().chain(&JAVA) {
        let set = wrong(|tree| tree.kafka.properties = [(*name, "x")].into_iter().collect());
        assert_eq!(set, [path(name)]);
    }
    for good in [
        "client.id",
        "test.mocking",
        "ssl.ca.location",
        "group.remote.assignor",
    ] {
        let set = wrong(|tree| tree.kafka.properties = [(good, "x")].into_iter().collect());
        assert_eq!(set, [""; 0], "{good}");
    }
}

#[test]
fn topics() {
    let longest = "t".repeat(249);
    for good in ["a", "a.b_c-D9", longest.as_str(), "..."] {
        assert_eq!(
            wrong(|tree| tree.groups[0].config_topic = good.to_owned()),
            [""; 0],
            "{good}"
        );
    }
    let longer = "t".repeat(250);
    for bad in [".", "..", "a b", "a/b", "ä", longer.as_str(), ""] {
        let set = wrong(|tree| tree.groups[0].config_topic = bad.to_owned());
        assert_eq!(set, ["groups[0].config_topic"], "{bad}");
    }
}

#[test]
fn groups() {
    let many = |count: usize| {
        move |tree: &mut Tree| {
            let group = tree.groups[0].clone();
            tree.groups = (0..count)
                .map(|index| GroupTree {
                    group: format!("g{index}"),
                    ..group.clone()
                })
                .collect();
        }
    };
    assert_eq!(wrong(many(GROUPS_MAX)), [""; 0]);
    assert_eq!(wrong(many(GROUPS_MAX + 1)), ["groups"]);
    assert_eq!(wrong(many(0)), ["groups"]);
}

#[test]
fn releases_and_workers() {
    for good in ["3.9", "4.0.0", "2.3.1"] {
        assert_eq!(
            wrong(|tree| tree.groups[0].worker_release = Some(good.to_owned())),
            [""; 0]
        );
    }
    for bad in ["4", "4.0.0.0", "4.x", "", "4."] {
        let set = wrong(|tree| tree.groups[0].worker_release = Some(bad.to_owned()));
        assert_eq!(set, ["groups[0].worker_release"], "{bad}");
    }
    let set = wrong(|tree| tree.groups[0].own_worker = Some("http://w:8083/".to_owned()));
    assert_eq!(set, ["groups[0].own_worker"]);
}

#[test]
fn addresses() {
    for (good, means) in [
        (":9790", "0.0.0.0:9790"),
        ("localhost:0", "127.0.0.1:0"),
        ("[::]:9790", "[::]:9790"),
        ("127.0.0.1:80", "127.0.0.1:80"),
    ] {
        let mut tree = tree();
        tree.http.listen = good.to_owned();
        let config = validate(&tree, &|_| None).unwrap();
        assert_eq!(config.http.listen.to_string(), means);
    }
    for bad in ["", "9790", "host:9790", "127.0.0.1", "127.0.0.1:65536"] {
        assert_eq!(
            wrong(|tree| tree.http.listen = bad.to_owned()),
            ["http.listen"],
            "{bad}"
        );
    }
}

#[test]
fn bounds() {
    for (series, subjects, paths) in [
        (1_000, 1, &[][..]),
        (1_000_000, 10_000, &[]),
        (999, 0, &["metrics.series_max", "metrics.subjects_max"]),
        (
            1_000_001,
            10_001,
            &["metrics.series_max", "metrics.subjects_max"],
        ),
    ] {
        let set = wrong(|tree| {
            tree.metrics.series_max = series;
            tree.metrics.subjects_max = subjects;
        });
        assert_eq!(set, paths);
    }
}

/// One would end a line of the log, or colour a terminal.
#[test]
fn a_group_has_no_control_characters() {
    for bad in ["a\nb", "a\u{1b}[31m", "\u{7f}"] {
        assert_eq!(
            wrong(|tree| tree.groups[0].group = bad.to_owned()),
            ["groups[0].group"]
        );
    }
    assert_eq!(
        wrong(|tree| tree.groups[0].group = "Größe 1".to_owned()),
        [""; 0]
    );
}
