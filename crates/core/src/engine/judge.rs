//! Judges the steps from record to record, in the order of the log, each once its barrier is
//! passed: who left, what was lost, why, and which episode it belongs to.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{Cause, Outcome};
use crate::engine::{Change, State};
use crate::facts::input::Topic;
use crate::facts::observation::{Member, RunState, StatusFact};
use crate::facts::sets;
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::ROUNDS_OPEN_MAX;
use crate::story::causes::{self, Causes};
use crate::story::config_log::ConfigLog;
use crate::story::departures::{Departure, Departures};
use crate::story::episodes::{Closed, Episodes, PhaseSeen, Shown};
use crate::story::losses::{Losses, Took};
use crate::story::sign;
use crate::story::skew::Skews;
use crate::story::status_log::StatusLog;
use crate::story::steps::{Missing, Step, Steps, Turn};
use crate::story::switches::{StoryRule, Switches};

/// What happened, and what is needed to say why.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Story {
    pub(super) steps: Steps,
    pub(super) config: ConfigLog,
    pub(super) statuses: StatusLog,
    pub(super) skews: Skews,
    pub(super) departures: Departures,
    pub(super) losses: Losses,
    pub(super) episodes: Episodes,
    /// What members took, until the step of that record is judged.
    took: VecDeque<Took>,
    /// Generations that are not counted yet, oldest first.
    verdicts: VecDeque<Verdict>,
    #[serde(skip)]
    pub(super) switches: Switches,
}

/// A generation on its way to be counted: by its cause and its outcome.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Verdict {
    incarnation: u32,
    generation: i32,
    recorded: EventTime,
    outcome: Option<Outcome>,
    /// Whether its record was written while the agent watched.
    live: bool,
    cause: Option<Cause>,
    /// All causes, while the first of them may change.
    causes: Option<Causes>,
    missing: Option<Missing>,
    /// Departures that its cause waits for.
    waits_for: Vec<u64>,
}

// === impl State ===

impl State {
    /// A record was read: it waits for its step to be judged.
    pub(super) fn begin_step(&mut self, step: Step) {
        if let Some(now) = step.now.as_deref().filter(|now| now.generation > 0) {
            self.story.verdicts.push_back(Verdict {
                incarnation: step.incarnation,
                generation: now.generation,
                recorded: step.recorded,
                outcome: None,
                live: step.live,
                cause: None,
                causes: None,
                missing: step.missing,
                waits_for: Vec::new(),
            });
        }
        self.story.steps.push(step);
    }

    /// A round is settled.
    pub(super) fn note_outcome(&mut self, incarnation: u32, generation: i32, outcome: Outcome) {
        let verdicts = self.story.verdicts.iter_mut().rev();
        let mut of_it = verdicts.filter(|verdict| {
            verdict.incarnation == incarnation && verdict.generation == generation
        });
        if let Some(verdict) = of_it.find(|verdict| verdict.outcome.is_none()) {
            verdict.outcome = Some(outcome);
            let recorded = verdict.recorded;
            self.story.episodes.settled(generation, recorded, outcome);
        }
    }

    /// A member is proven to have taken what it was told.
    pub(super) fn note_took(&mut self, took: Took) {
        if took.live {
            self.count_applied(&took.member);
        }
        self.story.took.push_back(took);
    }

