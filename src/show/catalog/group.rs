//! The families about a group: what its records and its topics say. All of them are
//! withdrawn while the agent cannot vouch for them.

use evenkeel_core::answers::{
    AssignmentError, DelayReason, GroupState, RevocationHow, UnassignedReason,
};
use evenkeel_core::facts::ids::{Kind, Protocol};

use super::{Count, Family, Label, MetricType, Scope, Values};

/// Values of the label `window`, shortest first.
pub const WINDOWS: [&str; 3] = ["2m", "10m", "30m"];
/// Values of the label `timeout`.
pub const TIMEOUTS: [&str; 2] = ["session", "rebalance"];
/// Values of the label `protocol` that are no protocol: a group without members, and
/// a name that no released Connect writes.
pub const PROTOCOL_NONE: &str = "none";
/// See [`PROTOCOL_NONE`].
pub const PROTOCOL_UNKNOWN: &str = "unknown";

pub(super) const GROUP: Label = Label {
    name: "group",
    values: Values::Open("the Connect `group.id`"),
};
pub(super) const WORKER: Label = Label {
    name: "worker",
    values: Values::Open("`host:port` of the worker's advertised URL"),
};
pub(super) const CONNECTOR: Label = Label {
    name: "connector",
    values: Values::Open("a connector's name"),
};
pub(super) const KIND: Label = Label {
    name: "kind",
    values: Values::Closed(|| Kind::ALL.map(Kind::label).to_vec()),
};
const REASON: Label = Label {
    name: "reason",
    values: Values::Closed(|| UnassignedReason::ALL.map(UnassignedReason::label).to_vec()),
};

pub(super) const fn gauge(name: &'static str, help: &'static str) -> Family {
    Family::new(name, MetricType::Gauge, Scope::Group, help)
}

pub(super) const fn counter(name: &'static str, help: &'static str) -> Family {
    Family::new(name, MetricType::Counter, Scope::Group, help)
}

pub static GROUP_INFO: Family = Family::new(
    "evenkeel_group_info",
    MetricType::Info,
    Scope::Group,
    "The protocol in force and the leader's worker, from the newest group record. The leader is empty for a group without members.",
)
.labels(&[
    GROUP,
    Label {
        name: "protocol",
        values: Values::Closed(|| {
            let known = [Protocol::Eager, Protocol::Compatible, Protocol::Sessioned];
            let mut values = known.map(Protocol::label).to_vec();
            values.extend([PROTOCOL_NONE, PROTOCOL_UNKNOWN]);
            values
        }),
    },
    Label { name: "leader", values: Values::Open("the leader's `host:port`") },
])
.count(Count::PerGroup(1));

pub static GROUP_STATE: Family = Family::new(
    "evenkeel_group_state",
    MetricType::StateSet,
    Scope::Group,
    "The state of the group: stable with members, empty without, dead when it was deleted or never existed, by its newest record; preparing_rebalance and completing_rebalance while its coordinator says so, which an agent asks every 0.5 s beside the leader and the next worker by name, every 10 s elsewhere.",
)
.labels(&[
    GROUP,
    Label {
        name: "state",
        values: Values::Closed(|| GroupState::ALL.map(GroupState::label).to_vec()),
    },
])
.count(Count::PerGroup(GroupState::ALL.len()));

pub static GENERATION: Family = gauge(
    "evenkeel_generation",
    "Generation of the newest group record. It survives restarts of the agent; it falls when the group is created anew. In mode no_offsets_topic at least this, by the statuses of its members.",
)
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static MEMBERS: Family = gauge(
    "evenkeel_members",
    "Members in the newest group record. Workers that are joining are not yet in it.",
)
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static LAST_REBALANCE: Family = gauge(
    "evenkeel_last_rebalance_timestamp_seconds",
    "When the record of the newest generation was written, on the clock of the group's coordinator; generations before the agent's start included. Absent when no generation is known.",
)
.unit("seconds")
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static RECENT_GENERATIONS: Family = gauge(
    "evenkeel_recent_generations",
    "Generations in the last minutes, from the log; those before the agent's start included.",
)
.labels(&[
    GROUP,
    Label {
        name: "window",
        values: Values::Closed(|| WINDOWS.to_vec()),
    },
])
.count(Count::PerGroup(WINDOWS.len()));

