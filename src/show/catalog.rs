//! The one catalogue of metrics: each family is declared here once, with its type,
//! labels, unit and help. Metrics, their documentation, rules and dashboards use
//! nothing else.

mod agent;
mod checks;
mod cost;
mod derived;
mod episodes;
mod group;
mod markdown;
mod state;

pub use agent::*;
pub use checks::*;
pub use cost::*;
pub use derived::*;
pub use episodes::*;
pub use group::*;
pub use markdown::{json, markdown, text};
pub use state::*;

/// All families, in the order they are exposed and documented.
pub static ALL: &[&Family] = &[
    &GROUP_INFO,
    &GROUP_STATE,
    &PATTERN,
    &GENERATION,
    &MEMBERS,
    &GENERATIONS,
    &REBALANCES,
    &REBALANCE_IN_PROGRESS,
    &REBALANCE_ACTIVE,
    &REBALANCE_DURATION,
    &PHASE_DURATION,
    &PHASE_UNMEASURED,
    &EPISODE_INFO,
    &LAST_REBALANCE,
    &RECENT_GENERATIONS,
    &REVOCATIONS,
    &ASSIGNMENTS,
    &ASSIGNMENT_ERRORS,
    &LEADER_CHANGES,
    &CONFIGURED,
    &UNASSIGNED,
    &IMBALANCE,
    &SURVIVOR_ASSIGNMENTS,
    &DISAGREEMENTS,
    &INTERRUPTIONS,
    &HANDOVERS,
    &MOVES,
    &LOST_ASSIGNMENTS,
    &LOST_DURATION,
    &DEADLINE,
    &DEPARTURES,
    &DEPARTED_WORKERS,
    &CLOCK_INCONSISTENCIES,
    &PROTOCOL_DOWNGRADED,
    &GROUP_RECORD_BYTES,
    &WORKER_ASSIGNMENTS,
    &WORKER_TIMEOUT,
    &CLOCK_SKEW,
    &UNASSIGNED_TASKS,
    &TASK_UNAVAILABLE,
    &UNAVAILABLE_TASKS,
    &CHECK_INFO,
    &PATTERN_INFO,
    &FAILED_ROUNDS,
    &DISAGREEMENT_INFO,
    &CONNECTORS,
    &TASKS,
    &MODE,
    &TRUST,
    &REPORTER,
    &SIDECAR_INFO,
    &INPUT_CAUGHT_UP,
    &INPUT_START_UP,
    &INPUT_LAG,
    &RECORDS,
    &POLLS,
    &POLLS_FAILED,
    &DECODE_ERRORS,
    &UNKNOWN_RECORDS,
    &FINDING_INFO,
    &SERIES,
    &SERIES_DROPPED,
    &CERTIFICATE_EXPIRY,
    &CONFIG_RELOADS,
    &SPANS_EXPORTED,
    &SPANS_FAILED,
    &SPANS_DROPPED,
    &SPANS_WAITING,
    &BUILD_INFO,
    &PROCESS_CPU,
    &PROCESS_OPEN_FDS,
    &PROCESS_MAX_FDS,
    &PROCESS_VIRTUAL_MEMORY,
    &PROCESS_RESIDENT_MEMORY,
    &PROCESS_START_TIME,
    &PROCESS_THREADS,
];

/// One metric family.
#[derive(Debug)]
pub struct Family {
    /// Its full name, `_total` and `_info` included.
    pub name: &'static str,
    /// Its type.
    pub kind: MetricType,
    /// Its base unit, which the name ends with.
    pub unit: Option<&'static str>,
    /// What it says, in sentences.
    pub help: &'static str,
    /// Its labels, in the order they are written.
    pub labels: &'static [Label],
    /// Whose series these are.
    pub scope: Scope,
    /// How many series it has while nothing is wrong.
    pub count: Count,
    /// The release that brought it.
    pub since: &'static str,
}

/// The types of a family. Text 0.0.4 knows neither info nor stateset; see
/// `exposition`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricType {
    /// A value that goes up and down.
    Gauge,
    /// A value that only grows while the agent runs.
    Counter,
    /// Counts by upper bound.
    Histogram,
    /// Always 1: the labels are what it says.
    Info,
    /// One series for each state of a closed set, 1 for those that hold.
    StateSet,
}

/// A label of a family.
#[derive(Debug)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// Which values it can have.
    pub values: Values,
}

/// Which values a label can have.
#[derive(Debug, Clone, Copy)]
pub enum Values {
    /// These.
    Closed(fn() -> Vec<&'static str>),
    /// As many as the cluster has; in words.
    Open(&'static str),
}

/// Whose series a family holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Facts about a group: withdrawn while they are not known to be true.
    Group,
    /// Facts about the agent: always there.
    Agent,
}

/// How many series a family has while nothing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// So many for each group.
    PerGroup(usize),
    /// So many for each worker of a group.
    PerWorker(usize),
    /// At least one for each connector: one for each state that it, or a task of it, is in.
    PerConnector,
    /// So many for the agent, whatever it watches.
    Once(usize),
    /// None: one a subject, and only while there is something to say, up to the
    /// configured bound (`metrics.subjects_max`).
    Subjects,
    /// None: only while there is something to say.
    OnDemand,
}

/// The family of that full name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Family> {
    ALL.iter().copied().find(|family| family.name == name)
}

// === impl Family ===

impl Family {
    const fn new(name: &'static str, kind: MetricType, scope: Scope, help: &'static str) -> Self {
        Self {
            name,
            kind,
            unit: None,
            help,
            labels: &[],
            scope,
            count: Count::Once(1),
            since: "0.1.0",
        }
    }

    const fn unit(self, unit: &'static str) -> Self {
        Self {
            unit: Some(unit),
            ..self
        }
    }

    const fn labels(self, labels: &'static [Label]) -> Self {
        Self { labels, ..self }
    }

    const fn count(self, count: Count) -> Self {
        Self { count, ..self }
    }
}

// === impl MetricType ===

impl MetricType {
    /// The type in one word, as the documentation writes it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Histogram => "histogram",
            Self::Info => "info",
            Self::StateSet => "stateset",
        }
    }
}

// === impl Scope ===

impl Scope {
    /// The scope in one word.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Agent => "agent",
        }
    }
}

#[cfg(test)]
mod tests;
