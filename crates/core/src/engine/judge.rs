//! Judges the steps from record to record, in the order of the log, each once its barrier is
//! passed: who left, what was lost, why, and which episode it belongs to.

mod clocks;
mod timers;
mod verdicts;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::answers::{Cause, Outcome};
use crate::engine::{Change, State};
use crate::facts::ids::WorkItem;
use crate::facts::input::Topic;
use crate::facts::time::EventTime;
use crate::limits::ARRIVAL_SLACK_MS;
use crate::story::causes;
use crate::story::config_log::ConfigLog;
use crate::story::departures::{Departure, Departures};
use crate::story::disagreements::Disagreements;
use crate::story::downtime::Downtimes;
use crate::story::episodes::{Episodes, LostNow, Members, PhaseSeen, Shown};
use crate::story::habits::Habits;
use crate::story::losses::{Losses, Took};
use crate::story::needs::Needs;
use crate::story::pattern::Patterns;
use crate::story::rounds::Due;
use crate::story::sign;
use crate::story::skew::Skews;
use crate::story::status_log::StatusLog;
use crate::story::steps::{Step, Steps, Turn};
use crate::story::switches::Switches;
use verdicts::Verdict;

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
    pub(super) downtimes: Downtimes,
    pub(super) needs: Needs,
    pub(super) disagreements: Disagreements,
    pub(super) patterns: Patterns,
    pub(super) habits: Habits,
    /// What members took, until the step of that record is judged.
    pub(super) took: VecDeque<Took>,
    /// Generations that are not counted yet, oldest first.
    verdicts: VecDeque<Verdict>,
    #[serde(skip)]
    pub(super) switches: Switches,
}

// === impl State ===

impl State {
    /// A member is proven to have taken what it was told.
    pub(super) fn note_took(&mut self, took: Took) {
        if took.live {
            self.count_applied(&took.member);
        }
        self.story.took.push_back(took);
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
        self.story.downtimes.clear();
        self.story.needs.clear();
        self.story.disagreements.clear();
        self.story.patterns.clear();
        self.story.habits.clear();
    }

