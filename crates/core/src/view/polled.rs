//! What the coordinator says when it is asked: the group's state at this moment, and,
//! where its records may not be read, who is in it and what they were told.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::facts::input::Trouble;
use crate::facts::observation::{GroupSnapshot, Member};
use crate::facts::poll::PolledState;
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::REBALANCES_SEEN_MAX;
use crate::view::protocol::ProtocolView;
use crate::view::unassigned::Ownership;

/// What polls say.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PolledView {
    /// When the newest question that was answered was sent.
    confirmed: Option<ArrivalTime>,
    /// When the newest question for a description that was answered was sent.
    described: Option<ArrivalTime>,
    /// Why there is no answer now.
    trouble: Option<Trouble>,
    /// The state in the newest answer that named one; `None` once a listing showed that a
    /// rebalance ended and nothing said since what came after.
    state: Option<PolledState>,
    /// The join phases that answers showed, oldest first.
    rebalances: VecDeque<JoinSeen>,
    /// When the last question was sent whose answer showed no join phase.
    calm: Option<ArrivalTime>,
    /// What stands in for the records while they may not be read.
    stand_in: Option<StandIn>,
}

/// A join phase that answers showed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct JoinSeen {
    /// When the last question was sent whose answer did not show it yet.
    pub not_before: ArrivalTime,
    /// When the first question was sent whose answer did.
    pub asked: ArrivalTime,
    /// When the first answer was had that did.
    pub by: ArrivalTime,
    /// When the first answer was had that did not any more: it may have ended without a
    /// record, when its coordinator died.
    pub over_by: Option<ArrivalTime>,
}

/// The group as its descriptions show it, in place of its records. What happened between
/// two descriptions is not known, so nothing is counted from it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StandIn {
    /// The newest description of the group at rest.
    pub newest: Option<Arc<GroupSnapshot>>,
    /// Who owns what by it, and how the rest left its owner.
    pub ownership: Ownership,
    /// The protocol in force, and the best proven.
    pub protocol: ProtocolView,
    /// The config offset of the oldest description.
    pub seen_from: Option<i64>,
    /// Whether the description before the newest one revoked something.
    pub revoked_before: bool,
    /// The instants between which the newest round took place; absent where the first
    /// description showed it already.
    pub between: Option<(EventTime, EventTime)>,
    /// Changes of leader that descriptions showed and were counted, less those that the
    /// records of the same time have shown since.
    pub leader_changes: u64,
    /// When the group was last described.
    last_described: Option<EventTime>,
    /// Whether it is known who is in the group: it was described at rest, or a record said
    /// so. While members only join, a description does not tell.
    pub is_known: bool,
    /// When the records were found to be hidden: only what is read of them since then is
    /// newer than the descriptions.
    began: Option<ArrivalTime>,
    /// When the records were last proven to be read to their end, where any were.
    known_at: Option<ArrivalTime>,
    /// Whether nobody watched between the last description and the next.
    pub was_absent: bool,
}

// === impl PolledView ===

impl PolledView {
    /// A question was answered.
    pub fn answered(&mut self, asked: ArrivalTime) {
        self.confirmed = self.confirmed.max(Some(asked));
        self.trouble = None;
    }

    /// An answer, had at `at` to a question sent at `asked`, showed members joining, or not.
    pub fn saw(&mut self, joining: bool, asked: ArrivalTime, at: ArrivalTime) {
        if !joining {
            self.calm = Some(asked);
            if let Some(newest) = self.rebalances.back_mut() {
                newest.over_by.get_or_insert(at);
            }
        } else if let Some(calm) = self.calm.take() {
            if self.rebalances.len() >= REBALANCES_SEEN_MAX {
                self.rebalances.pop_front();
            }
            self.rebalances.push_back(JoinSeen {
                not_before: calm,
                asked,
                by: at,
                over_by: None,
            });
        }
    }

    /// The last join phases that answers showed, oldest first.
    pub fn rebalances(&self) -> impl Iterator<Item = JoinSeen> {
        self.rebalances.iter().copied()
    }

    /// A question was refused, or nobody answered.
    pub fn failed(&mut self, trouble: Trouble) {
        self.trouble = Some(trouble);
    }

    /// The coordinator listed the group in a rebalancing state, or did not list it.
    pub fn listed(&mut self, state: Option<PolledState>) {
        if state.is_some() || self.is_rebalancing() {
            self.state = state;
        }
    }

    /// The coordinator described the group.
    pub fn described(&mut self, state: PolledState, asked: ArrivalTime) {
        self.state = Some(state);
        self.described = self.described.max(Some(asked));
    }

    /// When members were last known for sure: by a description, the only question that
    /// tells them, or by the records before they were hidden.
    #[must_use]
    pub fn members_known(&self) -> Option<ArrivalTime> {
        let by_records = self
            .stand_in
            .as_ref()
            .and_then(|stand_in| stand_in.known_at);
        self.described.max(by_records)
    }

