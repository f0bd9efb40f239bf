//! The families about what a group looks like: the pattern of the last half hour, and how
//! evenly work is spread.

use evenkeel_core::answers::Pattern;
use evenkeel_core::facts::ids::Kind;

use super::group::{GROUP, KIND, gauge};
use super::{Count, Family, Label, MetricType, Scope, Values};

/// Values of the label `scope`: what is lost.
pub const SCOPE_WORKER: &str = "worker";

const PATTERN_LABEL: Label = Label {
    name: "pattern",
    values: Values::Closed(|| Pattern::ALL.map(Pattern::label).to_vec()),
};

pub static PATTERN: Family = Family::new(
    "evenkeel_pattern",
    MetricType::StateSet,
    Scope::Group,
    "What the last minutes look like, by the log, history included; the first that applies: loop (at least 5 rounds in 2 minutes ended in an error or reached nobody and none was completed since, or 5 follow-ups in 30 minutes revoked again and nothing else changed), storm (more than 20 generations in 10 minutes without configuration written by a person), flapping (one worker left 3 times in 30 minutes, not gracefully), churn (tasks of one connector were written before 3 generations in 15 minutes), rollout (2 workers in 30 minutes stopped in good order, or were cut short, and were replaced), quiet.",
)
.labels(&[GROUP, PATTERN_LABEL])
.count(Count::PerGroup(Pattern::ALL.len()));

/// A gauge that is always 1: as an info, OpenMetrics would call it `evenkeel_pattern`, too.
pub static PATTERN_INFO: Family = gauge(
    "evenkeel_pattern_info",
    "Always 1: the pattern, for each worker or connector that it is about, the worst first up to the bound; the subject is empty where it is about the group. Absent while it is quiet.",
)
.labels(&[
    GROUP,
    PATTERN_LABEL,
    Label {
        name: "subject",
        values: Values::Open("a worker's `host:port`, a connector's name, or empty"),
    },
])
.count(Count::Subjects);

pub static FAILED_ROUNDS: Family = gauge(
    "evenkeel_recent_failed_rounds",
    "Rounds of the last 2 minutes that ended in CONFIG_MISMATCH or are proven to have reached nobody, none completed since, by the log, history included: from 5 on the pattern is a loop.",
)
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static IMBALANCE: Family = gauge(
    "evenkeel_imbalance",
    "Connectors and tasks above the most that a worker has in the best split of each kind, all workers together, by the last generation that is proven to be completed; 0 is as good as Kafka makes it. As it was before while an episode is active. Work that is parked counts as part of the split.",
)
.labels(&[GROUP, KIND])
.count(Count::PerGroup(Kind::ALL.len()));

pub static SURVIVOR_ASSIGNMENTS: Family = gauge(
    "evenkeel_survivor_assignments",
    "The most connectors and tasks that a worker would carry if another one were lost for good, the worst one to lose. Absent where none would be left.",
)
.labels(&[
    GROUP,
    KIND,
    Label {
        name: "scope",
        values: Values::Closed(|| vec![SCOPE_WORKER]),
    },
])
.count(Count::PerGroup(Kind::ALL.len()));
