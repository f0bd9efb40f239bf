//! What a script expects evenkeel to say of why, written down step by step and held against
//! the logs: a script that is wrong about its own run fails here.

use std::time::Duration;

use anyhow::{Context, bail, ensure};

use super::{SETTLE_MAX, Stage};
use crate::clock::now_ms;
use crate::truth::{
    Cause, DelayReason, DepartureHow, Expectations, ExpectedDeadline, ExpectedDeparture,
    ExpectedEpisode, LostEnd, LostWork, ScriptStep, TruthGeneration, TruthLog, What, Work,
};
use crate::wait::wait_until;

/// How long a group rests between two steps, so that what they cause are two episodes.
const CALM_MS: i64 = 4_000;

/// A timer of a worker fires about then: it counts from when the assignment came, which is a
/// moment after the broker stored it.
const TIMER_EARLY_MS: i64 = 5;

/// The step that is being played.
#[derive(Debug)]
pub(super) struct OpenStep {
    name: String,
    from_ms: i64,
    /// How many generations there were before.
    generations: usize,
}

impl Stage {
    /// Begins a step: what happens from now on is caused by what the script does next.
    ///
    /// # Errors
    /// When the step before has not ended, or the logs cannot be read.
    pub fn begin(&mut self, name: &str) -> anyhow::Result<()> {
        if let Some(open) = &self.step {
            bail!("step {:?} has not ended", open.name);
        }
        let generations = self.cluster.truth(&self.group.group_id)?.generations.len();
        self.step = Some(OpenStep {
            name: name.to_owned(),
            from_ms: now_ms(),
            generations,
        });
        Ok(())
    }

    /// Waits until nothing moved for a while: a group that rests, without a delay that runs.
    ///
    /// # Errors
    /// When it goes on for too long.
    pub fn calm(&self) -> anyhow::Result<TruthLog> {
        wait_until("a calm group", SETTLE_MAX, || {
            let truth = self.cluster.truth(&self.group.group_id)?;
            let last = truth.last().context("no generation")?;
            let moved = last.members.iter().filter_map(|member| member.finished_ms);
            let moved_ms = moved.fold(last.join_end_ms, i64::max);
            let rests = truth.is_settled()
                && last.members.iter().all(|member| delay_ms(member) == 0)
                && now_ms() - moved_ms >= CALM_MS;
            Ok(rests.then_some(truth))
        })
    }

    /// Ends the step, which was one episode: waits until the group is calm and writes it down
    /// with what the logs say of its generations.
    ///
    /// # Errors
    /// When the group does not come to rest, or the logs contradict the episode.
    pub fn end(&mut self, episode: ExpectedEpisode) -> anyhow::Result<TruthLog> {
        let truth = self.calm()?;
        let open = self.close()?;
        ensure!(
            truth.generations.len() > open.generations,
            "{}: no generation",
            open.name
        );
        let range = (open.generations, truth.generations.len());
        self.note(&open, &truth, (episode, range))?;
        Ok(truth)
    }

    /// Ends a step in which every delay was for lost work.
    ///
    /// # Errors
    /// As [`Stage::end`]; when there was no delay.
    pub fn end_parked(&mut self, episode: ExpectedEpisode) -> anyhow::Result<TruthLog> {
        let open = self.step.as_ref().context("no step has begun")?;
        let (from, step) = (open.generations, open.name.clone());
        let truth = self.end(episode)?;
        let new = truth.generations.iter().skip(from);
        let delayed = new.filter(|generation| leaves_more(generation).1.is_some());
        let deadlines = delayed.map(|delayed| ExpectedDeadline {
            generation: delayed.generation,
            reason: DelayReason::Lost,
            step: step.clone(),
        });
        let before = self.expected.deadlines.len();
        self.expected.deadlines.extend(deadlines);
        ensure!(self.expected.deadlines.len() > before, "{step}: no delay");
        Ok(truth)
    }

    /// Ends a step in which the group did not rebalance.
    ///
    /// # Errors
    /// When it did, or does not come to rest.
    pub fn end_quiet(&mut self) -> anyhow::Result<TruthLog> {
        self.pause(Duration::from_millis(CALM_MS.unsigned_abs()));
        let truth = self.calm()?;
        let open = self.close()?;
        let more = truth.generations.len() - open.generations;
        ensure!(more == 0, "{}: {more} generations", open.name);
        eprintln!("  {}: no rebalance", open.name);
        Ok(truth)
    }

