//! A step at the moment it is judged, and the questions that rules ask of it.

use std::sync::Arc;

use crate::answers::Outcome;
use crate::facts::ids::{Names, Protocol, WorkItem};
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits::LAST_STOPS_MS;
use crate::story::config_log::ConfigLog;
use crate::story::skew::Skews;
use crate::story::status_log::{Life, StatusLog};
use crate::story::steps::Step;
use crate::story::switches::{StoryRule, Switches};
use crate::view::configured::Configured;

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
    /// told, unless it is proven that it never got that. Where nothing shows either, that is
    /// what it had, and was not told to stop.
    #[must_use]
    pub fn held(&self, place: usize, member: &Member) -> Vec<WorkItem> {
        if self.got(place) {
            return member.told.clone();
        }
        let missed = self.outcome == Some(Outcome::Aborted) || self.applied(place) == Some(false);
        if missed {
            return member.claimed().to_vec();
        }
        sets::minus(member.claimed(), &member.revoked)
    }

    /// Whether a member of the record before is not proven to have missed what it was told,
    /// nor was over before anything could show it.
    #[must_use]
    pub fn got(&self, place: usize) -> bool {
        let open = self.outcome.is_none();
        self.applied(place).unwrap_or(open) && self.outcome != Some(Outcome::Aborted)
    }

    fn applied(&self, place: usize) -> Option<bool> {
        self.applied.get(place).copied().flatten()
    }

    /// Changes of the config topic that this record takes into account and the one before
    /// did not.
    pub fn changes(&self) -> impl Iterator<Item = &'a crate::story::config_log::ConfigChange> {
        let to = self.step.now.as_deref().and_then(|now| now.config_offset);
        self.config.between(self.step.config_from, to)
    }

    /// When a member of the record before wrote that it stopped an item before it was gone, or
    /// joined again, on its worker's clock. What it wrote later is of a process that lived on.
    #[must_use]
    pub fn stopped(&self, item: WorkItem, member: &Member) -> Option<EventTime> {
        let generation = self.step.before.as_deref()?.generation;
        let life = self.life_before();
        self.statuses
            .stopped(item, &member.worker, generation, &life)
            .filter(|at| self.is_in_time(&member.worker, *at))
    }

    /// Whether a worker may have written a status before the join phase that is over.
    #[must_use]
    pub fn is_in_time(&self, worker: &str, written: EventTime) -> bool {
        let until = self.step.join_ended.plus_ms(LAST_STOPS_MS);
        self.skews.is_by(worker, written, until)
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
