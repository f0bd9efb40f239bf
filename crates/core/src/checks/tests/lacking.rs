//! What a worker lacks: by its release, and as it would be written.

use super::dsl::known;
use crate::checks::{Outcome, judge};

fn missing(text: &str) -> String {
    let findings = judge(&known(text)).into_iter();
    let ours = findings.filter(|it| it.check.id == "setting_missing");
    let fired = ours.filter(|it| it.judgement.outcome == Outcome::Fired);
    let said: Vec<String> = fired.map(|it| it.judgement.said).collect();
    said.join(", ")
}

/// What a release demands is in the table of its jars.
#[test]
fn what_is_missing_is_what_the_release_demands() {
    let settings = "config.storage.topic=c key.converter=k offset.storage.topic=o \
                    status.storage.topic=s value.converter=v";
    let of = |release: &str, more: &str| {
        missing(&format!(
            "release {release}\nworker a {settings} {more}\nalone a"
        ))
    };
    assert_eq!(of("4.1.1", ""), "group.id is not set");
    let both = "bootstrap.servers is not set, group.id is not set";
    assert_eq!(of("4.3.1", ""), both);
    // Some release between these began to demand it.
    assert_eq!(of("4.2.0", ""), "group.id is not set");
    assert_eq!(of("4.1.1", "group.id="), "group.id is empty");
    // Who is in the group has it from somewhere.
    let told = format!("worker a {settings}\nalone a\ntold a session.timeout.ms=10000");
    assert_eq!(missing(&told), "");
}

/// Other variables may have the prefix where this one has none.
#[test]
fn the_image_decides_how_a_setting_is_written() {
    let of = |more: &str| {
        let text = "release 4.1.1\nworker a group.id=g bootstrap.servers=b key.converter=k \
                    offset.storage.topic=o status.storage.topic=s value.converter=v \
                    access.control.allow.origin=x\nalone a";
        missing(&format!("{text}\n{more}"))
    };
    assert_eq!(of(""), "config.storage.topic is not set");
    let own = "variable a group.id GROUP_ID";
    let prefixed = "variable a access.control.allow.origin CONNECT_ACCESS_CONTROL_ALLOW_ORIGIN";
    assert_eq!(of(own), "CONFIG_STORAGE_TOPIC is not set");
    let both = format!("{prefixed}\n{own}");
    assert_eq!(of(&both), "CONFIG_STORAGE_TOPIC is not set");
    assert_eq!(of(prefixed), "CONNECT_CONFIG_STORAGE_TOPIC is not set");
}

/// From 4.3 on brokers are demanded; before there is a default.
#[test]
fn of_a_release_that_nobody_named_only_what_all_demand_is_missing() {
    let whole = "config.storage.topic=c key.converter=k offset.storage.topic=o \
                 status.storage.topic=s value.converter=v";
    let of = |more: &str| format!("release assumed\nworker a {whole} {more}\nalone a");
    assert_eq!(missing(&of("")), "group.id is not set");
    // What hangs on the release is undecided, whether or not another one is missing.
    for more in ["group.id=g", ""] {
        let known = known(&of(more));
        let findings = judge(&known).into_iter();
        let ours = findings.filter(|it| it.check.id == "setting_missing");
        let mut open = ours.filter(|it| it.judgement.outcome == Outcome::Undecided);
        let judgement = open.next().unwrap().judgement;
        assert_eq!(judgement.missing, ["the release of Kafka"], "{more}");
    }
    assert_eq!(missing(&of("bootstrap.servers=b")), "group.id is not set");
}
