//! Patterns: nothing is counted that did not happen, whoever counts the same counts the same,
//! and of what is counted the first rule that applies is told. Who left, and how, is compared
//! with the truth elsewhere (`departures`); here what is told of it is counted again.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::answers::{
    DepartureAnswer, DepartureHow, EpisodeAnswer, Pattern, PatternAnswer,
};
use evenkeel_core::engine::Engine;
use evenkeel_sim::observer::ObserverSpec;
use evenkeel_sim::truth::{ChangeWhat, Outcome, TrueRound};
use evenkeel_sim::world::World;

use crate::drive::Watched;

/// The patterns that one sidecar saw, one after the other.
pub(super) struct Sampled {
    watched: Watched,
    seen: Vec<PatternAnswer>,
}

/// How often the pattern is looked at: every so many inputs.
const EVERY: usize = 5;

// === impl Sampled ===

impl Sampled {
    pub(super) fn of(world: &World, spec: ObserverSpec) -> Self {
        let mut observer = world.observer(spec);
        let mut watched = Watched::of(Engine::new());
        let mut seen: Vec<PatternAnswer> = Vec::new();
        let mut count = 0;
        while let Some(input) = observer.next_input(watched.engine.wants_ends()) {
            watched.take(&input);
            count += 1;
            if count % EVERY == 0 {
                let now = watched.engine.answers().pattern;
                seen.extend(now.filter(|now| seen.last() != Some(now)));
            }
        }
        seen.extend(watched.engine.answers().pattern);
        Self { watched, seen }
    }

    /// The most that was ever counted of something.
    fn most(&self, pattern: Pattern, what: &str) -> u64 {
        let numbers = self.seen.iter().flat_map(|seen| &seen.numbers);
        let of_it = numbers.filter(|number| number.pattern == pattern && number.what == what);
        of_it.map(|number| number.counted).max().unwrap_or(0)
    }

    pub(super) fn first_that_applies(&self) -> Result<(), String> {
        for seen in &self.seen {
            let mut numbers = seen.numbers.iter();
            let first = numbers.find(|number| number.counted >= number.needed);
            let right = first.map_or(Pattern::Quiet, |number| number.pattern);
            if seen.pattern != right || seen.numbers.len() != 6 {
                return Err(format!("{seen:?} is {right:?}"));
            }
        }
        Ok(())
    }

    pub(super) fn no_more_than_happened(&self, world: &World) -> Result<(), String> {
        let truth = world.truth();
        let at_most = |what: &str, told: u64, real: usize| {
            let right = told <= u64::try_from(real).unwrap();
            right
                .then_some(())
                .ok_or_else(|| format!("{told} {what}, and there were {real}"))
        };
        // Rounds in a row of which none was completed; a coordinator that is lost uses a
        // number again that it had not written.
        let (mut run, mut longest) = (0, 0);
        for round in &truth.rounds {
            let failed = matches!(round.outcome, Outcome::Aborted | Outcome::Mismatch);
            run = match round.outcome {
                Outcome::Completed => 0,
                _ => run + usize::from(failed),
            };
            longest = longest.max(run);
        }
        at_most("rounds failed", self.most(Pattern::Loop, "rounds"), longest)?;
        let revokes = |round: &&TrueRound| round.members.values().any(|m| !m.revoked.is_empty());
        let revoking = truth.rounds.iter().filter(revokes).count();
        let followups = self.most(Pattern::Loop, "followups");
        at_most("follow-ups", followups, revoking.saturating_sub(1))?;
        let generations = self.most(Pattern::Storm, "generations");
        at_most("generations", generations, truth.rounds.len())?;
        let mut commits: BTreeMap<&str, usize> = BTreeMap::new();
        for change in &truth.changes {
            if change.what == ChangeWhat::Committed {
                *commits.entry(&change.connector).or_default() += 1;
            }
        }
        let most = commits.into_values().max().unwrap_or(0);
        at_most("commits", self.most(Pattern::Churn, "commits"), most)
    }

