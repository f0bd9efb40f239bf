//! The committed files are what the declarations make, and hold what they promise.

use super::*;
use crate::config::golden::committed;
use crate::config::overlay::leaves;
use crate::config::tree::{GroupTree, Tree};
use crate::config::validate;

#[test]
fn the_committed_files_are_up_to_date() {
    committed("config/evenkeel.yaml", &sample());
    committed("docs/configuration.md", &markdown());
}

#[test]
fn the_sample_says_the_defaults() {
    let tree: Tree = serde_yaml::from_str(&sample()).unwrap();
    assert_eq!(tree, Tree::default());
}

#[test]
fn the_sample_has_every_key() {
    // What is commented out becomes YAML when the signs before it go.
    let lines = sample();
    let lines = lines
        .lines()
        .filter(|line| *line != "groups: []")
        .map(|line| {
            let item = line
                .strip_prefix('#')
                .filter(|rest| rest.starts_with("- ") || rest.starts_with("  "));
            if line.starts_with("#- ") {
                format!("groups:\n{}", &line[1..])
            } else {
                item.unwrap_or(line).to_owned()
            }
        });
    let text: Vec<_> = lines.collect();
    let value: serde_yaml::Value = serde_yaml::from_str(&text.join("\n")).unwrap();
    for (key, _) in leaves(&keys()) {
        let mut at = &value;
        for name in key.split('.') {
            at = at.as_sequence().map_or(at, |items| &items[0]);
            at = at
                .get(name)
                .unwrap_or_else(|| panic!("{key} is not in the sample"));
        }
    }
    let tree: Tree = serde_yaml::from_value(value).unwrap();
    let group = GroupTree {
        group: "connect-cluster".to_owned(),
        config_topic: "connect-configs".to_owned(),
        status_topic: "connect-status".to_owned(),
        worker_properties: Some("/etc/kafka/connect-distributed.properties".to_owned()),
        own_worker: Some("worker-a:8083".to_owned()),
        worker_release: Some("3.9.1".to_owned()),
        ..GroupTree::default()
    };
    assert_eq!(tree.groups, [group]);
}

#[test]
fn every_example_is_accepted() {
    for (key, shape) in leaves(&keys()) {
        let text = example(&keys(), &key);
        assert!(!text.is_empty(), "{key} has no example");
        // Files that are not here have tests of their own.
        let is_file = ["groups.worker_properties", "kafka.token_file"].contains(&key.as_str());
        if matches!(shape, Shape::Map) || is_file {
            continue;
        }
        let base = [
            ("kafka.bootstrap", "b:1"),
            ("groups.group", "g"),
            ("groups.config_topic", "c"),
            ("groups.status_topic", "s"),
            (key.as_str(), text.as_str()),
        ];
        let flags: Vec<_> = base
            .iter()
            .map(|(key, value)| crate::config::Override {
                key: (*key).to_owned(),
                value: (*value).to_owned(),
                origin: "test".to_owned(),
            })
            .collect();
        let loaded = crate::config::Sources {
            file: None,
            vars: &[],
            flags: &flags,
        }
        .load();
        let tree = loaded
            .unwrap_or_else(|mistakes| panic!("{key}: {mistakes}"))
            .tree;
        assert!(validate(&tree, &|_| None).is_ok());
    }
}

fn example(keys: &[Key], path: &str) -> String {
    let (first, rest) = path
        .split_once('.')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    let key = keys.iter().find(|key| key.name == first).unwrap();
    match (&key.shape, rest) {
        (Shape::Section(inner) | Shape::List(inner), Some(rest)) => example(inner, rest),
        _ => key.example.to_owned(),
    }
}
