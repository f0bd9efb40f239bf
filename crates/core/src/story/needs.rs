//! D11: which work moved from one worker to another, and whether it had to.
//!
//! A *move*: a member is proven to have taken work that another worker had last. Who comes in
//! a departed worker's place is that worker. What it needed, the first rule that applies:
//! 1. *returned*: who had it last was gone, and back within `limits::DEPARTURE_WINDOW_MS`.
//!    Until that is known the move is not settled.
//! 2. *required*: who had it last is gone.
//! 3. *returned*: it was taken from a worker that is there, for one that was gone so briefly
//!    and has not had its share since.
//! 4. *required*: it was taken from a worker that is there, and is one of the least number
//!    that make the split even among those who are there.
//! 5. *extra*: all else.
//!
//! 6. What was removed from the configuration belongs to nobody: if it comes again it is new.

mod taken;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{MoveNeed, Outcome};
use crate::facts::ids::{Kind, WorkItem};
use crate::facts::observation::{GroupSnapshot, Member};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits::{DEPARTURE_WINDOW_MS, UNOWNED_MEMORY_MAX};
use crate::story::config_log::What;
use crate::story::departures::{Arrival, Departures, Moves};
use crate::story::losses::Took;
use crate::story::steps::Turn;
use crate::story::switches::{StoryRule, Switches};

/// Who had what last, who left, and who has come back.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Needs {
    #[serde(with = "crate::facts::pairs")]
    owners: BTreeMap<WorkItem, Owner>,
    /// Departures that may still turn out to be short, by key.
    gone: BTreeMap<u64, Gone>,
    /// Members that were gone for a short time and have not had their share since.
    filling: BTreeSet<Arc<str>>,
    /// Workers that several members of the newest records advertise: of those members are
    /// told by their ids.
    shared: BTreeSet<Arc<str>>,
}

/// Who is proven to have had it last.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Owner {
    worker: Arc<str>,
    member: Arc<str>,
    left: Left,
}

/// How it left its owner, or would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Left {
    /// As far as anybody knows it did not.
    Not,
    /// It was taken from it; whether that makes the split even.
    Taken { even: bool },
    /// Its owner is gone: the key of that departure.
    Gone(u64),
    /// Its owner was gone for a short time.
    Back,
}

/// A departure that may turn out to be short.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Gone {
    at: EventTime,
    /// What moved away from it, and is counted once that is known.
    moved: BTreeMap<Kind, u64>,
}

/// Moves whose need is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Of what.
    pub kind: Kind,
    /// Whether they had to.
    pub need: MoveNeed,
    /// How many.
    pub count: u64,
}

// === impl Needs ===

impl Needs {
    /// Takes a step: who left, who came, and what was taken from whom.
    pub fn judge(&mut self, turn: &Turn<'_>, moves: &Moves, departures: &Departures) -> Vec<Moved> {
        let records = [turn.step.before.as_deref(), turn.step.now.as_deref()];
        let shared = records.into_iter().flatten();
        self.shared = shared
            .flat_map(|record| record.shared.iter().cloned())
            .collect();
        self.have_their_share(turn);
        for ((place, old), key) in turn.leavers().zip(&moves.left) {
            self.left(turn, place, old, *key);
        }
        let mut settled = Vec::new();
        for (member, arrival) in &moves.came {
            if let Arrival::Successor(key) | Arrival::Returned(key) = arrival {
                self.came_back(turn, member, *key, departures, &mut settled);
            }
        }
        self.taken(turn);
        if turn.on(StoryRule::Move(6)) {
            self.forget_removed(turn);
        }
        settled
    }

    /// A member is proven to have taken what it was told.
    pub fn took(&mut self, took: &Took, switches: Switches) -> Vec<Moved> {
        let mut settled = Vec::new();
        for item in &took.member.assigned {
            let now = Owner::of(&took.member);
            let Some(before) = self.put(*item, now) else {
                continue;
            };
            if self.is_same(&before, &took.member) || !took.live {
                continue;
            }
            let kind = item.kind();
            if let Some(need) = self.need(before.left, kind, &took.member, switches) {
                add(&mut settled, kind, need, 1);
            }
        }
        settled
    }

    /// Time has passed up to `until`: who is not back by now was not gone for a short time.
    pub fn expire(&mut self, until: EventTime, switches: Switches) -> Vec<Moved> {
        let mut settled = Vec::new();
        self.gone.retain(|_, gone| {
            let over = until.since_ms(gone.at) >= DEPARTURE_WINDOW_MS;
            if over && switches.on(StoryRule::Move(2)) {
                gone.settle(MoveNeed::Required, &mut settled);
            }
            !over
        });
        settled
    }

    /// Moves of which it is not settled yet whether they had to.
    #[must_use]
    pub fn unsettled(&self) -> BTreeMap<Kind, u64> {
        let mut counts = BTreeMap::new();
        for (kind, count) in self.gone.values().flat_map(|gone| &gone.moved) {
            let sum: &mut u64 = counts.entry(*kind).or_default();
            *sum = sum.saturating_add(*count);
        }
        counts
    }

