//! From one group record to the next: a *step* is judged once nothing that its record could
//! depend on is unread, and steps are judged in the order of the log.

mod turn;

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::Outcome;
use crate::facts::observation::{GroupSnapshot, Member, Status};
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::{LAST_STOPS_MS, STEPS_WAITING_MAX};
use crate::story::skew::Skews;
use crate::story::status_log::{Life, StatusLog};
pub use turn::Turn;

/// One record, and the one before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Step {
    /// The record before, of whatever incarnation: that of the step before.
    #[serde(skip)]
    pub before: Option<Arc<GroupSnapshot>>,
    /// The record; `None` where the group was deleted.
    pub now: Option<Arc<GroupSnapshot>>,
    /// Whether both are of one incarnation of the group.
    pub continues: bool,
    /// The incarnation.
    pub incarnation: u32,
    /// When the incarnation of the record began.
    pub began: EventTime,
    /// When that of the record before began, and its number.
    #[serde(skip)]
    pub began_before: Option<(EventTime, u32)>,
    /// When the incarnation after that of the record began, if that was read when the step was
    /// taken.
    #[serde(skip)]
    pub ended: Option<EventTime>,
    /// Up to which config offset records before this one took changes into account: a record
    /// without members names none, and one by a leader that lags names an older one.
    #[serde(skip)]
    pub config_from: Option<i64>,
    /// When the record was written.
    pub recorded: EventTime,
    /// When its join phase ended.
    pub join_ended: EventTime,
    /// When the agent had it: the barrier is asked after it.
    pub arrived: ArrivalTime,
    /// Whether it was written while the agent watched.
    pub live: bool,
    /// Numbers between the two that left no record, and how they ended.
    pub missing: Option<Missing>,
    /// Whether another broker wrote it than the one before.
    pub coordinator_moved: bool,
}

/// Numbers without a record.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Missing {
    /// How many.
    pub count: u64,
    /// How they ended.
    pub outcome: Outcome,
    /// Whether they are counted.
    pub counts: bool,
}

/// Steps that wait for their barrier, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Steps {
    waiting: VecDeque<Step>,
    /// How many were taken so far.
    taken: u64,
    /// The record of the last step that was taken, and when its incarnation began.
    before: Option<Arc<GroupSnapshot>>,
    began: Option<(EventTime, u32)>,
    /// The record before that one.
    earlier: Option<Arc<GroupSnapshot>>,
    /// The largest config offset that a step's record named.
    config_from: Option<i64>,
}

// === impl Step ===

impl Step {
    /// Whether a life of the group ends with it.
    #[must_use]
    pub fn is_another_life(&self) -> bool {
        !self.continues || self.now.is_none()
    }
}

// === impl Steps ===

impl Steps {
    /// One more step.
    pub fn push(&mut self, step: Step) {
        self.waiting.push_back(step);
    }

    /// The oldest step, if its barrier is passed, or if too many wait for theirs. What lies
    /// beyond the end of the config topic is of another topic.
    pub fn take(
        &mut self,
        passed: impl Fn(ArrivalTime) -> bool,
        statuses: &StatusLog,
        config_end: i64,
    ) -> Option<Step> {
        let oldest = self.waiting.front()?.arrived;
        let crowded = self.waiting.len() > STEPS_WAITING_MAX;
        // Whether more is to be waited for is asked only where that may matter.
        let is_due = || passed(oldest) && self.oldest_since(statuses).is_some_and(&passed);
        if !crowded && !is_due() {
            return None;
        }
        let mut step = self.waiting.pop_front()?;
        self.taken = self.taken.saturating_add(1);
        step.config_from = self.config_from;
        let named = step.now.as_deref().and_then(|now| now.config_offset);
        let named = named.filter(|offset| *offset <= config_end);
        self.config_from = self.config_from.max(named);
        step.before = self.before.take();
        self.earlier.clone_from(&step.before);
        step.began_before = self.began.replace((step.began, step.incarnation));
        step.ended = self.ended(step.incarnation);
        // A group that was deleted had the members it had until somebody joins it anew.
        self.before = step.now.clone().or_else(|| step.before.clone());
        Some(step)
    }

