//! Kafka's own console consumer reads what the demo serves.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use evenkeel_testbed::consume;

/// The demo, killed when the test is over, however it ends.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The JVM starts in a second or two, the incident's first records come at once.
const READ_MAX: Duration = Duration::from_secs(20);

#[test]
fn reads_the_topics_of_the_demo() {
    if super::is_skipped() {
        return;
    }
    let demo = Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args(["demo", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut demo = Demo(demo);
    let mut lines = BufReader::new(demo.0.stdout.take().unwrap()).lines();
    let broker = lines
        .by_ref()
        .map(|line| line.unwrap())
        .find_map(|line| {
            let rest = line.trim().strip_prefix("broker")?.trim();
            Some(rest.split(',').next()?.to_owned())
        })
        .unwrap();
    // The demo talks for half a minute: a pipe has room for all of it.
    let read = |topic, records| consume((topic, 0), &broker, records, READ_MAX).unwrap();
    let config = read("connect-configs", 2);
    assert!(config[0].starts_with("session-key\t{"), "{config:?}");
    assert!(
        config[1].starts_with("connector-orders\t{\"properties\":{"),
        "as Connect writes it: {config:?}"
    );
    assert!(!config.concat().contains("evenkeel\":"), "{config:?}");
    assert_eq!(read("__consumer_offsets", 1).len(), 1);
}
