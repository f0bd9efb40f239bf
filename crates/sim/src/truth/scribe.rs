//! Writes the truth down while it happens.

mod runs;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ChangeWhat, How, LossEnd, Outcome, Removed, StopWhy, Trigger, TrueChange, TrueDeparture,
    TrueDrop, TrueLife, TrueLoss, TrueMember, TrueRound, TrueStart, TrueStop, Truth,
};
use crate::clock::Clock;
use crate::coordinator::record::Saved;
use crate::item::{Item, Work};

/// What is known of a process by its member id.
#[derive(Debug, Clone)]
pub struct Departing {
    /// `host:port` of its worker.
    pub worker: String,
    /// Which worker it is, whatever its address.
    pub slot: usize,
    /// When it stopped working.
    pub died_ms: i64,
    /// What it was.
    pub how: How,
    /// What it owned.
    pub owned: Work,
}

/// Who starts or stops a piece of work.
#[derive(Debug, Clone)]
pub struct Doer {
    /// `host:port` of the worker.
    pub worker: String,
    /// Its member id, if it has one.
    pub member: Option<String>,
    /// The generation that it completed last.
    pub generation: i32,
}

/// The writer.
#[derive(Debug, Clone, Default)]
pub struct Scribe {
    truth: Truth,
    incarnation: u32,
    prepare: Option<(i64, Vec<Trigger>)>,
    /// By slot: its newest member id.
    newest: BTreeMap<usize, String>,
    /// What is configured.
    work: Work,
    workers: BTreeMap<String, (usize, String)>,
}

// === impl Scribe ===

impl Scribe {
    /// A process got a member id.
    pub fn named(&mut self, member: &str, slot: usize, worker: &str) {
        let known = (slot, worker.to_owned());
        self.workers.insert(member.to_owned(), known);
    }

    /// The group was created.
    pub fn created(&mut self, now: i64) {
        self.incarnation += 1;
        self.truth.lives.push(TrueLife {
            incarnation: self.incarnation,
            created_ms: now,
            deleted_ms: None,
        });
    }

    /// The group was deleted.
    pub fn deleted(&mut self, now: i64) {
        if let Some(life) = self.truth.lives.last_mut() {
            life.deleted_ms = Some(now);
        }
        self.end_losses(now, LossEnd::GroupGone, |_| true);
    }

    /// A rebalance was begun, or got another reason.
    pub fn trigger(&mut self, now: i64, mut trigger: Trigger) {
        if let Trigger::Joined {
            worker,
            member,
            successor_of,
        } = &mut trigger
            && let Some((slot, address)) = self.workers.get(member)
        {
            worker.clone_from(address);
            *successor_of = self.newest.insert(*slot, member.clone());
            for departure in &mut self.truth.departures {
                if successor_of.as_deref() == Some(&departure.member) {
                    departure.successor = Some((member.clone(), now));
                }
            }
        }
        let (_, triggers) = self.prepare.get_or_insert((now, Vec::new()));
        triggers.push(trigger);
    }

    /// A coordinator was lost with what it prepared.
    pub fn coordinator_lost(&mut self) {
        self.prepare = None;
    }

    /// A join phase ended.
    pub fn join_ended(&mut self, now: i64, saved: &Saved) {
        let (prepare_started_ms, triggers) = self.prepare.take().unwrap_or((now, Vec::new()));
        let version = saved.version.unwrap_or(0);
        let member = |(id, meta): &(String, crate::protocol::Meta)| {
            let worker = self.workers.get(id).map(|(_, worker)| worker.clone());
            let claim = meta.claim.as_ref().filter(|_| version > 0);
            let member = TrueMember {
                worker: worker.unwrap_or_default(),
                claim: claim.map(|claim| claim.assigned.clone()),
                ..TrueMember::default()
            };
            (id.clone(), member)
        };
        let members: BTreeMap<_, _> = saved.members.iter().map(member).collect();
        let claimed: BTreeSet<Item> = members
            .values()
            .filter_map(|member| member.claim.clone())
            .flatten()
            .collect();
        self.end_losses(now, LossEnd::Reclaimed, |item| claimed.contains(item));
        self.truth.rounds.push(TrueRound {
            incarnation: self.incarnation,
            generation: saved.generation,
            prepare_started_ms,
            triggers,
            join_ended_ms: now,
            recorded_ms: None,
            effective_ms: None,
            outcome: Outcome::Aborted,
            version,
            leader: saved.leader.clone().filter(|_| saved.version.is_some()),
            delay_ms: 0,
            members,
        });
    }

