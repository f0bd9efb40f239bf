//! D8: what a person calls a rebalance, one stretch of unrest over one or more generations.
//!
//! An episode opens with a record when none is open, and stays open while
//! 1. members that were told to stop something have not joined again,
//! 2. a scheduled delay runs,
//! 3. the newest record carries an error,
//! 4. workers have not said what became of work that they were told to start,
//! 5. a new connector has not committed its tasks,
//! 9. lost work was handed to nobody, and nothing is scheduled.
//!
//! It closes
//! 6. *settled*, at the instant at which the last of these was done, if that is before the
//!    next record was written: a first sign of it, such as a stop, is known only with it;
//! 7. *unresolved*, when something is pending, nothing is scheduled, and nothing moved for
//!    `limits::UNRESOLVED_MS`;
//! 8. *group_gone*, with a record without members, or when the group is deleted.

mod awaited;
mod cost;
mod later;
mod measure;
mod rounds;
mod show;
mod stretch;

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{
    Cause, EpisodeAnswer, EpisodeOutcome, JoinedAnswer, LeftOutAnswer, LostAnswer,
};
use crate::facts::ids::{Names, WorkItem};
use crate::facts::time::EventTime;
use crate::limits::{EPISODES_SHOWN_MAX, UNRESOLVED_MS};
use crate::story::causes::Causes;
use crate::story::departures::Departure;
use crate::story::skew::Skews;
use crate::story::status_log::StatusLog;
use crate::story::steps::Turn;
use crate::story::switches::{StoryRule, Switches};
use awaited::Awaited;
use cost::Cost;
pub use rounds::{PhaseSeen, RoundEntry};
use stretch::Stretches;

/// The episode that is open, and the last that closed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Episodes {
    open: Option<Episode>,
    closed: VecDeque<Arc<EpisodeAnswer>>,
}

/// One episode.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Episode {
    id: Arc<str>,
    began: EventTime,
    whole: bool,
    rest: bool,
    causes: Causes,
    generations: u64,
    first: i32,
    last: i32,
    rounds: VecDeque<RoundEntry>,
    departures: Vec<Departure>,
    joined: Vec<JoinedAnswer>,
    left_out: LeftOutAnswer,
    lost: LostAnswer,
    cost: Cost,
    stretches: Stretches,
    awaited: Awaited,
    follow_up: bool,
    mismatch: bool,
    /// Whether lost work was handed to nobody, and nothing is scheduled.
    unhanded: bool,
    /// Until when a scheduled delay runs.
    deadline: Option<EventTime>,
    /// When the newest record was written.
    recorded: EventTime,
    follows: Option<Arc<str>>,
}

/// Lost work at one step.
#[derive(Debug)]
pub struct LostNow {
    /// What was lost in it.
    pub items: Vec<WorkItem>,
    /// Since when, and whether that is when it stopped.
    pub since: Vec<(WorkItem, EventTime, bool)>,
    /// Whether some of all lost work is handed to nobody.
    pub unhanded: bool,
}

/// Members that a step has no more, and those that it has first.
#[derive(Debug)]
pub struct Members {
    /// Who left.
    pub left: Vec<Departure>,
    /// Who came.
    pub came: Vec<JoinedAnswer>,
}

/// The first sign of a round in the logs, and when polls saw it begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sign {
    /// When it is known to have begun at the latest.
    pub at: EventTime,
    /// Whether something in the logs dates it: a config record, a stop, a deadline.
    pub dated: bool,
    /// When its join phase ended.
    pub join_ended: EventTime,
    /// Between which instants this agent's polls saw it begin.
    pub polled: Option<(EventTime, EventTime)>,
}

/// What closing an episode, or a round of it, tells the counters.
#[derive(Debug, Clone)]
pub struct Closed {
    /// As it is shown from now on.
    pub answer: Arc<EpisodeAnswer>,
    /// The phases of its last round.
    pub phases: Vec<PhaseSeen>,
}

// === impl Episodes ===

