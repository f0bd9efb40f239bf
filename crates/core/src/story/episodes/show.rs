//! An episode as it is shown.

use super::{Episode, RoundEntry};
use crate::answers::{
    EpisodeAnswer, EpisodeOutcome, EpisodeRound, EpisodeState, PolledBounds, PolledRound,
};
use crate::facts::time::EventTime;

// === impl Episode ===

impl Episode {
    /// All of it: closed at an instant with an outcome, or open at the moment `now`.
    #[must_use]
    pub fn answer(
        &self,
        closed: Option<(EventTime, EpisodeOutcome)>,
        now: Option<EventTime>,
    ) -> EpisodeAnswer {
        let rested = self.rests_from();
        let at = closed.map(|(at, _)| at).or(now).unwrap_or(self.recorded);
        let polled = self.rounds.iter().map(|round| round.polled);
        EpisodeAnswer {
            id: self.id.clone(),
            state: match closed {
                Some(_) => EpisodeState::Closed,
                None if rested.is_some() => EpisodeState::Parked,
                None => EpisodeState::Active,
            },
            began: self.began,
            closed: closed.map(|(at, _)| at),
            whole: self.whole,
            rest: self.rest,
            outcome: closed.map(|(_, outcome)| outcome),
            cause: self.causes.cause(),
            subject: self.causes.first().and_then(|found| found.subject.clone()),
            contributing: self.causes.answers(),
            causes_left_out: self.causes.left_out(),
            generations: self.generations,
            first_generation: self.first,
            last_generation: self.last,
            active: self.stretches.active(at, rested),
            parked: self.stretches.parked(at, rested),
            rounds: self.rounds.iter().map(RoundEntry::answer).collect(),
            departures: self
                .departures
                .iter()
                .map(|departed| departed.answer())
                .collect(),
            joined: self.joined.clone(),
            left_out: self.left_out,
            lost: self.lost.clone(),
            cost: self.cost.answer(at),
            follows: self.follows.clone(),
            polled: PolledBounds {
                rounds: polled.filter(PolledRound::says_something).collect(),
                workers: self
                    .rounds
                    .iter()
                    .flat_map(|round| round.polled_workers.iter().cloned())
                    .collect(),
                active: self.stretches.polled(at, rested),
                watched: false,
            },
        }
    }

    /// Since when it is active, unless it only waits for a delay.
    #[must_use]
    pub fn active_since(&self) -> Option<EventTime> {
        self.stretches.since().filter(|_| !self.is_parked())
    }
}

// === impl RoundEntry ===

impl RoundEntry {
    fn answer(&self) -> EpisodeRound {
        EpisodeRound {
            generation: self.generation,
            missing_before: self.missing_before,
            began: self.began,
            join_ended: self.join_ended,
            recorded: self.recorded,
            leader: self.leader.clone(),
            deputy: self.deputy.clone(),
            outcome: self.outcome,
            cause: self.causes.cause(),
            subject: self.causes.first().and_then(|found| found.subject.clone()),
            sync: self.sync,
            stop: self.stop,
            start: self.start,
            workers: self.workers.clone(),
            slowest: self.slowest.clone(),
            delay_ms: self.delay_ms,
        }
    }
}
