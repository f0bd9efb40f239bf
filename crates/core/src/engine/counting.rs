//! Counts each thing once, when its verdict is settled, and only what a record shows that
//! was written while the agent watched: by its offset, so that it matters neither when a
//! record is read nor what clock anybody has. A restart, a catch-up or a replayed history
//! never makes a counter jump.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::answers::{Cause, DurationAnswer, EpisodeAnswer, Outcome, Phase, RevocationHow};
use crate::engine::{Change, State};
use crate::facts::ids::{Kind, Protocol, WorkItem};
use crate::facts::observation::{GroupSnapshot, Member};
use crate::limits::{DEPARTED_WORKERS_MAX, UNAVAILABLE_MAX};
use crate::story::departures::Departure;
use crate::story::downtime::{Cost, Costs};
use crate::story::losses::Ended;
use crate::story::needs::Moved;
use crate::story::rounds::Round;
use crate::story::steps::Step;

// === impl State ===

impl State {
    /// A round is settled: tells it and counts it.
    pub(super) fn settled(&mut self, round: Round) {
        let completed = matches!(round.outcome, Some((Outcome::Completed, _)));
        self.ownership.settled(round.generation, completed);
        self.count_round(&round);
        self.changes.push(Change::Settled(Box::new(round)));
    }

    fn count_round(&mut self, round: &Round) {
        if let Some((outcome, _)) = round.outcome {
            self.note_outcome(round.incarnation, round.generation, outcome);
        }
    }

    /// What a member was told and is proven to have done.
    pub(super) fn count_applied(&mut self, member: &Member) {
        for item in &member.assigned {
            let count = self.counters.assignments.entry(item.kind()).or_default();
            *count = count.saturating_add(1);
        }
        add(
            &mut self.counters.revocations,
            RevocationHow::Asked,
            &member.revoked,
        );
    }

    /// What members gave up by themselves, counted once it is known what they had: an eager
    /// member stops all of it before it joins again. `applied` says whether each is proven to
    /// have had what the record before told it.
    pub(super) fn count_given_up(&mut self, step: &Step, applied: &[Option<bool>]) {
        let before = step
            .before
            .as_deref()
            .filter(|_| step.live && step.continues);
        let Some(before) = before.filter(|before| before.protocol == Some(Protocol::Eager)) else {
            return;
        };
        let now = step.now.as_deref();
        for (member, applied) in before.members.iter().zip(applied) {
            let stayed = now.is_some_and(|now| now.member(&member.id).is_some());
            if stayed && *applied == Some(true) {
                add(
                    &mut self.counters.revocations,
                    RevocationHow::Implied,
                    &member.told,
                );
            }
        }
    }

    /// What members that lost their coordinator are proven to have had.
    pub(super) fn count_dropped(&mut self, items: &[WorkItem], live: bool) {
        if live {
            add(
                &mut self.counters.revocations,
                RevocationHow::Dropped,
                items,
            );
        }
    }

    pub(super) fn count_generations(&mut self, cause: Cause, outcome: Outcome, count: u64) {
        let sum = self
            .counters
            .generations
            .entry((cause, outcome))
            .or_default();
        *sum = sum.saturating_add(count);
    }

    /// An episode closed.
    pub(super) fn count_episode(&mut self, episode: &EpisodeAnswer) {
        bump(&mut self.counters.rebalances, episode.cause);
        // Polls only bound the same duration better.
        let active = episode.polled.active.unwrap_or(episode.active);
        self.counters.rebalance_duration.add(active.ms);
    }

    /// A phase of a round is over.
    pub(super) fn count_phase(&mut self, phase: Phase, lasted: Option<DurationAnswer>) {
        match lasted.filter(DurationAnswer::is_measured) {
            Some(lasted) => self
                .counters
                .phases
                .entry(phase)
                .or_default()
                .add(lasted.ms),
            None => bump(&mut self.counters.phases_unmeasured, phase),
        }
    }

    /// Lost work has an owner again, or none is needed.
    pub(super) fn count_ended(&mut self, ended: &[Ended], live: bool) {
        for one in ended.iter().filter(|_| live) {
            bump(&mut self.counters.lost, (one.item.kind(), one.end));
            self.counters.lost_duration.add(one.lasted.ms);
        }
    }

    /// Work stopped, changed hands, or runs again.
    pub(super) fn count_costs(&mut self, costs: &Costs) {
        for (cost, _) in costs.iter().filter(|(_, live)| *live) {
            match *cost {
                Cost::Interrupted(item, reason) => {
                    bump(&mut self.counters.interruptions, (item.kind(), reason));
                }
                Cost::HandedOver(item, how) => {
                    bump(&mut self.counters.handovers, (item.kind(), how));
                }
                Cost::Ended(item, reason, ms) if item.kind() == Kind::Task => {
                    let connector = self.names.name(item.connector);
                    self.bound_unavailable();
                    let sum = self.counters.unavailable_ms.entry((connector, reason));
                    let sum = sum.or_default();
                    *sum = sum.saturating_add(u64::try_from(ms).unwrap_or(0));
                }
                Cost::Ended(..) => {}
            }
        }
    }

    /// Forgets the downtime of connectors that are gone, if there are too many.
    fn bound_unavailable(&mut self) {
        let counted = &mut self.counters.unavailable_ms;
        if counted.len() >= UNAVAILABLE_MAX {
            let connectors = self.configured.connectors();
            let kept: BTreeSet<_> = connectors
                .map(|now| self.names.name(now.connector))
                .collect();
            counted.retain(|(connector, _), _| kept.contains(connector));
        }
    }

    /// It is settled whether work had to move.
    pub(super) fn count_moves(&mut self, moved: &[Moved]) {
        for of_it in moved {
            let sum = self.counters.moves.entry((of_it.kind, of_it.need));
            let sum = sum.or_default();
            *sum = sum.saturating_add(of_it.count);
        }
    }

    /// It is settled how a worker left.
    pub(super) fn count_departure(&mut self, departed: &Departure) {
        let counts = &mut self.counters.departures;
        let known = counts.keys().any(|(worker, _)| *worker == departed.worker);
        let workers = || {
            counts
                .keys()
                .map(|(worker, _)| worker)
                .collect::<BTreeSet<_>>()
                .len()
        };
        let worker = if known || workers() < DEPARTED_WORKERS_MAX {
            Arc::clone(&departed.worker)
        } else {
            Arc::from("other")
        };
        bump(counts, (worker, departed.how));
    }

    /// Counts what a live record shows by itself; `before` is the record before it in
    /// the same incarnation.
    pub(super) fn count_record(&mut self, before: Option<&GroupSnapshot>, now: &GroupSnapshot) {
        if let Some(error) = now.error {
            let count = self.counters.assignment_errors.entry(error).or_default();
            *count = count.saturating_add(1);
        }
        let Some(before) = before else {
            return;
        };
        let changed =
            before.leader.is_some() && now.leader.is_some() && before.leader != now.leader;
        if changed && !self.polled.has_counted_leader() {
            self.count_leader_change();
        }
    }

    /// Another member leads than the one before.
    pub(super) fn count_leader_change(&mut self) {
        self.counters.leader_changes = self.counters.leader_changes.saturating_add(1);
    }
}

fn bump<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K) {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(1);
}

fn add(counts: &mut BTreeMap<(Kind, RevocationHow), u64>, how: RevocationHow, items: &[WorkItem]) {
    for item in items {
        let count = counts.entry((item.kind(), how)).or_default();
        *count = count.saturating_add(1);
    }
}
