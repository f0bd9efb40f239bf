//! The spans of an episode's rounds: join, sync, what each worker stopped and started, and the
//! delay between two rounds.

use std::sync::Arc;

use evenkeel_core::answers::{
    Bound, DurationAnswer, EpisodeAnswer, EpisodeRound, ItemPhase, Outcome, Phase, PhaseWork,
    PolledBounds, PolledRound,
};
use evenkeel_core::facts::time::EventTime;

use super::fit::Chosen;
use super::{Attributes, Draft};
use crate::show::traces::ids::ROOT;

/// How a span's length is known.
pub(super) const DURATION: &str = "evenkeel.duration";

/// One round with what its spans need of its neighbours.
struct Of<'a> {
    place: usize,
    /// Numbers begin anew when the group is created anew: the record's time tells them apart.
    key: String,
    round: &'a EpisodeRound,
    polled: Option<&'a PolledBounds>,
    /// Whether the episode closed with it.
    is_last: bool,
    closed: EventTime,
}

/// All spans of rounds and delays, parents first.
pub(super) fn drafts(episode: &EpisodeAnswer, chosen: &Chosen, closed: EventTime) -> Vec<Draft> {
    let of = |(place, round)| Of::new(episode, place, round, closed);
    let rounds: Vec<Of<'_>> = episode.rounds.iter().enumerate().map(of).collect();
    let mut drafts = Vec::new();
    for (place, of) in rounds.iter().enumerate() {
        let mut inner = vec![of.join()];
        inner.extend(of.sync());
        inner.extend(of.workers(chosen));
        drafts.push(of.round(&inner));
        drafts.append(&mut inner);
        drafts.extend(of.parked(rounds.get(place + 1)));
    }
    drafts
}

// === impl Of ===

impl<'a> Of<'a> {
    fn new(
        episode: &'a EpisodeAnswer,
        place: usize,
        round: &'a EpisodeRound,
        closed: EventTime,
    ) -> Self {
        let polled = &episode.polled;
        // A number comes again only where the group was created anew: then polls of which of
        // the two is not said.
        let same = episode.rounds.iter();
        let is_once = same
            .filter(|other| other.generation == round.generation)
            .count()
            == 1;
        Self {
            place,
            key: format!("round {}@{}", round.generation, round.recorded.0),
            round,
            polled: is_once.then_some(polled),
            is_last: place.saturating_add(1) == episode.rounds.len(),
            closed,
        }
    }

    fn round(&self, inner: &[Draft]) -> Draft {
        let round = self.round;
        let start_ms = inner.iter().map(|draft| draft.start_ms).min();
        let end_ms = inner.iter().map(|draft| draft.end_ms).max();
        let recorded = round.recorded.0;
        let times = (
            start_ms.unwrap_or(recorded).min(recorded),
            end_ms.unwrap_or(recorded).max(recorded),
        );
        let all = |phase: Phase| {
            let work = |worker: &evenkeel_core::answers::WorkerPhases| match phase {
                Phase::Stop => worker.stops,
                _ => worker.starts,
            };
            let works = round.workers.iter().filter_map(work);
            works.fold((0_u64, 0_u64), |(items, done), work| {
                (
                    items.saturating_add(work.items),
                    done.saturating_add(work.done),
                )
            })
        };
        let ((stops, stopped), (starts, started)) = (all(Phase::Stop), all(Phase::Start));
        let mut attributes = Attributes::default()
            .number("evenkeel.generation", round.generation)
            .text("evenkeel.cause", round.cause.label())
            .some("evenkeel.subject", round.subject.as_deref())
            .some(
                "evenkeel.outcome",
                self.outcome(started).map(Outcome::label),
            )
            .some("evenkeel.leader", round.leader.as_deref())
            .count("evenkeel.generations_without_record", round.missing_before)
            .count("evenkeel.delay_ms", round.delay_ms)
            .count("evenkeel.stops", stops)
            .count("evenkeel.stops_unseen", stops.saturating_sub(stopped))
            .count("evenkeel.starts", starts)
            .count("evenkeel.starts_unseen", starts.saturating_sub(started))
            .bound(DURATION, DurationAnswer::at_least(self.certain_ms()));
        // The slowest worker's, which polls and arrivals bound better than the logs alone.
        let polled = self.polled();
        let slowest = [
            (
                "evenkeel.stop",
                polled.and_then(|seen| seen.stop).or(round.stop),
            ),
            (
                "evenkeel.start",
                polled.and_then(|seen| seen.start).or(round.start),
            ),
        ];
        for (name, lasted) in slowest {
            if let Some(lasted) = lasted {
                attributes = attributes.duration(name, lasted);
            }
        }
        Draft::new(self.key.as_str(), Some(ROOT), "round", times, attributes)
    }