    /// The state of the group, where polls know it better than records.
    #[must_use]
    pub fn state(&self) -> Option<PolledState> {
        self.state
    }

    /// Whether members are joining or waiting for their assignment.
    #[must_use]
    pub fn is_rebalancing(&self) -> bool {
        matches!(
            self.state,
            Some(PolledState::PreparingRebalance | PolledState::CompletingRebalance)
        )
    }

    /// When the newest question that was answered was sent.
    #[must_use]
    pub fn confirmed(&self) -> Option<ArrivalTime> {
        self.confirmed
    }

    /// Why there is no answer now.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        self.trouble
    }

    /// Goes on after an absence, at `now`: nothing was answered yet, and what stands in for
    /// the records does so until they are read.
    pub fn resume(&mut self, now: ArrivalTime) {
        let mut stand_in = self.stand_in.take();
        if let Some(stand_in) = &mut stand_in {
            stand_in.began = stand_in.began.min(Some(now));
            stand_in.known_at = None;
            stand_in.was_absent = true;
        }
        *self = Self {
            stand_in,
            ..Self::default()
        };
    }

    /// What stands in for the records.
    #[must_use]
    pub fn stand_in(&self) -> Option<&StandIn> {
        self.stand_in.as_ref()
    }

    /// The same, to go on with it.
    pub fn stand_in_mut(&mut self) -> Option<&mut StandIn> {
        self.stand_in.as_mut()
    }

    /// The records may not be read any more: descriptions go on from what they said.
    pub fn begin_stand_in(&mut self, from: StandIn) {
        self.stand_in.get_or_insert(from);
    }

    /// Whether the change of leader that a record shows was counted already, since
    /// descriptions showed it while the records were hidden.
    pub fn has_counted_leader(&mut self) -> bool {
        let Some(stand_in) = &mut self.stand_in else {
            return false;
        };
        let counted = stand_in.leader_changes.checked_sub(1);
        stand_in.leader_changes = counted.unwrap_or(0);
        counted.is_some()
    }

    /// The records are read again.
    pub fn end_stand_in(&mut self) {
        self.stand_in = None;
    }
}

// === impl StandIn ===

impl StandIn {
    /// What descriptions go on from: what the records said last.
    #[must_use]
    pub fn after(
        newest: Option<Arc<GroupSnapshot>>,
        ownership: &Ownership,
        protocol: &ProtocolView,
        seen_from: Option<i64>,
        began: Option<ArrivalTime>,
        read: Option<ArrivalTime>,
    ) -> Self {
        Self {
            began,
            known_at: read.filter(|_| newest.is_some()),
            is_known: newest.is_some(),
            between: newest
                .as_deref()
                .map(|record| (record.recorded, record.recorded)),
            newest,
            ownership: ownership.clone(),
            protocol: protocol.clone(),
            seen_from,
            ..Self::default()
        }
    }

    /// Whether the records were read to an end that was asked for since it began.
    #[must_use]
    pub fn is_overtaken(&self, records: Option<ArrivalTime>) -> bool {
        records.is_some() && records > self.began
    }

    /// Takes a description of the group at rest.
    pub fn apply(&mut self, now: GroupSnapshot) {
        let described_before = self.last_described.replace(now.recorded);
        self.is_known = true;
        let before = self.newest.as_deref();
        if before.is_some_and(|before| is_same(before, &now)) {
            return;
        }
        self.between = described_before.map(|since| (since, now.recorded));
        self.ownership.apply(before, &now, None);
        self.protocol.apply(before, &now);
        self.seen_from = self.seen_from.or(now.config_offset);
        self.revoked_before = before.is_some_and(|before| before.revoked_from_those_in(&now));
        self.newest = Some(Arc::new(now));
    }

    /// The group is no Connect group any more: nobody owns anything.
    pub fn group_gone(&mut self, seen: EventTime) {
        self.is_known = true;
        if let Some(newest) = self.newest.take() {
            self.ownership.group_gone(&newest, seen);
        }
    }
}

/// Whether two descriptions, or a record and a description, show the same round: the same
/// members, each saying and told the same.
fn is_same(before: &GroupSnapshot, now: &GroupSnapshot) -> bool {
    let round = |group: &GroupSnapshot| {
        let said = (group.delay_ms, group.config_offset, group.error);
        (group.protocol, group.leader.clone(), said)
    };
    let is_same_member = |(old, new): (&Arc<Member>, &Arc<Member>)| {
        let told = |member: &Member| (member.id.clone(), member.url.clone());
        told(old) == told(new)
            && old.claim == new.claim
            && old.assigned == new.assigned
            && old.revoked == new.revoked
    };
    round(before) == round(now)
        && before.members.len() == now.members.len()
        && before.members.iter().zip(&now.members).all(is_same_member)
}
