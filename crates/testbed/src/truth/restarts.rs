//! What each restart of a rolling upgrade cost, from the truth alone.

use super::TruthLog;
use super::costs::{Costs, Need};
use super::derive::TruthGeneration;
use super::event::{ItemKind, Verb, What};

/// A worker that the script stopped and started, and what happened from its stop to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Restart {
    pub worker: String,
    /// Whether it led the group when it was stopped.
    pub led: bool,
    /// From the signal until its REST interface answered again.
    pub away_ms: i64,
    /// Generations whose join phase ended meanwhile, each with the delay it carries.
    pub generations: Vec<(i64, i64)>,
    /// Connectors and tasks that those gave to another worker than had them last.
    pub moved: usize,
    /// Of these, those that a worker's short absence cost, and those that nothing asked for.
    pub returned: usize,
    pub extra: usize,
    /// How long work waited for a delay.
    pub parked_ms: i64,
    /// The most connectors and tasks that no member owned after one of those generations; of
    /// the one before, where there is none.
    pub unowned_max: usize,
    /// Running tasks that stopped.
    pub stopped: usize,
    /// How long the tasks that stopped meanwhile stood still, together.
    pub still_ms: i64,
}

/// All workers that the script stopped and started again, in that order.
pub fn restarts(truth: &TruthLog) -> Vec<Restart> {
    let costs = truth.costs();
    let stops: Vec<(i64, &str)> = verbs(truth, Verb::Stop)
        .map(|(at_ms, _, worker)| (at_ms, worker))
        .collect();
    let mut all = Vec::new();
    for (index, (at_ms, worker)) in stops.iter().enumerate() {
        let started =
            verbs(truth, Verb::Start).find(|(from_ms, _, name)| name == worker && from_ms > at_ms);
        let Some((_, back_ms, _)) = started else {
            continue;
        };
        let until_ms = stops
            .get(index + 1)
            .map_or(i64::MAX, |(next_ms, _)| *next_ms);
        let window = Window {
            truth,
            costs: &costs,
            from_ms: *at_ms,
            until_ms,
        };
        all.push(window.restart(worker, back_ms - at_ms));
    }
    all
}

/// When a verb began, when it had taken effect, and on whom.
fn verbs(truth: &TruthLog, wanted: Verb) -> impl Iterator<Item = (i64, i64, &str)> {
    truth
        .events
        .iter()
        .filter_map(move |event| match event.what {
            What::Script { verb, ended_ms } if verb == wanted => {
                Some((event.at_ms, ended_ms, event.process.as_str()))
            }
            _ => None,
        })
}

struct Window<'a> {
    truth: &'a TruthLog,
    costs: &'a Costs,
    from_ms: i64,
    until_ms: i64,
}

impl Window<'_> {
    fn holds(&self, at_ms: i64) -> bool {
        (self.from_ms..self.until_ms).contains(&at_ms)
    }

    fn restart(&self, worker: &str, away_ms: i64) -> Restart {
        let all = &self.truth.generations;
        let before = all.iter().rfind(|g| g.join_end_ms < self.from_ms);
        let within = || all.iter().filter(|g| self.holds(g.join_end_ms));
        let leads = before.and_then(|before| {
            let mut members = before.members.iter();
            members.find(|member| Some(&member.member_id) == before.leader.as_ref())
        });
        let of_these = |number: i64| within().any(|g| g.generation == number);
        let moves = self.costs.moves.iter();
        let moves = moves.filter(|m| of_these(m.generation));
        let of_need = |need| moves.clone().filter(|m| m.need == Some(need)).count();
        let stopped = self
            .costs
            .interruptions
            .iter()
            .filter(|stop| stop.item.kind == ItemKind::Task && self.holds(stop.at_ms));
        let still = self.costs.downtime.iter();
        let still = still.filter(|stretch| self.holds(stretch.from_ms));
        let unowned = within().map(unowned).max();
        Restart {
            worker: worker.to_owned(),
            led: leads.is_some_and(|leads| leads.worker.as_deref() == Some(worker)),
            away_ms,
            generations: within().map(|g| (g.generation, delay_ms(g))).collect(),
            moved: moves.clone().count(),
            returned: of_need(Need::Returned),
            extra: of_need(Need::Extra),
            parked_ms: self.parked_ms(),
            unowned_max: unowned.or(before.map(self::unowned)).unwrap_or(0),
            stopped: stopped.count(),
            still_ms: still
                .filter_map(|stretch| Some(stretch.to_ms? - stretch.from_ms))
                .sum(),
        }
    }

    fn parked_ms(&self) -> i64 {
        let all = &self.truth.generations;
        let assigned = |g: &TruthGeneration| g.assignment_ms.unwrap_or(g.join_end_ms);
        let mut parked_ms = 0;
        for (index, generation) in all.iter().enumerate() {
            if delay_ms(generation) == 0 || unowned(generation) == 0 {
                continue;
            }
            let to_ms = all.get(index + 1).map_or(i64::MAX, assigned);
            let (from_ms, to_ms) = (
                assigned(generation).max(self.from_ms),
                to_ms.min(self.until_ms),
            );
            if to_ms != i64::MAX {
                parked_ms += (to_ms - from_ms).max(0);
            }
        }
        parked_ms
    }
}

fn unowned(generation: &TruthGeneration) -> usize {
    generation.unassigned().map_or(0, |work| work.len())
}

fn delay_ms(generation: &TruthGeneration) -> i64 {
    let delays = generation
        .members
        .iter()
        .filter_map(|member| member.delay_ms);
    delays.max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
