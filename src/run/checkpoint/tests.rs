//! What a state is worth: on recordings, it is kept, given up and taken up again.

mod keeping;
mod restarts;

use std::collections::BTreeMap;
use std::path::PathBuf;

use evenkeel_core::answers::{Counters, Histogram};
use evenkeel_core::facts::input::Input;

use crate::read::capture::CaptureReader;

/// A number that is drawn; the seed is in the test.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn below(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % below.max(1)
    }
}

pub(super) fn seed(seed: u64) -> Draw {
    Draw(seed)
}

pub(super) fn captures() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|ending| ending == "gz"))
        .collect();
    files.sort();
    files
}

pub(super) fn capture(name: &str) -> Vec<Input> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    inputs(&folder.join(format!("{name}.evk.gz")))
}

pub(super) fn inputs(file: &std::path::Path) -> Vec<Input> {
    CaptureReader::open(file)
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

/// Everything that is counted, by a name.
fn flat(counters: &Counters) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    let mut add = |name: String, count: u64| {
        all.insert(name, count);
    };
    let Counters {
        generations,
        rebalances,
        rebalance_duration,
        phases,
        phases_unmeasured,
        departures,
        lost,
        lost_duration,
        revocations,
        assignments,
        assignment_errors,
        leader_changes,
        interruptions,
        handovers,
        moves,
        unavailable_ms,
        ..
    } = counters;
    interruptions
        .iter()
        .for_each(|(key, count)| add(format!("interruptions {key:?}"), *count));
    handovers
        .iter()
        .for_each(|(key, count)| add(format!("handovers {key:?}"), *count));
    moves
        .iter()
        .for_each(|(key, count)| add(format!("moves {key:?}"), *count));
    generations
        .iter()
        .for_each(|(key, count)| add(format!("generations {key:?}"), *count));
    rebalances
        .iter()
        .for_each(|(key, count)| add(format!("rebalances {key:?}"), *count));
    departures
        .iter()
        .for_each(|(key, count)| add(format!("departures {key:?}"), *count));
    lost.iter()
        .for_each(|(key, count)| add(format!("lost {key:?}"), *count));
    revocations
        .iter()
        .for_each(|(key, count)| add(format!("revocations {key:?}"), *count));
    assignments
        .iter()
        .for_each(|(key, count)| add(format!("assignments {key:?}"), *count));
    assignment_errors
        .iter()
        .for_each(|(key, count)| add(format!("errors {key:?}"), *count));
    unavailable_ms
        .iter()
        .for_each(|(key, ms)| add(format!("unavailable {key:?}"), *ms));
    // Polls bound how long a phase was, so only how many there were is the same for all.
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for (phase, lasted) in phases {
        *seen.entry(format!("phases {phase:?}")).or_default() += lasted.count;
    }
    for (phase, count) in phases_unmeasured {
        *seen.entry(format!("phases {phase:?}")).or_default() += *count;
    }
    seen.into_iter().for_each(|(name, count)| add(name, count));
    let count = |lasted: &Histogram| lasted.count;
    add("rebalance durations".to_owned(), count(rebalance_duration));
    add("lost durations".to_owned(), count(lost_duration));
    add("leader changes".to_owned(), *leader_changes);
    all.retain(|_, count| *count > 0);
    all
}

/// What was counted from one moment to a later one, less than zero where it fell.
fn since(before: &Counters, after: &Counters) -> BTreeMap<String, i64> {
    let mut added: BTreeMap<String, i64> = BTreeMap::new();
    for (name, count) in flat(after) {
        *added.entry(name).or_default() += i64::try_from(count).unwrap();
    }
    for (name, count) in flat(before) {
        *added.entry(name).or_default() -= i64::try_from(count).unwrap();
    }
    added.retain(|_, count| *count != 0);
    added
}