    /// Forgets all: the log is another one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Why it moved; `None` while that is not settled.
    fn need(
        &mut self,
        left: Left,
        kind: Kind,
        to: &Member,
        switches: Switches,
    ) -> Option<MoveNeed> {
        let on = |rule| switches.on(StoryRule::Move(rule));
        let required = on(2).then_some(MoveNeed::Required);
        match left {
            Left::Gone(key) => match self.gone.get_mut(&key) {
                Some(gone) if on(1) => {
                    let count = gone.moved.entry(kind).or_default();
                    *count = count.saturating_add(1);
                    None
                }
                Some(_) | None => required,
            },
            Left::Back if on(1) => Some(MoveNeed::Returned),
            Left::Back => required,
            Left::Taken { .. } | Left::Not if self.filling.contains(&to.id) && on(3) => {
                Some(MoveNeed::Returned)
            }
            Left::Taken { even: true } if on(4) => Some(MoveNeed::Required),
            Left::Taken { .. } | Left::Not => on(5).then_some(MoveNeed::Extra),
        }
    }

    /// Whether an owner is a member, or its process before.
    fn is_same(&self, owner: &Owner, member: &Member) -> bool {
        let by_name = owner.worker == member.worker && !self.shared.contains(&member.worker);
        owner.member == member.id || by_name
    }

    fn put(&mut self, item: WorkItem, owner: Owner) -> Option<Owner> {
        if self.owners.len() >= UNOWNED_MEMORY_MAX && !self.owners.contains_key(&item) {
            return None;
        }
        self.owners.insert(item, owner)
    }

    /// Who came back has its share once a round is completed in which it has something,
    /// nobody is to stop anything, and nothing is waited for.
    fn have_their_share(&mut self, turn: &Turn<'_>) {
        let Some(before) = turn.step.before.as_deref() else {
            return;
        };
        if self.filling.is_empty() {
            return;
        }
        let rests = before.delay_ms == 0 && before.members.iter().all(|m| m.revoked.is_empty());
        if rests && turn.outcome == Some(Outcome::Completed) {
            let has = |member: &Arc<Member>| !member.told.is_empty();
            self.filling
                .retain(|id| !before.member(id).is_some_and(has));
        }
    }

    fn left(&mut self, turn: &Turn<'_>, place: usize, old: &Member, key: u64) {
        self.filling.remove(&old.id);
        if let Some(before) = turn.step.before.as_deref() {
            let proven = turn.applied.get(place).copied().flatten() == Some(true);
            let had = if proven { &*old.told } else { old.claimed() };
            for item in had {
                self.note(*item, old, before);
            }
        }
        let its_own = self.owners.values_mut();
        for owner in its_own.filter(|owner| owner.member == old.id) {
            owner.left = Left::Gone(key);
        }
        let gone = Gone {
            at: turn.step.join_ended,
            moved: BTreeMap::new(),
        };
        self.gone.insert(key, gone);
    }

    /// Somebody takes the place of who left, or is who left.
    fn came_back(
        &mut self,
        turn: &Turn<'_>,
        member: &Member,
        key: u64,
        departures: &Departures,
        settled: &mut Vec<Moved>,
    ) {
        let soon = |gone: &Gone| turn.step.join_ended.since_ms(gone.at) < DEPARTURE_WINDOW_MS;
        let was_short = self.gone.get(&key).is_some_and(soon);
        if was_short && let Some(mut gone) = self.gone.remove(&key) {
            if turn.on(StoryRule::Move(1)) {
                gone.settle(MoveNeed::Returned, settled);
            }
            self.filling.insert(Arc::clone(&member.id));
        }
        let Some(departed) = departures.get(key) else {
            return;
        };
        for owner in self.owners.values_mut() {
            if owner.member == departed.member {
                owner.worker = Arc::clone(&member.worker);
                owner.member = Arc::clone(&member.id);
                if was_short && owner.left == Left::Gone(key) {
                    owner.left = Left::Back;
                }
            }
        }
    }

    /// A member claims it. Where another one that is in the record does, too, and is known to
    /// have had it last, it still has.
    fn note(&mut self, item: WorkItem, member: &Member, record: &GroupSnapshot) {
        let claims = |id: &str| {
            let other = record.member(id);
            other.is_some_and(|other| sets::contains(other.claimed(), item))
        };
        match self.owners.get_mut(&item) {
            Some(owner) if owner.member == member.id => owner.left = Left::Not,
            Some(owner) if claims(&owner.member) => {}
            Some(owner) => *owner = Owner::of(member),
            None => drop(self.put(item, Owner::of(member))),
        }
    }

    fn forget_removed(&mut self, turn: &Turn<'_>) {
        for change in turn.changes() {
            let connector = change.connector;
            match change.what {
                What::Deleted => self.owners.retain(|item, _| item.connector != connector),
                What::Committed { before, tasks, .. } => {
                    for task in tasks..before {
                        self.owners.remove(&WorkItem { connector, task });
                    }
                }
                What::Created => {}
            }
        }
    }
}

// === impl Owner ===

impl Owner {
    fn of(member: &Member) -> Self {
        Self {
            worker: Arc::clone(&member.worker),
            member: Arc::clone(&member.id),
            left: Left::Not,
        }
    }
}

// === impl Gone ===

impl Gone {
    fn settle(&mut self, need: MoveNeed, settled: &mut Vec<Moved>) {
        for (kind, count) in std::mem::take(&mut self.moved) {
            add(settled, kind, need, count);
        }
    }
}

fn add(settled: &mut Vec<Moved>, kind: Kind, need: MoveNeed, count: u64) {
    let mut known = settled.iter_mut();
    match known.find(|moved| moved.kind == kind && moved.need == need) {
        Some(moved) => moved.count = moved.count.saturating_add(count),
        None => settled.push(Moved { kind, need, count }),
    }
}
