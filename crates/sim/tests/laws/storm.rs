//! A storm that lasts a day: what the engine remembers stays as large as it was, and each
//! generation is counted once, as it ended.

mod group;
mod sidecar;

use std::collections::BTreeMap;

use evenkeel_core::answers::{Outcome, Pattern};
use serde_json::Value;

use group::Storm;
use sidecar::Sidecar;

const HOUR_S: i64 = 3_600;

/// Between two rounds; more than the twenty in ten minutes that make a storm.
const PACE_S: i64 = 8;

/// Each hour the storm is as dense as it was seen in the field for so many rounds.
const DENSE_ROUNDS: i64 = 200;
const DENSE_MS: i64 = 4;

/// The least of a size that is told to have grown: what waits for the next question for
/// ends differs from look to look.
const WAITING_MAX: usize = 8;

#[test]
fn a_day_of_it_is_remembered_in_no_more_than_an_hour_of_it() {
    let mut storm = Storm::new();
    let mut sidecar = Sidecar::new(&mut storm);
    let (mut early, mut late) = (Sizes::default(), Sizes::default());
    for hour in 0..24 {
        for second in (0..HOUR_S).step_by(PACE_S as usize) {
            if second == HOUR_S / 2 {
                for _ in 0..DENSE_ROUNDS {
                    sidecar.round(&mut storm, DENSE_MS);
                }
            }
            sidecar.round(&mut storm, PACE_S * 1_000);
            // Right after the dense part, when most waits, and at times between.
            if second % 1_200 == 0 || second == HOUR_S / 2 {
                match hour {
                    2..6 => early.look(&sidecar),
                    20.. => late.look(&sidecar),
                    _ => {}
                }
            }
        }
    }
    late.no_larger_than(&early);
    let answers = sidecar.engine.answers();
    assert_eq!(answers.pattern.as_ref().unwrap().pattern, Pattern::Storm);
    let episodes = answers.episodes.unwrap();
    let open = episodes.open.expect("an episode without an end");
    assert_eq!(open.first_generation, 1);
    assert!(episodes.closed.is_empty(), "{:?}", episodes.closed);
    let written = storm.ended.len() as u64;
    // The storm is over: what was still unknown is settled.
    sidecar.quiet(&storm);
    sidecar.each_is_told_once(&storm);
    let answers = sidecar.engine.answers();
    let counted = |outcome| answers.counters.generations_of(outcome);
    let (completed, aborted) = (Outcome::Completed, Outcome::Aborted);
    assert_eq!(counted(completed), storm.ended_so(completed));
    assert_eq!(counted(aborted), storm.ended_so(aborted));
    let all: u64 = answers.counters.generations.values().sum();
    assert_eq!(all, written, "each generation is counted once");
    let episodes = answers.episodes.unwrap();
    let counted: Vec<u64> = episodes.closed.iter().map(|one| one.generations).collect();
    assert_eq!(counted, [written], "one episode with all generations");
}

/// How large the state is, and how many entries each list and map of it has.
#[derive(Default)]
struct Sizes {
    bytes: usize,
    entries: BTreeMap<String, usize>,
}

impl Sizes {
    /// The largest so far of each.
    fn look(&mut self, sidecar: &Sidecar) {
        let text = serde_json::to_string(sidecar.engine.state()).unwrap();
        self.bytes = self.bytes.max(text.len());
        let state: Value = serde_json::from_str(&text).unwrap();
        self.count("", &state);
    }

    fn count(&mut self, path: &str, value: &Value) {
        let size = match value {
            Value::Array(entries) => {
                for entry in entries {
                    self.count(&format!("{path}/*"), entry);
                }
                entries.len()
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    // Fields have names; numbers and workers are keys of maps.
                    let is_name = name
                        .bytes()
                        .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                    let name = if is_name { name } else { "*" };
                    self.count(&format!("{path}/{name}"), field);
                }
                fields.len()
            }
            _ => return,
        };
        let most = self.entries.entry(path.to_owned()).or_default();
        *most = size.max(*most);
    }

    #[track_caller]
    fn no_larger_than(&self, before: &Self) {
        let grown: Vec<String> = self
            .entries
            .iter()
            .filter_map(|(path, now)| {
                let then = before.entries.get(path).copied().unwrap_or(0);
                (*now > then + (then / 10).max(WAITING_MAX))
                    .then(|| format!("{path}: {then}, later {now}"))
            })
            .collect();
        assert!(grown.is_empty(), "grew in the storm:\n{}", grown.join("\n"));
        let allowed = before.bytes + before.bytes / 20;
        assert!(
            self.bytes <= allowed,
            "{} bytes, then {}",
            before.bytes,
            self.bytes
        );
    }
}
