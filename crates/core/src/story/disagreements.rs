//! D12: where the status topic and the group say different things of the same work.
//!
//! Each needs evidence that is in the logs, and time for the other side to catch up:
//! `limits::DISAGREES_AFTER_MS`, or the worker's rebalance timeout where that is longer.
//! 1. *running_on_departed_worker*: who ran it left without a word, and somebody else runs it,
//!    or nobody has it and no delay is running.
//! 2. *running_elsewhere*: a member that is not told to have it wrote last, that it runs.
//! 3. *assigned_not_running*: who is told to have it wrote nothing since.
//! 4. *unassigned_but_owned*: who has it wrote of it before; what was written last is that it
//!    stopped.
//! 5. *duplicate_claim*: several members claim it.
//! 6. *two_writers*: a worker writes that it runs it, after another one did with a generation
//!    that is no smaller.
//! 7. *possible_orphan*: the first eager record after a cooperative one takes it from a member
//!    that had not stopped it.
//! 8. *abandoned_stop*: a member was told to stop it, claims it no more, and did not write that
//!    it stopped.
//! 9. *status_frozen*: like 3, and a status of an older group with a larger generation is there:
//!    workers leave their own out beside it.
//!
//! 5, 7 and 8 are seen in a step; the others are *weighed*: whenever something is written of a
//! piece of work, a record gives it to another, or a time is over.

mod claims;
mod rules;
mod seen;
mod writers;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{Confidence, DisagreementType};
use crate::facts::ids::WorkItem;
use crate::facts::observation::{GroupSnapshot, Member, RunState, Status};
use crate::facts::time::EventTime;
use crate::limits::{DISAGREEMENTS_MAX, DISAGREEMENTS_OVER_MAX, DISAGREES_AFTER_MS};
use crate::story::departures::Departures;
use crate::story::status_log::{Life, StatusLog, Written};
use crate::story::switches::{StoryRule, Switches};
use crate::view::configured::Configured;
use crate::view::statuses::Statuses;

/// What disagrees, and what may come to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Disagreements {
    #[serde(with = "crate::facts::pairs")]
    open: BTreeMap<WorkItem, Vec<Open>>,
    over: VecDeque<Over>,
    /// Work of members that left without a word.
    #[serde(with = "crate::facts::pairs")]
    gone: BTreeMap<WorkItem, Vec<Gone>>,
    /// Work that members were told to have and of which they have not written since.
    #[serde(with = "crate::facts::pairs")]
    awaited: BTreeMap<WorkItem, Awaited>,
    /// Work that left a member which is still there and last wrote that it runs.
    #[serde(with = "crate::facts::pairs")]
    parted: BTreeMap<WorkItem, (Arc<str>, EventTime)>,
    /// When work is to be weighed again, at the latest.
    #[serde(with = "crate::facts::pairs")]
    looks: BTreeMap<WorkItem, EventTime>,
    /// The first of these.
    next_look: Option<EventTime>,
    /// Work of which something is new.
    touched: BTreeSet<WorkItem>,
    /// When the group was deleted, while nobody has formed it anew.
    deleted: Option<EventTime>,
}

/// One disagreement.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Open {
    /// How.
    pub kind: DisagreementType,
    /// Which worker does, or should do, what the other side does not know.
    pub worker: Arc<str>,
    /// Its member id, where it is a member.
    member: Arc<str>,
    /// Since when.
    pub since: EventTime,
    /// How sure it is.
    pub confidence: Confidence,
    /// What says so.
    pub evidence: String,
    /// The last that the worker wrote, where anything newer ends it.
    mark: Option<Written>,
}

/// One that is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Over {
    /// Of what.
    pub item: WorkItem,
    /// What it was.
    pub was: Open,
    /// Until when.
    pub until: EventTime,
}

/// Somebody who left without a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Gone {
    worker: Arc<str>,
    /// Absent where it was gone when reading began.
    member: Option<Arc<str>>,
    since: EventTime,
}

/// Somebody who is to say what became of work.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Awaited {
    worker: Arc<str>,
    /// The record that told it so; absent where it was told before reading began: then whatever
    /// it ever wrote counts.
    generation: Option<i32>,
    since: EventTime,
    due: EventTime,
}

/// What work is weighed against, beside what is remembered of it.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The newest record that was judged; `None` where there was none.
    pub record: Option<&'a GroupSnapshot>,
    /// The life of the group that it is of.
    pub life: Life<'a>,
    /// The number of the newest record that was read, judged or not.
    pub generation: i32,
    /// What workers wrote.
    pub log: &'a StatusLog,
    /// The newest state of each item.
    pub statuses: &'a Statuses,
    /// Whether the status topic can be read.
    pub statuses_known: bool,
    /// What should exist.
    pub configured: &'a Configured,
    /// Who left.
    pub departures: &'a Departures,
    /// Which rules are on.
    pub switches: Switches,
}

// === impl Disagreements ===

impl Disagreements {
    /// A status was read.
    pub fn wrote(&mut self, status: &Status) {
        let told = self.awaited.get(&status.item);
        if told.is_some_and(|told| told.is_met_by(&status.worker, status.generation)) {
            self.awaited.remove(&status.item);
        }
        self.touched.insert(status.item);
    }

    /// The status of an item was deleted.
    pub fn destroyed(&mut self, item: WorkItem) {
        self.touched.insert(item);
    }

