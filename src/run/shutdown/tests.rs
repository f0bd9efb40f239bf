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
        // Whoever waited for an earlier line reads no more.
        drop(writeln!(out, "\n{line}").and_then(|()| out.flush()));
    };
    let signals = (part == "taken").then(|| Signals::listen().unwrap());
    say("ready");
    match signals {
        None => std::thread::sleep(DEADLINE),
        Some(mut signals) => {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build().unwrap();
            runtime.block_on(async {
                signals.ignore_hangups().unwrap();
                say("listening");
                signals.received().await;
            });
            std::process::exit(7);
        }
    }
}

/// A child that has come so far.
fn child(part: &str, come: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = "run::shutdown::tests::part_of_a_child";
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(PART, part).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_ready = lines.map_while(Result::ok).any(|line| line == come);
    assert!(is_ready, "the child ended");
    child
}

fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
}

fn ended_by(signal: &str, mut child: Child) -> ExitStatus {
    send(signal, &child);
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
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        let child = child("untaken", "ready");
        assert_eq!(ended_by(signal, child).code(), Some(code));
    }
}

#[test]
fn a_command_that_took_over_ends_by_itself() {
    let early = child("taken", "ready");
    assert_eq!(ended_by("-TERM", early).code(), Some(7));
    let late = child("taken", "listening");
    send("-HUP", &late);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(ended_by("-TERM", late).code(), Some(7), "a SIGHUP ended it");
}
