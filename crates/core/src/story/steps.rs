//! From one group record to the next: a *step* is judged once nothing that its record could
//! depend on is unread, and steps are judged in the order of the log.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::Outcome;
use crate::facts::ids::{Names, Protocol, WorkItem};
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::facts::sets;
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::STEPS_WAITING_MAX;
use crate::story::config_log::ConfigLog;
use crate::story::skew::Skews;
use crate::story::status_log::{Life, StatusLog};
use crate::story::switches::{StoryRule, Switches};
use crate::view::configured::Configured;

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
    /// The largest config offset that a step's record named.
    config_from: Option<i64>,
}

/// A step at the moment it is judged, with all that may be asked of.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The step.
    pub step: &'a Step,
    /// Whether each member of the record before is proven to have done what that told it.
    pub applied: &'a [Option<bool>],
    /// How the round before ended.
    pub outcome: Option<Outcome>,
    /// What workers wrote.
    pub statuses: &'a StatusLog,
    /// Whether the status topic can be read.
    pub statuses_known: bool,
    /// What changed in the config topic.
    pub config: &'a ConfigLog,
    /// Whether the config topic can be read.
    pub config_known: bool,
    /// What is configured by now.
    pub configured: &'a Configured,
    /// Clocks of workers.
    pub skews: &'a Skews,
    /// Names of connectors.
    pub names: &'a Names,
    /// Which rules are on.
    pub switches: Switches,
}

// === impl Steps ===

impl Steps {
    /// One more step.
    pub fn push(&mut self, step: Step) {
        self.waiting.push_back(step);
    }

    /// The oldest step, if its barrier is passed, or if too many wait for theirs. What lies
    /// beyond the end of the config topic is of another topic.
    pub fn take(&mut self, passed: impl Fn(ArrivalTime) -> bool, config_end: i64) -> Option<Step> {
        let oldest = self.waiting.front()?;
        let crowded = self.waiting.len() > STEPS_WAITING_MAX;
        if !crowded && !passed(oldest.arrived) {
            return None;
        }
        let mut step = self.waiting.pop_front()?;
        self.taken = self.taken.saturating_add(1);
        step.config_from = self.config_from;
        let named = step.now.as_deref().and_then(|now| now.config_offset);
        let named = named.filter(|offset| *offset <= config_end);
        self.config_from = self.config_from.max(named);
        step.before = self.before.take();
        step.began_before = self.began.replace((step.began, step.incarnation));
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
            incarnation,
            skews,
        }
    }

    /// The records of all that wait, and of the last that was taken.
    pub fn records_mut(&mut self) -> impl Iterator<Item = &mut Arc<GroupSnapshot>> {
        let waiting = self.waiting.iter_mut().filter_map(|step| step.now.as_mut());
        waiting.chain(&mut self.before)
    }

    /// Goes on after an absence, at `now`: whatever is asked from now on is asked after all
    /// that was had before, whatever the clock said then.
    pub fn resume(&mut self, now: ArrivalTime) {
        for step in &mut self.waiting {
            step.arrived = step.arrived.min(now);
        }
    }

    /// Since when the newest of them waits.
    #[must_use]
    pub fn waits_since(&self) -> Option<ArrivalTime> {
        self.waiting.back().map(|step| step.arrived)
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
            incarnation: self.incarnation,
            skews,
        }
    }

    /// The life of the group that the record before is of.
    #[must_use]
    pub fn life_before<'a>(&self, skews: &'a Skews) -> Life<'a> {
        let (began, incarnation) = self.began_before.unwrap_or((self.began, self.incarnation));
        Life {
            began,
            incarnation,
            skews,
        }
    }
}

// === impl Turn ===