    /// Ends a step in which workers came, at once or one after the other: each arrival that
    /// met a group at rest may be an episode of its own.
    ///
    /// # Errors
    /// As [`Stage::end`].
    pub fn end_arrivals(&mut self) -> anyhow::Result<TruthLog> {
        let truth = self.calm()?;
        let open = self.close()?;
        for (episode, range) in arrivals(&truth, open.generations)? {
            self.note(&open, &truth, (episode, range))?;
        }
        // Nobody left: a delay is the leader's own patience with what it revokes.
        let new = truth.generations.iter().skip(open.generations);
        for delayed in new.filter(|generation| leaves_more(generation).1.is_some()) {
            self.expected.deadlines.push(ExpectedDeadline {
                generation: delayed.generation,
                reason: DelayReason::RevocationBackoff,
                step: open.name.clone(),
            });
        }
        Ok(truth)
    }

    /// Ends a step of a script that does not say why anything happened, at once.
    ///
    /// # Errors
    /// When no step has begun.
    pub fn end_unexplained(&mut self) -> anyhow::Result<()> {
        self.unexplained = true;
        let open = self.close()?;
        eprintln!("  {}: played", open.name);
        Ok(())
    }

    /// What the script expected; of one that left something unexplained, its steps alone.
    pub(super) fn take_expected(&mut self) -> Expectations {
        let expected = std::mem::take(&mut self.expected);
        if !self.unexplained {
            return expected;
        }
        Expectations {
            steps: expected.steps,
            ..Expectations::default()
        }
    }

    /// A worker departed in this step, or in the one that ended last.
    pub fn departed(&mut self, worker: &str, how: DepartureHow, successor: Option<&str>) {
        self.expected.departures.push(ExpectedDeparture {
            worker: worker.to_owned(),
            how,
            successor: successor.map(str::to_owned),
            step: self.step_name(),
        });
    }

    /// What the delay of the newest generation is for.
    ///
    /// # Errors
    /// When it has none.
    pub fn deadline(&mut self, reason: DelayReason) -> anyhow::Result<()> {
        let truth = self.cluster.truth(&self.group.group_id)?;
        let last = truth.last().context("no generation")?;
        ensure!(leaves_more(last).1.is_some(), "no delay: {last}");
        self.expected.deadlines.push(ExpectedDeadline {
            generation: last.generation,
            reason,
            step: self.step_name(),
        });
        Ok(())
    }

    /// What it owned was lost, and ended so: who owns it now must agree.
    ///
    /// # Errors
    /// When the logs say something else.
    pub fn lost(
        &mut self,
        (worker, items): (&str, &Work),
        ended: LostEnd,
        successor: Option<&str>,
    ) -> anyhow::Result<()> {
        ensure!(!items.is_empty(), "{worker} owned nothing");
        let truth = self.cluster.truth(&self.group.group_id)?;
        let last = truth.last().context("no generation")?;
        let heirs = [Some(worker), successor];
        let (mut own, mut all) = (Work::default(), Work::default());
        for member in &last.members {
            let Some(owned) = &member.owned else { continue };
            all.add(owned);
            if heirs.contains(&member.worker.as_deref()) {
                own.add(owned);
            }
        }
        let held = match ended {
            LostEnd::Reclaimed => items.without(&own).is_empty(),
            LostEnd::Reassigned => items.without(&all).is_empty() && items.without(&own) == *items,
            LostEnd::Removed | LostEnd::GroupGone => items.without(&all) == *items,
        };
        ensure!(
            held,
            "{worker} lost {items:?}, said to be {ended:?}, but {last}"
        );
        self.lost_by((worker, items), ended);
        Ok(())
    }

    /// The same for what the script read from the logs itself.
    pub fn lost_by(&mut self, (worker, items): (&str, &Work), ended: LostEnd) {
        self.expected.lost_work.push(LostWork {
            worker: worker.to_owned(),
            items: items.clone(),
            ended,
            step: self.step_name(),
        });
    }

    fn step_name(&self) -> String {
        let open = self.step.as_ref().map(|open| open.name.clone());
        let last = || self.expected.steps.last().map(|step| step.name.clone());
        open.or_else(last).unwrap_or_default()
    }

    fn close(&mut self) -> anyhow::Result<OpenStep> {
        let open = self.step.take().context("no step has begun")?;
        self.expected.steps.push(ScriptStep {
            name: open.name.clone(),
            from_ms: open.from_ms,
            to_ms: now_ms(),
        });
        Ok(open)
    }

    fn note(
        &mut self,
        open: &OpenStep,
        truth: &TruthLog,
        (mut episode, (from, to)): (ExpectedEpisode, (usize, usize)),
    ) -> anyhow::Result<()> {
        let generations = truth.generations.get(from..to).unwrap_or_default();
        let told = followed(truth, generations);
        for claimed in [Cause::DelayExpired, Cause::RevocationFollowup] {
            ensure!(
                !episode.contributing.contains(&claimed) || told.contains(&claimed),
                "{}: no {claimed:?} in the logs",
                open.name
            );
        }
        for cause in told {
            episode.contribute(cause);
        }
        episode.step.clone_from(&open.name);
        episode.generations = generations.iter().map(|g| g.generation).collect();
        eprintln!(
            "  {}: {:?} {} + {:?}, generations {:?}{}",
            open.name,
            episode.cause,
            episode.subject.as_deref().unwrap_or("-"),
            episode.contributing,
            episode.generations,
            if episode.may_join {
                ", or one with the last"
            } else {
                ""
            }
        );
        self.expected.episodes.push(episode);
        Ok(())
    }

