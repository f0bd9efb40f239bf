//! D5: work that lost its owner, until when, and how that ended.
//!
//! Begins, also where the same record hands it out again:
//! 1. *lost*: its owner is not in the record.
//! 2. *dropped*: its owner is, and claims nothing, or no longer this.
//!
//! Ends:
//! 3. *reclaimed*: a member claims it, or its owner or who came in its place took it.
//! 4. *reassigned*: another member took it.
//! 5. *removed*: it is not configured any more.
//! 6. *group_gone*: the group was deleted, and nobody formed it anew for
//!    `limits::DEPARTURE_WINDOW_MS`. Until then lost work lives on: only generation numbers
//!    are of one creation of the group.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{DurationAnswer, LossEnd};
use crate::facts::ids::{Kind, WorkItem};
use crate::facts::observation::{Claim, Member};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits::{DEPARTURE_WINDOW_MS, UNOWNED_MEMORY_MAX};
use crate::story::config_log::What;
use crate::story::departures::Departures;
use crate::story::steps::Turn;
use crate::story::switches::StoryRule;

/// Work that is lost now.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Losses {
    #[serde(with = "crate::facts::pairs")]
    open: BTreeMap<WorkItem, Loss>,
    /// When the group was deleted, while nobody has formed it anew.
    deleted: Option<EventTime>,
}

/// One piece of lost work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Member id of its owner.
    pub member: Arc<str>,
    /// The owner.
    pub worker: Arc<str>,
    /// From when on it certainly had none, on the coordinator's clock.
    pub since: EventTime,
    /// Whether that is when it stopped: its owner wrote so.
    pub exact: bool,
    /// The episode in which it was lost.
    pub episode: Option<Arc<str>>,
}

/// A loss that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Of what.
    pub item: WorkItem,
    /// How.
    pub end: LossEnd,
    /// How long it was without an owner.
    pub lasted: DurationAnswer,
    /// The episode in which it was lost.
    pub episode: Option<Arc<str>>,
}

/// What was lost when the group was deleted, given up.
#[derive(Debug)]
pub struct GroupGone {
    /// What.
    pub ended: Vec<Ended>,
    /// When the group was deleted.
    pub deleted: EventTime,
}

/// What a member was told and is proven to have done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Took {
    /// The member.
    pub member: Arc<Member>,
    /// When the record that told it was written.
    pub recorded: EventTime,
    /// Its offset.
    pub offset: i64,
    /// Whether it was written while the agent watched.
    pub live: bool,
}

// === impl Losses ===

impl Losses {
    /// Takes a step; gives what was lost in it.
    pub fn judge(&mut self, turn: &Turn<'_>) -> Vec<WorkItem> {
        let mut lost = Vec::new();
        self.deleted = match turn.step.now {
            Some(_) => None,
            None => self.deleted.or(Some(turn.step.recorded)),
        };
        if turn.on(StoryRule::Loss(1)) {
            for (place, old) in turn.leavers() {
                self.begin(turn, old, &turn.held(place, old), &mut lost);
            }
        }
        if turn.on(StoryRule::Loss(2)) {
            for (place, old) in turn.before().iter().enumerate() {
                self.begin(turn, old, &dropped(turn, place, old), &mut lost);
            }
        }
        lost
    }

    fn begin(
        &mut self,
        turn: &Turn<'_>,
        owner: &Member,
        held: &[WorkItem],
        lost: &mut Vec<WorkItem>,
    ) {
        for item in held {
            // What costs most is asked last.
            let goes_on = self.open.contains_key(item)
                || self.open.len() >= UNOWNED_MEMORY_MAX
                || !is_configured(turn, *item)
                || turn.is_claimed(*item);
            if goes_on {
                continue;
            }
            let stopped = turn
                .stopped(*item, owner)
                .map(|at| turn.placed(&owner.worker, at))
                // A clock that is off is known in an interval only.
                .filter(|_| turn.skews.of(&owner.worker).ms() == 0);
            self.open.insert(
                *item,
                Loss {
                    member: Arc::clone(&owner.id),
                    worker: Arc::clone(&owner.worker),
                    since: stopped.unwrap_or(turn.step.join_ended),
                    exact: stopped.is_some(),
                    episode: None,
                },
            );
            lost.push(*item);
        }
    }

    /// Time has passed up to `until`: what a deleted group lost nobody will take up.
    pub fn expire(&mut self, until: EventTime, on: bool) -> Option<GroupGone> {
        let deleted = self.deleted?;
        if !on || self.open.is_empty() || until.since_ms(deleted) < DEPARTURE_WINDOW_MS {
            return None;
        }
        let open = std::mem::take(&mut self.open).into_iter();
        let ended = open.map(|(item, loss)| loss.end(item, LossEnd::GroupGone, deleted));
        Some(GroupGone {
            ended: ended.collect(),
            deleted,
        })
    }

