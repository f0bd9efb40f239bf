//! What a step shows: work that an eager round left running, stops that were given up; and what is
//! to be weighed because of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Awaited, Disagreements, Gone, Open, answers, is_active, patience_ms};
use crate::answers::{Confidence, DisagreementType};
use crate::facts::ids::{Protocol, WorkItem};
use crate::facts::observation::{Claim, Member, RunState};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits::DISAGREEMENTS_MAX;
use crate::story::status_log::Written;
use crate::story::steps::Turn;
use crate::story::switches::StoryRule;
use crate::view::statuses::Statuses;

// === impl Disagreements ===

impl Disagreements {
    /// Takes a step; `newest` is the number of the newest record that was read.
    pub fn judge(&mut self, turn: &Turn<'_>, statuses: &Statuses, newest: Option<i32>) {
        self.deleted = match turn.step.now {
            Some(_) => None,
            None => self.deleted.or(Some(turn.step.recorded)),
        };
        self.claims(turn);
        if !turn.statuses_known {
            return;
        }
        let newest = newest.unwrap_or_else(|| turn.generation());
        if turn.step.before.is_none() {
            self.first(turn, statuses, newest);
        }
        self.changes(turn, newest);
        self.left_without_a_word(turn);
        if turn.on(StoryRule::Disagreement(7)) {
            self.orphans(turn);
        }
        if turn.on(StoryRule::Disagreement(8)) {
            self.given_up(turn);
        }
    }

    /// Who has what now that it had not, or no more.
    fn changes(&mut self, turn: &Turn<'_>, newest: i32) {
        let before = turn.step.before.as_deref();
        // Whoever came or left.
        let mut moved: BTreeSet<&str> = BTreeSet::new();
        let mut any = turn.step.now.is_none();
        for new in turn.now() {
            let old = before.and_then(|before| before.member(&new.id));
            if old.is_none() {
                moved.insert(&new.worker);
            }
            if old.is_none_or(|old| !Arc::ptr_eq(old, new)) {
                any = true;
                self.changed(turn, old.map(|old| &**old), new);
            }
            for item in &new.assigned {
                self.await_word(turn, *item, new, (Some(turn.generation()), newest));
            }
        }
        moved.extend(turn.leavers().map(|(_, old)| &*old.worker));
        if !any && moved.is_empty() {
            return;
        }
        let is_of = |worker: &str| moved.contains(worker) || turn.step.now.is_none();
        // A claim ends it, too.
        let by_claim = |open: &Open| open.kind == DisagreementType::TwoWriters;
        let open = self.open.iter();
        let open = open.filter(|(_, open)| {
            let mut open = open.iter();
            open.any(|open| by_claim(open) || is_of(&open.worker))
        });
        let mut items: Vec<WorkItem> = open.map(|(item, _)| *item).collect();
        if !moved.is_empty() || turn.step.now.is_none() {
            let gone = self.gone.iter();
            let gone = gone.filter(|(_, gone)| gone.iter().any(|gone| is_of(&gone.worker)));
            items.extend(gone.map(|(item, _)| *item));
        }
        self.touched.extend(items);
    }

    fn changed(&mut self, turn: &Turn<'_>, old: Option<&Member>, new: &Member) {
        let had = old.map(|old| old.told.as_slice()).unwrap_or_default();
        let (mut gone, mut came) = (Vec::new(), Vec::new());
        sets::compare(
            had,
            &new.told,
            |item| gone.push(item),
            |item| came.push(item),
        );
        for item in came {
            if self.is_known(item) {
                self.touched.insert(item);
            }
        }
        for item in gone {
            let last = old.and_then(|old| had_running(turn, item, old));
            if last.is_some_and(|last| is_active(last.state)) {
                self.part(item, &new.worker, turn.step.recorded);
            }
            if self.is_known(item) {
                self.touched.insert(item);
            }
        }
    }

    fn is_known(&self, item: WorkItem) -> bool {
        self.open.contains_key(&item) || self.gone.contains_key(&item)
    }

    fn part(&mut self, item: WorkItem, worker: &Arc<str>, at: EventTime) {
        if self.parted.len() < DISAGREEMENTS_MAX {
            self.parted.insert(item, (Arc::clone(worker), at));
            self.touched.insert(item);
        }
    }

    /// A member is told to have an item: unless it has written of it already, it is to.
    fn await_word(
        &mut self,
        turn: &Turn<'_>,
        item: WorkItem,
        member: &Member,
        (generation, newest): (Option<i32>, i32),
    ) {
        let life = turn.life();
        let is_answer = |word: &Written| {
            word.worker == member.worker
                && generation.is_none_or(|told| answers(word, told, newest, &life))
        };
        if turn.statuses.of(item).iter().any(is_answer) {
            self.awaited.remove(&item);
            return;
        }
        if self.awaited.len() >= DISAGREEMENTS_MAX {
            return;
        }
        let since = turn.step.recorded;
        let due = since.plus_ms(patience_ms(member));
        self.awaited.insert(
            item,
            Awaited {
                worker: Arc::clone(&member.worker),
                generation,
                since,
                due,
            },
        );
        self.look(item, due);
    }

