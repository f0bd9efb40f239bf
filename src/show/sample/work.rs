//! What the work of the sample does, and where status topic and group disagree about it.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::answers::{
    Confidence, ConnectorStates, DisagreementAnswer, DisagreementType, DisagreementsAnswer,
    EffectiveState, ItemAnswer, ItemState, StatesAnswer,
};

use super::RECORDED;

/// What is parked is lost; the rest runs, or was never started.
pub(super) fn parked() -> StatesAnswer {
    use EffectiveState::{Lost, Running, Unassigned};
    let connector = |name: &str, state, tasks: &[(EffectiveState, u64)]| ConnectorStates {
        connector: Arc::from(name),
        state,
        tasks: tasks.iter().copied().collect(),
    };
    let idle = |name: &str, task, state| ItemState {
        item: item(name, task),
        state,
        worker: None,
    };
    StatesAnswer {
        connectors: vec![
            connector("audit \"eu\"", Running, &[(Unassigned, 1)]),
            connector("orders", Running, &[(Running, 2), (Lost, 1)]),
            connector("payments", Lost, &[(Running, 1), (Lost, 1)]),
        ],
        not_running: vec![
            idle("audit \"eu\"", Some(0), Unassigned),
            idle("orders", Some(2), Lost),
            idle("payments", None, Lost),
            idle("payments", Some(0), Lost),
        ],
        not_running_left_out: 0,
    }
}

/// A task that a worker did not stop in time.
pub(super) fn abandoned() -> DisagreementsAnswer {
    let kind = DisagreementType::AbandonedStop;
    let worker: Arc<str> = Arc::from("worker-c:8083");
    DisagreementsAnswer {
        now: vec![DisagreementAnswer {
            kind,
            item: item("orders", Some(1)),
            worker: Arc::clone(&worker),
            since: RECORDED.plus_ms(-600_000),
            until: None,
            confidence: Confidence::Likely,
            evidence:
                "told to stop it by generation 5, it claims it no more, and did not write that \
                       it stopped"
                    .to_owned(),
        }],
        counts: BTreeMap::from([((kind, Arc::from("orders"), worker), 1)]),
        ..agreed()
    }
}

/// Nothing disagrees.
pub(super) fn agreed() -> DisagreementsAnswer {
    DisagreementsAnswer {
        statuses_known: true,
        ..DisagreementsAnswer::default()
    }
}

fn item(connector: &str, task: Option<i32>) -> ItemAnswer {
    ItemAnswer {
        connector: Arc::from(connector),
        task,
    }
}
