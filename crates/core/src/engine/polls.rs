//! Takes the coordinator's answers into the state, and says what the group is seen by:
//! its records, or, where they may not be read, its descriptions.

use std::sync::Arc;

use crate::answers::{GroupState, Mode};
use crate::engine::State;
use crate::facts::group;
use crate::facts::input::{Topic, Trouble};
use crate::facts::observation::GroupSnapshot;
use crate::facts::poll::{Description, PollAnswer, Polled, PolledState};
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::FRESH_MS_MAX;
use crate::story::findings::Kind;
use crate::view::polled::StandIn;
use crate::view::protocol::ProtocolView;
use crate::view::unassigned::Ownership;

/// The group as one source shows it.
pub(super) struct Sight<'a> {
    /// The newest record, or what a description says in its place.
    pub(super) newest: Option<&'a Arc<GroupSnapshot>>,
    /// Who owns what.
    pub(super) ownership: &'a Ownership,
    /// The protocol.
    pub(super) protocol: &'a ProtocolView,
    /// The config offset of the oldest of them.
    pub(super) seen_from: Option<i64>,
    /// Whether the one before revoked something.
    pub(super) revoked_before: bool,
    /// When the newest round was recorded, or the interval in which it was seen to come.
    pub(super) dated: Option<(EventTime, EventTime)>,
    /// Stable, empty or dead.
    pub(super) state: GroupState,
    /// Whether it is the records.
    pub(super) by_records: bool,
}

// === impl State ===

impl State {
    pub(super) fn take_polled(&mut self, polled: &Polled, at: ArrivalTime) {
        match &polled.answer {
            PollAnswer::Failed(trouble) => return self.polled.failed(*trouble),
            PollAnswer::Listed(state) => {
                let joining = *state == Some(PolledState::PreparingRebalance);
                self.polled.saw(joining, polled.asked, at);
                self.polled.listed(*state);
            }
            PollAnswer::Described(description) => {
                let joining = description.state == PolledState::PreparingRebalance;
                self.polled.saw(joining, polled.asked, at);
                self.polled.described(description.state, polled.asked);
                self.take_description(description, at.as_event(0));
            }
        }
        self.polled.answered(polled.asked);
    }

    /// Members count only while descriptions stand in for the records.
    fn take_description(&mut self, description: &Description, seen: EventTime) {
        let Some(stand_in) = self.polled.stand_in_mut() else {
            return;
        };
        if !matches!(description.protocol_type.as_str(), "connect" | "") {
            stand_in.group_gone(seen);
            let name: String = description.protocol_type.chars().take(40).collect();
            let group = self.settings.group.clone();
            self.findings.raise(Kind::ForeignGroup, group, None, || {
                format!("a group of type {name} has this id; it is no Connect group")
            });
            return;
        }
        let mut problems = Vec::new();
        let before = stand_in.newest.clone();
        let before = before.as_deref();
        let names = &mut self.names;
        let Some(now) = group::described(description, seen, before, names, &mut problems) else {
            return;
        };
        let leaders = (
            before.and_then(|before| before.leader.clone()),
            now.leader.clone(),
        );
        let was_absent = std::mem::take(&mut stand_in.was_absent);
        stand_in.apply(now);
        stand_in.ownership.bound(&self.configured);
        // A leader that changed while nobody watched is shown, and not counted.
        if !was_absent && matches!(leaders, (Some(before), Some(now)) if before != now) {
            stand_in.leader_changes = stand_in.leader_changes.saturating_add(1);
            self.count_leader_change();
        }
        self.note_members(problems.is_empty(), None);
    }