    /// What ended with the step itself: claimed again, or removed.
    pub fn ended(&mut self, turn: &Turn<'_>) -> Vec<Ended> {
        if self.open.is_empty() {
            return Vec::new();
        }
        let at = turn.step.recorded;
        let removed = |item: WorkItem| turn.on(StoryRule::Loss(5)) && !is_configured(turn, item);
        let mut ended = Vec::new();
        self.open.retain(|item, loss| {
            // Who comes back claims also what is not configured any more, and is to stop it.
            let end = if removed(*item) {
                LossEnd::Removed
            } else if turn.on(StoryRule::Loss(3)) && turn.is_claimed(*item) {
                LossEnd::Reclaimed
            } else {
                return true;
            };
            ended.push(loss.end(*item, end, at));
            false
        });
        ended
    }

    /// A member is proven to have taken what it was told.
    pub fn took(
        &mut self,
        took: &Took,
        departures: &Departures,
        on: impl Fn(StoryRule) -> bool,
    ) -> Vec<Ended> {
        let mut ended = Vec::new();
        if self.open.is_empty() {
            return ended;
        }
        for item in &took.member.assigned {
            let Some(loss) = self.open.get(item) else {
                continue;
            };
            let own = loss.member == took.member.id
                || loss.worker == took.member.worker
                || departures.is_successor(&took.member.id, &loss.member);
            let (end, rule) = if own {
                (LossEnd::Reclaimed, StoryRule::Loss(3))
            } else {
                (LossEnd::Reassigned, StoryRule::Loss(4))
            };
            if on(rule) {
                ended.push(loss.end(*item, end, took.recorded));
                self.open.remove(item);
            }
        }
        ended
    }

    /// What was lost just now was lost in this episode.
    pub fn belong(&mut self, lost: &[WorkItem], episode: &Arc<str>) {
        for item in lost {
            if let Some(loss) = self.open.get_mut(item) {
                loss.episode = Some(Arc::clone(episode));
            }
        }
    }

    /// Whether some of it is handed to nobody.
    #[must_use]
    pub fn any_unhanded(&self, turn: &Turn<'_>) -> bool {
        let told = |item| {
            let mut members = turn.now().iter();
            members.any(|member| sets::contains(&member.told, item))
        };
        self.open.keys().any(|item| !told(*item))
    }

    /// Since when a piece of work is lost, and whether that is when it stopped.
    #[must_use]
    pub fn since(&self, item: WorkItem) -> Option<(EventTime, bool)> {
        self.open.get(&item).map(|loss| (loss.since, loss.exact))
    }

    /// Whether work of a member is lost.
    #[must_use]
    pub fn is_lost_of(&self, member: &str) -> bool {
        self.open.values().any(|loss| &*loss.member == member)
    }

    /// All that is lost.
    pub fn items(&self) -> impl Iterator<Item = WorkItem> {
        self.open.keys().copied()
    }

    /// How much is lost.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether nothing is lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Forgets all: the log is another one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

// === impl Loss ===

impl Loss {
    fn end(&self, item: WorkItem, end: LossEnd, at: EventTime) -> Ended {
        let ms = at.since_ms(self.since).max(0);
        Ended {
            item,
            end,
            episode: self.episode.clone(),
            lasted: if self.exact {
                DurationAnswer::exact(ms)
            } else {
                DurationAnswer::at_least(ms)
            },
        }
    }
}

/// What a member that stayed had and does not claim any more, though nobody revoked it.
fn dropped(turn: &Turn<'_>, place: usize, old: &Member) -> Vec<WorkItem> {
    let Some(new) = turn.present(&old.id) else {
        return Vec::new();
    };
    // The same bytes again say that nothing was given up, unless they claim nothing.
    let same = std::ptr::eq(&raw const **new, old) && old.revoked.is_empty();
    match &new.claim {
        Claim::Items(_) if same => Vec::new(),
        Claim::Nothing if turn.dropped(place, old) => turn.held(place, old),
        // What it was handed and does not claim it may never have got.
        Claim::Items(claimed) => {
            let kept = sets::minus(old.claimed(), &old.revoked);
            sets::minus(&kept, claimed)
        }
        Claim::Nothing | Claim::Unsaid => Vec::new(),
    }
}

fn removes(what: What, item: WorkItem) -> bool {
    match what {
        What::Deleted => true,
        What::Committed { tasks, .. } => item.task >= tasks,
        What::Created => false,
    }
}

/// Whether the item was configured when the record's assignments were computed, as far as
/// the config topic is read.
pub(super) fn is_configured(turn: &Turn<'_>, item: WorkItem) -> bool {
    if !turn.config_known {
        return true;
    }
    let of_item = |what: What| removes(what, item);
    if turn
        .changes()
        .any(|change| change.connector == item.connector && of_item(change.what))
    {
        return false;
    }
    // What changed later tells what was so then: whoever reads the history knows it already.
    // A record without members names no offset: its group goes by those before.
    let named = turn.step.now.as_deref().and_then(|now| now.config_offset);
    // One by a leader that lags names an older one.
    let offset = named.max(turn.step.config_from);
    turn.config
        .between(offset, Some(i64::MAX))
        .filter(|change| change.connector == item.connector)
        .find_map(|change| was_configured(change.what, item))
        .unwrap_or_else(|| turn.configured.contains(item))
}

/// Whether the item was configured before a change of its connector, if that tells.
fn was_configured(then: What, item: WorkItem) -> Option<bool> {
    match then {
        What::Created => Some(false),
        What::Deleted => Some(true),
        What::Committed { before, .. } => (item.kind() == Kind::Task).then_some(item.task < before),
    }
}
