//! The families about what rebalances cost: work that did not run, and how it changed hands.

use evenkeel_core::answers::{DownReason, HandoverHow, MoveNeed};
use evenkeel_core::facts::ids::Kind;

use super::group::{CONNECTOR, GROUP, KIND, counter, gauge};
use super::{Count, Family, Label, Values};

const REASON: Label = Label {
    name: "reason",
    values: Values::Closed(|| DownReason::ALL.map(DownReason::label).to_vec()),
};

/// What somebody wanted is no downtime.
const DOWN_REASON: Label = Label {
    name: "reason",
    values: Values::Closed(|| {
        let all = DownReason::ALL.into_iter();
        let unwanted = all.filter(|reason| !reason.is_wanted());
        unwanted.map(DownReason::label).collect()
    }),
};

pub static INTERRUPTIONS: Family = counter(
    "evenkeel_interruptions_total",
    "Running connectors and tasks that stopped while the agent watched, once it is known why: handover (another worker was to have them), lost (their worker was gone), dropped (it lost its coordinator), reconfigured (written anew), restarted (by a person or by the worker), failed; and, wanted by somebody, paused, stopped, deleted.",
)
.labels(&[GROUP, KIND, REASON])
.count(Count::PerGroup(Kind::ALL.len() * DownReason::ALL.len()));

pub static HANDOVERS: Family = counter(
    "evenkeel_handovers_total",
    "Connectors and tasks that a worker started after another one had run them: clean (that one had written that they stopped, or failed), unclean (it had not: it died, gave up a stop that took too long, or runs them still; duplicates come from there).",
)
.labels(&[
    GROUP,
    KIND,
    Label {
        name: "how",
        values: Values::Closed(|| HandoverHow::ALL.map(HandoverHow::label).to_vec()),
    },
])
.count(Count::PerGroup(Kind::ALL.len() * HandoverHow::ALL.len()));

pub static MOVES: Family = counter(
    "evenkeel_moves_total",
    "Connectors and tasks that a member took and another worker had last, once it is known whether they had to move: required (that worker is gone, or an even split among those who are there took it), returned (away from a worker that was back within ten minutes, or to it: a restart that is paid twice), extra (nothing of that).",
)
.labels(&[
    GROUP,
    KIND,
    Label {
        name: "need",
        values: Values::Closed(|| MoveNeed::ALL.map(MoveNeed::label).to_vec()),
    },
])
.count(Count::PerGroup(Kind::ALL.len() * MoveNeed::ALL.len()));

pub static TASK_UNAVAILABLE: Family = counter(
    "evenkeel_task_unavailable_seconds_total",
    "How long tasks of a connector did not run, all together, by reason, added when they run again: since they stopped, or, where their worker wrote no stop, since the group was without it, which is later. Absent where there was none.",
)
.unit("seconds")
.labels(&[GROUP, CONNECTOR, DOWN_REASON])
.count(Count::OnDemand);

pub static UNAVAILABLE_TASKS: Family = gauge(
    "evenkeel_unavailable_tasks",
    "Configured tasks that ran and do not run now, by connector and reason; only where there are some, largest first up to the bound.",
)
.labels(&[GROUP, CONNECTOR, DOWN_REASON])
.count(Count::Subjects);
