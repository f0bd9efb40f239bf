//! The table is whole, and says what releases differ in.

use super::*;

#[test]
fn every_line_of_the_table_is_read() {
    let tables = tables();
    let lines = TABLE.lines().filter(|line| !line.starts_with(['#', 'r']));
    let runs: usize = lines
        .map(|line| line.rsplit('\t').next().unwrap().split(' ').count())
        .sum();
    let read: usize = tables
        .settings
        .values()
        .flat_map(|names| names.values())
        .map(Vec::len)
        .sum();
    assert_eq!(read, runs);
    assert!(tables.releases.is_sorted());
    assert_eq!(tables.releases.len(), 11);
}

#[test]
fn releases_differ_where_kafka_does() {
    let tables = tables();
    let default = |whose, name, release: &str| {
        let release = release.parse().unwrap();
        tables.setting(whose, name, release)?.default
    };
    let session = |release| default(Whose::Consumer, "session.timeout.ms", release);
    assert_eq!(session("2.8.2"), Some("10000"));
    assert_eq!(session("3.0.2"), Some("45000"));
    // A release without a table of its own: the line's, else the one before.
    assert_eq!(session("2.8.0"), Some("10000"));
    assert_eq!(session("2.7.0"), Some("10000"));
    // Between 2.8 and 3.0 it changed: of a release in between nothing would be known.
    assert!(tables.has(Whose::Worker, "rest.port", "2.9.0".parse().unwrap()));
    assert_eq!(session("2.9.0"), None);
    assert_eq!(session("9.0.0"), Some("45000"));
    assert_eq!(session("1.0.0"), Some("10000"));
    assert_eq!(default(Whose::Worker, "rest.port", "2.8.2"), Some("8083"));
    assert_eq!(default(Whose::Worker, "rest.port", "3.0.2"), None);
    let (first, last) = tables.lifetime(Whose::Worker, "rest.port").unwrap();
    assert_eq!(
        (first.to_string(), last.to_string()),
        ("2.5.1".to_owned(), "2.8.2".to_owned())
    );
    assert_eq!(tables.lifetime(Whose::Worker, "no.such.thing"), None);
}

#[test]
fn values_are_refused_as_kafka_refuses_them() {
    let newest = tables().newest();
    let refuses = |name: &str, text: &str| {
        let setting = tables().setting(Whose::Worker, name, newest).unwrap();
        setting.refuses(text).unwrap_or_default()
    };
    let delay = "scheduled.rebalance.max.delay.ms";
    assert_eq!(refuses(delay, " 0 "), "");
    assert_eq!(refuses(delay, "2147483647"), "");
    let expected = "an integer of 32 bits, from 0 to 2147483647";
    assert_eq!(refuses(delay, "-1"), expected);
    assert_eq!(refuses(delay, "2147483648"), expected);
    assert_eq!(refuses(delay, "5 min"), expected);
    assert_eq!(
        refuses("task.shutdown.graceful.timeout.ms", "2147483648"),
        ""
    );
    assert_eq!(refuses("connect.protocol", "Eager"), "");
    assert_eq!(
        refuses("connect.protocol", "lazy"),
        "one of compatible, eager, sessioned"
    );
    assert_eq!(refuses("topic.creation.enable", "yes"), "true or false");
    assert_eq!(refuses("group.id", "anything"), "");
}

#[test]
fn a_release_is_two_or_three_numbers() {
    assert_eq!("3.9".parse(), Ok(Release::new(3, 9, 0)));
    assert_eq!("3.9.1".parse(), Ok(Release::new(3, 9, 1)));
    for text in ["", "3", "3.9.1.0", "v3.9", "3.-1", "3.9.x", "latest"] {
        assert_eq!(text.parse::<Release>(), Err(NoRelease), "{text}");
    }
}

#[test]
fn what_has_no_default_is_demanded() {
    let demanded = |release: &str| {
        let release = release.parse().unwrap();
        let names = tables().demanded(Whose::Worker, release);
        names.collect::<Vec<&str>>().join(" ")
    };
    let names = "config.storage.topic group.id key.converter offset.storage.topic \
                 status.storage.topic value.converter";
    for release in ["2.5.1", "3.9.2", "4.1.1"] {
        assert_eq!(demanded(release), names, "{release}");
    }
    assert_eq!(demanded("4.4.0"), format!("bootstrap.servers {names}"));
    let setting = tables().setting(Whose::Worker, "group.id", tables().newest());
    assert_eq!(setting.unwrap().default, None);
}