impl Episodes {
    /// Takes a step that was judged: opens an episode, or goes on with the one that is open,
    /// which must have been closed before if it was over by then. Gives its id.
    pub fn judge(
        &mut self,
        turn: &Turn<'_>,
        causes: &Causes,
        members: Members,
        sign: Sign,
        lost: &LostNow,
    ) -> Arc<str> {
        let follows = || {
            let last = self.closed.back()?;
            (last.outcome == Some(EpisodeOutcome::Unresolved)).then(|| last.id.clone())
        };
        let follows = follows();
        // Of an episode whose beginning was not read, what kept it open may not be known: what
        // comes right after it may be part of it for those who read more.
        let is_cut = |before: &Arc<EpisodeAnswer>| {
            let closed = before.closed.filter(|_| !before.whole || before.rest);
            closed.is_some_and(|closed| sign.at.since_ms(closed) <= UNRESOLVED_MS)
        };
        let rest = self.closed.back().is_some_and(is_cut);
        let episode = self
            .open
            .get_or_insert_with(|| Episode::begin(turn, sign, follows, rest));
        episode.take(turn, causes, sign, lost);
        episode.departures.extend(members.left);
        episode.joined.extend(members.came);
        episode.bound_members();
        Arc::clone(&episode.id)
    }

    /// When the open episode was over, if it was by `until`, on the coordinator's clock.
    pub fn over_by(&mut self, until: EventTime, show: &Shown<'_>) -> Option<EventTime> {
        let episode = self.open.as_mut()?;
        episode.awaited.date(show.statuses, show.skews);
        episode.over_by(until, show.switches).map(|(at, _)| at)
    }

    /// Closes the open episode if it was over by `until`, on the coordinator's clock.
    pub fn close_by(&mut self, until: EventTime, show: &Shown<'_>) -> Option<Closed> {
        let episode = self.open.as_mut()?;
        episode.awaited.date(show.statuses, show.skews);
        let (at, outcome) = episode.over_by(until, show.switches)?;
        self.close(at, outcome, show)
    }

    /// Closes the open episode: the group has no members any more.
    pub fn group_gone(&mut self, at: EventTime, show: &Shown<'_>) -> Option<Closed> {
        self.open.as_ref()?;
        if !show.switches.on(StoryRule::Episode(8)) {
            return None;
        }
        self.close(at, EpisodeOutcome::GroupGone, show)
    }

    fn close(
        &mut self,
        at: EventTime,
        outcome: EpisodeOutcome,
        show: &Shown<'_>,
    ) -> Option<Closed> {
        let mut episode = self.open.take()?;
        let phases = episode.finish_round(show, at);
        let answer = Arc::new(episode.answer(Some((at, outcome)), None));
        self.closed.push_back(Arc::clone(&answer));
        if self.closed.len() > EPISODES_SHOWN_MAX {
            self.closed.pop_front();
        }
        Some(Closed { answer, phases })
    }

    /// A status of an item was written.
    pub fn wrote(&mut self, item: WorkItem, statuses: &StatusLog, skews: &Skews) {
        if let Some(episode) = &mut self.open {
            episode.awaited.wrote(item, statuses, skews);
        }
    }

    /// The round whose phases are known now: the newest, once something followed it, whose
    /// join phase ended at this instant.
    pub fn finish_round(&mut self, show: &Shown<'_>, until: EventTime) -> Vec<PhaseSeen> {
        match &mut self.open {
            Some(episode) => episode.finish_round(show, until),
            None => Vec::new(),
        }
    }

    /// The episode that closed last did so while the agent watched: gives it as it is shown.
    pub fn watched(&mut self) -> Option<Arc<EpisodeAnswer>> {
        let newest = self.closed.back_mut()?;
        Arc::make_mut(newest).polled.watched = true;
        Some(Arc::clone(newest))
    }

    /// The episode that is open.
    #[must_use]
    pub fn open(&self) -> Option<&Episode> {
        self.open.as_ref()
    }

    /// Those that closed, oldest first.
    pub fn closed(&self) -> impl Iterator<Item = &Arc<EpisodeAnswer>> {
        self.closed.iter()
    }

    /// The config topic is another one.
    pub fn config_anew(&mut self) {
        if let Some(open) = &mut self.open {
            open.awaited.config_anew();
        }
    }

    /// Forgets what is open: its log is another one.
    pub fn clear(&mut self) {
        self.open = None;
    }
}

/// What closing looks at.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// What workers wrote.
    pub statuses: &'a StatusLog,
    /// Their clocks.
    pub skews: &'a Skews,
    /// Which rules are on.
    pub switches: Switches,
    /// Names of connectors.
    pub names: &'a Names,
}

// === impl Episode ===