    /// The newest round was written.
    pub fn recorded(&mut self, now: i64, saved: &Saved) {
        let Some(round) = self.truth.rounds.last_mut() else {
            return;
        };
        round.recorded_ms = Some(now);
        if saved.members.is_empty() {
            round.outcome = Outcome::Emptied;
        }
        for (id, told) in &saved.told {
            round.delay_ms = told.delay_ms;
            if told.error != 0 {
                round.outcome = Outcome::Mismatch;
            }
            if let Some(member) = round.members.get_mut(id) {
                member.assigned.clone_from(&told.assigned);
                member.revoked.clone_from(&told.revoked);
            }
        }
    }

    /// The newest round took effect.
    pub fn effective(&mut self, now: i64) {
        if let Some(round) = self.truth.rounds.last_mut() {
            round.effective_ms = Some(now);
        }
    }

    fn round_of(&mut self, generation: i32, member: &str) -> Option<&mut TrueRound> {
        self.truth.rounds.iter_mut().rev().find(|round| {
            round.generation == generation
                && round.recorded_ms.is_some()
                && round.members.contains_key(member)
        })
    }

    /// A member had its assignment.
    pub fn received(&mut self, now: i64, generation: i32, id: &str) {
        if let Some(round) = self.round_of(generation, id) {
            if round.outcome == Outcome::Aborted {
                round.outcome = Outcome::Completed;
            }
            if let Some(member) = round.members.get_mut(id) {
                member.received_ms.get_or_insert(now);
            }
        }
    }

    /// A member did as it was told.
    pub fn applied(&mut self, now: i64, generation: i32, id: &str) {
        let mut taken = Work::new();
        let mut recorded_ms = now;
        if let Some(round) = self.round_of(generation, id) {
            recorded_ms = round.recorded_ms.unwrap_or(now);
            if let Some(member) = round.members.get_mut(id) {
                member.applied_ms.get_or_insert(now);
                taken.clone_from(&member.assigned);
            }
        }
        self.end_losses(recorded_ms, LossEnd::Reassigned, |item| {
            taken.contains(item)
        });
    }

    /// A member is gone.
    pub fn departed(&mut self, now: i64, id: &str, seen: Removed, who: Departing) {
        let lost: Work = who.owned.union(&self.not_taken(id)).cloned().collect();
        for item in &lost {
            let open = |loss: &TrueLoss| loss.ended == LossEnd::Open && loss.item == *item;
            if !self.truth.losses.iter().any(open) {
                self.truth.losses.push(TrueLoss {
                    item: item.clone(),
                    member: id.to_owned(),
                    from_ms: who.died_ms,
                    until_ms: None,
                    ended: LossEnd::Open,
                });
            }
        }
        // Its owner was to stop it anyhow.
        let work = self.work.clone();
        self.end_losses(now, LossEnd::Removed, |item| !work.contains(item));
        let newer = self.newest.get(&who.slot).filter(|newest| *newest != id);
        let successor = newer.and_then(|newest| self.joined_ms(newest).zip(Some(newest)));
        let successor = successor.map(|(at, newest)| (newest.clone(), at));
        self.truth.departures.push(TrueDeparture {
            worker: who.worker,
            member: id.to_owned(),
            died_ms: who.died_ms,
            removed_ms: now,
            seen,
            how: who.how,
            owned: who.owned,
            successor,
        });
    }