    /// A status was read.
    pub(super) fn note_status(
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

    /// The group's log is another one: what was not judged never will be.
    pub(super) fn forget_story(&mut self) {
        for verdict in &mut self.story.verdicts {
            verdict.waits_for.clear();
            verdict.outcome = verdict.outcome.or(Some(Outcome::Unknown));
            verdict.cause.get_or_insert(Cause::Unknown);
        }
        self.count_verdicts();
        self.story.steps.clear();
        self.story.took.clear();
        self.story.departures.clear();
        self.story.losses.clear();
        self.story.episodes.clear();
    }

    /// Judges what can be judged, and lets timers run.
    pub(super) fn judge_steps(&mut self) {
        let progress = &self.progress;
        let mut due = Vec::new();
        while let Some(step) = self.story.steps.take(|since| progress.passed(since)) {
            due.push(step);
        }
        for step in &due {
            self.judge(step);
        }
        if self.story.steps.is_empty() {
            self.take_took(i64::MAX);
            if let Some(until) = self.quiet_until() {
                self.run_timers(until, until);
            }
        }
        self.count_verdicts();
    }

    fn judge(&mut self, step: &Step) {
        self.take_took(
            step.before
                .as_deref()
                .map_or(i64::MIN, |before| before.offset),
        );
        let (outcome, applied) = self.proof_of(step);
        self.learn_clocks(step);
        let polled = self.polled_start(step);
        let statuses_known = !self.progress.of(Topic::Status).is_beyond_reach();
        let config_known = !self.progress.of(Topic::Config).is_beyond_reach();
        let sign = sign::of(
            &self.turn(step, outcome, &applied, statuses_known, config_known),
            polled,
        );
        self.run_timers(sign.at, step.join_ended);
        let Self {
            story,
            configured,
            names,
            ..
        } = self;
        let turn = Turn {
            step,
            applied: &applied,
            outcome,
            statuses: &story.statuses,
            statuses_known,
            config: &story.config,
            config_known,
            configured,
            skews: &story.skews,
            names,
            switches: story.switches,
        };
        let moves = story.departures.judge(&turn);
        let ended = story.losses.ended(&turn);
        let lost = story.losses.judge(&turn);
        let causes = causes::causes(&turn, &moves, &story.departures);
        let show = Shown {
            statuses: &story.statuses,
            skews: &story.skews,
            switches: story.switches,
        };
        let phases = story.episodes.finish_round(&show);
        let opens = story.episodes.open().is_none();
        let left = moves
            .left
            .iter()
            .filter_map(|key| story.departures.get(*key));
        let left: Vec<Departure> = left.cloned().collect();
        let is_round = step.now.as_deref().is_some_and(|now| now.generation > 0);
        if is_round {
            story.episodes.judge(&turn, &causes, left, sign, lost.len());
        }
        story.episodes.ended(&ended);
        self.count_phases(&phases);
        self.count_ended(&ended, step.live);
        for departed in &moves.changed {
            self.story.episodes.settle_departure(departed);
        }
        for departed in &moves.settled {
            self.departure_settled(departed);
        }
        if is_round {
            self.give_causes(step, causes);
            if opens && let Some(open) = self.story.episodes.open() {
                let answer = open.answer(None, Some(step.recorded));
                self.changes.push(Change::Opened(Box::new(answer)));
            }
        }
        let emptied = step.now.as_deref().is_none_or(|now| now.members.is_empty());
        if emptied {
            self.close_episode(|episodes, show| episodes.group_gone(step.recorded, show));
        }
    }

    fn turn<'a>(
        &'a self,
        step: &'a Step,
        outcome: Option<Outcome>,
        applied: &'a [Option<bool>],
        statuses_known: bool,
        config_known: bool,
    ) -> Turn<'a> {
        Turn {
            step,
            applied,
            outcome,
            statuses: &self.story.statuses,
            statuses_known,
            config: &self.story.config,
            config_known,
            configured: &self.configured,
            skews: &self.story.skews,
            names: &self.names,
            switches: self.story.switches,
        }
    }

    fn proof_of(&self, step: &Step) -> (Option<Outcome>, Vec<Option<bool>>) {
        let offset = step.before.as_deref().map(|before| before.offset);
        let evidence = self.evidence();
        offset
            .and_then(|offset| self.rounds.proof(offset, evidence))
            .unwrap_or_default()
    }

    /// Between which instants this agent's polls saw the step's join phase begin.
    fn polled_start(&self, step: &Step) -> Option<(EventTime, EventTime)> {
        let delay_ms = self.clock.delay_live_ms_min?;
        let before = step.before.as_deref()?.recorded;
        self.polled
            .rebalances()
            .map(|(early, late)| (early.as_event(delay_ms), late.as_event(delay_ms)))
            .filter(|(_, late)| *late >= before && *late <= step.join_ended)
            .map(|(early, late)| (early.max(before), late))
            .last()
    }

    /// What members took of records up to this offset, whose steps are judged.
    fn take_took(&mut self, up_to: i64) {
        while let Some(took) = self.story.took.front() {
            if took.offset > up_to {
                break;
            }
            let Some(took) = self.story.took.pop_front() else {
                break;
            };
            let switches = self.story.switches;
            let ended = self
                .story
                .losses
                .took(&took, &self.story.departures, |rule| switches.on(rule));
            self.story.episodes.ended(&ended);
            self.count_ended(&ended, took.live);
        }
    }

    /// Timers fire at their event time: the episode's up to the first sign of what follows,
    /// those of departures up to the end of its join phase.
    fn run_timers(&mut self, sign: EventTime, joined: EventTime) {
        self.close_episode(|episodes, show| episodes.close_by(sign, show));
        let on = self.story.switches.on(StoryRule::Loss(6));
        let ended = self.story.losses.expire(joined, on);
        if !ended.is_empty() {
            self.story.episodes.ended(&ended);
            let deleted = self.group.deleted;
            self.count_ended(&ended, self.is_watched(deleted));
        }
        let losses = &self.story.losses;
        let settled = self
            .story
            .departures
            .expire(joined, |member| losses.is_lost_of(member));
        for departed in settled {
            self.departure_settled(&departed);
        }
    }

    fn close_episode(&mut self, close: impl FnOnce(&mut Episodes, &Shown<'_>) -> Option<Closed>) {
        if self.story.episodes.open().is_none() {
            return;
        }
        let story = &mut self.story;
        let show = Shown {
            statuses: &story.statuses,
            skews: &story.skews,
            switches: story.switches,
        };
        let Some(closed) = close(&mut story.episodes, &show) else {
            return;
        };
        // How a member left is not known better than this when its episode is over.
        for verdict in &mut story.verdicts {
            if verdict.cause.is_some() {
                verdict.waits_for.clear();
            }
        }
        self.count_phases(&closed.phases);
        if self.is_watched(closed.answer.closed) {
            self.count_episode(&closed.answer);
        }
        self.changes.push(Change::Closed(closed.answer));
    }

    /// Whether an instant of the coordinator's clock lies in the time the agent watches.
    fn is_watched(&self, at: Option<EventTime>) -> bool {
        let delay_ms = self.clock.delay_live_ms_min.unwrap_or(0);
        let since = self.clock.watched_since;
        let since = since.map(|since| since.plus_ms(-delay_ms));
        self.group.newest_live || at > since
    }

    fn departure_settled(&mut self, departed: &Departure) {
        self.story.episodes.settle_departure(departed);
        let cause = departed.how.cause();
        for verdict in &mut self.story.verdicts {
            if let Some(causes) = &mut verdict.causes {
                causes.settle(departed.key, cause, &departed.evidence);
                verdict.cause = Some(causes.cause());
            }
            verdict.waits_for.retain(|key| *key != departed.key);
        }
        if departed.live {
            self.count_departure(departed);
        }
    }

    fn give_causes(&mut self, step: &Step, causes: Causes) {
        let open = |key: &u64| {
            let departed = self.story.departures.get(*key);
            departed.is_some_and(|departed| !departed.settled)
        };
        let departures = causes.iter().filter_map(|found| found.departure);
        let waits_for: Vec<u64> = departures.filter(open).collect();
        let mut verdicts = self.story.verdicts.iter_mut();
        if let Some(verdict) = verdicts.find(|verdict| verdict.cause.is_none()) {
            debug_assert_eq!(verdict.recorded, step.recorded);
            verdict.cause = Some(causes.cause());
            verdict.causes = (!waits_for.is_empty()).then_some(causes);
            verdict.waits_for = waits_for;
            if let Some(outcome) = verdict.outcome {
                let (generation, recorded) = (verdict.generation, verdict.recorded);
                self.story.episodes.settled(generation, recorded, outcome);
            }
        }
    }

    /// Counts what is settled: a number without a record as soon as its cause is, a round
    /// when its outcome is, too.
    fn count_verdicts(&mut self) {
        let mut verdicts = std::mem::take(&mut self.story.verdicts);
        if verdicts.len() > ROUNDS_OPEN_MAX
            && let Some(oldest) = verdicts.front_mut()
        {
            oldest.waits_for.clear();
            oldest.outcome = oldest.outcome.or(Some(Outcome::Unknown));
        }
        verdicts.retain_mut(|verdict| {
            let Some(cause) = verdict.cause.filter(|_| verdict.waits_for.is_empty()) else {
                return true;
            };
            if let Some(missing) = verdict.missing.take().filter(|missing| missing.counts) {
                self.count_generations(cause, missing.outcome, missing.count);
            }
            let Some(outcome) = verdict.outcome else {
                return true;
            };
            if verdict.live {
                self.count_generations(cause, outcome, 1);
            }
            false
        });
        self.story.verdicts = verdicts;
    }

    /// Pairs of instants whose order is known: what a step's first record told, and what was
    /// written before its second.
    fn learn_clocks(&mut self, step: &Step) {
        let Some(before) = step.before.as_deref() else {
            return;
        };
        let Story {
            statuses, skews, ..
        } = &mut self.story;
        let known = skews.clone();
        let life = step.life_before(&known);
        let now = step.now.as_deref();
        for old in &before.members {
            if before.shares_worker(&old.worker) {
                continue;
            }
            let started = old.assigned.iter();
            let started = started
                .filter_map(|item| statuses.started(*item, &old.worker, before.generation, &life))
                .min();
            if let Some(at) = started {
                skews.started(&old.worker, at, before.recorded);
            }
            let revoked = old.revoked.iter();
            let revoked = revoked
                .filter_map(|item| {
                    statuses.stopped_by(*item, &old.worker, before.generation, &life)
                })
                .max();
            let gone = now.is_none_or(|now| now.member(&old.id).is_none());
            let left = old.told.iter().filter(|_| gone);
            let left = left
                .filter_map(|item| statuses.stopped(*item, &old.worker, before.generation, &life))
                .max();
            if let Some(at) = revoked.max(left) {
                skews.stopped(&old.worker, at, step.join_ended);
            }
        }
    }

    /// Whether the agent should ask where the topics end: a step, or the end of an episode,
    /// waits for it.
    pub(super) fn story_waits(&self) -> bool {
        let waits = |since| !self.progress.passed(since);
        self.story.steps.waits_since().is_some_and(waits)
            || self.story.episodes.open().is_some_and(|open| {
                let over = open.ready_at();
                over.is_some_and(|over| {
                    self.quiet_until() < Some(over) && Some(over) <= self.clock.now()
                })
            })
    }

    fn count_phases(&mut self, phases: &[PhaseSeen]) {
        for seen in phases.iter().filter(|seen| seen.live) {
            self.count_phase(seen.phase, seen.lasted);
        }
    }
}
