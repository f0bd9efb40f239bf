//! What all that is configured does, by connector.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::answers::{ConnectorStates, EffectiveState, GroupState, ItemState, StatesAnswer};
use crate::engine::State;
use crate::engine::polls::Sight;
use crate::engine::publish::item;
use crate::facts::ids::{ConnectorId, Kind, WorkItem};
use crate::facts::input::Topic;
use crate::facts::observation::RunState;
use crate::facts::time::EventTime;
use crate::limits::STATES_SHOWN_MAX;
use crate::story::disagreements::answers;
use crate::story::status_log::{Life, Written};
use crate::view::effective::{Effective, Evidence, states};
use crate::view::unassigned::Unassigned;

/// What each configured piece does; `unowned` is what nobody has, sorted. Absent while it is not
/// known what is configured.
pub(super) fn answer(
    state: &State,
    sight: Option<&Sight<'_>>,
    unowned: Option<&[Unassigned]>,
) -> Option<StatesAnswer> {
    if !state.is_current(Topic::Config) {
        return None;
    }
    let alive = sight.filter(|sight| sight.state != GroupState::Dead);
    let newest = alive.and_then(|sight| sight.newest).map(|newest| &**newest);
    let mut words = Words::of(state, sight.is_some_and(|sight| sight.by_records));
    let told = states(
        Evidence {
            configured: &state.configured,
            newest,
            owners_known: sight.is_some(),
            unassigned: unowned.unwrap_or_default(),
            statuses_known: state.is_current(Topic::Status),
        },
        |item, worker, assigned| words.last(item, worker, assigned),
    );
    Some(by_connector(state, &told))
}

/// The last words of owners, walked in the order of the items.
struct Words<'a, I: Iterator<Item = (WorkItem, &'a [Written])>> {
    state: &'a State,
    all: std::iter::Peekable<I>,
    /// The number of the newest record, where records are read.
    generation: Option<i32>,
    life: Life<'a>,
}

impl<'a> Words<'a, Box<dyn Iterator<Item = (WorkItem, &'a [Written])> + 'a>> {
    fn of(state: &'a State, by_records: bool) -> Self {
        let newest = state.group.newest.as_deref().filter(|_| by_records);
        let all: Box<dyn Iterator<Item = _> + 'a> = Box::new(state.story.statuses.all());
        Self {
            state,
            all: all.peekable(),
            generation: newest.map(|newest| newest.generation),
            life: Life {
                began: state.group.began.unwrap_or(EventTime(i64::MIN / 2)),
                ended: None,
                incarnation: state.group.incarnation,
                skews: &state.story.skews,
            },
        }
    }

    /// What a worker last wrote of an item, since it was told to have it.
    fn last(&mut self, item: WorkItem, worker: &str, assigned: bool) -> Option<RunState> {
        while self.all.next_if(|(of, _)| *of < item).is_some() {}
        let (_, written) = self.all.peek().filter(|(of, _)| *of == item)?;
        let last = written.iter().rev().find(|word| *word.worker == *worker)?;
        let is_old = self
            .generation
            .filter(|_| assigned)
            .is_some_and(|told| !answers(last, told, told, &self.life));
        let awaited = self.state.story.disagreements.awaits(item, worker);
        (!is_old && !awaited).then_some(last.state)
    }
}

fn by_connector(state: &State, told: &[Effective]) -> StatesAnswer {
    let mut connectors: BTreeMap<ConnectorId, ConnectorStates> = BTreeMap::new();
    let mut idle: Vec<ItemState> = Vec::new();
    for each in told {
        let of_it = connectors.entry(each.item.connector);
        let of_it = of_it.or_insert_with(|| ConnectorStates {
            connector: state.names.name(each.item.connector),
            state: each.state,
            tasks: BTreeMap::new(),
        });
        if each.item.kind() == Kind::Task {
            let count = of_it.tasks.entry(each.state).or_default();
            *count = count.saturating_add(1);
        }
        if each.state != EffectiveState::Running {
            idle.push(ItemState {
                item: item(&state.names, each.item),
                state: each.state,
                worker: each.owner.as_ref().map(Arc::clone),
            });
        }
    }
    idle.sort_by(|left, right| left.item.cmp(&right.item));
    let left_out = idle.len().saturating_sub(STATES_SHOWN_MAX);
    idle.truncate(STATES_SHOWN_MAX);
    let mut connectors: Vec<ConnectorStates> = connectors.into_values().collect();
    connectors.sort_by(|left, right| left.connector.cmp(&right.connector));
    StatesAnswer {
        connectors,
        not_running: idle,
        not_running_left_out: u64::try_from(left_out).unwrap_or(u64::MAX),
    }
}
