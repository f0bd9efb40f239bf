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
    if is_skipped() {
        return;
    }
    let run = Run {
        program: PathBuf::from(env!("CARGO_BIN_EXE_evenkeel")),
        keep: None,
        releases: None,
        whole: false,
    };
    let compared = named(name).unwrap().run(&run).unwrap();
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
