//! What statuses say of their writers' clocks, as they are read and as steps are judged.

use std::sync::Arc;

use super::Story;
use crate::engine::State;
use crate::facts::input::Topic;
use crate::facts::observation::{GroupSnapshot, Member, RunState, Status, StatusFact};
use crate::facts::sets;
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::{LAST_STOPS_MS, TIMER_SLACK_MS};
use crate::story::downtime::{Read, Stamp};
use crate::story::skew::Skews;
use crate::story::status_log::{Life, StatusLog};
use crate::story::steps::{Step, Steps};

// === impl State ===

impl State {
    /// A status was read.
    pub(in crate::engine) fn note_status(
        &mut self,
        fact: &StatusFact,
        recorded: Option<EventTime>,
        had: ArrivalTime,
        live: bool,
    ) {
        let delay_ms = self.clock.delay_live_ms_min;
        if let (StatusFact::State(status), Some(at), true, Some(delay_ms)) =
            (fact, recorded, live, delay_ms)
        {
            let arrived = had.as_event(delay_ms);
            self.story.skews.arrived(&status.worker, at, arrived);
        }
        // What arrived while both topics were read up to now is of the life that is, whatever
        // its writer's clock says. What piled up meanwhile is judged by its time.
        let arrives = live && self.is_current(Topic::Status) && self.is_current(Topic::Offsets);
        let life = arrives.then_some(self.group.incarnation);
        let Story {
            statuses,
            skews,
            episodes,
            ..
        } = &mut self.story;
        if let Some(item) = statuses.apply(fact, recorded, life) {
            episodes.wrote(item, statuses, skews);
        }
        if live && self.story.steps.is_empty() {
            self.learn_start(fact);
        }
        let disagreements = &mut self.story.disagreements;
        match fact {
            StatusFact::State(status) => disagreements.wrote(status),
            StatusFact::Destroyed(item) => disagreements.destroyed(*item),
            StatusFact::NoState | StatusFact::Unknown => return,
        }
        let read = Read {
            fact: fact.clone(),
            recorded,
            had,
            live,
        };
        let Story {
            steps,
            skews,
            downtimes,
            ..
        } = &mut self.story;
        if let Some(read) = downtimes.read(read, |read| must_wait(steps, skews, read)) {
            self.note_cost(&read);
        }
    }

    /// What statuses cost that waited for the step that was just judged.
    pub(super) fn note_due(&mut self) {
        let Story {
            steps,
            skews,
            downtimes,
            ..
        } = &mut self.story;
        for read in downtimes.due(|read| must_wait(steps, skews, read)) {
            self.note_cost(&read);
        }
    }

    /// What statuses of the life of the group cost that ends with a step.
    pub(super) fn note_life(&mut self, step: &Step) {
        if !step.is_another_life() {
            return;
        }
        for read in self.story.downtimes.of_life(step.recorded) {
            self.note_cost(&read);
        }
    }

    /// What statuses cost for which no step is to come.
    pub(super) fn note_overdue(&mut self) {
        let progress = &self.progress;
        let overdue = self.story.downtimes.overdue(|had| progress.passed(had));
        for read in overdue {
            self.note_cost(&read);
        }
    }

    /// What a status says of downtime, once it has its turn.
    fn note_cost(&mut self, read: &Read) {
        // Whatever its clock says, it was written before it arrived, by the coordinator's clock
        // and by ours: one of them may be another than it was.
        let delay_ms = self.clock.delay_live_ms_min.filter(|_| read.live);
        let arrived =
            delay_ms.map(|delay_ms| read.had.as_event(delay_ms).max(read.had.as_event(0)));
        let Story {
            skews,
            downtimes,
            switches,
            ..
        } = &mut self.story;
        let costs = match (&read.fact, read.recorded) {
            // The last words of what is removed, and forgotten.
            (StatusFact::State(status), _)
                if matches!(status.state, RunState::Failed | RunState::Unassigned)
                    && !self.progress.of(Topic::Config).is_beyond_reach()
                    && !self.configured.contains(status.item)
                    && !downtimes.knows(status.item) =>
            {
                return;
            }
            (StatusFact::State(status), Some(written)) => {
                let at = skews.corrected(&status.worker, written, EventTime(i64::MIN));
                let ahead = arrived.filter(|arrived| at.since_ms(*arrived) > TIMER_SLACK_MS);
                let stamp = Stamp {
                    written,
                    at: ahead.unwrap_or(at),
                    had: read.had,
                    live: read.live,
                };
                downtimes.wrote(status, stamp, *switches)
            }
            (StatusFact::Destroyed(item), _) => downtimes.destroyed(*item, read.live),
            _ => return,
        };
        self.count_costs(&costs);
    }