    /// What the newest written round handed to a member that never took it: the leader
    /// takes it for the member's.
    fn not_taken(&self, id: &str) -> Work {
        let mut written = self.truth.rounds.iter().rev();
        let newest = written.find(|round| round.recorded_ms.is_some());
        let member = newest
            .filter(|round| round.effective_ms.is_some())
            .and_then(|round| round.members.get(id));
        let member = member.filter(|member| member.applied_ms.is_none());
        member
            .map(|member| member.assigned.clone())
            .unwrap_or_default()
    }

    /// When a member that joined before its predecessor was removed did so.
    fn joined_ms(&self, id: &str) -> Option<i64> {
        let joins = |triggers: &[Trigger]| {
            let same = |t: &Trigger| matches!(t, Trigger::Joined { member, .. } if member == id);
            triggers.iter().any(same)
        };
        let open = self.prepare.iter().find(|(_, triggers)| joins(triggers));
        let ended = self.truth.rounds.iter().find(|r| joins(&r.triggers));
        open.map(|(at, _)| *at)
            .or(ended.map(|round| round.prepare_started_ms))
    }

    /// A member stopped its work by itself.
    pub fn dropped(&mut self, now: i64, member: &str, items: Work) {
        self.truth.drops.push(TrueDrop {
            member: member.to_owned(),
            at_ms: now,
            items,
        });
    }

    /// A worker begins to stop a piece of work; returns its number.
    pub fn stopping(&mut self, now: i64, item: &Item, by: &Doer, why: StopWhy) -> usize {
        self.truth.stops.push(TrueStop {
            item: item.clone(),
            worker: by.worker.clone(),
            member: by.member.clone(),
            generation: by.generation,
            why,
            configured: self.work.contains(item),
            from_ms: now,
            until_ms: None,
            stuck: false,
        });
        self.truth.stops.len() - 1
    }

    /// It has stopped, or was given up.
    pub fn stopped(&mut self, now: i64, number: usize, stuck: bool) {
        if let Some(stop) = self.truth.stops.get_mut(number) {
            stop.until_ms = Some(now);
            stop.stuck = stuck;
        }
    }

    /// A worker begins to start a piece of work; returns its number.
    pub fn starting(&mut self, now: i64, item: &Item, by: &Doer) -> usize {
        self.truth.starts.push(TrueStart {
            item: item.clone(),
            worker: by.worker.clone(),
            member: by.member.clone(),
            generation: by.generation,
            from_ms: now,
            until_ms: None,
        });
        self.truth.starts.len() - 1
    }

    /// It runs.
    pub fn started(&mut self, now: i64, number: usize) {
        if let Some(start) = self.truth.starts.get_mut(number) {
            start.until_ms = Some(now);
        }
    }

    /// A coordinator took over.
    pub fn coordinator(&mut self, now: i64, clock: Clock) {
        self.truth.coordinators.push((now, clock));
    }

    /// A configuration changed.
    pub fn changed(&mut self, now: i64, connector: &str, what: ChangeWhat) {
        self.truth.changes.push(TrueChange {
            at_ms: now,
            connector: connector.to_owned(),
            what,
        });
    }

    /// The configured work changed.
    pub fn configured(&mut self, now: i64, work: &Work) {
        self.work.clone_from(work);
        self.end_losses(now, LossEnd::Removed, |item| !work.contains(item));
    }

    fn end_losses(&mut self, now: i64, ended: LossEnd, of: impl Fn(&Item) -> bool) {
        for loss in &mut self.truth.losses {
            if loss.ended == LossEnd::Open && of(&loss.item) {
                loss.ended = ended;
                // Somebody may have been given it before its owner was gone.
                loss.until_ms = Some(now.max(loss.from_ms));
            }
        }
    }

    /// The whole truth, when the world ends.
    #[must_use]
    pub fn finish(mut self) -> Truth {
        if let Some(round) = self.truth.rounds.last_mut()
            && round.outcome == Outcome::Aborted
        {
            round.outcome = Outcome::Open;
        }
        self.truth
    }
}
