//! Signals, in processes of their own: this one must not end by them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// Says to a child of this test program what it is to do; unset elsewhere.
const PART: &str = "EVENKEEL_TEST_SIGNALS";

/// No process takes longer.
const DEADLINE: Duration = Duration::from_secs(20);

/// What a child does: nothing at all where no test started it.
#[test]
fn part_of_a_child() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    watch_from_the_start();
    let say = |line: &str| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\n{line}").unwrap();
        out.flush().unwrap();
    };
    let signals = (part == "taken").then(|| Signals::listen().unwrap());
    say("ready");
    match signals {
        None => std::thread::sleep(DEADLINE),
        Some(mut signals) => {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build().unwrap();
            runtime.block_on(signals.received());
            std::process::exit(7);
        }
    }
}

fn child(part: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = "run::shutdown::tests::part_of_a_child";
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(PART, part).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_ready = lines.map_while(Result::ok).any(|line| line == "ready");
    assert!(is_ready, "the child ended");
    child
}

fn ended_by(signal: &str, mut child: Child) -> ExitStatus {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if began.elapsed() > DEADLINE / 2 {
            child.kill().unwrap();
            panic!("{signal} ended nothing");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An exit of its own, not an end by the signal: the first process of a container has none.
#[test]
fn a_signal_before_a_command_takes_over_ends_the_process() {
    assert_eq!(ended_by("-TERM", child("untaken")).code(), Some(143));
    assert_eq!(ended_by("-INT", child("untaken")).code(), Some(130));
}

#[test]
fn a_command_that_took_over_ends_by_itself() {
    assert_eq!(ended_by("-TERM", child("taken")).code(), Some(7));
}