    /// How it ended. Of the last one more may be known to who has read what followed it, or a
    /// status that was written later, and that is not the same for all: what counts is what its
    /// record says, and what workers wrote of it until the episode closed.
    fn outcome(&self, started: u64) -> Option<Outcome> {
        let known = self.round.outcome;
        match known {
            _ if !self.is_last => known,
            Some(Outcome::Emptied | Outcome::Mismatch) => known,
            _ => (started > 0).then_some(Outcome::Completed),
        }
    }

    /// What polls and arrivals here say of the round.
    fn polled(&self) -> Option<&'a PolledRound> {
        let mut rounds = self.polled?.rounds.iter();
        rounds.find(|polled| polled.generation == self.round.generation)
    }

    /// What arrivals here say of a worker in it.
    fn seen(&self, worker: &str, phase: Phase) -> Option<DurationAnswer> {
        let mut workers = self.polled?.workers.iter();
        let generation = self.round.generation;
        let seen = workers.find(|seen| {
            seen.generation == generation && seen.phase == phase && *seen.worker == *worker
        });
        seen.map(|seen| seen.lasted)
    }

    fn joined(&self) -> EventTime {
        self.round.join_ended.unwrap_or(self.round.recorded)
    }

    /// When the join phase began, and how its length is known: by polls, else by the first
    /// sign in the logs, else not at all.
    fn join_began(&self) -> (EventTime, DurationAnswer) {
        let joined = self.joined();
        if let Some(lasted) = self.polled().and_then(|polled| polled.join) {
            return (joined.minus_ms(lasted.ms), lasted);
        }
        let began = self.join_began_by();
        (began, DurationAnswer::at_least(joined.since_ms(began)))
    }

    /// By when it had begun, as records say: the same on every sidecar.
    fn join_began_by(&self) -> EventTime {
        let joined = self.joined();
        self.round.began.unwrap_or(joined).min(joined)
    }

    /// How long it was at least, by the coordinator's clock alone.
    fn certain_ms(&self) -> i64 {
        let (_, join) = self.join_began();
        let join_ms = join.between_ms.map_or(join.ms, |(least_ms, _)| least_ms);
        let sync_ms = self.round.recorded.since_ms(self.joined());
        join_ms.saturating_add(sync_ms)
    }

    fn join(&self) -> Draft {
        let (began, lasted) = self.join_began();
        let attributes = Attributes::default()
            .number("evenkeel.generation", self.round.generation)
            .bound(DURATION, lasted);
        let times = (began.0, self.joined().0);
        Draft::new(
            self.inner("join"),
            Some(&self.key),
            "join",
            times,
            attributes,
        )
    }

    fn sync(&self) -> Option<Draft> {
        let lasted = self.round.sync?;
        let attributes = Attributes::default()
            .number("evenkeel.generation", self.round.generation)
            .some("evenkeel.leader", self.round.leader.as_deref())
            .bound(DURATION, lasted);
        let times = (self.joined().0, self.round.recorded.0);
        Some(Draft::new(
            self.inner("sync"),
            Some(&self.key),
            "sync",
            times,
            attributes,
        ))
    }

    /// What workers stopped and started, each followed by its slowest tasks.
    fn workers(&self, chosen: &Chosen) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for worker in &self.round.workers {
            let phases = [
                (Phase::Stop, worker.stops, worker.stop),
                (Phase::Start, worker.starts, worker.start),
            ];
            for (phase, work, lasted) in phases {
                let key = (self.place, phase, Arc::clone(&worker.worker));
                let Some(work) = work.filter(|_| chosen.workers.contains(&key)) else {
                    continue;
                };
                let lasted = self.seen(&worker.worker, phase).or(lasted);
                let draft = self.worker(&worker.worker, phase, work, lasted);
                let inner = self.round.slowest.iter().enumerate();
                let inner = inner.filter(|(nth, item)| {
                    chosen.tasks.contains(&(self.place, *nth))
                        && item.phase == phase
                        && item.worker == worker.worker
                });
                let tasks: Vec<Draft> = inner
                    .map(|(_, item)| self.task(item, lasted, &draft.key))
                    .collect();
                drafts.push(draft);
                drafts.extend(tasks);
            }
        }
        drafts
    }

    fn worker(
        &self,
        worker: &str,
        phase: Phase,
        work: PhaseWork,
        lasted: Option<DurationAnswer>,
    ) -> Draft {
        let (address, port) = split(worker);
        let attributes = Attributes::default()
            .text("evenkeel.worker", worker)
            .some("server.address", address)
            .number("evenkeel.generation", self.round.generation)
            .number("evenkeel.items", work.items)
            .count(
                "evenkeel.items_unseen",
                work.items.saturating_sub(work.done),
            )
            .bound(DURATION, lasted.unwrap_or(DurationAnswer::at_least(0)));
        let attributes = match port {
            Some(port) => attributes.number("server.port", port),
            None => attributes,
        };
        let key = self.inner(&format!("{} {worker}", phase.label()));
        let times = (work.from.0, work.by.0);
        Draft::new(key, Some(&self.key), phase.label(), times, attributes)
    }

    fn task(&self, item: &ItemPhase, lasted: Option<DurationAnswer>, parent: &str) -> Draft {
        let ms = item.by.since_ms(item.from);
        // The same clock as the worker's last: known as well as that.
        let lasted = lasted.and_then(|worker| {
            let (least_ms, most_ms) = worker.between_ms?;
            let least_ms = ms.saturating_sub(worker.ms.saturating_sub(least_ms));
            let most_ms = ms.saturating_add(most_ms.saturating_sub(worker.ms));
            Some(DurationAnswer::within(ms, least_ms, most_ms))
        });
        let attributes = Attributes::default()
            .text("evenkeel.connector", &item.item.connector)
            .text("evenkeel.worker", &item.worker)
            .text("evenkeel.phase", item.phase.label())
            .bound(DURATION, lasted.unwrap_or(DurationAnswer::at_least(0)));
        let attributes = match item.item.task {
            Some(task) => attributes.number("evenkeel.task", task),
            None => attributes,
        };
        let task = item.item.task.map(|task| task.to_string());
        let task = task.as_deref().unwrap_or("connector");
        let key = format!("{parent} {} {task}", item.item.connector);
        let times = (item.from.0, item.by.0);
        Draft::new(key, Some(parent), "task", times, attributes)
    }

    /// From when everything that this round told was done until the next began: only the delay
    /// was waited for. Whether there was such a time is said by records alone, how long it was
    /// by polls, too: so that every sidecar has the same spans.
    fn parked(&self, next: Option<&Of<'_>>) -> Option<Draft> {
        let round = self.round;
        let delay_ms = i64::from(round.delay_ms);
        if delay_ms <= 0 {
            return None;
        }
        let works = round
            .workers
            .iter()
            .flat_map(|worker| [worker.stops, worker.starts]);
        let done = works.flatten().map(|work| work.by).max();
        let from = done.unwrap_or(round.recorded).max(round.recorded);
        let recorded = next.map_or(self.closed, Of::join_began_by);
        if recorded <= from {
            return None;
        }
        let (until, lasted) = match next {
            Some(next) => next.join_began(),
            None => (self.closed, DurationAnswer::exact(0)),
        };
        let deadline = round.recorded.plus_ms(delay_ms);
        let between_ms = until.since_ms(from);
        // Polls may have seen members come back before the last status was written.
        let (until, ms) = (until.max(from), between_ms.max(0));
        // It ended when the next join began, which is known no better.
        let lasted = match lasted.bound {
            Bound::Exact => DurationAnswer::exact(ms),
            Bound::AtLeast | Bound::AtMost => DurationAnswer {
                bound: Bound::AtMost,
                ..DurationAnswer::exact(ms)
            },
            Bound::Poll => {
                let (least_ms, most_ms) = lasted.between_ms.unwrap_or((lasted.ms, lasted.ms));
                let early_ms = between_ms.saturating_sub(most_ms.saturating_sub(lasted.ms));
                let late_ms = between_ms.saturating_add(lasted.ms.saturating_sub(least_ms));
                DurationAnswer::within(ms, early_ms.max(0), late_ms.max(0))
            }
        };
        let attributes = Attributes::default()
            .number("evenkeel.generation", round.generation)
            .number("evenkeel.delay_ms", delay_ms)
            .number("evenkeel.delay_left_ms", deadline.since_ms(until).max(0))
            .bound(DURATION, lasted);
        let key = self.inner("parked");
        Some(Draft::new(
            key,
            Some(ROOT),
            "parked",
            (from.0, until.0),
            attributes,
        ))
    }

    fn inner(&self, what: &str) -> String {
        format!("{} {what}", self.key)
    }
}

/// Where a worker's REST server is, by its name: `host:port`, with the client host behind an
/// `@` where several share that.
fn split(worker: &str) -> (Option<&str>, Option<u16>) {
    let worker = worker.split_once('@').map_or(worker, |(name, _)| name);
    let Some((host, port)) = worker.rsplit_once(':') else {
        return (None, None);
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match port.parse() {
        Ok(port) if !host.is_empty() => (Some(host), Some(port)),
        _ => (None, None),
    }
}
