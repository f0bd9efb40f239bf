//! Names of variables, and overrides on files that are not as expected.

use super::*;
use crate::config::flags::FLAGS;
use crate::config::load::keys;

#[test]
fn each_key_has_a_variable_of_its_own() {
    let mut variables: Vec<_> = leaves(&keys())
        .iter()
        .map(|(key, _)| variable(key))
        .collect();
    let count = variables.len();
    assert!(
        variables.contains(&"EVENKEEL_HTTP_LISTEN".to_owned()),
        "{variables:?}"
    );
    assert!(
        variables.contains(&"EVENKEEL_CONFIG_TOPIC".to_owned()),
        "{variables:?}"
    );
    assert!(!variables.contains(&FILE_VARIABLE.to_owned()));
    // None may look like one of Kubernetes, or it could not be set.
    assert!(
        variables.iter().all(|name| !is_service(name)),
        "{variables:?}"
    );
    variables.sort();
    variables.dedup();
    assert_eq!(variables.len(), count, "two keys share a variable");
}

#[test]
fn each_flag_is_for_a_key() {
    let leaves = leaves(&keys());
    for (key, flag) in FLAGS {
        assert!(
            leaves.iter().any(|(known, _)| known == key),
            "{flag} is for {key}"
        );
    }
}

#[test]
fn a_file_of_another_form_is_left_for_its_own_mistake() {
    let keys = keys();
    for document in [
        "kafka: text",
        "kafka: {properties: text}",
        "groups: text",
        "groups: [text]",
    ] {
        let mut root: Value = serde_yaml::from_str(document).unwrap();
        let before = root.clone();
        let mut mistakes = Vec::new();
        for key in ["kafka.properties.a", "groups.group"] {
            let over = Override {
                key: key.to_owned(),
                value: "x".to_owned(),
                origin: "--set".to_owned(),
            };
            put(&mut root, &over, &keys, &mut mistakes);
        }
        assert_eq!(mistakes, [], "{document}");
        for name in before.as_mapping().unwrap().keys() {
            if before[name].is_string() {
                assert_eq!(root[name], before[name], "{document}");
            }
        }
    }
}

#[test]
fn one_value_of_a_map_can_be_set() {
    let keys = keys();
    let mut root = Value::Mapping(Mapping::new());
    let mut mistakes = Vec::new();
    for key in ["kafka.properties.client.id", "traces.headers.x-tenant"] {
        let over = Override {
            key: key.to_owned(),
            value: "orders".to_owned(),
            origin: "--set".to_owned(),
        };
        put(&mut root, &over, &keys, &mut mistakes);
    }
    assert_eq!(mistakes, []);
    let expected =
        "{kafka: {properties: {client.id: orders}}, traces: {headers: {x-tenant: orders}}}";
    assert_eq!(root, serde_yaml::from_str::<Value>(expected).unwrap());
}
