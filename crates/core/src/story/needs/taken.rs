//! What a record takes from workers that are there, and how much of that makes the split even.

use std::collections::BTreeMap;

use super::{Left, Needs, Owner};
use crate::facts::ids::{Kind, Protocol, WorkItem};
use crate::facts::observation::{Claim, GroupSnapshot};
use crate::facts::sets;
use crate::story::losses;
use crate::story::steps::Turn;
use crate::view::balance;

/// How many of a kind each member of the record had, by its place there, and how many there
/// are.
struct Loads {
    kind: Kind,
    loads: Vec<u64>,
    items: u64,
}

/// What a record tells members to stop, of what they claim.
#[derive(Default)]
struct Revoked {
    /// What one claims.
    once: Vec<WorkItem>,
    /// What several claim is taken from all of them: nobody has too much for that.
    twice: Vec<WorkItem>,
    /// All that is still configured, claimed or not.
    configured: Vec<WorkItem>,
}

// === impl Needs ===

impl Needs {
    /// Marks what the record takes from workers that are there.
    pub(super) fn taken(&mut self, turn: &Turn<'_>) {
        let Some(now) = turn.step.now.as_deref() else {
            return;
        };
        if now.protocol == Some(Protocol::Eager) {
            self.dealt_anew(turn, now);
        } else {
            self.revoked(turn, now);
        }
    }

    /// The incremental assignor says what it takes, from those who claim it; and takes for
    /// new what members dropped.
    fn revoked(&mut self, turn: &Turn<'_>, now: &GroupSnapshot) {
        let revokes = now.members.iter().any(|member| !member.revoked.is_empty());
        let mut before = turn.before().iter().enumerate();
        if !revokes && !before.any(|(place, old)| turn.dropped(place, old)) {
            return;
        }
        let mut loads = Kind::ALL.map(|kind| Loads::new(kind, now));
        let mut all: Vec<WorkItem> = Vec::new();
        for (place, member) in now.members.iter().enumerate() {
            for item in member.claimed() {
                loads.iter_mut().for_each(|loads| loads.has(place, *item));
            }
            all.extend(&member.told);
        }
        let mut taken = self.by_the_leader(turn, now, &mut loads);
        let dropped = self.by_themselves(turn, now, &mut loads);
        all.extend(&taken.configured);
        all.extend(&dropped);
        all.sort_unstable();
        all.dedup();
        for loads in &mut loads {
            let of_kind = all.iter().filter(|item| item.kind() == loads.kind);
            loads.items = u64::try_from(of_kind.count()).unwrap_or(u64::MAX);
        }
        taken.once.append(&mut taken.twice);
        taken.once.extend(dropped);
        self.mark(&taken.once, &loads);
    }

    /// What the record tells members to stop.
    fn by_the_leader(
        &mut self,
        turn: &Turn<'_>,
        now: &GroupSnapshot,
        loads: &mut [Loads],
    ) -> Revoked {
        let mut revoked: BTreeMap<WorkItem, Vec<usize>> = BTreeMap::new();
        for (place, member) in now.members.iter().enumerate() {
            for item in &member.revoked {
                // The assignor may revoke what it was about to hand out.
                let owners = revoked.entry(*item).or_default();
                if sets::contains(member.claimed(), *item) {
                    owners.push(place);
                }
            }
        }
        let mut taken = Revoked::default();
        for (item, places) in revoked {
            let configured = losses::is_configured(turn, item);
            let owners = places.iter().filter_map(|place| now.members.get(*place));
            for owner in owners {
                self.note(item, owner, now);
            }
            let owner = self.owners.get(&item).map(|owner| &owner.member);
            for place in &places {
                let member = now.members.get(*place).map(|member| &member.id);
                if !configured || member != owner {
                    loads
                        .iter_mut()
                        .for_each(|loads| loads.has_not(*place, item));
                }
            }
            if configured {
                taken.configured.push(item);
                match places.len() {
                    0 => {}
                    1 => taken.once.push(item),
                    _ => taken.twice.push(item),
                }
            }
        }
        taken
    }