    /// Departures as they are told of episodes, counted by the names of workers.
    pub(super) fn as_departures_are_told(&self) -> Result<(), String> {
        let episodes = self.watched.episodes();
        let all = |episode: &Arc<EpisodeAnswer>| episode.departures.clone();
        let told: Vec<DepartureAnswer> = episodes.iter().flat_map(all).collect();
        let settled = || told.iter().filter(|departed| departed.settled);
        let bad = |departed: &&DepartureAnswer| {
            !matches!(departed.how, DepartureHow::Graceful | DepartureHow::Unknown)
        };
        let replaced = |departed: &&DepartureAnswer| {
            let in_order = match departed.how {
                DepartureHow::Graceful | DepartureHow::CutShort => true,
                // It may have stopped work, and be either.
                DepartureHow::Unknown => departed.owned != (0, 0),
                _ => false,
            };
            in_order && departed.successor.is_some()
        };
        let number = |count: usize| u64::try_from(count).unwrap();
        let (flapping, rollout) = (
            self.most(Pattern::Flapping, "departures"),
            self.most(Pattern::Rollout, "workers"),
        );
        let (most_bad, most_replaced) = (
            number(settled().filter(bad).count()),
            number(settled().filter(replaced).count()),
        );
        if flapping > most_bad || rollout > most_replaced {
            return Err(format!("{flapping} and {rollout} of {told:?}"));
        }
        // One that is replaced by its own address each time is one chain, and all of one is at
        // least that of each address that had no other.
        let mut least: BTreeMap<&str, u64> = BTreeMap::new();
        let own = |departed: &DepartureAnswer| {
            let by = departed.successor.as_ref().map(|(worker, _)| worker);
            by.is_none_or(|by| *by == departed.worker) || departed.returned.is_some()
        };
        let mixed = told.iter().any(|departed| !own(departed));
        let span_ms = told
            .iter()
            .map(|departed| departed.gone_by.0)
            .fold((i64::MAX, i64::MIN), |(from, to), at| {
                (from.min(at), to.max(at))
            });
        let all_seen = span_ms.1.saturating_sub(span_ms.0) < 1_000_000;
        for departed in settled().filter(bad) {
            *least.entry(&departed.worker).or_default() += 1;
        }
        // Who came too late to be a successor begins another chain.
        let broken = told.iter().any(|departed| {
            let alone = departed.successor.is_none() && departed.returned.is_none();
            let again = told.iter().filter(|other| other.worker == departed.worker);
            alone && again.count() > 1
        });
        let least = least.into_values().max().unwrap_or(0);
        if !mixed && !broken && all_seen && flapping < least {
            return Err(format!("{flapping} departures, not {least}: {told:?}"));
        }
        Ok(())
    }

    /// At the end another sidecar, which read all of it later, counted the same: but for
    /// numbers without a record, of which it does not know how they ended, for departures of
    /// which clocks that are off tell it something else, and where it takes another moment for
    /// now.
    pub(super) fn agrees(&self, late: &Self, world: &World) -> Result<(), String> {
        let nows = [self, late].map(|each| each.watched.engine.answers().now.map(|now| now.0));
        let apart_ms = nows[0]
            .zip(nows[1])
            .map(|(ours, theirs)| (ours - theirs).abs());
        let truth = world.truth();
        let instants = truth.rounds.iter().filter_map(|round| round.recorded_ms);
        let mut ages = instants.map(|at| nows[0].unwrap_or(0) - truth.stamp(at));
        let at_an_edge = ages.any(|age| {
            let windows = [900_000, 1_800_000];
            windows.iter().any(|window| (age - window).abs() < 6_000)
        });
        if at_an_edge || apart_ms.is_none_or(|ms| ms > 5_000) {
            return Ok(());
        }
        let departures = |sampled: &Self| {
            let episodes = sampled.watched.episodes();
            let all = episodes.iter().flat_map(|episode| &episode.departures);
            let told: Vec<_> = all
                .map(|each| (each.gone_by, each.how, each.settled, each.successor.clone()))
                .collect();
            told
        };
        let same_departures = departures(self) == departures(late);
        let last = |sampled: &Self| {
            let last = sampled.seen.last()?;
            let numbers = last.numbers.iter().filter(|number| match number.what {
                "rounds" | "generations" => false,
                "departures" | "workers" => same_departures,
                _ => true,
            });
            let numbers: Vec<(Pattern, &'static str, u64)> =
                numbers.map(|n| (n.pattern, n.what, n.counted)).collect();
            Some(numbers)
        };
        let (ours, theirs) = (last(self), last(late));
        (ours == theirs)
            .then_some(())
            .ok_or_else(|| format!("{ours:?} and {theirs:?}"))
    }
}