    /// A start that the newest record asked for dates its worker's clock, once that record's
    /// turn came: a clock far behind would otherwise prove nothing until the next one. So does
    /// one that the record before asked for, and that is late.
    fn learn_start(&mut self, fact: &StatusFact) {
        let (StatusFact::State(status), Some(newest)) = (fact, self.group.newest.as_deref()) else {
            return;
        };
        let Story {
            statuses,
            skews,
            steps,
            ..
        } = &mut self.story;
        let late = newest.recorded.plus_ms(LAST_STOPS_MS);
        let records = [(Some(newest), EventTime(i64::MAX)), (steps.earlier(), late)];
        for (record, until) in records {
            let record = record.filter(|record| record.generation == status.generation);
            let Some(record) = record.filter(|record| asks_for(record, status)) else {
                continue;
            };
            let life = Life {
                began: self.group.began.unwrap_or(record.recorded),
                ended: None,
                incarnation: self.group.incarnation,
                skews,
            };
            let number = record.generation;
            // What is written later, of the same start, says no more.
            let first = statuses.started(status.item, &status.worker, number..=number, &life);
            let at = first.and_then(|first| first.recorded);
            if let Some(at) = at.filter(|at| skews.is_by(&status.worker, *at, until)) {
                skews.started(&status.worker, at, record.recorded);
            }
        }
    }

    /// What the step's first record told to start was started after it. An agent that was
    /// there learned that as it happened.
    pub(super) fn learn_starts(&mut self, step: &Step) {
        if let Some(before) = &step.before {
            let Story {
                statuses, skews, ..
            } = &self.story;
            let until = step.recorded.plus_ms(LAST_STOPS_MS);
            let started = starts_of(statuses, &step.life_before(skews), before, until);
            self.note_starts(started, before.recorded);
        }
    }

    /// The same of the newest record, when its turn came.
    pub(super) fn learn_newest_starts(&mut self) {
        let Some(newest) = self.group.newest.clone() else {
            return;
        };
        let Story {
            statuses, skews, ..
        } = &self.story;
        let life = Life {
            began: self.group.began.unwrap_or(newest.recorded),
            ended: None,
            incarnation: self.group.incarnation,
            skews,
        };
        let started = starts_of(statuses, &life, &newest, EventTime(i64::MAX));
        self.note_starts(started, newest.recorded);
    }

    fn note_starts(&mut self, started: Vec<(Arc<str>, EventTime)>, told: EventTime) {
        for (worker, at) in started {
            self.story.skews.started(&worker, at, told);
        }
    }

    /// What was to stop was stopped before the join phase of the step's second record ended, by
    /// who is in it. Who is not may have been thrown out and have stopped later: it counts where
    /// it says that the clock is far ahead, and its starts allow that.
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
        let allowed = |worker: &str, at: EventTime| {
            let ahead_ms = at.since_ms(step.join_ended);
            let most_ms = skews.of(worker).most_ms;
            ahead_ms > LAST_STOPS_MS && most_ms.is_some_and(|most| ahead_ms <= most)
        };
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
            let last = revoked.chain(left).max();
            let last = last.filter(|at| !gone || allowed(worker, *at));
            stopped.extend(last.map(|at| (Arc::clone(worker), at)));
        }
        for (worker, at) in stopped {
            self.story.skews.stopped(&worker, at, step.join_ended);
        }
    }
}

/// Whether a record told the one who wrote a status to start the item.
fn asks_for(record: &GroupSnapshot, status: &Status) -> bool {
    let told = |member: &Arc<Member>| {
        member.worker == status.worker && sets::contains(&member.assigned, status.item)
    };
    !record.shares_worker(&status.worker) && record.members.iter().any(told)
}

/// Whether a status is of a time after a step that waits.
fn must_wait(steps: &Steps, skews: &Skews, read: &Read) -> bool {
    let status = read.status();
    let at = match (status, read.recorded) {
        (Some(status), Some(at)) => skews.corrected(&status.worker, at, EventTime(i64::MIN)),
        (None, Some(at)) => at,
        (_, None) => return false,
    };
    steps.comes_before(status, at)
}

/// The first start of each worker that a record told it, by `until`.
fn starts_of(
    statuses: &StatusLog,
    life: &Life<'_>,
    record: &GroupSnapshot,
    until: EventTime,
) -> Vec<(Arc<str>, EventTime)> {
    let mut started: Vec<(Arc<str>, EventTime)> = Vec::new();
    let number = record.generation;
    for member in record.members.iter().filter(|of| !of.assigned.is_empty()) {
        let worker = &member.worker;
        let starts = member.assigned.iter();
        let starts =
            starts.filter_map(|item| statuses.started(*item, worker, number..=number, life));
        let starts = starts.filter_map(|started| started.recorded);
        // Who is there does not learn it from what is started after the next record.
        let starts = starts.filter(|at| life.skews.is_by(worker, *at, until));
        if !record.shares_worker(worker) {
            started.extend(starts.min().map(|at| (Arc::clone(worker), at)));
        }
    }
    started
}