impl Episode {
    fn begin(turn: &Turn<'_>, sign: Sign, follows: Option<Arc<str>>, rest: bool) -> Self {
        let generation = turn.generation();
        Self {
            id: Arc::from(format!("{generation}@{}", turn.step.join_ended.0)),
            began: sign.at,
            whole: turn.step.before.is_some() || generation <= 1,
            rest: rest && generation > 1,
            causes: Causes::default(),
            generations: 0,
            first: generation,
            last: generation,
            rounds: VecDeque::new(),
            departures: Vec::new(),
            joined: Vec::new(),
            left_out: LeftOutAnswer::default(),
            lost: LostAnswer::default(),
            cost: Cost::default(),
            stretches: Stretches::default(),
            awaited: Awaited::default(),
            follow_up: false,
            mismatch: false,
            unhanded: false,
            deadline: None,
            recorded: turn.step.recorded,
            follows,
        }
    }

    fn take(&mut self, turn: &Turn<'_>, causes: &Causes, sign: Sign, lost: &LostNow) {
        let missing = turn.step.missing.map_or(0, |missing| missing.count);
        self.stretches.resume(sign, self.rests_from());
        self.generations = self.generations.saturating_add(missing).saturating_add(1);
        if self.rounds.is_empty() {
            let before = i32::try_from(missing).unwrap_or(i32::MAX);
            self.first = turn.generation().saturating_sub(before);
        }
        self.last = turn.generation();
        self.causes.extend(causes);
        self.recorded = turn.step.recorded;
        let now = turn.step.now.as_deref();
        let on = |number| turn.on(StoryRule::Episode(number));
        self.follow_up = on(1) && turn.now().iter().any(|member| !member.revoked.is_empty());
        self.mismatch = on(3) && now.is_some_and(|now| now.error.is_some());
        let delay_ms = now.map_or(0, |now| now.delay_ms);
        self.deadline =
            (delay_ms > 0 && on(2)).then(|| turn.step.recorded.plus_ms(i64::from(delay_ms)));
        self.lost.begin(lost.items.len());
        self.cost.take(turn);
        self.cost.lost(&lost.since);
        self.unhanded = on(9) && delay_ms <= 0 && lost.unhanded;
        self.awaited.take(turn);
        self.rounds.push_back(RoundEntry::new(turn, causes, sign));
        self.bound_rounds();
    }

    /// Whether more is waited for than a deadline.
    fn is_pending(&self) -> bool {
        self.follow_up || self.mismatch || self.unhanded || !self.awaited.is_done()
    }

    /// When the last of what was waited for was done, if it was.
    fn done_at(&self) -> Option<EventTime> {
        (!self.is_pending()).then(|| self.awaited.last().max(self.recorded))
    }

    /// From when on it only waited for the deadline; `None` while more is pending.
    fn rests_from(&self) -> Option<EventTime> {
        self.deadline.and_then(|_| self.done_at())
    }

    /// When and how it was over, if that was by `until`.
    fn over_by(&self, until: EventTime, switches: Switches) -> Option<(EventTime, EpisodeOutcome)> {
        let scheduled = self.recorded.max(self.deadline.unwrap_or(self.recorded));
        let stuck = Some(self.awaited.stuck(scheduled))
            .filter(|at| *at <= until && switches.on(StoryRule::Episode(7)));
        if let Some(at) = self.ready_at() {
            // A pause longer than that within the moves ended it before.
            let stuck = stuck.filter(|stuck| *stuck < at);
            if let Some(stuck) = stuck {
                return Some((stuck, EpisodeOutcome::Unresolved));
            }
            return (at <= until && switches.on(StoryRule::Episode(6)))
                .then_some((at, EpisodeOutcome::Settled));
        }
        stuck.map(|at| (at, EpisodeOutcome::Unresolved))
    }

    /// When the last of what it waited for was done, if nothing is pending.
    #[must_use]
    pub fn ready_at(&self) -> Option<EventTime> {
        self.done_at().filter(|_| self.deadline.is_none())
    }

    /// Whether it only waits for a scheduled delay.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        self.rests_from().is_some()
    }

    /// Why it came about, as far as it is known.
    #[must_use]
    pub fn cause(&self) -> Cause {
        self.causes.cause()
    }
}

/// The instant after which nothing moved for too long, given the instants of all moves in
/// their order.
fn stuck_after(moves: impl Iterator<Item = EventTime>, scheduled: EventTime) -> EventTime {
    let mut last = scheduled;
    for at in moves {
        if at.since_ms(last) > UNRESOLVED_MS {
            break;
        }
        last = last.max(at);
    }
    last.plus_ms(UNRESOLVED_MS)
}
