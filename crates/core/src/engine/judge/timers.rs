//! What ends or settles without a record: timers, at their event time; and what is asked for so
//! that they can fire.

use std::sync::Arc;

use super::Story;
use crate::answers::{ClosingAnswer, DisagreementAnswer, EpisodeOutcome};
use crate::engine::publish::can_compare;
use crate::engine::{Change, State, disagreements};
use crate::facts::input::Topic;
use crate::facts::time::{ArrivalTime, EventTime};
use crate::story::episodes::{Closed, Episodes, Shown};
use crate::story::switches::StoryRule;

// === impl State ===

impl State {
    /// The instant up to which nothing is unread of any topic that can be read, on the
    /// coordinator's clock: a status on its way may say that what a timer waits for was done.
    pub(in crate::engine) fn all_read_until(&self) -> Option<EventTime> {
        let mut until = self.quiet_until()?;
        for topic in [Topic::Config, Topic::Status] {
            let progress = self.progress.of(topic);
            if !progress.is_beyond_reach() {
                until = until.min(progress.confirmed()?.as_event(self.clock.delay_ms_min?));
            }
        }
        Some(until)
    }

    /// Timers fire at their event time, up to an instant at which no older record is unread.
    pub(super) fn run_timers(&mut self, until: EventTime) {
        // What is over before the episode is known when it closes, however late that is read.
        let over = self.of_episodes(|episodes, show| episodes.over_by(until, show));
        if let Some(over) = over {
            self.expire(over);
        }
        self.close_episode(|episodes, show| episodes.close_by(until, show));
        self.expire(until);
        self.weigh_disagreements(until);
    }

    /// What was waited for long enough by an instant is settled, or given up.
    fn expire(&mut self, until: EventTime) {
        let on = self.story.switches.on(StoryRule::Loss(6));
        if let Some(gone) = self.story.losses.expire(until, on) {
            self.story.episodes.ended(&gone.ended);
            self.count_ended(&gone.ended, self.is_watched(Some(gone.deleted)));
        }
        let moved = self.story.needs.expire(until, self.story.switches);
        self.count_moves(&moved);
        let losses = &self.story.losses;
        let settled = self
            .story
            .departures
            .expire(until, |member| losses.is_lost_of(member));
        for departed in settled {
            self.departure_settled(&departed);
        }
    }

    pub(super) fn close_episode(
        &mut self,
        close: impl FnOnce(&mut Episodes, &Shown<'_>) -> Option<Closed>,
    ) {
        if self.story.episodes.open().is_none() {
            return;
        }
        let Some(mut closed) = self.of_episodes(close) else {
            return;
        };
        let story = &mut self.story;
        // Nothing more of it is to come.
        if let (Some(EpisodeOutcome::Settled), Some(at)) =
            (closed.answer.outcome, closed.answer.closed)
        {
            let habits = &mut story.habits;
            habits.measure(&story.statuses, &story.skews, story.switches, at);
        }
        // How a member left is not known better than this when its episode is over.
        for verdict in &mut story.verdicts {
            if verdict.cause.is_some() {
                verdict.waits_for.clear();
            }
        }
        self.count_phases(&closed.phases);
        if self.is_watched(closed.answer.closed) {
            self.count_episode(&closed.answer);
            closed.answer = self.story.episodes.watched().unwrap_or(closed.answer);
        }
        let at = closed.answer.closed.unwrap_or(closed.answer.began);
        let beside = self.beside(at);
        self.changes
            .push(Change::Closed(closed.answer, Box::new(beside)));
    }

    fn of_episodes<T>(&mut self, ask: impl FnOnce(&mut Episodes, &Shown<'_>) -> T) -> T {
        let story = &mut self.story;
        let show = Shown {
            statuses: &story.statuses,
            skews: &story.skews,
            switches: story.switches,
            names: &self.names,
        };
        ask(&mut story.episodes, &show)
    }

    /// What is known when an episode closes, at that instant. Rounds and departures that were read
    /// since, up to the input that proves that it is over, are not part of it: others had read
    /// less, or more. Statuses are weighed as they are: one that was read since may end a
    /// disagreement, or show it.
    fn beside(&mut self, at: EventTime) -> ClosingAnswer {
        self.weigh_disagreements(at);
        let pattern = self
            .story
            .patterns
            .at(at, &self.names, self.story.switches)
            .pattern;
        let mut disagreements = Vec::new();
        if can_compare(self) {
            let told = disagreements::answer(self);
            disagreements.extend(told.now);
            disagreements.extend(told.over);
            // Whether one is over by now is another matter.
            let place = |each: &DisagreementAnswer| {
                let worker = Arc::clone(&each.worker);
                (each.since, each.kind, each.item.clone(), worker)
            };
            disagreements.sort_by_cached_key(place);
        }
        ClosingAnswer {
            pattern,
            disagreements,
        }
    }

    /// Whether the agent should ask where the topics end: a step, or the end of an episode,
    /// waits for it.
    pub(in crate::engine) fn story_waits(&self) -> bool {
        let waits = |since| !self.progress.passed(since);
        let Story {
            steps, statuses, ..
        } = &self.story;
        // Before that instant no answer helps.
        let has_come = |since: &ArrivalTime| self.clock.arrived > Some(*since);
        steps.waits_since().is_some_and(waits)
            || steps
                .oldest_since(statuses)
                .filter(has_come)
                .is_some_and(waits)
            || self.story.downtimes.waits_since().is_some_and(waits)
            || self.story.episodes.open().is_some_and(|open| {
                let over = open.ready_at();
                over.is_some_and(|over| {
                    self.all_read_until() < Some(over) && Some(over) <= self.clock.now()
                })
            })
    }
}