    /// More is known of a worker that left.
    pub fn departed(&mut self, worker: &str) {
        let of_it = |gone: &Vec<Gone>| gone.iter().any(|gone| *gone.worker == *worker);
        let items = self.gone.iter().filter(|(_, gone)| of_it(gone));
        self.touched.extend(items.map(|(item, _)| *item));
    }

    /// Time has passed up to `until`: weighs what is due.
    pub fn advance(&mut self, until: EventTime, facts: &Facts<'_>) {
        let mut due = std::mem::take(&mut self.touched);
        if self.next_look.is_some_and(|look| look <= until) {
            self.looks.retain(|item, look| {
                let is_due = *look <= until;
                if is_due {
                    due.insert(*item);
                }
                !is_due
            });
            self.next_look = self.looks.values().min().copied();
        }
        for item in due {
            self.weigh(item, until, facts);
        }
    }

    /// Whether a worker was told to have the item and has not written of it since.
    #[must_use]
    pub fn awaits(&self, item: WorkItem, worker: &str) -> bool {
        let told = self.awaited.get(&item);
        told.is_some_and(|told| *told.worker == *worker)
    }

    /// What disagrees now. What is not configured any more is left out, unless it may run on.
    pub fn open<'a>(
        &'a self,
        configured: &'a Configured,
    ) -> impl Iterator<Item = (WorkItem, &'a Open)> {
        let open = self.open.iter();
        let open = open.flat_map(|(item, open)| open.iter().map(move |open| (*item, open)));
        open.filter(|(item, open)| open.outlives_its_connector() || configured.contains(*item))
    }

    /// Those that are over, oldest first.
    pub fn over(&self) -> impl DoubleEndedIterator<Item = &Over> {
        self.over.iter()
    }

    /// The status topic is another one: what rests on statuses no longer holds.
    pub fn statuses_anew(&mut self) {
        *self = Self {
            deleted: self.deleted,
            ..Self::default()
        };
    }

    /// Forgets all: the log is another one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn look(&mut self, item: WorkItem, at: EventTime) {
        let look = self.looks.entry(item).or_insert(at);
        *look = at.min(*look);
        self.next_look = Some(self.next_look.map_or(at, |next| next.min(at)));
    }

    fn add(&mut self, item: WorkItem, open: Open) {
        if !self.open.contains_key(&item) && self.open.len() >= DISAGREEMENTS_MAX {
            return;
        }
        let known = self.open.entry(item).or_default();
        let is_it = |k: &&mut Open| k.kind == open.kind && k.worker == open.worker;
        match known.iter_mut().find(is_it) {
            // The one that is there began earlier; what is known of it now is what counts.
            Some(known) => {
                *known = Open {
                    since: known.since,
                    ..open
                }
            }
            None => known.push(open),
        }
    }

    /// Ends those for which this holds.
    fn end(&mut self, item: WorkItem, until: EventTime, ends: impl Fn(&Open) -> bool) {
        let Some(open) = self.open.get_mut(&item) else {
            return;
        };
        let over = &mut self.over;
        open.retain(|open| {
            let is_over = ends(open);
            if is_over {
                over.push_back(Over {
                    item,
                    was: open.clone(),
                    until: until.max(open.since),
                });
            }
            !is_over
        });
        if open.is_empty() {
            self.open.remove(&item);
        }
        while over.len() > DISAGREEMENTS_OVER_MAX {
            over.pop_front();
        }
    }
}

// === impl Open ===

impl Open {
    /// The id of the member that it is about; empty where it is none.
    #[must_use]
    pub fn member(&self) -> &str {
        &self.member
    }

    /// Whether it is told also of work that is not configured any more: nobody stopped it.
    fn outlives_its_connector(&self) -> bool {
        use DisagreementType::{AbandonedStop, PossibleOrphan};
        matches!(self.kind, AbandonedStop | PossibleOrphan)
    }
}

// === impl Awaited ===

impl Awaited {
    fn is_met_by(&self, worker: &str, generation: i32) -> bool {
        *self.worker == *worker && self.generation.is_none_or(|told| generation >= told)
    }
}

// === impl Facts ===

impl Facts<'_> {
    fn on(&self, kind: DisagreementType) -> bool {
        self.switches.on(StoryRule::Disagreement(kind.rule()))
    }

    /// The last that a worker wrote of an item.
    fn last_by(&self, item: WorkItem, worker: &str) -> Option<&Written> {
        last_by(self.log, item, worker)
    }

    /// An instant of a worker's clock on the coordinator's.
    fn placed(&self, worker: &str, written: Option<EventTime>) -> EventTime {
        let earliest = EventTime(i64::MIN);
        written.map_or(earliest, |at| {
            self.life.skews.corrected(worker, at, earliest)
        })
    }
}

fn last_by<'a>(log: &'a StatusLog, item: WorkItem, worker: &str) -> Option<&'a Written> {
    let words = log.of(item).iter();
    words.rev().find(|word| *word.worker == *worker)
}

/// Whether a word is an answer to a record that told its worker to have the item, as far as its
/// number says: one that the group has not reached is of an older group, unless its time says
/// otherwise. Of a worker whose clock is not known the time says nothing.
#[must_use]
pub fn answers(word: &Written, told: i32, newest: i32, life: &Life<'_>) -> bool {
    word.generation >= told && (word.generation <= newest || life.has(word))
}

/// Whether a state says that work runs.
fn is_active(state: RunState) -> bool {
    matches!(state, RunState::Running | RunState::Restarting)
}

/// How long a member has until it is said to be late.
fn patience_ms(member: &Member) -> i64 {
    DISAGREES_AFTER_MS.max(i64::from(member.rebalance_timeout_ms))
}