pub static REVOCATIONS: Family = counter(
    "evenkeel_revocations_total",
    "Connectors and tasks taken from their worker: asked (the leader revoked them and the worker is proven to have obeyed), implied (an eager worker stops everything before it joins), dropped (the worker lost its coordinator and stopped them by itself).",
)
.labels(&[
    GROUP,
    KIND,
    Label {
        name: "how",
        values: Values::Closed(|| RevocationHow::ALL.map(RevocationHow::label).to_vec()),
    },
])
.count(Count::PerGroup(Kind::ALL.len() * RevocationHow::ALL.len()));

pub static ASSIGNMENTS: Family = counter(
    "evenkeel_assignments_total",
    "Connectors and tasks handed to a worker that is proven to have taken them.",
)
.labels(&[GROUP, KIND])
.count(Count::PerGroup(Kind::ALL.len()));

pub static ASSIGNMENT_ERRORS: Family = counter(
    "evenkeel_assignment_errors_total",
    "Assignments that carried an error: config_mismatch (the leader's view of the config topic was behind a member's), other (a number that no released Connect writes).",
)
.labels(&[
    GROUP,
    Label {
        name: "error",
        values: Values::Closed(|| AssignmentError::ALL.map(AssignmentError::label).to_vec()),
    },
])
.count(Count::PerGroup(AssignmentError::ALL.len()));

pub static LEADER_CHANGES: Family = counter(
    "evenkeel_leader_changes_total",
    "Generations whose leader is another member than the one before; a restarted worker is another member.",
)
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static CONFIGURED: Family = gauge(
    "evenkeel_configured",
    "Connectors and tasks that the config topic asks for, paused and stopped ones included.",
)
.labels(&[GROUP, KIND])
.count(Count::PerGroup(Kind::ALL.len()));

pub static UNASSIGNED: Family = gauge(
    "evenkeel_unassigned",
    "Configured connectors and tasks without an owner, by the oldest unmet cause: lost (its owner is gone), dropped (its owner came back without it), revoked (between two rounds), new (never owned so far), mismatch (the round that should have handed it out ended in CONFIG_MISMATCH), config_hazard (workers that apply the config topic in order do not see it), unknown (no evidence).",
)
.labels(&[GROUP, KIND, REASON])
.count(Count::PerGroup(Kind::ALL.len() * UnassignedReason::ALL.len()));

pub static DEADLINE: Family = gauge(
    "evenkeel_scheduled_rebalance_deadline_timestamp_seconds",
    "When the scheduled rebalance delay ends: record time plus delay, on the leader's terms. Reason: lost (work of a departed worker is parked), revocation_backoff (revoking rounds follow each other too quickly), leftover (a window runs although nothing is lost). Absent when the newest record carries no delay; a moment that is past stays until the next record.",
)
.unit("seconds")
.labels(&[
    GROUP,
    Label {
        name: "reason",
        values: Values::Closed(|| {
            let all = [DelayReason::Lost, DelayReason::RevocationBackoff, DelayReason::Leftover];
            all.map(DelayReason::label).to_vec()
        }),
    },
])
.count(Count::OnDemand);

pub static PROTOCOL_DOWNGRADED: Family = gauge(
    "evenkeel_protocol_downgraded",
    "1 while the protocol in force is below the best one the group has proven, for each worker that came with the fall; the worker is empty when the fall was not seen, and while the value is 0.",
)
.labels(&[GROUP, WORKER])
.count(Count::PerGroup(1));

pub static GROUP_RECORD_BYTES: Family = gauge(
    "evenkeel_group_record_bytes",
    "Size of the newest group record's value. It holds every member's claim and assignment, and the broker refuses it above the topic's max.message.bytes.",
)
.unit("bytes")
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static WORKER_ASSIGNMENTS: Family = gauge(
    "evenkeel_worker_assignments",
    "Connectors and tasks that the newest group record leaves with a worker.",
)
.labels(&[GROUP, WORKER, KIND])
.count(Count::PerWorker(Kind::ALL.len()));

pub static WORKER_TIMEOUT: Family = gauge(
    "evenkeel_worker_timeout_seconds",
    "The timeouts a worker joined with: session (session.timeout.ms) and rebalance (rebalance.timeout.ms). The smallest, where members share a worker label.",
)
.unit("seconds")
.labels(&[
    GROUP,
    WORKER,
    Label { name: "timeout", values: Values::Closed(|| TIMEOUTS.to_vec()) },
])
.count(Count::PerWorker(TIMEOUTS.len()));

pub static UNASSIGNED_TASKS: Family = gauge(
    "evenkeel_unassigned_tasks",
    "Tasks of a connector without an owner, by reason; only those that have some, largest first up to the bound. The sum over all is evenkeel_unassigned.",
)
.labels(&[GROUP, CONNECTOR, REASON])
.count(Count::Subjects);
