//! Every time that evenkeel tells of a recorded run, held against the logs: one cell a value.
//!
//! The truth of a time is an interval, too: a log line is written before or after what it
//! tells of, and a status between two lines. A cell is wrong if what is told and what is true
//! do not meet.

mod phases;
mod stretches;
mod table;
mod work;

use serde_json::Value;

use super::compare::{number, text, worker_id};
use super::replay::stamped_ms_max;
use crate::truth::{TruthEvent, TruthGeneration, TruthLog, Verb, What};
use crate::version::Version;
pub use table::tables;

/// What a time is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Sync,
    Join,
    /// By the logs alone: the same on every sidecar.
    StopByLogs,
    /// With what this sidecar saw itself.
    Stop,
    StartByLogs,
    Start,
    Skew,
    Died,
    ActiveByLogs,
    Active,
    Parked,
    Lost,
}

/// How evenkeel says that it knows a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    Exact,
    Bounded,
    AtLeast,
    AtMost,
    Unmeasured,
}

/// From and to, both possible, in milliseconds; far away where there is no end.
pub type Range = (i64, i64);

/// Further than any instant or duration of a recording.
const FAR: i64 = i64::MAX / 4;

/// One value, told and true.
#[derive(Clone, Debug)]
pub struct Cell {
    pub kind: Kind,
    pub recording: String,
    /// Of the brokers and of the workers.
    pub releases: String,
    pub what: String,
    pub how: How,
    /// The one number that is told.
    pub told_ms: i64,
    pub told: Range,
    pub truth: Range,
    /// By how much the lines themselves may be off.
    pub slack_ms: i64,
    /// What is told must not be wider than this.
    pub width_ms_max: Option<i64>,
}

/// When a poll was asked and when its answer was there.
pub type Poll = (i64, i64);

/// A recording as it is compared.
struct Compared<'a> {
    recording: &'a str,
    releases: String,
    truth: &'a TruthLog,
    polls: &'a [Poll],
    slack_ms: i64,
    /// Whether tasks say RUNNING before their start is called.
    tells_before_start: bool,
    cells: Vec<Cell>,
}

/// An answer `DurationAnswer`.
struct Told {
    how: How,
    ms: i64,
    range: Range,
}

/// All times in `lines`, which a replay that was settled printed. `polls` are the answered
/// ones of the recording.
///
/// # Errors
/// When a line is missing.
pub fn accuracy(
    recording: &str,
    lines: &[Value],
    (truth, polls): (&TruthLog, &[Poll]),
) -> anyhow::Result<Vec<Cell>> {
    let episodes = lines.iter().find(|line| line["line"] == "episodes");
    let episodes = anyhow::Context::context(episodes, "the replay tells no episodes")?;
    let episodes = &episodes["episodes"];
    let release = |of: &str| {
        let found = lines
            .iter()
            .find_map(|line| text(&line["header"]["kafka"][of]));
        found.unwrap_or_else(|| "unknown".to_owned())
    };
    let workers = release("workers").parse::<Version>();
    let mut compared = Compared {
        tells_before_start: workers.is_ok_and(|workers| !workers.at_least(2, 8)),
        recording,
        releases: format!("{} / {}", release("broker"), release("workers")),
        truth,
        polls,
        slack_ms: stamped_ms_max(lines),
        cells: Vec::new(),
    };
    for episode in list(&episodes["closed"]) {
        compared.episode(episode);
    }
    for skew in list(&episodes["skews"]) {
        compared.skew(skew);
    }
    Ok(compared.cells)
}

// === impl Cell ===

impl Cell {
    /// Whether what is told cannot be.
    pub fn is_wrong(&self) -> bool {
        if self.how == How::Unmeasured {
            return false;
        }
        let apart = self.told.1.saturating_add(self.slack_ms) < self.truth.0
            || self.told.0.saturating_sub(self.slack_ms) > self.truth.1;
        let width = self.told.1.saturating_sub(self.told.0);
        apart || self.width_ms_max.is_some_and(|most| width > most)
    }

    /// How far the told number is from the nearest that may be true.
    pub fn error_ms(&self) -> i64 {
        let (from, to) = self.truth;
        (from - self.told_ms).max(self.told_ms - to).max(0)
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} of {}, {}: told {:?} {} ({}), true {}",
            self.kind,
            self.recording,
            self.what,
            self.how,
            self.told_ms,
            shown(self.told),
            shown(self.truth)
        )
    }
}

fn shown((from, to): Range) -> String {
    let end = |ms: i64| match ms {
        ms if ms.abs() > FAR / 2 => "any".to_owned(),
        ms => ms.to_string(),
    };
    format!("{} to {}", end(from), end(to))
}

// === impl Told ===

impl Told {
    fn of(answer: &Value) -> Option<Told> {
        let ms = number(&answer["ms"])?;
        let (how, range) = match answer["bound"].as_str()? {
            "exact" => (How::Exact, (ms, ms)),
            "at_least" => (How::AtLeast, (ms, FAR)),
            "at_most" => (How::AtMost, (-FAR, ms)),
            _ => (How::Bounded, between(&answer["between_ms"])?),
        };
        Some(Told { how, ms, range })
    }