    /// The number of the next step that is pushed.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        let waiting = u64::try_from(self.waiting.len()).unwrap_or(u64::MAX);
        self.taken.saturating_add(waiting)
    }

    /// How many were taken so far: the number of the first that was not.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The record of the last step that was taken: what it said stays so where the group was
    /// deleted.
    #[must_use]
    pub fn judged(&self) -> Option<&Arc<GroupSnapshot>> {
        self.before.as_ref()
    }

    /// The life of the group that this record is of.
    #[must_use]
    pub fn judged_life<'a>(&self, skews: &'a Skews) -> Life<'a> {
        let (began, incarnation) = self.began.unwrap_or((EventTime(i64::MIN / 2), 0));
        Life {
            began,
            ended: self.ended(incarnation),
            incarnation,
            skews,
        }
    }

    /// When the incarnation after this one began, if a step of it waits.
    fn ended(&self, incarnation: u32) -> Option<EventTime> {
        let mut later = self.waiting.iter();
        let later = later.find(|step| step.incarnation != incarnation);
        later.map(|step| step.began)
    }

    /// The records of all that wait, and of the last that was taken.
    pub fn records_mut(&mut self) -> impl Iterator<Item = &mut Arc<GroupSnapshot>> {
        let waiting = self.waiting.iter_mut().filter_map(|step| step.now.as_mut());
        waiting.chain(&mut self.before).chain(&mut self.earlier)
    }

    /// The record before that of the last step that was taken.
    #[must_use]
    pub fn earlier(&self) -> Option<&GroupSnapshot> {
        self.earlier.as_deref()
    }

    /// Goes on after an absence, at `now`: whatever is asked from now on is asked after all
    /// that was had before, whatever the clock said then.
    pub fn resume(&mut self, now: ArrivalTime) {
        for step in &mut self.waiting {
            step.arrived = step.arrived.min(now);
        }
    }

    /// After which instant a question must have been asked whose answer proves that nothing of
    /// the oldest step is unread. Where somebody left who may still say that it stopped, that
    /// is as late as such a status may be dated; of history all of it is there.
    #[must_use]
    pub fn oldest_since(&self, statuses: &StatusLog) -> Option<ArrivalTime> {
        let step = self.waiting.front()?;
        let before = self.before.as_deref().filter(|_| step.live);
        let now = step.now.as_deref();
        let is_gone =
            |member: &&Arc<Member>| now.is_none_or(|now| now.member(&member.id).is_none());
        let may_stop = |member: &Arc<Member>| {
            let mut told = member.told.iter();
            told.any(|item| statuses.runs(*item, &member.worker))
        };
        let mut gone = before
            .into_iter()
            .flat_map(|before| before.members.iter().filter(is_gone));
        let wait_ms = if gone.any(may_stop) { LAST_STOPS_MS } else { 0 };
        Some(step.arrived.plus_ms(wait_ms))
    }

    /// Since when the newest of them waits.
    #[must_use]
    pub fn waits_since(&self) -> Option<ArrivalTime> {
        self.waiting.back().map(|step| step.arrived)
    }

    /// Whether a step that waits was over when this was written: with it a life of the group
    /// ended, or its record misses who wrote that.
    #[must_use]
    pub fn comes_before(&self, status: Option<&Status>, at: EventTime) -> bool {
        let mut over = self.waiting.iter().take_while(|step| step.recorded < at);
        over.any(|step| {
            let misses = |status: &Status| {
                let now = step.now.as_deref();
                let later = now.filter(|now| now.generation > status.generation);
                later.is_some_and(|now| now.members.iter().all(|of| of.worker != status.worker))
            };
            step.is_another_life() || status.is_some_and(misses)
        })
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The config topic is another one: offsets start over.
    pub fn config_anew(&mut self) {
        self.config_from = None;
    }

    /// Forgets all: the log is another one.
    pub fn clear(&mut self) {
        *self = Self {
            taken: self.next_number(),
            ..Self::default()
        };
    }
}

// === impl Step ===

impl Step {
    /// The life of the group that the record is of.
    #[must_use]
    pub fn life<'a>(&self, skews: &'a Skews) -> Life<'a> {
        Life {
            began: self.began,
            ended: self.ended,
            incarnation: self.incarnation,
            skews,
        }
    }

    /// The life of the group that the record before is of.
    #[must_use]
    pub fn life_before<'a>(&self, skews: &'a Skews) -> Life<'a> {
        let (began, incarnation) = self.began_before.unwrap_or((self.began, self.incarnation));
        let is_over = incarnation != self.incarnation;
        Life {
            began,
            ended: if is_over {
                Some(self.began)
            } else {
                self.ended
            },
            incarnation,
            skews,
        }
    }
}