    /// Judges what can be judged, and lets timers run.
    pub(super) fn judge_steps(&mut self) {
        let mut judged = false;
        loop {
            let progress = &self.progress;
            let config_end = self.configured.next_offset();
            let passed = |since| progress.passed(since);
            let Story {
                steps, statuses, ..
            } = &mut self.story;
            let Some(step) = steps.take(passed, statuses, config_end) else {
                break;
            };
            self.learn_starts(&step);
            let mut due = Due::default();
            due.generation(step.before.as_deref().map_or(0, |before| before.generation));
            self.settle_rounds(&due);
            self.note_life(&step);
            self.judge(&step);
            if self.story.steps.is_empty() {
                // A fresh worker's first start dates its clock, and what it costs by that.
                self.learn_newest_starts();
            }
            self.note_due();
            judged = true;
        }
        if self.story.steps.is_empty() {
            self.note_overdue();
        }
        let story = &mut self.story;
        let progress = &self.progress;
        let costs = story
            .downtimes
            .settle(|since| progress.passed(since), story.switches);
        self.count_costs(&costs);
        if judged && self.story.steps.is_empty() {
            // What its statuses prove is asked with the clocks that are known now, and before
            // its episode may be over.
            if let Some(newest) = &self.group.newest {
                let mut due = Due::default();
                due.generation(newest.generation);
                self.settle_rounds(&due);
            }
        }
        if self.story.steps.is_empty() {
            self.take_took(i64::MAX);
            if let Some(until) = self.all_read_until() {
                self.run_timers(until);
            }
            self.weigh_newest();
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
        let polled = self.polled_start(step);
        let statuses_known = !self.progress.of(Topic::Status).is_beyond_reach();
        let config_known = !self.progress.of(Topic::Config).is_beyond_reach();
        // Without this record all that was over before it was written is known to be over.
        let before = step.recorded.plus_ms(-1);
        self.run_timers(before);
        self.weigh_before(step, outcome);
        // Where nothing is unread the timers ran before this record was there: what it tells of
        // clocks is not known to them.
        self.learn_stops(step);
        let newest = self.generation();
        let Self {
            story,
            configured,
            names,
            statuses,
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
        let sign = sign::of(&turn, polled);
        let dropped: Vec<WorkItem> = turn.dropped_work().collect();
        let moves = story.departures.judge(&turn);
        let ended = story.losses.ended(&turn);
        let lost = story.losses.judge(&turn);
        let costs = story.downtimes.judge(&turn);
        let moved = story.needs.judge(&turn, &moves, &story.departures);
        story.disagreements.judge(&turn, statuses, newest);
        let causes = causes::causes(&turn, &moves, &story.departures);
        story.patterns.judge(&turn, &causes);
        story.habits.judge(&turn, &moves, &story.departures);
        let show = Shown {
            statuses: &story.statuses,
            skews: &story.skews,
            switches: story.switches,
            names,
        };
        let phases = story.episodes.finish_round(&show, step.join_ended);
        let opens = story.episodes.open().is_none();
        let left = moves
            .left
            .iter()
            .filter_map(|key| story.departures.get(*key));
        let left: Vec<Departure> = left.cloned().collect();
        let is_round = step.now.as_deref().is_some_and(|now| now.generation > 0);
        if is_round {
            let since = |item: &WorkItem| {
                let (since, exact) = story.losses.since(*item)?;
                Some((*item, since, exact))
            };
            let lost = LostNow {
                since: lost.iter().filter_map(since).collect(),
                items: lost,
                unhanded: story.losses.any_unhanded(&turn),
            };
            let members = Members {
                left,
                came: moves.joined(&turn, &story.departures),
            };
            let episode = story.episodes.judge(&turn, &causes, members, sign, &lost);
            story.losses.belong(&lost.items, &episode);
        }
        story.episodes.ended(&ended);
        self.count_phases(&phases);
        self.count_ended(&ended, step.live);
        self.count_dropped(&dropped, step.live);
        self.count_given_up(step, &applied);
        self.count_costs(&costs);
        self.count_moves(&moved);
        for departed in &moves.changed {
            self.story.episodes.settle_departure(departed);
            self.story.patterns.departed(departed);
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

    fn proof_of(&self, step: &Step) -> (Option<Outcome>, Vec<Option<bool>>) {
        let offset = step.before.as_deref().map(|before| before.offset);
        let evidence = self.evidence();
        offset
            .and_then(|offset| self.rounds.proof(offset, evidence))
            .unwrap_or_default()
    }

    /// Between which instants this agent's polls saw the step's join phase begin.
    fn polled_start(&self, step: &Step) -> Option<(EventTime, EventTime)> {
        // Polls that saw a join phase begin may have seen that of a number without a record.
        // Nor does another coordinator know of one that began before it was there.
        if step.missing.is_some() || step.coordinator_moved {
            return None;
        }
        let delay_ms = self.clock.delay_live_ms_min?;
        let before = step.before.as_deref()?.recorded;
        // The smallest delay seen is part another clock, part the way here, which makes an answer
        // seem older than it is: no record says by how much, so the least that is likely.
        self.polled
            .rebalances()
            .filter(|seen| {
                let (asked, by) = (seen.asked.as_event(delay_ms), seen.by.as_event(delay_ms));
                let over = seen.over_by.map(|over| over.as_event(delay_ms));
                let goes_on = over.is_none_or(|over| over >= step.join_ended);
                // What was asked before the last record may have been answered with its join
                // phase.
                asked >= before && by <= step.join_ended && goes_on
            })
            .map(|seen| {
                let early = seen.not_before.as_event(delay_ms).max(before);
                let late = seen.by.as_event(delay_ms).plus_ms(ARRIVAL_SLACK_MS);
                (early, late.min(step.join_ended))
            })
            .last()
    }

    /// What members took of records up to this offset, whose steps are judged.
    fn take_took(&mut self, up_to: i64) {
        // Rounds are proven in any order.
        let mut due: Vec<Took> = Vec::new();
        self.story.took.retain(|took| {
            let is_due = took.offset <= up_to;
            if is_due {
                due.push(took.clone());
            }
            !is_due
        });
        due.sort_by_key(|took| took.offset);
        for took in due {
            let switches = self.story.switches;
            let ended = self
                .story
                .losses
                .took(&took, &self.story.departures, |rule| switches.on(rule));
            let moved = self.story.needs.took(&took, switches);
            self.story.episodes.ended(&ended);
            self.count_ended(&ended, took.live);
            self.count_moves(&moved);
        }
    }

    /// Whether an instant of the coordinator's clock lies in the time the agent watches.
    fn is_watched(&self, at: Option<EventTime>) -> bool {
        at.is_some_and(|at| self.clock.is_watched(at))
    }

    fn departure_settled(&mut self, departed: &Departure) {
        self.story.episodes.settle_departure(departed);
        self.story.patterns.departed(departed);
        self.story.disagreements.departed(&departed.worker);
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

    fn count_phases(&mut self, phases: &[PhaseSeen]) {
        for seen in phases {
            if !seen.live || seen.ended.is_some_and(|at| self.clock.was_absent(at)) {
                continue;
            }
            self.count_phase(seen.phase, seen.lasted);
        }
    }
}
