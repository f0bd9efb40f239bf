//! What went to another worker, and whether it had to.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_core::answers::MoveNeed;
use evenkeel_core::facts::ids::Kind;
use evenkeel_sim::item::Item;
use evenkeel_sim::plan::Deed;
use evenkeel_sim::truth::{How, Outcome, Trigger, TrueMember, TrueRound, Truth};
use evenkeel_sim::world::World;

use super::{Bounds, is_changed, kind};
use crate::drive::Watched;

/// `limits::DEPARTURE_WINDOW_MS`.
const SHORT_MS: i64 = 600_000;

/// Who is known to have had something last.
#[derive(Clone)]
struct Had<'a> {
    worker: &'a str,
    member: &'a str,
    /// The place of the round that gave it, or in which it still had it.
    at: usize,
}

struct Sight<'a> {
    truth: &'a Truth,
    /// All rounds that left a record.
    rounds: Vec<&'a TrueRound>,
}

/// Every piece of work that a member took, and another worker had, moved once.
pub(super) fn counted(world: &World, watched: &Watched) -> Result<usize, String> {
    let truth = world.truth();
    let recorded = truth.rounds.iter().filter(|r| r.recorded_ms.is_some());
    let sight = Sight {
        truth,
        rounds: recorded.collect(),
    };
    // What an eager member took only its statuses prove, and not always; who dropped its work
    // may have taken it again; and another address may be of another worker.
    let eager = |round: &&TrueRound| round.version == 0 && !round.members.is_empty();
    let moved = |deed: &Deed| matches!(deed, Deed::Start { moved: true, .. });
    let mut deeds = world.plan().deeds.iter();
    let odd = !truth.drops.is_empty() || deeds.any(|(_, deed)| moved(deed));
    if odd || sight.rounds.iter().any(eager) {
        return Ok(0);
    }
    let mut right: BTreeMap<(Kind, MoveNeed), Bounds> = BTreeMap::new();
    let mut all: BTreeMap<Kind, Bounds> = BTreeMap::new();
    let mut sure_moves = 0;
    let mut last: BTreeMap<&Item, Had<'_>> = BTreeMap::new();
    // Where it is not proven that it was taken once, all that follows may look otherwise.
    let mut unproven: BTreeSet<&Item> = BTreeSet::new();
    for (at, round) in sight.rounds.iter().enumerate() {
        for (id, member) in &round.members {
            let claimed = member.claim.iter().flatten();
            for item in claimed {
                if let Some(had) = last.get_mut(item).filter(|had| had.member == id) {
                    had.at = at;
                }
            }
        }
        for (id, member) in &round.members {
            if member.applied_ms.is_none() {
                continue;
            }
            for item in &member.assigned {
                let now = Had {
                    worker: &member.worker,
                    member: id,
                    at,
                };
                let Some(had) = last.insert(item, now) else {
                    continue;
                };
                if !sight.is_proven(at, id) {
                    unproven.insert(item);
                }
                let doubt = unproven.contains(item);
                if !doubt && (had.member == id || had.worker == member.worker) {
                    continue;
                }
                let (needs, sure) = match doubt {
                    true => (MoveNeed::ALL.to_vec(), false),
                    false => sight.moved(item, &had, (at, id, member)),
                };
                let sum = all.entry(kind(item)).or_default();
                sum.0 += u64::from(sure);
                sum.1 += 1;
                sure_moves += usize::from(sure && needs.len() == 1);
                for need in &needs {
                    let bounds = right.entry((kind(item), *need)).or_default();
                    bounds.0 += u64::from(sure && needs.len() == 1);
                    bounds.1 += 1;
                }
            }
        }
    }
    let told = watched.engine.answers().counters.moves;
    for kind in Kind::ALL {
        let mut sum = 0;
        for need in MoveNeed::ALL {
            let count = told.get(&(kind, need)).copied().unwrap_or(0);
            let (least, most) = right.get(&(kind, need)).copied().unwrap_or_default();
            if !(least..=most).contains(&count) {
                return Err(format!("{count} {kind:?} {need:?}, not {least} to {most}"));
            }
            sum += count;
        }
        let (least, most) = all.get(&kind).copied().unwrap_or_default();
        if !(least..=most).contains(&sum) {
            return Err(format!("{sum} {kind:?} moved, not {least} to {most}"));
        }
    }
    Ok(sure_moves)
}

