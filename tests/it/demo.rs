//! The demo as a user runs it: the incident plays, is counted, and ends.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use evenkeel_testbed::{request, wait_until};

#[test]
fn the_demo_plays_its_incident() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args(["demo", "--listen", "127.0.0.1:0", "--exit"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let port: u16 = lines
        .by_ref()
        .map(|line| line.unwrap())
        .find_map(|line| {
            let address = line.trim().strip_prefix("page")?.trim().to_owned();
            address
                .trim_end_matches('/')
                .rsplit_once(':')?
                .1
                .parse()
                .ok()
        })
        .unwrap();
    let metrics = || Ok(request(port, "GET", "/metrics", None, Duration::from_secs(5))?.body);
    let seen = |what: &str, line: &str| {
        wait_until(what, Duration::from_secs(60), || {
            let text: anyhow::Result<String> = metrics();
            Ok(text?.lines().any(|given| given == line).then_some(()))
        })
        .unwrap();
    };
    seen(
        "lost tasks",
        r#"evenkeel_unassigned{group="connect",kind="task",reason="lost"} 2"#,
    );
    seen("the hand-out", r#"evenkeel_generation{group="connect"} 8"#);
    seen("the end", r#"evenkeel_generation{group="connect"} 9"#);
    let told: Vec<String> = lines.map(|line| line.unwrap()).collect();
    assert!(demo.wait().unwrap().success());
    let last = told.last().unwrap();
    assert!(last.contains("9 generations completed"), "{last}");
}
