//! Whether work had to move: by who was in which generation, under the names of the script.

use std::collections::{BTreeMap, BTreeSet};

use super::Need;
use super::moves::{has, items, owned};
use crate::truth::derive::TruthGeneration;
use crate::truth::event::{Item, ItemKind};

/// A worker that is gone for less than this only restarts.
const SHORT_MS: i64 = 600_000;

/// A move, by the places of two generations: the last in which `from` had it, and that which
/// gave it to `to`.
pub(super) struct Moved {
    pub had: usize,
    pub got: usize,
    pub item: Item,
    pub from: String,
    pub to: String,
}

/// The need of each, in their order.
pub(super) fn needs(all: &[TruthGeneration], moves: &[Moved], end_ms: i64) -> Vec<Option<Need>> {
    let sight = Sight { all, end_ms };
    let mut needs: Vec<Option<Need>> = Vec::new();
    // Moves from workers that are there, by the generation that took them away and their kind.
    let mut taken: BTreeMap<(usize, ItemKind), Vec<usize>> = BTreeMap::new();
    for (place, moved) in moves.iter().enumerate() {
        let away = sight.gone(&moved.from, moved.had, moved.got);
        needs.push(match away {
            Some(since) => sight.fate(&moved.from, since),
            None => {
                let by = sight.taken_by(moved);
                taken.entry((by, moved.item.kind)).or_default().push(place);
                sight
                    .is_short_of_its_share(&moved.to, moved.got)
                    .then_some(Need::Returned)
            }
        });
    }
    for ((by, kind), places) in taken {
        let returned = places.iter().filter(|place| needs[**place].is_some());
        let least = sight.least(by, kind, moves);
        let mut left = least.saturating_sub(returned.count());
        for place in places {
            if needs[place].is_none() {
                let required = left > 0;
                left = left.saturating_sub(1);
                needs[place] = Some(if required {
                    Need::Required
                } else {
                    Need::Extra
                });
            }
        }
    }
    needs
}

struct Sight<'a> {
    all: &'a [TruthGeneration],
    end_ms: i64,
}

impl Sight<'_> {
    /// The ids under which a worker is in a generation.
    fn ids(&self, worker: &str, at: usize) -> BTreeSet<&str> {
        let members = self.all[at].members.iter();
        let its = members.filter(|member| member.worker.as_deref() == Some(worker));
        its.map(|member| member.member_id.as_str()).collect()
    }

    /// The first generation after the one in which a worker had something, up to another,
    /// that lacks the process that had it.
    fn gone(&self, worker: &str, had: usize, up_to: usize) -> Option<usize> {
        let ids = self.ids(worker, had);
        (had + 1..=up_to).find(|at| self.ids(worker, *at).is_disjoint(&ids))
    }

    /// What became of a worker that is not in a generation.
    fn fate(&self, worker: &str, since: usize) -> Option<Need> {
        let from_ms = self.all[since].join_end_ms;
        let back = (since..self.all.len()).find(|at| !self.ids(worker, *at).is_empty());
        match back {
            Some(back) if self.all[back].join_end_ms - from_ms < SHORT_MS => Some(Need::Returned),
            Some(_) => Some(Need::Required),
            None => (self.end_ms - from_ms >= SHORT_MS).then_some(Need::Required),
        }
    }

    /// Whether a worker came back after a short time, and has not had its share before a
    /// generation.
    fn is_short_of_its_share(&self, worker: &str, at: usize) -> bool {
        let ids = self.ids(worker, at);
        let came = (0..=at).find(|g| !self.ids(worker, *g).is_disjoint(&ids));
        let Some(came) = came else {
            return false;
        };
        let before = (0..came).rev().find(|g| !self.ids(worker, *g).is_empty());
        let Some(before) = before else {
            return false;
        };
        let missed_ms = self.all[before + 1].join_end_ms;
        let short = self.all[came].join_end_ms - missed_ms < SHORT_MS;
        short && !(came..at).any(|g| self.rests_with(worker, g))
    }

    /// Whether a generation was applied, left nothing to be done, and gave the worker something.
    fn rests_with(&self, worker: &str, at: usize) -> bool {
        let members = &self.all[at].members;
        let rests = members.iter().all(|member| {
            let revoked = member.revoked.as_ref();
            member.applied_ms.is_some()
                && member.delay_ms.unwrap_or(0) == 0
                && revoked.is_none_or(|work| work.is_empty())
        });
        let has = |member: &crate::truth::derive::TruthMember| owned(member).next().is_some();
        rests && self.all[at].member(worker).is_some_and(has)
    }

    /// The generation that took it from its worker: cooperative, the last one that revoked it;
    /// else the one that gave it to another.
    fn taken_by(&self, moved: &Moved) -> usize {
        let revokes = |at: &usize| {
            let member = self.all[*at].member(&moved.from);
            let revoked = member.and_then(|member| member.revoked.as_ref());
            revoked.is_some_and(|work| has(work, &moved.item))
        };
        let by = (moved.had..moved.got).rev().find(revokes);
        by.unwrap_or(moved.got)
    }

    /// The least number of moves between those who are in a generation that leaves nobody with
    /// two more than anybody else.
    fn least(&self, at: usize, kind: ItemKind, moves: &[Moved]) -> usize {
        let generation = &self.all[at];
        // Who had what before: the last that owned it.
        let mut owner: BTreeMap<Item, &str> = BTreeMap::new();
        for earlier in &self.all[..at] {
            for member in &earlier.members {
                for item in owned(member).filter(|item| item.kind == kind) {
                    owner.insert(item, &member.member_id);
                }
            }
        }
        // Of two that owned the same, the one that it was later taken from.
        let of_kind = moves.iter().filter(|moved| moved.item.kind == kind);
        for moved in of_kind.filter(|moved| moved.had + 1 == at) {
            if let Some(member) = self.all[moved.had].member(&moved.from) {
                owner.insert(moved.item.clone(), &member.member_id);
            }
        }
        let members = generation.members.iter();
        let taken = members
            .clone()
            .flat_map(|member| items(member.revoked.as_ref()));
        let handed: BTreeSet<Item> = members.flat_map(owned).chain(taken).collect();
        let view = generation.leader_view.as_ref();
        let is_there = |item: &Item| match view {
            Some(view) => has(&view.configured, item),
            None => handed.contains(item),
        };
        let all = match view {
            Some(view) if kind == ItemKind::Connector => view.configured.connectors.len(),
            Some(view) => view.configured.tasks.len(),
            None => handed.iter().filter(|item| item.kind == kind).count(),
        };
        let of_it = |id: &str| {
            let its = owner
                .iter()
                .filter(|(item, owner)| **owner == id && is_there(item));
            its.count()
        };
        let ids = generation.members.iter();
        let mut loads: Vec<usize> = ids.map(|member| of_it(&member.member_id)).collect();
        if loads.is_empty() {
            return 0;
        }
        // Take from who has most, give to who has least, until that makes no difference.
        let mut unowned = all.saturating_sub(loads.iter().sum());
        let mut moved = 0;
        loop {
            loads.sort_unstable();
            let (least, most) = (loads[0], loads[loads.len() - 1]);
            if unowned > 0 {
                unowned -= 1;
            } else if most - least > 1 {
                *loads.last_mut().expect("not empty") -= 1;
                moved += 1;
            } else {
                return moved;
            }
            loads[0] += 1;
        }
    }
}
