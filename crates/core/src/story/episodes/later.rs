//! What becomes known later is shown where it belongs, also in an episode that is over.

use std::sync::Arc;

use super::Episodes;
use crate::answers::{DepartureAnswer, EpisodeRound, Outcome};
use crate::facts::time::EventTime;
use crate::story::departures::Departure;
use crate::story::losses::Ended;

// === impl Episodes ===

impl Episodes {
    /// More is known of a departure: it is shown wherever the departure is. The cause of an
    /// episode that closed stays what it was.
    pub fn settle_departure(&mut self, departure: &Departure) {
        let cause = departure.how.cause();
        if let Some(episode) = &mut self.open {
            episode
                .causes
                .settle(departure.key, cause, &departure.evidence);
            for round in &mut episode.rounds {
                round
                    .causes
                    .settle(departure.key, cause, &departure.evidence);
            }
            let mut departures = episode.departures.iter_mut();
            if let Some(known) = departures.find(|known| known.key == departure.key) {
                *known = departure.clone();
                return;
            }
        }
        let is_it = |shown: &DepartureAnswer| {
            shown.generation == departure.generation
                && shown.gone_by == departure.gone_by
                && shown.worker == departure.worker
        };
        let mut closed = self.closed.iter_mut().rev();
        if let Some(closed) = closed.find(|closed| closed.departures.iter().any(is_it)) {
            let mut departures = Arc::make_mut(closed).departures.iter_mut();
            if let Some(shown) = departures.find(|shown| is_it(shown)) {
                *shown = departure.answer();
            }
        }
    }

    /// Lost work ended: it is shown with the episode in which it was lost, also when that is
    /// over.
    pub fn ended(&mut self, ended: &[Ended]) {
        for one in ended {
            let Some(id) = &one.episode else {
                continue;
            };
            if let Some(open) = self.open.as_mut().filter(|open| open.id == *id) {
                open.lost.end(one.end, one.lasted);
                continue;
            }
            let mut closed = self.closed.iter_mut().rev();
            if let Some(closed) = closed.find(|closed| closed.id == *id) {
                Arc::make_mut(closed).lost.end(one.end, one.lasted);
            }
        }
    }

    /// A round is settled: its outcome is shown wherever the round is.
    pub fn settled(&mut self, generation: i32, recorded: EventTime, outcome: Outcome) {
        if let Some(episode) = &mut self.open {
            let mut rounds = episode.rounds.iter_mut().rev();
            let round =
                rounds.find(|round| round.generation == generation && round.recorded == recorded);
            if let Some(round) = round {
                round.outcome = Some(outcome);
                return;
            }
        }
        for closed in self.closed.iter_mut().rev().take(8) {
            let is_it =
                |round: &EpisodeRound| round.generation == generation && round.recorded == recorded;
            if closed.rounds.iter().any(is_it) {
                let mut rounds = Arc::make_mut(closed).rounds.iter_mut();
                if let Some(round) = rounds.find(|round| is_it(round)) {
                    round.outcome = Some(outcome);
                }
                return;
            }
        }
    }
}
