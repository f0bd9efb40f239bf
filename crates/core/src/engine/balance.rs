//! Which generation is weighed, and when (D15).
//!
//! 1. The newest that is proven to be completed: what a record tells may never come about.
//! 2. While an episode is active, the one before it: between two rounds nothing is balanced.
//! 3. Work that lost its owner and waits for the end of a delay will be somebody's: it is part
//!    of the split.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{BalanceAnswer, ConnectorBalance, GroupState, KindBalance, Outcome};
use crate::engine::State;
use crate::engine::polls::Sight;
use crate::facts::ids::Kind;
use crate::facts::observation::GroupSnapshot;
use crate::limits::BALANCE_CONNECTORS_SHOWN_MAX;
use crate::story::episodes::Episode;
use crate::story::steps::Step;
use crate::story::switches::StoryRule;
use crate::view::balance;

/// What is weighed when somebody asks.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Weighed {
    record: Option<Arc<GroupSnapshot>>,
    /// Parked connectors and tasks.
    parked: [u64; 2],
    /// Of how many pieces of lost work these are.
    lost: usize,
}

// === impl State ===

impl State {
    /// A step is about to be judged: the record before it is how it was at rest.
    pub(super) fn weigh_before(&mut self, step: &Step, outcome: Option<Outcome>) {
        let confirmed = outcome == Some(Outcome::Completed) || !self.on(1);
        if let Some(before) = step.before.as_ref().filter(|_| confirmed) {
            self.weigh(&Arc::clone(before));
        }
    }

    /// All that is read is judged.
    pub(super) fn weigh_newest(&mut self) {
        let newest = if self.on(1) {
            self.rounds.newest_completed()
        } else {
            self.group.newest.as_ref()
        };
        if let Some(newest) = newest.cloned() {
            self.weigh(&newest);
        }
    }

    fn weigh(&mut self, record: &Arc<GroupSnapshot>) {
        if self.is_active() && self.on(2) {
            return;
        }
        let lost = self.story.losses.len();
        let weighed = &self.weighed;
        let known = weighed
            .record
            .as_deref()
            .is_some_and(|r| r.offset == record.offset);
        if known && weighed.lost == lost {
            return;
        }
        let parked = Kind::ALL.map(|kind| self.parked(record, kind));
        self.weighed = Weighed {
            record: Some(Arc::clone(record)),
            parked,
            lost,
        };
    }

    /// Lost work that nobody has: what the record hands out is not parked, proven or not.
    fn parked(&self, record: &GroupSnapshot, kind: Kind) -> u64 {
        if !self.on(3) {
            return 0;
        }
        let lost = self.story.losses.items().filter(|item| item.kind() == kind);
        let parked = lost.filter(|item| record.members.iter().all(|m| !m.is_told(*item)));
        u64::try_from(parked.count()).unwrap_or(u64::MAX)
    }

    fn is_active(&self) -> bool {
        let open = self.story.episodes.open();
        open.is_some_and(|open: &Episode| !open.is_parked())
    }

    fn on(&self, number: u8) -> bool {
        self.story.switches.on(StoryRule::Balance(number))
    }
}

/// How evenly work is spread; absent where the records are not read, without members, and
/// until a generation is confirmed.
pub(super) fn answer(state: &State, sight: Option<&Sight<'_>>) -> Option<BalanceAnswer> {
    sight.filter(|sight| sight.by_records && sight.state == GroupState::Stable)?;
    let Weighed { record, parked, .. } = &state.weighed;
    let record = record.as_deref()?;
    let kinds = Kind::ALL.into_iter().zip(parked);
    let kinds = kinds.filter_map(|(kind, parked)| {
        let split = balance::of_kind(record, kind, *parked)?;
        Some(KindBalance {
            kind,
            members: split.members,
            items: split.items,
            parked: *parked,
            most: split.most,
            least: split.least,
            best_most: split.best_most,
            imbalance: split.above,
            survivor_most: balance::survivor_most(&split, *parked, record.protocol),
        })
    });
    let bunched = balance::of_connectors(record);
    let left_out = bunched.len().saturating_sub(BALANCE_CONNECTORS_SHOWN_MAX);
    let shown = bunched.into_iter().take(BALANCE_CONNECTORS_SHOWN_MAX);
    let connectors = shown.map(|(connector, split)| ConnectorBalance {
        connector: state.names.name(connector),
        tasks: split.items,
        most: split.most,
        best_most: split.best_most,
        above: split.above,
    });
    Some(BalanceAnswer {
        generation: record.generation,
        recorded: record.recorded,
        frozen: state.is_active(),
        kinds: kinds.collect(),
        connectors: connectors.collect(),
        connectors_left_out: u64::try_from(left_out).unwrap_or(u64::MAX),
    })
}
