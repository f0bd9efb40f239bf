//! Active and parked time of an episode.

use serde_json::Value;

use super::{Compared, FAR, Kind, Range, Told, later, list, span};
use crate::scenario::compare::{FIRST_DATED_MS_MAX, number};
use crate::truth::{TruthGeneration, Work};

impl Compared<'_> {
    pub(super) fn stretches(&mut self, episode: &Value) {
        let places = self.places(episode);
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            return;
        };
        let what = format!(
            "generations {} to {}",
            self.truth.generations[*first].generation, self.truth.generations[*last].generation
        );
        // How long nothing must move is a rule, not an event.
        if episode["outcome"] == "unresolved" {
            return;
        }
        let Some((active, parked)) = self.truly(*first, *last) else {
            return;
        };
        for (kind, told) in [
            (Kind::ActiveByLogs, &episode["active"]),
            (Kind::Active, &episode["polled"]["active"]),
        ] {
            self.add(kind, &what, Told::of(told), active);
            if let Some(cell) = self.cells.last_mut().filter(|_| *first == 0) {
                cell.slack_ms = FIRST_DATED_MS_MAX;
            }
        }
        // Where nothing was parked and nothing is said to be, there is nothing to compare.
        if parked.1 > 0 || episode["parked"]["ms"] != 0 {
            let told = Told::of(&episode["parked"]);
            self.add(Kind::Parked, &what, told, parked);
        }
    }

    /// Where its rounds are in the truth, those without a record included.
    pub(super) fn places(&self, episode: &Value) -> Vec<usize> {
        let mut places = Vec::new();
        for round in list(&episode["rounds"]) {
            let generation = number(&round["generation"]).unwrap_or_default();
            let ended_ms = number(&round["join_ended"]).or_else(|| number(&round["recorded"]));
            let missing = number(&round["missing_before"]).unwrap_or_default();
            if let Some(place) = self.place(generation, ended_ms.unwrap_or_default()) {
                let missing = usize::try_from(missing).unwrap_or_default();
                places.extend(place.saturating_sub(missing)..=place);
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Active and parked time from the first of these rounds to the last start of the last.
    fn truly(&self, first: usize, last: usize) -> Option<(Range, Range)> {
        let rounds = &self.truth.generations[first..=last];
        let (mut active, mut parked) = ((0, 0), (0, 0));
        let mut began = self.begins(first)?;
        let mut done: Range = (0, 0);
        for (index, round) in rounds.iter().enumerate() {
            let at = round.assignment_ms.unwrap_or(round.join_end_ms);
            done = later(done, (at, at));
            // A round that nobody took starts nothing.
            match self.last_start(round) {
                Some(starts) => done = later(done, starts.unwrap_or((at, at))),
                None => done = (done.0, FAR),
            }
            let Some(next) = rounds.get(index + 1) else {
                break;
            };
            if !only_delay(round) || self.awaits_tasks(first + index) {
                done.1 = done.1.min(next.join_end_ms);
                continue;
            }
            let next_begins = self.begins(first + index + 1)?;
            // Workers count the delay from when they got the assignment, and nothing is logged
            // between its end and the join: what comes after the record's own end of it may be
            // either.
            let delays = round.members.iter().filter_map(|member| member.delay_ms);
            let due_ms = at + delays.max().unwrap_or(0);
            let next_begins = (next_begins.0.min(due_ms), next_begins.1);
            let rest = span(done, next_begins);
            if rest.1 == 0 {
                continue;
            }
            // It may have started until the next round began.
            let done_by = (done.0, done.1.min(next_begins.1));
            active = sum(active, span(began, done_by));
            parked = sum(parked, rest);
            began = next_begins;
        }
        active = sum(active, span(began, done));
        Some((active, parked))
    }

    /// Whether a connector has no tasks up to this round, and gets some in a later one.
    fn awaits_tasks(&self, place: usize) -> bool {
        let (so_far, later) = self.truth.generations.split_at(place + 1);
        let owned = |rounds: &'_ [TruthGeneration]| -> Vec<Work> {
            let members = rounds.iter().flat_map(|round| &round.members);
            members.filter_map(|member| member.owned.clone()).collect()
        };
        let (so_far, later) = (owned(so_far), owned(later));
        let has_tasks = |work: &[Work], connector: &str| {
            let mut tasks = work.iter().flat_map(|work| &work.tasks);
            tasks.any(|task| {
                let of = task.rsplit_once('-');
                of.is_some_and(|(of, _)| of == connector)
            })
        };
        let mut connectors = so_far.iter().flat_map(|work| &work.connectors);
        connectors.any(|connector| !has_tasks(&so_far, connector) && has_tasks(&later, connector))
    }

    /// When a round began to be unrest: with the broker's first line of it, or with what led
    /// to it, a configuration that was written, or stops of who left.
    fn begins(&self, place: usize) -> Option<Range> {
        let now = self.generation(place)?;
        let prepared_ms = now.prepared_ms.unwrap_or(now.join_end_ms);
        let before = place
            .checked_sub(1)
            .and_then(|place| self.generation(place));
        let Some(before) = before.filter(|before| before.member_count > 0) else {
            return Some((prepared_ms, prepared_ms));
        };
        let sign = self.first_sign(before, now);
        Some((sign.0.min(prepared_ms), prepared_ms))
    }
}

/// Whether only the scheduled delay is left to wait for.
fn only_delay(round: &TruthGeneration) -> bool {
    let delayed = round.members.iter().any(|m| m.delay_ms > Some(0));
    let clean = |work: &Option<Work>| work.as_ref().is_none_or(Work::is_empty);
    delayed
        && round
            .members
            .iter()
            .all(|m| clean(&m.revoked) && m.error.unwrap_or(0) == 0)
}

fn sum(a: Range, b: Range) -> Range {
    (a.0.saturating_add(b.0), a.1.saturating_add(b.1).min(FAR))
}
