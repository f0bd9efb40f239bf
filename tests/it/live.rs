//! Real brokers and workers, evenkeel beside them, the truth as judge.
//!
//! Skipped, with a line that says so, where `EVENKEEL_LIVE=skip` is set: a machine without
//! a JDK.

use std::path::PathBuf;

use evenkeel_testbed::scenario::{Run, named};

mod console;
mod polls;

fn is_skipped() -> bool {
    let skipped = std::env::var("EVENKEEL_LIVE").is_ok_and(|value| value == "skip");
    if skipped {
        println!("skipped: EVENKEEL_LIVE=skip");
    }
    skipped
}

fn run(name: &str) {
    play(name, false);
}

/// Runs the scenario: all steps of it, or those that show the most in the least time.
fn play(name: &str, whole: bool) {
    if is_skipped() {
        return;
    }
    let scenario = named(name).unwrap();
    if let Some(obstacle) = scenario.obstacle().unwrap() {
        println!("{name} skipped: {obstacle}");
        return;
    }
    let run = Run {
        program: PathBuf::from(env!("CARGO_BIN_EXE_evenkeel")),
        keep: None,
        releases: None,
        whole,
    };
    let compared = scenario.run(&run).unwrap();
    println!("{name}: {compared} compared, none differ");
}

#[test]
fn live_membership() {
    run("membership");
}

#[test]
fn live_outage() {
    run("outage");
}

#[test]
fn live_brokers() {
    run("brokers");
}

#[test]
fn live_secured() {
    run("secured");
}

#[test]
fn live_rights() {
    run("rights");
}

#[test]
fn live_sidecars() {
    run("sidecars");
}

/// A killed worker is back within the delay: who left and how, what was lost, until when, and
/// why each round came about.
#[test]
fn live_why() {
    run("kill_back_inside");
}

#[test]
fn live_hidden() {
    // What comes after the script it shares goes on from the script's end.
    play("hidden", true);
}

#[test]
fn live_changed() {
    run("changed");
}

#[test]
fn live_namespaces() {
    run("namespaces");
}

/// Each rebalance is one trace in a real collector.
#[test]
fn live_traced() {
    if is_skipped() {
        return;
    }
    if let Some(obstacle) = evenkeel_testbed::Collector::obstacle().unwrap() {
        println!("traced skipped: no collector: {obstacle}");
        return;
    }
    run("traced");
}

/// What a person is told: nothing of a rolling restart, a warning of a zombie, one page of lost
/// work and one of a loop, and when each is over.
#[test]
fn live_paged() {
    let obstacles = [
        evenkeel_testbed::Prometheus::obstacle(),
        evenkeel_testbed::Alertmanager::obstacle(),
    ];
    if let Some(obstacle) = obstacles.into_iter().flatten().next() {
        println!("paged skipped: {obstacle}");
        return;
    }
    run("paged");
}
