//! Generations on their way to be counted: each waits for its cause and its outcome.

use serde::{Deserialize, Serialize};

use crate::answers::{Cause, Outcome};
use crate::engine::State;
use crate::facts::time::EventTime;
use crate::limits::ROUNDS_OPEN_MAX;
use crate::story::causes::Causes;
use crate::story::steps::{Missing, Step};

/// A generation on its way to be counted: by its cause and its outcome.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Verdict {
    incarnation: u32,
    generation: i32,
    recorded: EventTime,
    pub(super) outcome: Option<Outcome>,
    /// Whether its record was written while the agent watched.
    live: bool,
    pub(super) cause: Option<Cause>,
    /// All causes, while the first of them may change.
    pub(super) causes: Option<Causes>,
    missing: Option<Missing>,
    /// Departures that its cause waits for.
    pub(super) waits_for: Vec<u64>,
}

// === impl State ===

impl State {
    /// A record was read: it waits for its step to be judged.
    pub(in crate::engine) fn begin_step(&mut self, step: Step) {
        self.story.patterns.begin(&step);
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
    pub(in crate::engine) fn note_outcome(
        &mut self,
        incarnation: u32,
        generation: i32,
        outcome: Outcome,
    ) {
        let verdicts = self.story.verdicts.iter_mut().rev();
        let mut of_it = verdicts.filter(|verdict| {
            verdict.incarnation == incarnation && verdict.generation == generation
        });
        if let Some(verdict) = of_it.find(|verdict| verdict.outcome.is_none()) {
            verdict.outcome = Some(outcome);
            let recorded = verdict.recorded;
            self.story.episodes.settled(generation, recorded, outcome);
            let patterns = &mut self.story.patterns;
            patterns.settled(incarnation, generation, recorded, outcome);
        }
    }

    pub(super) fn give_causes(&mut self, step: &Step, causes: Causes) {
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
    pub(super) fn count_verdicts(&mut self) {
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
}
