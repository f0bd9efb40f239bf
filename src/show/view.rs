//! What is shown: the answers of each group, what the agent counts about itself, and
//! the moment of showing. A plain value, so that everything made of it is a function.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use evenkeel_core::answers::Answers;
use evenkeel_core::facts::input::Topic;
use evenkeel_core::facts::time::ArrivalTime;

use crate::config::{GroupSeries, SERIES_MAX_DEFAULT, SUBJECTS_MAX_DEFAULT};
use crate::show::process::ProcessStats;

/// What the loop that owns the engines publishes. Readers hold it, never an engine.
#[derive(Debug, Clone, Default)]
pub struct Published {
    /// The answers of each group, in the order of the configuration.
    pub groups: Vec<Arc<Answers>>,
    /// What the agent counts about itself.
    pub agent: AgentStats,
}

/// What the agent counts about itself, outside of any engine.
#[derive(Debug, Clone, Default)]
pub struct AgentStats {
    /// The program.
    pub build: BuildInfo,
    /// When it started, on its own clock.
    pub started: Option<ArrivalTime>,
    /// Whom the brokers see, by group, where the settings say so. Named when a right is
    /// missing.
    pub principals: BTreeMap<String, String>,
    /// What was read, by group and topic.
    pub inputs: Vec<InputStats>,
    /// What was asked of the coordinators.
    pub polls: Vec<PollStats>,
    /// Settings that changed while the agent runs.
    pub reloads: ReloadStats,
    /// When certificates in use expire, in seconds since the epoch.
    pub expiries: BTreeMap<CertificateUse, i64>,
    /// What stands in the way of reading, where it is known beyond the kind of trouble.
    pub hitches: Vec<HitchStats>,
    /// Changes of the configuration that only a restart takes up.
    pub pending: Vec<String>,
    /// What became of spans; absent where traces go nowhere.
    pub traces: Option<TraceStats>,
    /// Episodes whose trace this agent handed to its sender, by group.
    pub traced: BTreeMap<Arc<str>, Arc<BTreeSet<Arc<str>>>>,
    /// Why the state of a group is not kept, where it should be and is not.
    pub unkept: BTreeMap<Arc<str>, String>,
}

/// What stands in the way of one input of a group, as the agent's connections found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitchStats {
    /// Of which group.
    pub group: Arc<str>,
    /// A topic; `None` for the coordinator's answers.
    pub topic: Option<Topic>,
    /// In a sentence, with the setting to look at.
    pub text: &'static str,
}

/// What came of settings that changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReloadStats {
    /// Changes in use.
    pub ok: u64,
    /// Changes refused.
    pub failed: u64,
}

/// Spans by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceStats {
    /// A receiver took them.
    pub exported: u64,
    /// It refused them.
    pub failed: u64,
    /// They were never sent.
    pub dropped: u64,
    /// They are still to be sent, or on their way.
    pub waiting: u64,
}

/// What a certificate is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CertificateUse {
    /// The agent's own port.
    Server,
    /// The connection to Kafka.
    Client,
}

/// The program, as it describes itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildInfo {
    /// Version of evenkeel.
    pub version: String,
    /// Version of the Kafka client library.
    pub librdkafka: String,
}

/// What was asked of one group's coordinator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PollStats {
    /// Of which group.
    pub group: Arc<str>,
    /// Questions that were answered: `FindCoordinator`, `ListGroups`, `DescribeGroups`.
    pub answered: [u64; 3],
    /// Questions that were refused or not answered.
    pub failed: u64,
    /// Why nothing is asked at all, where the connection's settings leave no way.
    pub off: Option<String>,
}

/// What was read of one topic for one group.
#[derive(Debug, Clone, PartialEq)]
pub struct InputStats {
    /// For which group.
    pub group: Arc<str>,
    /// Of which topic.
    pub topic: Topic,
    /// Records read since the agent started, those of other groups included.
    pub records_read: u64,
    /// How far the first reading is; absent until its size is known.
    pub start_up: Option<StartUp>,
}