    /// The first record that is read: what stands beside it may have come about at any time.
    fn first(&mut self, turn: &Turn<'_>, statuses: &Statuses, newest: i32) {
        for member in turn.now() {
            for item in &member.told {
                self.await_word(turn, *item, member, (None, newest));
            }
        }
        for (item, status) in statuses.items() {
            if !is_active(status.state) {
                continue;
            }
            let mut members = turn.now().iter();
            match members.find(|member| member.worker == status.worker) {
                Some(member) if member.is_told(item) => {}
                Some(member) => self.part(item, &member.worker, turn.step.recorded),
                None => self.leave(item, &status.worker, None, turn.step.join_ended),
            }
        }
    }

    /// Rule 1: what members had that left, and last wrote that it runs.
    fn left_without_a_word(&mut self, turn: &Turn<'_>) {
        for (place, old) in turn.leavers() {
            for item in turn.held(place, old) {
                if had_running(turn, item, old).is_some_and(|last| is_active(last.state)) {
                    let member = Some(Arc::clone(&old.id));
                    self.leave(item, &old.worker, member, turn.step.join_ended);
                }
            }
        }
    }

    fn leave(
        &mut self,
        item: WorkItem,
        worker: &Arc<str>,
        member: Option<Arc<str>>,
        since: EventTime,
    ) {
        if self.gone.len() >= DISAGREEMENTS_MAX {
            return;
        }
        let gone = self.gone.entry(item).or_default();
        gone.retain(|gone| gone.worker != *worker);
        gone.push(Gone {
            worker: Arc::clone(worker),
            member,
            since,
        });
        self.touched.insert(item);
    }

    /// Rule 7: cooperative workers stop nothing for an eager record, and know of nothing
    /// afterwards that it did not give them.
    fn orphans(&mut self, turn: &Turn<'_>) {
        let (Some(before), Some(now)) = (turn.step.before.as_deref(), turn.step.now.as_deref())
        else {
            return;
        };
        let was_cooperative = before.protocol.is_some_and(Protocol::is_cooperative);
        if !was_cooperative || now.protocol != Some(Protocol::Eager) {
            return;
        }
        for (place, old) in turn.before().iter().enumerate() {
            let Some(new) = turn.present(&old.id) else {
                continue;
            };
            for item in sets::minus(&turn.held(place, old), &new.told) {
                let Some(last) = had_running(turn, item, old) else {
                    continue;
                };
                if is_active(last.state) {
                    let evidence = format!(
                        "eager generation {} takes it from this worker, which did not write that \
                         it stopped it",
                        now.generation
                    );
                    let kind = DisagreementType::PossibleOrphan;
                    self.may_run_on(turn, item, old, (kind, evidence, last.clone()));
                }
            }
        }
    }

    /// Rule 8.
    fn given_up(&mut self, turn: &Turn<'_>) {
        for old in turn.before().iter().filter(|old| !old.revoked.is_empty()) {
            let Some(Claim::Items(claimed)) = turn.present(&old.id).map(|new| &new.claim) else {
                continue;
            };
            for item in sets::minus(&old.revoked, claimed) {
                // A leader may take what it had before it was restarted. What another wrote in
                // between keeps out that it stopped (`KafkaStatusBackingStore`, safe writes).
                let last = had_running(turn, item, old).filter(|last| {
                    sets::contains(old.claimed(), item) && is_newest(turn, item, last)
                });
                let Some(last) = last else {
                    continue;
                };
                if is_active(last.state) || last.state == RunState::Paused {
                    let generation = turn.step.before.as_deref().map_or(0, |b| b.generation);
                    let evidence = format!(
                        "told to stop it by generation {generation}, it claims it no more, and did \
                         not write that it stopped"
                    );
                    let kind = DisagreementType::AbandonedStop;
                    self.may_run_on(turn, item, old, (kind, evidence, last.clone()));
                }
            }
        }
    }

    fn may_run_on(
        &mut self,
        turn: &Turn<'_>,
        item: WorkItem,
        member: &Member,
        (kind, evidence, mark): (DisagreementType, String, Written),
    ) {
        self.add(
            item,
            Open {
                kind,
                worker: Arc::clone(&member.worker),
                member: Arc::clone(&member.id),
                since: turn.step.recorded,
                confidence: Confidence::Likely,
                evidence,
                mark: Some(mark),
            },
        );
        self.touched.insert(item);
    }
}

/// The last that a member of the record before wrote of an item before it completed this one;
/// nothing where several advertise its address.
fn had_running<'a>(turn: &Turn<'a>, item: WorkItem, old: &Member) -> Option<&'a Written> {
    let before = turn.step.before.as_deref()?;
    let words = turn.statuses.of(item).iter().rev();
    let mut words =
        words.filter(|word| *word.worker == *old.worker && word.generation <= before.generation);
    words.next().filter(|_| !before.shares_worker(&old.worker))
}

/// Whether nobody wrote of an item between a word and this record.
fn is_newest(turn: &Turn<'_>, item: WorkItem, word: &Written) -> bool {
    let generation = turn
        .step
        .before
        .as_deref()
        .map_or(0, |before| before.generation);
    let words = turn.statuses.of(item).iter().rev();
    let mut words = words.filter(|other| other.generation <= generation);
    words.next() == Some(word)
}
