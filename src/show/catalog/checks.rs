//! The families about clocks that contradict each other.

use evenkeel_core::answers::Severity;
use evenkeel_core::checks;

use super::group::{GROUP, gauge};
use super::{Count, Family, Label, MetricType, Scope, Values};

pub static CLOCK_INCONSISTENCIES: Family = gauge(
    "evenkeel_clock_inconsistencies",
    "Contradictions between the timeouts and settings of the group that stand now, by severity: checks that fire, one for each worker or topic, by the group's records and what was measured in them, so that all agents say the same. What the settings of one agent's own worker add is in evenkeel_check_info of that agent alone.",
)
.labels(&[
    GROUP,
    Label {
        name: "severity",
        values: Values::Closed(|| Severity::ALL.map(Severity::word).to_vec()),
    },
])
.count(Count::PerGroup(Severity::ALL.len()));

pub static CHECK_INFO: Family = Family::new(
    "evenkeel_check_info",
    MetricType::Info,
    Scope::Group,
    "Always 1: a check that fires, and the worker, topic or group it is about, the worst first up to the bound; /api/v1/checks has the values, where each was read, what follows and what to do. Only while it holds.",
)
.labels(&[
    GROUP,
    Label {
        name: "check",
        values: Values::Closed(|| checks::all().map(|check| check.id).collect()),
    },
    Label {
        name: "subject",
        values: Values::Open("a worker's `host:port`, a topic, or the group's name"),
    },
])
.count(Count::Subjects);