    /// A pause of the script.
    pub fn pause(&self, length: Duration) {
        std::thread::sleep(length);
    }
}

fn delay_ms(member: &crate::truth::TruthMember) -> i64 {
    member.delay_ms.unwrap_or(0)
}

/// Whether a generation left something to do: a revocation that asks for the next round, or
/// a delay that ends in one.
fn leaves_more(generation: &TruthGeneration) -> (bool, Option<i64>) {
    let applied = |m: &&crate::truth::TruthMember| m.applied_ms.is_some();
    let mut members = generation.members.iter().filter(applied);
    let revoked = members.any(|m| m.revoked.as_ref().is_some_and(|work| !work.is_empty()));
    let delay_ms = generation.members.iter().map(delay_ms).max().unwrap_or(0);
    (revoked, (delay_ms > 0).then_some(delay_ms))
}

/// What of these generations followed from one of them.
fn followed(truth: &TruthLog, generations: &[TruthGeneration]) -> Vec<Cause> {
    let mut causes = Vec::new();
    for pair in generations.windows(2) {
        let [one, next] = pair else { continue };
        let (revoked, delay_ms) = leaves_more(one);
        if revoked {
            causes.push(Cause::RevocationFollowup);
        }
        let due_ms = one.assignment_ms.zip(delay_ms);
        let due_ms = due_ms.map(|(from_ms, delay_ms)| from_ms + delay_ms - TIMER_EARLY_MS);
        if due_ms.is_some_and(|due_ms| next.prepared_ms >= Some(due_ms)) {
            causes.push(Cause::DelayExpired);
        }
        let ahead = truth.events.iter().any(|event| {
            matches!(event.what, What::ConfigAhead { .. })
                && (one.join_end_ms..=next.join_end_ms).contains(&truth.true_ms(event))
        });
        if ahead {
            causes.push(Cause::ConfigAdvanced);
        }
    }
    causes
}

/// Whether everybody was done with a generation, and nothing was due, when the next began.
fn rested(one: &TruthGeneration, next: &TruthGeneration) -> bool {
    let (revoked, delay_ms) = leaves_more(one);
    let done = one.members.iter().map(|member| member.finished_ms);
    let done: Option<Vec<i64>> = done.collect();
    let done_ms = done.and_then(|done| done.into_iter().max());
    !revoked && delay_ms.is_none() && done_ms.is_some() && done_ms < next.prepared_ms
}

/// The episodes of arriving workers: which generations are each.
fn arrivals(
    truth: &TruthLog,
    from: usize,
) -> anyhow::Result<Vec<(ExpectedEpisode, (usize, usize))>> {
    let mut episodes: Vec<(ExpectedEpisode, (usize, usize))> = Vec::new();
    for index in from..truth.generations.len() {
        let generation = &truth.generations[index];
        let before = index.checked_sub(1).map(|last| &truth.generations[last]);
        let was_in = |name: &str| before.is_some_and(|before| before.member(name).is_some());
        let workers = generation.members.iter().filter_map(|m| m.worker.clone());
        let newcomers: Vec<String> = workers.filter(|name| !was_in(name)).collect();
        let formed = before.is_none_or(|before| before.member_count == 0);
        let rested = before.is_some_and(|before| rested(before, generation));
        let earlier = truth.generations.get(..index).unwrap_or_default();
        let known = |name: &String| earlier.iter().any(|g| g.member(name).is_some());
        let again = newcomers.iter().any(known);
        let (cause, named) = match (formed, again) {
            (true, _) => (Cause::GroupFormed, Vec::new()),
            (false, true) => (Cause::WorkerRestarted, newcomers),
            (false, false) => (Cause::WorkerJoined, newcomers),
        };
        let came = formed || !named.is_empty();
        let open = episodes.last_mut();
        match open {
            Some((episode, range)) if !came || !rested => {
                range.1 = index + 1;
                if came {
                    episode.contribute(cause);
                }
                if cause == episode.cause {
                    episode.others.extend(named);
                }
            }
            _ => {
                ensure!(came, "generation {generation} has no newcomer");
                let mut episode = ExpectedEpisode::of(cause, named.first().map(String::as_str));
                episode.others = named.into_iter().skip(1).collect();
                episode.may_join = !episodes.is_empty();
                // Who forms the group anew was in it before.
                if formed && again {
                    episode.possible.push(Cause::WorkerRestarted);
                }
                episodes.push((episode, (index, index + 1)));
            }
        }
    }
    ensure!(!episodes.is_empty(), "nobody came");
    Ok(episodes)
}
