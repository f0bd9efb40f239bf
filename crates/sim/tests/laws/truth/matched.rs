//! Which true round is which round of which episode: everything else compares along this.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_core::answers::{CauseAnswer, EpisodeAnswer, EpisodeRound, RoundAnswer};
use evenkeel_sim::clock::Clock;
use evenkeel_sim::truth::{Trigger, TrueMember, TrueRound, Truth};
use evenkeel_sim::world::World;

use crate::drive::Watched;

/// All true rounds that left a record, beside what is said of them.
pub(super) struct Matched<'a> {
    pub(super) truth: &'a Truth,
    pub(super) steps: Vec<Step<'a>>,
    pub(super) episodes: Vec<Arc<EpisodeAnswer>>,
    /// Connectors whose tasks may fail when they start.
    pub(super) fails: BTreeSet<&'a str>,
}

/// One record, and what lies between it and the one before.
pub(super) struct Step<'a> {
    pub(super) real: &'a TrueRound,
    /// The recorded round before, of whatever life of the group.
    pub(super) before: Option<&'a TrueRound>,
    /// What set it off, with what set off rounds before it that left no record.
    pub(super) triggers: Vec<&'a Trigger>,
    /// From when on the first of these was prepared.
    pub(super) prepared_ms: i64,
    pub(super) told: &'a RoundAnswer,
    /// Its episode, by its place.
    pub(super) episode: usize,
}

// === impl Matched ===

impl<'a> Matched<'a> {
    /// Every judged generation is in exactly one episode.
    pub(super) fn of(world: &'a World, watched: &'a Watched) -> Result<Self, String> {
        let truth = world.truth();
        let episodes = watched.episodes();
        let mut steps: Vec<Step<'a>> = Vec::new();
        let mut told = watched.settled.iter();
        let (mut triggers, mut prepared_ms) = (Vec::new(), None);
        let (mut place, mut generations) = (0, BTreeMap::new());
        for real in &truth.rounds {
            triggers.extend(real.causes());
            prepared_ms.get_or_insert(real.prepare_started_ms);
            if real.recorded_ms.is_none() {
                continue;
            }
            let told = told.next().ok_or("a record is not settled")?;
            let episode = episodes
                .get(place)
                .ok_or_else(|| format!("generation {} is in no episode", real.generation))?;
            *generations.entry(place).or_insert(0_u64) += 1;
            steps.push(Step {
                real,
                before: steps.last().map(|step| step.real),
                triggers: std::mem::take(&mut triggers),
                prepared_ms: prepared_ms.take().unwrap_or(real.prepare_started_ms),
                told,
                episode: place,
            });
            let last = episode.rounds.last().ok_or("an episode has no rounds")?;
            if Some(last.recorded) == told.recorded && last.generation == told.generation {
                place += 1;
            }
        }
        if place != episodes.len() {
            return Err(format!("{} episodes, not {place}", episodes.len()));
        }
        let failing = world.plan().connectors.iter().filter(|c| c.fails > 0);
        let matched = Self {
            truth,
            steps,
            episodes,
            fails: failing.map(|connector| connector.name.as_str()).collect(),
        };
        for (place, episode) in matched.episodes.iter().enumerate() {
            matched.holds_its_rounds(place, episode, generations[&place])?;
        }
        Ok(matched)
    }

    fn holds_its_rounds(
        &self,
        place: usize,
        episode: &EpisodeAnswer,
        rounds: u64,
    ) -> Result<(), String> {
        let shown = u64::try_from(episode.rounds.len()).unwrap();
        let missing: u64 = episode
            .rounds
            .iter()
            .map(|round| round.missing_before)
            .sum();
        if shown > rounds || (shown == rounds && episode.generations != rounds + missing) {
            return Err(format!(
                "episode {}: {} generations, {shown} rounds and {missing} numbers without",
                episode.id, episode.generations
            ));
        }
        let of_it = self.steps.iter().filter(|step| step.episode == place);
        let told: Vec<_> = of_it
            .map(|step| (step.told.generation, step.told.outcome))
            .collect();
        let shown: Vec<_> = episode
            .rounds
            .iter()
            .map(|r| (r.generation, r.outcome))
            .collect();
        if !told.ends_with(&shown) {
            return Err(format!("episode {}: {shown:?}, not {told:?}", episode.id));
        }
        let (first, last) = (told.first().unwrap().0, told.last().unwrap().0);
        if episode.last_generation != last || episode.first_generation > first {
            return Err(format!(
                "episode {}: to {}",
                episode.id, episode.last_generation
            ));
        }
        Ok(())
    }

    /// The episode of a step.
    pub(super) fn episode(&self, step: &Step<'_>) -> &EpisodeAnswer {
        &self.episodes[step.episode]
    }

    /// What its episode says of a step, unless the episode is too long to show it.
    pub(super) fn shown(&self, step: &Step<'_>) -> Option<&EpisodeRound> {
        let same = |round: &&EpisodeRound| Some(round.recorded) == step.told.recorded;
        self.episode(step).rounds.iter().find(same)
    }

    /// Causes that were first found in this step.
    pub(super) fn found<'b>(&'b self, step: &Step<'_>) -> impl Iterator<Item = &'b CauseAnswer> {
        let generation = step.told.generation;
        let all = self.episode(step).contributing.iter();
        all.filter(move |cause| cause.generation == generation)
    }

    /// How far a worker's clock and those of coordinators were apart at most.
    pub(super) fn off_ms(&self, worker: &str) -> i64 {
        let spread = |clock: &Clock| {
            let mut at = clock.skew_ms;
            let mut all = vec![at];
            for (_, by) in &clock.steps {
                at += by;
                all.push(at);
            }
            all
        };
        let mut all: Vec<i64> = self.clock_of(worker).map(spread).unwrap_or_default();
        all.extend(
            self.truth
                .coordinators
                .iter()
                .flat_map(|(_, clock)| spread(clock)),
        );
        let (least, most) = (all.iter().min(), all.iter().max());
        most.copied().unwrap_or(0) - least.copied().unwrap_or(0)
    }

    /// The clock of a worker: the last part of its address names its slot, from 1.
    pub(super) fn clock_of(&self, worker: &str) -> Option<&'a Clock> {
        let slot = worker.split(':').next()?.rsplit('.').next()?;
        let slot: u32 = slot.parse().ok()?;
        self.truth
            .clocks
            .get(&format!("slot {}", slot.checked_sub(1)?))
    }
}

// === impl Step ===

impl<'a> Step<'a> {
    /// Members of the record before that are not in this one.
    pub(super) fn leavers(&self) -> impl Iterator<Item = (&'a String, &'a TrueMember)> {
        let now = &self.real.members;
        let before = self.before.into_iter().flat_map(|before| &before.members);
        before.filter(move |(id, _)| !now.contains_key(*id))
    }

    /// Members of this record that are not in the one before.
    pub(super) fn newcomers(&self) -> impl Iterator<Item = (&'a String, &'a TrueMember)> {
        let before = self.before;
        let known = move |id: &String| before.is_some_and(|b| b.members.contains_key(id));
        self.real.members.iter().filter(move |(id, _)| !known(id))
    }

    /// Whether the record before has several members at one address.
    pub(super) fn shared_before(&self, worker: &str) -> bool {
        let members = self
            .before
            .into_iter()
            .flat_map(|before| before.members.values());
        members.filter(|member| member.worker == worker).count() > 1
    }

    /// How a person finds it.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.real.incarnation, self.real.generation)
    }
}