    /// Begins and ends the time in which descriptions stand in for the records.
    pub(super) fn review_sight(&mut self) {
        let offsets = self.progress.of(Topic::Offsets);
        if offsets.is_beyond_reach() {
            if self.polled.stand_in().is_none() {
                let newest = self.group.newest.clone();
                let from = StandIn::after(
                    newest.filter(|_| self.group.deleted.is_none()),
                    &self.ownership,
                    &self.protocol,
                    self.group.seen_from,
                    self.clock.arrived,
                    offsets.confirmed(),
                );
                self.polled.begin_stand_in(from);
            }
            return;
        }
        let read = offsets.confirmed();
        let stand_in = self.polled.stand_in();
        if stand_in.is_some_and(|stand_in| stand_in.is_overtaken(read)) {
            self.polled.end_stand_in();
        }
    }

    /// What the group is seen by; `None` where neither records nor polls may be had.
    pub(super) fn sight(&self) -> Option<Sight<'_>> {
        let state = |newest: Option<&Arc<GroupSnapshot>>| match newest {
            None => GroupState::Dead,
            Some(newest) if newest.members.is_empty() => GroupState::Empty,
            Some(_) => GroupState::Stable,
        };
        match self.mode() {
            Mode::NoOffsetsTopic => {
                let stand_in = self.polled.stand_in()?;
                if !stand_in.is_known {
                    return None;
                }
                let newest = stand_in.newest.as_ref();
                let dead = self.polled.state() == Some(PolledState::Dead);
                Some(Sight {
                    newest,
                    ownership: &stand_in.ownership,
                    protocol: &stand_in.protocol,
                    seen_from: stand_in.seen_from,
                    revoked_before: stand_in.revoked_before,
                    dated: stand_in.between,
                    state: if dead {
                        GroupState::Dead
                    } else {
                        state(newest)
                    },
                    by_records: false,
                })
            }
            Mode::TopicsOnly => None,
            Mode::Blind if self.group.newest.is_none() => None,
            Mode::Full | Mode::Sampled | Mode::NoPolls | Mode::Blind => {
                let newest = self.group.newest.as_ref();
                let deleted = self.group.deleted.is_some();
                Some(Sight {
                    newest,
                    ownership: &self.ownership,
                    protocol: &self.protocol,
                    seen_from: self.group.seen_from,
                    revoked_before: self.group.revoked_before,
                    dated: newest.map(|newest| (newest.recorded, newest.recorded)),
                    state: if deleted {
                        GroupState::Dead
                    } else {
                        state(newest)
                    },
                    by_records: true,
                })
            }
        }
    }

    /// What can be seen now.
    pub(super) fn mode(&self) -> Mode {
        // Until the records are read after a right was granted, descriptions go on.
        let hidden = self.polled.stand_in().is_some();
        let polls =
            self.polls_current() && (!hidden || self.is_recent(self.polled.members_known()));
        let seen = |topic| {
            let progress = self.progress.of(topic);
            progress.trouble().is_none() && progress.confirmed().is_some()
        };
        match (hidden, polls) {
            (false, _) if self.sampled && seen(Topic::Offsets) => Mode::Sampled,
            (false, true) if seen(Topic::Offsets) => Mode::Full,
            (false, false) if seen(Topic::Offsets) => Mode::NoPolls,
            (true, true) => Mode::NoOffsetsTopic,
            (true, false) if seen(Topic::Config) || seen(Topic::Status) => Mode::TopicsOnly,
            _ => Mode::Blind,
        }
    }

    /// Whether the coordinator answered a short while ago.
    pub(super) fn polls_current(&self) -> bool {
        self.is_recent(self.polled.confirmed())
            && !matches!(
                self.polled.trouble(),
                Some(Trouble::Denied | Trouble::Unauthenticated | Trouble::Missing)
            )
    }

    /// Whether a topic was confirmed current a short while ago.
    pub(super) fn is_current(&self, topic: Topic) -> bool {
        self.is_recent(self.progress.of(topic).confirmed())
    }

    fn is_recent(&self, confirmed: Option<ArrivalTime>) -> bool {
        match (self.clock.arrived, confirmed) {
            (Some(now), Some(confirmed)) => now.since_ms(confirmed) <= FRESH_MS_MAX,
            _ => false,
        }
    }
}
