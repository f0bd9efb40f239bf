//! Against what Kafka's own `ConfigDef` says of each.

use super::*;

#[test]
fn what_a_worker_does_not_take_is_refused() {
    let cases: [(&str, &[&str], &[&str]); 5] = [
        (
            "session.timeout.ms",
            &["10000", "+5", "-5", "2147483647"],
            &["abc", "5 min", "2147483648", "1.5", "", "1_000", "10s"],
        ),
        (
            "scheduled.rebalance.max.delay.ms",
            &["0", "300000"],
            &["-1", "5 min", "2147483648"],
        ),
        (
            "offset.flush.interval.ms",
            &["-1", "9223372036854775807"],
            &["9223372036854775808", "x"],
        ),
        ("retry.backoff.ms", &["0", "2147483648"], &["-1", "x"]),
        (
            "connect.protocol",
            &["eager", "Sessioned", "COMPATIBLE"],
            &["foo", "", "eager,sessioned"],
        ),
    ];
    for (name, taken, refused) in cases {
        let (_, kind) = CLOCKS.iter().find(|(known, _)| *known == name).unwrap();
        for value in taken {
            assert_eq!(kind.refuses(value), None, "{name}={value}");
        }
        for value in refused {
            assert!(kind.refuses(value).is_some(), "{name}={value}");
        }
    }
}

#[test]
fn a_mistake_has_its_line_and_what_only_fails_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("worker.properties");
    let text = "session.timeout.ms=abc\nheartbeat.interval.ms=-5\nrequest.timeout.ms=7\n";
    std::fs::write(&file, text).unwrap();
    let env = |_: &str| None;
    let mut settings = Settings::read(Some((&file, "worker_properties")), &[], &env);
    let clocks = read(&mut settings);
    let names: Vec<_> = clocks.iter().map(|clock| clock.name.as_str()).collect();
    assert_eq!(names, ["heartbeat.interval.ms", "request.timeout.ms"]);
    let [mistake] = &settings.mistakes[..] else {
        panic!("{:?}", settings.mistakes);
    };
    let told = mistake.to_string();
    assert!(
        told.starts_with(
            "session.timeout.ms: found a text of 3 characters, expected an integer of 32 bits"
        ),
        "{told}"
    );
    assert!(told.contains("worker.properties:1"), "{told}");
    let [warning] = &settings.warnings[..] else {
        panic!("{:?}", settings.warnings);
    };
    assert!(
        warning.starts_with("worker.properties:2: heartbeat.interval.ms"),
        "{warning}"
    );
}
