//! The families about what work does: states from status and ownership, and where the two
//! disagree.

use evenkeel_core::answers::{DisagreementType, EffectiveState};

use super::group::{CONNECTOR, GROUP, WORKER, gauge};
use super::{Count, Family, Label, MetricType, Scope, Values};

const STATE: Label = Label {
    name: "state",
    values: Values::Closed(|| EffectiveState::ALL.map(EffectiveState::label).to_vec()),
};

/// Tasks are not stopped: a connector that is has none.
const TASK_STATE: Label = Label {
    name: "state",
    values: Values::Closed(|| {
        let all = EffectiveState::ALL.into_iter();
        let of_tasks = all.filter(|state| *state != EffectiveState::Stopped);
        of_tasks.map(EffectiveState::label).collect()
    }),
};

const TYPE: Label = Label {
    name: "type",
    values: Values::Closed(|| DisagreementType::ALL.map(DisagreementType::label).to_vec()),
};

pub static TASKS: Family = gauge(
    "evenkeel_tasks",
    "Configured tasks by connector and by what they do, each in one state, from the status of who has it: running, paused, failed, restarting; starting (its worker has not said yet what became of it), stopping (its worker was told to stop it and has not said that it did), unassigned (nobody has it, or who has it stopped it), lost (its worker is gone, or lost its coordinator), unknown. What a worker wrote that is gone, or that has it no more, does not count. Only states that some are in.",
)
.labels(&[GROUP, CONNECTOR, TASK_STATE])
.count(Count::PerConnector);

pub static CONNECTORS: Family = gauge(
    "evenkeel_connectors",
    "1 for what each configured connector does, without its tasks: the states of evenkeel_tasks, and stopped. Only the state that it is in.",
)
.labels(&[GROUP, CONNECTOR, STATE])
.count(Count::PerConnector);

pub static DISAGREEMENTS: Family = gauge(
    "evenkeel_disagreements",
    "Connectors and tasks of which the status topic and the group say different things now, by type (docs/episodes.md): running_on_departed_worker (who ran it left without a word and another has it; a crash looks the same for 10 minutes), running_elsewhere, assigned_not_running, unassigned_but_owned, duplicate_claim, two_writers, possible_orphan, abandoned_stop, status_frozen. Work that waits for the end of a delay is none. Without the status topic only duplicate_claim is there.",
)
.labels(&[GROUP, TYPE])
.count(Count::PerGroup(DisagreementType::ALL.len()));

pub static DISAGREEMENT_INFO: Family = Family::new(
    "evenkeel_disagreement_info",
    MetricType::Info,
    Scope::Group,
    "A type of disagreement that there is now, with the connector whose work it is about and the worker that does, or should do, what the other side does not know; those with most tasks first, up to the bound.",
)
.labels(&[GROUP, TYPE, CONNECTOR, WORKER])
.count(Count::Subjects);