    /// What members that are there gave up because they lost their coordinator.
    fn by_themselves(
        &mut self,
        turn: &Turn<'_>,
        now: &GroupSnapshot,
        loads: &mut [Loads],
    ) -> Vec<WorkItem> {
        let mut dropped = Vec::new();
        for (place, old) in turn.before().iter().enumerate() {
            let at = now.members.binary_search_by(|m| m.id.cmp(&old.id));
            let Some(at) = at.ok().filter(|_| turn.dropped(place, old)) else {
                continue;
            };
            for item in turn.held(place, old) {
                self.note(item, old, now);
                loads.iter_mut().for_each(|loads| loads.has(at, item));
                dropped.push(item);
            }
        }
        dropped
    }

    /// The eager assignor deals all of it anew and says nothing of what was before.
    fn dealt_anew(&mut self, turn: &Turn<'_>, now: &GroupSnapshot) {
        let mut loads = Kind::ALL.map(|kind| Loads::new(kind, now));
        // What a cooperative member claims it has, whoever saw it take that.
        for (place, old) in turn.before().iter().enumerate() {
            if matches!(old.claim, Claim::Items(_)) {
                for item in turn.held(place, old) {
                    if !self.owners.contains_key(&item) {
                        drop(self.put(item, Owner::of(old)));
                    }
                }
            }
        }
        let (mut back, mut others) = (Vec::new(), Vec::new());
        for member in &now.members {
            for item in &member.told {
                loads.iter_mut().for_each(|loads| loads.is_dealt(*item));
                let Some(owner) = self.owners.get(item) else {
                    continue;
                };
                let at = now.members.binary_search_by(|m| m.id.cmp(&owner.member));
                let Ok(at) = at else {
                    continue;
                };
                loads.iter_mut().for_each(|loads| loads.has(at, *item));
                if self.is_same(owner, member) {
                    let left = stays(owner.left);
                    self.owners
                        .entry(*item)
                        .and_modify(|owner| owner.left = left);
                } else if self.filling.contains(&member.id) {
                    back.push(*item);
                } else {
                    others.push(*item);
                }
            }
        }
        back.extend(others);
        self.mark(&back, &loads);
    }

    /// The first of them make the split even, as many as that takes.
    fn mark(&mut self, taken: &[WorkItem], loads: &[Loads]) {
        for of_kind in loads {
            let least = balance::least_moves(&of_kind.loads, of_kind.items);
            let mut left = least;
            let items = taken.iter().filter(|item| item.kind() == of_kind.kind);
            for item in items {
                let even = left > 0;
                left = left.saturating_sub(1);
                if let Some(owner) = self.owners.get_mut(item) {
                    owner.left = match owner.left {
                        // Its owner is not there.
                        gone @ (Left::Gone(_) | Left::Back) => gone,
                        Left::Not | Left::Taken { .. } => Left::Taken { even },
                    };
                }
            }
        }
    }
}

/// What was taken once and was not given to anybody is with its owner again.
fn stays(left: Left) -> Left {
    match left {
        Left::Taken { .. } => Left::Not,
        left => left,
    }
}

// === impl Loads ===

impl Loads {
    fn new(kind: Kind, now: &GroupSnapshot) -> Self {
        Self {
            kind,
            loads: vec![0; now.members.len()],
            items: 0,
        }
    }

    fn has(&mut self, place: usize, item: WorkItem) {
        if let Some(load) = self.of(place, item) {
            *load = load.saturating_add(1);
        }
    }

    fn has_not(&mut self, place: usize, item: WorkItem) {
        if let Some(load) = self.of(place, item) {
            *load = load.saturating_sub(1);
        }
    }

    fn is_dealt(&mut self, item: WorkItem) {
        if item.kind() == self.kind {
            self.items = self.items.saturating_add(1);
        }
    }

    fn of(&mut self, place: usize, item: WorkItem) -> Option<&mut u64> {
        self.loads
            .get_mut(place)
            .filter(|_| item.kind() == self.kind)
    }
}
