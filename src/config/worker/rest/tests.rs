//! The name that a worker has in its group.

use super::*;

#[track_caller]
fn check(lines: &[&str], expected: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("w.properties");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let mut settings = Settings::read(Some((&file, "file")), &[], &|_| None);
    let found = own_worker(&mut settings);
    assert_eq!(found.as_ref().map(Found::text), expected, "{lines:?}");
}

#[test]
fn the_worker_is_named_as_it_names_itself() {
    // No host: the worker asks the network for one.
    check(&[], None);
    check(&["listeners=http://:8083"], None);
    check(&["rest.advertised.port=80"], None);
    check(&["listeners=http://0.0.0.0:8083"], None);
    check(&["listeners=http://[::]:8083"], None);
    check(&["rest.advertised.host.name=a"], Some("a:8083"));
    check(
        &["rest.advertised.host.name=a", "rest.advertised.port=80"],
        Some("a:80"),
    );
    check(
        &["rest.advertised.host.name=a", "listeners=http://b:1"],
        Some("a:1"),
    );
    check(&["listeners=http://b:1"], Some("b:1"));
    check(&["listeners=HTTP://b:1"], Some("b:1"));
    check(&["listeners=https://b:1"], Some("b:1"));
    check(&["listeners=https://b:1,http://c:2"], Some("c:2"));
    check(
        &[
            "listeners=https://b:1,http://c:2",
            "rest.advertised.listener=https",
        ],
        Some("b:1"),
    );
    check(&["listeners=http://[fe80::1]:8083"], Some("[fe80::1]:8083"));
    check(
        &["rest.advertised.host.name=fe80::1"],
        Some("[fe80::1]:8083"),
    );
    check(&["listeners=http://b:0"], None);
    check(
        &["rest.advertised.host.name=a", "rest.advertised.port=x"],
        None,
    );
    // Before 3.0.
    check(&["rest.host.name=d"], Some("d:8083"));
    check(&["rest.host.name=d", "rest.port=9"], Some("d:9"));
    check(&["rest.host.name=d", "listeners=http://b:1"], Some("b:1"));
    check(
        &[
            "listeners=https://b:1",
            "rest.advertised.listener=http",
            "rest.advertised.host.name=a",
        ],
        None,
    );
}