    fn nothing() -> Told {
        Told {
            how: How::Unmeasured,
            ms: 0,
            range: (-FAR, FAR),
        }
    }
}

// === impl Compared ===

impl Compared<'_> {
    fn add(&mut self, kind: Kind, what: &str, told: Option<Told>, truth: Range) {
        let told = told.unwrap_or_else(Told::nothing);
        self.cells.push(Cell {
            kind,
            recording: self.recording.to_owned(),
            releases: self.releases.clone(),
            what: what.to_owned(),
            how: told.how,
            told_ms: told.ms,
            told: told.range,
            truth,
            slack_ms: self.slack_ms,
            width_ms_max: None,
        });
    }

    fn episode(&mut self, episode: &Value) {
        for round in list(&episode["rounds"]) {
            let generation = number(&round["generation"]).unwrap_or_default();
            let ended_ms = number(&round["join_ended"]).unwrap_or_default();
            let Some(place) = self.place(generation, ended_ms) else {
                continue;
            };
            let rounds = list(&episode["polled"]["rounds"]);
            let polled = rounds
                .filter(|polled| number(&polled["generation"]) == Some(generation))
                .last();
            self.round(place, round, polled.unwrap_or(&Value::Null));
        }
        for departure in list(&episode["departures"]) {
            self.died(departure);
        }
        self.stretches(episode);
        self.lost(episode);
    }

    /// Where a round is in the truth: numbers repeat when the group was created anew.
    fn place(&self, generation: i64, ended_ms: i64) -> Option<usize> {
        let all = self.truth.generations.iter().enumerate();
        all.filter(|(_, truth)| truth.generation == generation)
            .min_by_key(|(_, truth)| (truth.join_end_ms - ended_ms).abs())
            .map(|(place, _)| place)
    }

    fn generation(&self, place: usize) -> Option<&TruthGeneration> {
        self.truth.generations.get(place)
    }

    /// How far the clock of a process is ahead.
    fn skew_ms(&self, process: &str) -> i64 {
        self.truth.skews_ms.get(process).copied().unwrap_or(0)
    }

    fn process(&self, worker: &str) -> Option<String> {
        let mut urls = self.truth.worker_urls.iter();
        let found = urls.find(|(_, url)| worker_id(url) == worker)?;
        Some(found.0.clone())
    }

    fn skew(&mut self, skew: &Value) {
        let worker = text(&skew["worker"]).unwrap_or_default();
        let Some(process) = self.process(&worker) else {
            return;
        };
        let truth = self.skew_ms(&process);
        let ends = &skew["between_ms"];
        let (from, to) = (number(&ends[0]), number(&ends[1]));
        let told = Told {
            how: match (from, to) {
                (Some(_), Some(_)) => How::Bounded,
                (Some(_), None) => How::AtLeast,
                (None, Some(_)) => How::AtMost,
                (None, None) => How::Unmeasured,
            },
            ms: number(&skew["ms"]).unwrap_or_default(),
            range: (from.unwrap_or(-FAR), to.unwrap_or(FAR)),
        };
        self.add(Kind::Skew, &process, Some(told), (truth, truth));
        // Two instants of records: no log line comes between them.
        if let Some(cell) = self.cells.last_mut() {
            cell.slack_ms = 0;
        }
    }

    /// A worker that wrote nothing: when the script killed it, told from `gone_by` backwards.
    fn died(&mut self, departure: &Value) {
        let worker = text(&departure["worker"]).unwrap_or_default();
        let gone_by = number(&departure["gone_by"]).unwrap_or_default();
        let Some(process) = self.process(&worker) else {
            return;
        };
        let killed = self.truth.events.iter().rfind(|event| {
            matches!(
                event.what,
                What::Script {
                    verb: Verb::Kill,
                    ..
                }
            ) && event.process == process
                && event.at_ms <= gone_by + self.slack_ms
        });
        let Some(killed) = killed.filter(|_| departure["how"] == "crashed") else {
            return;
        };
        let told = between(&departure["died_between"]).map(|(from, to)| Told {
            how: How::Bounded,
            ms: gone_by - (from + (to - from) / 2),
            range: (gone_by - to, gone_by - from),
        });
        let truth = (gone_by - ended_ms(killed), gone_by - killed.at_ms);
        let generation = number(&departure["generation"]).unwrap_or_default();
        self.add(
            Kind::Died,
            &format!("{process} before generation {generation}"),
            told,
            truth,
        );
    }
}

fn ended_ms(event: &TruthEvent) -> i64 {
    match event.what {
        What::Script { ended_ms, .. } | What::Request { ended_ms, .. } => ended_ms,
        _ => event.at_ms,
    }
}

fn between(value: &Value) -> Option<Range> {
    Some((number(&value[0])?, number(&value[1])?))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn later((a, b): Range, (c, d): Range) -> Range {
    (a.max(c), b.max(d))
}

/// From one instant to another.
fn span(from: Range, to: Range) -> Range {
    (
        to.0.saturating_sub(from.1).max(0),
        to.1.saturating_sub(from.0).max(0),
    )
}