impl Sight<'_> {
    /// What a move may have needed, and whether the log surely shows it.
    fn moved(
        &self,
        item: &Item,
        had: &Had<'_>,
        (at, id, member): (usize, &str, &TrueMember),
    ) -> (Vec<MoveNeed>, bool) {
        let from_ms = self.rounds[had.at].join_ended_ms;
        let until_ms = self.rounds[at].recorded_ms.unwrap_or(i64::MAX);
        // What is removed meanwhile is new; who is thrown out may have it still; and under
        // another address nobody knows whether it is the same.
        let doubtful = is_changed(self.truth, item, from_ms - 30_000, until_ms + 30_000)
            || self.is_odd(had, id);
        let all = MoveNeed::ALL.to_vec();
        if doubtful {
            return (all, false);
        }
        let sure = self.is_proven(at, id);
        let Some(missing) = self.missing(had, at) else {
            return (self.taken((at, id, member)), sure);
        };
        // Who came since may be taken for who comes in its place.
        let came = (0..=at).find(|at| self.rounds[*at].members.contains_key(id));
        if came.is_none_or(|came| came >= missing) {
            return (all, false);
        }
        let missed_ms = self.rounds[missing].join_ended_ms;
        let back = (missing..self.rounds.len()).find(|at| self.has_worker(*at, had.worker));
        let away_ms = back.map(|at| self.rounds[at].join_ended_ms - missed_ms);
        let need = match away_ms {
            Some(ms) if ms < SHORT_MS - 60_000 => MoveNeed::Returned,
            Some(ms) if ms < SHORT_MS + 60_000 => return (all, false),
            _ => MoveNeed::Required,
        };
        (vec![need], sure)
    }

    /// From a worker that is there: whether the split took it depends on all of them.
    fn taken(&self, (at, id, member): (usize, &str, &TrueMember)) -> Vec<MoveNeed> {
        let first = (0..=at).find(|at| self.rounds[*at].members.contains_key(id));
        let came = first.unwrap_or(at);
        let was_there = (0..came)
            .rev()
            .find(|at| self.has_worker(*at, &member.worker));
        let Some(before) = was_there else {
            return vec![MoveNeed::Required, MoveNeed::Extra];
        };
        let away_ms = self.rounds[came].join_ended_ms - self.rounds[before + 1].join_ended_ms;
        let rested = (came..at).any(|at| {
            let round = self.rounds[at];
            let quiet = round.members.values().all(|m| m.revoked.is_empty());
            let mine = round.members.get(id);
            let has = mine.is_some_and(|m| !m.assigned.is_empty() || m.claim.is_some());
            round.outcome == Outcome::Completed && round.delay_ms == 0 && quiet && has
        });
        // One that came and went between two records is nobody's predecessor.
        let mut ids: Vec<&str> = Vec::new();
        for trigger in self.truth.rounds.iter().flat_map(|round| &round.triggers) {
            if let Trigger::Joined {
                worker, member: id, ..
            } = trigger
                && *worker == member.worker
            {
                ids.push(id);
            }
        }
        ids.sort_unstable();
        ids.dedup();
        if away_ms < SHORT_MS - 60_000 && !rested && ids.len() <= 2 {
            return vec![MoveNeed::Returned];
        }
        MoveNeed::ALL.to_vec()
    }

    fn has_worker(&self, at: usize, worker: &str) -> bool {
        let mut members = self.rounds[at].members.values();
        members.any(|member| member.worker == worker)
    }

    /// The first round after the one in which it had it that lacks who had it.
    fn missing(&self, had: &Had<'_>, at: usize) -> Option<usize> {
        (had.at + 1..=at).find(|at| !self.rounds[*at].members.contains_key(had.member))
    }

    /// Whether somebody in it was thrown out, dropped its work, or came under another address.
    fn is_odd(&self, had: &Had<'_>, id: &str) -> bool {
        let truth = self.truth;
        let thrown_out = truth.departures.iter().any(|gone| {
            let of_them = [had.worker, id].contains(&gone.worker.as_str());
            gone.how == How::Unresponsive && (of_them || gone.member == had.member)
        });
        // It came before the one before was missed.
        let beside = self.rounds.iter().any(|round| {
            let of_it = round.members.values().filter(|m| m.worker == had.worker);
            of_it.count() > 1
        });
        thrown_out || beside
    }

    /// Whether the log surely shows that a member took what it was told.
    fn is_proven(&self, at: usize, id: &str) -> bool {
        let round = self.rounds[at];
        let next = self.rounds.get(at + 1);
        round.version > 0 && next.is_none_or(|next| next.members.contains_key(id))
    }
}
