//! What images, other services and other commands set besides.

use super::*;

/// What is known of images decides whether something may be missing.
#[test]
fn images_set_what_their_scripts_do() {
    let of = |image: &str, variables: &str| {
        let text =
            format!("services:\n  c:\n    image: {image}\n    environment: {{{variables}}}\n");
        deployed("compose.yaml", &text)
    };
    let plain = of("registry.example/connect", "CONNECT_GROUP_ID: g");
    assert!(plain.workers[0].is_complete && !plain.workers[0].is_started_so);
    let other = of("confluentinc/cp-kafka:7.6.0", "CONNECT_GROUP_ID: g");
    assert!(!other.workers[0].is_started_so);
    let demanding = of(
        "confluentinc/cp-server-connect:7.6.0",
        "CONNECT_GROUP_ID: g",
    );
    assert!(demanding.workers[0].is_started_so);
    let debezium = of(
        "debezium/connect:2.7",
        "CONNECT_GROUP_ID: g, CONNECT_STATUS_STORAGE_TOPIC: s, CONNECT_SESSION_TIMEOUT_MS: 9000, OFFSET_STORAGE_TOPIC: o",
    );
    assert!(debezium.workers[0].is_started_so);
    // Its script sets the group from the variable without the prefix, which is not there.
    let worker = &debezium.workers[0];
    assert_eq!(of_worker(worker, "group.id"), "1");
    assert_eq!(of_worker(worker, "status.storage.topic"), "s");
    assert_eq!(of_worker(worker, "session.timeout.ms"), "9000");
    assert_eq!(of_worker(worker, "offset.storage.topic"), "o");
    assert!(of_worker(worker, "key.converter").ends_with("JsonConverter"));
    assert!(!worker.settings.contains_key("config.storage.topic"));
    let told = "service c: CONNECT_GROUP_ID: Debezium's images set it from GROUP_ID, whatever stands there";
    assert_eq!(debezium.notes, [told]);
    let default = of("debezium/connect", "GROUP_ID: g");
    let topic = of_worker(&default.workers[0], "status.storage.topic");
    assert_eq!(topic, "connect-status");
}

/// Another service, another command and arguments may set more.
#[test]
fn who_starts_something_else_may_set_more() {
    let image = "image: confluentinc/cp-kafka-connect:7.6.0";
    let of = |more: &str| {
        let text = format!(
            "services:\n  c:\n    {image}\n    {more}\n    environment: {{CONNECT_GROUP_ID: g}}\n"
        );
        deployed("compose.yaml", &text)
    };
    for more in ["command: ./run", "entrypoint: [./run]"] {
        let worker = &of(more).workers[0];
        assert!(worker.is_complete && !worker.is_started_so, "{more}");
    }
    for nothing in ["init: true", "command:", "extends:", "entrypoint: null"] {
        let worker = &of(nothing).workers[0];
        assert!(worker.is_complete && worker.is_started_so, "{nothing}");
    }
    let extending = of("extends: {service: base}");
    assert!(!extending.workers[0].is_complete);
    let told = "service c: extends is not read; what it may set is not known";
    assert_eq!(extending.notes[0], told);
    let told =
        "service c: by its image of the line of Kafka 3.6.2, whose settings and defaults count";
    assert_eq!(extending.notes[1..], [told]);
    let release = extending.workers[0].release.as_ref().unwrap();
    assert_eq!(release.value.to_string(), "3.6.2");
    assert!(release.source.to_string().ends_with("compose.yaml:3"));
    for (more, is_started_so) in [
        ("args: [./run]", false),
        ("command: [./run]", false),
        ("tty: true", true),
    ] {
        let text = format!(
            "kind: Deployment\nspec: {{template: {{spec: {{containers: [{{{image}, {more}, \
             env: [{{name: CONNECT_GROUP_ID, value: g}}]}}]}}}}}}\n"
        );
        let worker = &deployed("d.yaml", &text).workers[0];
        assert_eq!(worker.is_started_so, is_started_so, "{more}");
    }
}

/// An image that was made from Debezium's may set what it likes.
#[test]
fn what_is_made_from_a_known_image_is_not_known() {
    let text = "\
services:
  c:
    image: acme/debezium-connect:2
    environment: {CONFIG_STORAGE_TOPIC: c, OFFSET_STORAGE_TOPIC: o, CONNECT_SESSION_TIMEOUT_MS: 1}
";
    let of_compose = deployed("compose.yaml", text);
    let text = "\
kind: Deployment
metadata: {name: d}
spec:
  template:
    spec:
      containers:
      - image: acme/debezium-connect:2
        env: [{name: CONFIG_STORAGE_TOPIC, value: c}, {name: OFFSET_STORAGE_TOPIC, value: o}]
";
    for read in [of_compose, deployed("d.yaml", text)] {
        assert_eq!(setting(&read, "config.storage.topic").0, Ok("c".to_owned()));
        let worker = &read.workers[0];
        assert!(!worker.is_complete && !worker.is_started_so, "{read:?}");
        assert!(!worker.settings.contains_key("group.id"), "{read:?}");
        assert!(read.notes[0].ends_with("are taken as Debezium's images take them"));
    }
}