/// How far the first reading of a topic is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartUp {
    /// Offsets that are done.
    pub done: u64,
    /// Offsets there were in all; zero for an empty topic.
    pub total: u64,
    /// Offsets a second, on average since the reading began; absent until measured.
    pub rate: Option<f64>,
}

/// Bounds on what one scrape carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesLimits {
    /// Most series in all. The agent's own always fit.
    pub series_max: usize,
    /// Most series of a family that has one a subject.
    pub subjects_max: usize,
    /// Which agents show the series of a group.
    pub group_series: GroupSeries,
}

/// Everything a scrape is a function of.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The answers of each group.
    pub groups: Vec<Arc<Answers>>,
    /// What the agent counts about itself.
    pub agent: AgentStats,
    /// The process, as the operating system sees it; absent where that cannot be read.
    pub process: Option<ProcessStats>,
    /// Bounds on the result.
    pub limits: SeriesLimits,
    /// Series that earlier scrapes left out.
    pub series_dropped_before: u64,
    /// The moment of the scrape, on the agent's clock.
    pub now: Option<ArrivalTime>,
}

/// When the loops last turned, one a group. Written by the loops, read by `/livez`.
#[derive(Debug)]
pub struct Pulse {
    // Zero until the first turn: no agent clock reads 1970.
    last_ms: Vec<AtomicI64>,
}

// === impl Pulse ===

impl Pulse {
    /// The pulse of so many loops, none of which turned yet.
    #[must_use]
    pub fn of(loops: usize) -> Self {
        Self {
            last_ms: (0..loops).map(|_| AtomicI64::new(0)).collect(),
        }
    }

    /// The loop of this group turned at `now`.
    pub fn beat(&self, group: usize, now: ArrivalTime) {
        if let Some(last_ms) = self.last_ms.get(group) {
            last_ms.store(now.0, Ordering::Relaxed);
        }
    }

    /// When the slowest of them last turned; `None` before each did once.
    #[must_use]
    pub fn last(&self) -> Option<ArrivalTime> {
        let oldest = self
            .last_ms
            .iter()
            .map(|last_ms| last_ms.load(Ordering::Relaxed))
            .min()?;
        (oldest != 0).then_some(ArrivalTime(oldest))
    }
}

// === impl CertificateUse ===

impl CertificateUse {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Server, Self::Client];

    /// As a label says it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

// === impl ReloadStats ===

impl ReloadStats {
    /// The results, as a label says them, with their counts.
    #[must_use]
    pub fn results(self) -> [(&'static str, u64); 2] {
        [("ok", self.ok), ("failed", self.failed)]
    }
}

// === impl StartUp ===

impl StartUp {
    /// The part that is done, from 0 to 1.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.total == 0 {
            return 1.0;
        }
        // Offsets stay far below 2^53, where a double is exact.
        let part = self.done.min(self.total) as f64 / self.total as f64;
        part.clamp(0.0, 1.0)
    }

    /// Seconds until the rest is read at that rate.
    #[must_use]
    pub fn left_seconds(&self) -> Option<f64> {
        let rate = self.rate.filter(|rate| *rate > 0.0)?;
        Some(self.total.saturating_sub(self.done) as f64 / rate)
    }
}

// === impl SeriesLimits ===

impl Default for SeriesLimits {
    fn default() -> Self {
        Self {
            series_max: SERIES_MAX_DEFAULT,
            subjects_max: SUBJECTS_MAX_DEFAULT,
            group_series: GroupSeries::Auto,
        }
    }
}

// === impl AgentStats ===

impl AgentStats {
    /// What stands in the way of `topic`, or of the coordinator's answers, for `group`.
    #[must_use]
    pub fn hitch(&self, group: &str, topic: Option<Topic>) -> Option<&'static str> {
        let mut hitches = self.hitches.iter();
        let found = hitches.find(|hitch| &*hitch.group == group && hitch.topic == topic);
        found.map(|hitch| hitch.text)
    }

    /// What was read of `topic` for `group`.
    #[must_use]
    pub fn input(&self, group: &str, topic: Topic) -> Option<&InputStats> {
        self.inputs
            .iter()
            .find(|input| &*input.group == group && input.topic == topic)
    }
}