impl<'a> Turn<'a> {
    /// The life of the group that the record is of.
    #[must_use]
    pub fn life(&self) -> Life<'a> {
        self.step.life(self.skews)
    }

    /// The life of the group that the record before is of.
    #[must_use]
    pub fn life_before(&self) -> Life<'a> {
        self.step.life_before(self.skews)
    }

    /// Whether a rule is on.
    #[must_use]
    pub fn on(&self, rule: StoryRule) -> bool {
        self.switches.on(rule)
    }

    /// The number of the record; that of the record before where the group was deleted.
    #[must_use]
    pub fn generation(&self) -> i32 {
        let newest = self.step.now.as_deref().or(self.step.before.as_deref());
        newest.map_or(0, |record| record.generation)
    }

    /// The members of the record before.
    #[must_use]
    pub fn before(&self) -> &'a [Arc<Member>] {
        members(self.step.before.as_deref())
    }

    /// The members of the record.
    #[must_use]
    pub fn now(&self) -> &'a [Arc<Member>] {
        members(self.step.now.as_deref())
    }

    /// The member of that id in the record.
    #[must_use]
    pub fn present(&self, id: &str) -> Option<&'a Arc<Member>> {
        self.step.now.as_deref()?.member(id)
    }

    /// Members of the record that were not in the one before.
    pub fn newcomers(&self) -> impl Iterator<Item = &'a Arc<Member>> {
        let before = self.step.before.as_deref();
        self.now()
            .iter()
            .filter(move |new| before.is_none_or(|before| before.member(&new.id).is_none()))
    }

    /// Members of the record before with the place each has there, who are not in this one.
    pub fn leavers(&self) -> impl Iterator<Item = (usize, &'a Arc<Member>)> {
        let now = self.step.now.as_deref();
        self.before()
            .iter()
            .enumerate()
            .filter(move |(_, old)| now.is_none_or(|now| now.member(&old.id).is_none()))
    }

    /// D2: what a member of the record before had when it was last heard of: what it was
    /// told, unless it is proven that it never got that.
    #[must_use]
    pub fn held(&self, place: usize, member: &Member) -> Vec<WorkItem> {
        if self.got(place) {
            return member.told.clone();
        }
        match &member.claim {
            Claim::Items(items) => items.clone(),
            Claim::Nothing | Claim::Unsaid => Vec::new(),
        }
    }

    /// Whether a member of the record before is not proven to have missed what it was told.
    #[must_use]
    pub fn got(&self, place: usize) -> bool {
        let missed = self.applied.get(place).copied().flatten() == Some(false);
        !missed && self.outcome != Some(Outcome::Aborted)
    }

    /// Changes of the config topic that this record takes into account and the one before
    /// did not.
    pub fn changes(&self) -> impl Iterator<Item = &'a crate::story::config_log::ConfigChange> {
        let to = self.step.now.as_deref().and_then(|now| now.config_offset);
        self.config.between(self.step.config_from, to)
    }

    /// An instant of a worker's clock on the coordinator's, between the two records: where
    /// their order is known, no clock can say otherwise.
    #[must_use]
    pub fn placed(&self, worker: &str, written: EventTime) -> EventTime {
        let before = self.step.before.as_deref();
        let at_least = before.map_or(EventTime(i64::MIN), |before| before.recorded);
        let at = self.skews.corrected(worker, written, at_least);
        at.min(self.step.join_ended.max(at_least))
    }

    /// Whether a member says that it owns the item.
    #[must_use]
    pub fn is_claimed(&self, item: WorkItem) -> bool {
        let claims = |member: &Arc<Member>| sets::contains(member.claimed(), item);
        self.now().iter().any(claims)
    }

    /// Whether a member of the record before is proven to have had something, and is back
    /// under its id without a claim: it lost its coordinator and stopped its work.
    #[must_use]
    pub fn dropped(&self, place: usize, old: &Member) -> bool {
        let cooperative =
            |record: &Arc<GroupSnapshot>| record.protocol.is_some_and(Protocol::is_cooperative);
        let had = matches!(old.claim, Claim::Items(_))
            || self.applied.get(place).copied().flatten() == Some(true);
        had && self.step.now.as_ref().is_some_and(cooperative)
            && self.step.before.as_ref().is_some_and(cooperative)
            && self
                .present(&old.id)
                .is_some_and(|new| new.claim == Claim::Nothing)
    }

    /// What members gave up because they lost their coordinator.
    pub fn dropped_work(&self) -> impl Iterator<Item = WorkItem> {
        let turn = *self;
        let of_it = turn.before().iter().enumerate();
        of_it
            .filter(move |(place, old)| turn.dropped(*place, old))
            .flat_map(move |(place, old)| turn.held(place, old))
    }
}

fn members(record: Option<&GroupSnapshot>) -> &[Arc<Member>] {
    record
        .map(|record| record.members.as_slice())
        .unwrap_or_default()
}
