//! What statuses say of their writers' clocks, as they are read and as steps are judged.

use std::sync::Arc;

use super::Story;
use crate::engine::State;
use crate::facts::observation::{Member, RunState, StatusFact};
use crate::facts::sets;
use crate::facts::time::{ArrivalTime, EventTime};
use crate::story::steps::Step;

// === impl State ===

impl State {
    /// A status was read.
    pub(in crate::engine) fn note_status(
        &mut self,
        fact: &StatusFact,
        recorded: Option<EventTime>,
        arrived: Option<ArrivalTime>,
    ) {
        let delay_ms = self.clock.delay_live_ms_min;
        if let (StatusFact::State(status), Some(at), Some(arrived), Some(delay_ms)) =
            (fact, recorded, arrived, delay_ms)
        {
            let arrived = arrived.as_event(delay_ms);
            self.story.skews.arrived(&status.worker, at, arrived);
        }
        self.learn_at_once(fact, recorded, arrived);
        let Story {
            statuses,
            skews,
            episodes,
            ..
        } = &mut self.story;
        let life = arrived.map(|_| self.group.incarnation);
        if let Some(item) = statuses.apply(fact, recorded, life) {
            episodes.wrote(item, statuses, skews);
        }
    }

    /// A start that the newest record asked for dates its worker's clock: a clock far behind
    /// would otherwise prove nothing, not even that the worker took what it was told.
    fn learn_at_once(
        &mut self,
        fact: &StatusFact,
        recorded: Option<EventTime>,
        arrived: Option<ArrivalTime>,
    ) {
        let (StatusFact::State(status), Some(at), Some(_)) = (fact, recorded, arrived) else {
            return;
        };
        let Some(newest) = self.group.newest.as_deref() else {
            return;
        };
        let told = |member: &&Arc<Member>| {
            member.worker == status.worker && sets::contains(&member.assigned, status.item)
        };
        let started = !matches!(status.state, RunState::Unassigned | RunState::Restarting);
        if started
            && status.generation == newest.generation
            && newest.members.iter().any(|member| told(&member))
        {
            self.story
                .skews
                .started(&status.worker, at, newest.recorded);
        }
    }

    /// What the step's first record told to start was started after it. An agent that was
    /// there learned that at once.
    pub(super) fn learn_starts(&mut self, step: &Step) {
        let Some(before) = step.before.as_deref() else {
            return;
        };
        let Story {
            statuses, skews, ..
        } = &self.story;
        let life = step.life_before(skews);
        let mut started: Vec<(Arc<str>, EventTime)> = Vec::new();
        for old in before.members.iter().filter(|old| !old.assigned.is_empty()) {
            let worker = &old.worker;
            let starts = old.assigned.iter();
            let starts =
                starts.filter_map(|item| statuses.started(*item, worker, before.generation, &life));
            if !before.shares_worker(worker) {
                started.extend(starts.min().map(|at| (Arc::clone(worker), at)));
            }
        }
        for (worker, at) in started {
            self.story.skews.started(&worker, at, before.recorded);
        }
    }

    /// What was to stop was stopped before the join phase of the step's second record ended.
    pub(super) fn learn_stops(&mut self, step: &Step) {
        let Some(before) = step.before.as_deref() else {
            return;
        };
        let Story {
            statuses, skews, ..
        } = &self.story;
        let life = step.life_before(skews);
        let now = step.now.as_deref();
        let generation = before.generation;
        let mut stopped: Vec<(Arc<str>, EventTime)> = Vec::new();
        for old in &before.members {
            let gone = now.is_none_or(|now| now.member(&old.id).is_none());
            if !gone && old.revoked.is_empty() || before.shares_worker(&old.worker) {
                continue;
            }
            let worker = &old.worker;
            let revoked = old.revoked.iter();
            let revoked =
                revoked.filter_map(|item| statuses.stopped_by(*item, worker, generation, &life));
            let left = old.told.iter().filter(|_| gone);
            let left = left.filter_map(|item| statuses.stopped(*item, worker, generation, &life));
            stopped.extend(revoked.chain(left).max().map(|at| (Arc::clone(worker), at)));
        }
        for (worker, at) in stopped {
            self.story.skews.stopped(&worker, at, step.join_ended);
        }
    }
}
