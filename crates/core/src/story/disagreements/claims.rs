//! Rule 5: work that several members claim.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Disagreements, Open};
use crate::answers::{Confidence, DisagreementType};
use crate::facts::ids::WorkItem;
use crate::facts::observation::Member;
use crate::facts::sets;
use crate::story::steps::Turn;
use crate::story::switches::StoryRule;

// === impl Disagreements ===

impl Disagreements {
    /// Rule 5: what several members of the record claim.
    pub(super) fn claims(&mut self, turn: &Turn<'_>) {
        let recorded = turn.step.recorded;
        let twice = if turn.on(StoryRule::Disagreement(5)) {
            self.claimed_twice(turn)
        } else {
            BTreeSet::new()
        };
        let is_one = |open: &Open| open.kind == DisagreementType::DuplicateClaim;
        let open = self.open.iter();
        let open = open.filter(|(_, open)| open.iter().any(is_one));
        let open: Vec<WorkItem> = open.map(|(item, _)| *item).collect();
        for item in open {
            let claims = |open: &Open| {
                let mut members = turn.now().iter();
                twice.contains(&item)
                    && members.any(|m| m.id == open.member && sets::contains(m.claimed(), item))
            };
            self.end(item, recorded, |open| is_one(open) && !claims(open));
        }
        for item in twice {
            self.duplicate(turn, item);
        }
    }

    fn claimed_twice(&self, turn: &Turn<'_>) -> BTreeSet<WorkItem> {
        let before = turn.step.before.as_deref();
        let claims_of_others = |item: WorkItem, id: &str| {
            let mut others = turn.now().iter().filter(|other| *other.id != *id);
            others.any(|other| sets::contains(other.claimed(), item))
        };
        let mut twice = BTreeSet::new();
        for new in turn.now() {
            let old = before.and_then(|before| before.member(&new.id));
            if old.is_some_and(|old| Arc::ptr_eq(old, new)) {
                continue;
            }
            // What it was told to have nobody else has to claim.
            let told = old.map(|old| old.claimed()).unwrap_or_default();
            let new_claims = |item| {
                if claims_of_others(item, &new.id) {
                    twice.insert(item);
                }
            };
            sets::compare(told, new.claimed(), |_| {}, new_claims);
        }
        for (item, open) in &self.open {
            let still = |open: &Open| {
                open.kind == DisagreementType::DuplicateClaim
                    && turn.present(&open.member).is_some_and(|member| {
                        sets::contains(member.claimed(), *item)
                            && claims_of_others(*item, &member.id)
                    })
            };
            if open.iter().any(still) {
                twice.insert(*item);
            }
        }
        twice
    }

    /// Of those who claim it, the one that was told to have it is in the right.
    fn duplicate(&mut self, turn: &Turn<'_>, item: WorkItem) {
        let before = turn.step.before.as_deref();
        let claims = |member: &&Arc<Member>| sets::contains(member.claimed(), item);
        let claimants: Vec<&Arc<Member>> = turn.now().iter().filter(claims).collect();
        let in_the_right = |member: &Arc<Member>| {
            let old = before.and_then(|before| before.member(&member.id));
            old.is_some_and(|old| old.is_told(item))
        };
        let rights = claimants.iter().filter(|m| in_the_right(m)).count();
        let is_one = |open: &Open| open.kind == DisagreementType::DuplicateClaim;
        let open = self.open.get(&item).into_iter().flatten();
        // A leader that leaves both of them with it puts nobody into the right.
        let goes_on = open.into_iter().any(is_one);
        for member in &claimants {
            if (rights == 1 || goes_on) && in_the_right(member) {
                continue;
            }
            let others = claimants.iter().filter(|other| other.id != member.id);
            let others: Vec<&str> = others.map(|other| &*other.worker).collect();
            let evidence = format!(
                "claimed by it and by {} when generation {} was formed",
                others.join(", "),
                turn.generation()
            );
            self.add(
                item,
                Open {
                    kind: DisagreementType::DuplicateClaim,
                    worker: Arc::clone(&member.worker),
                    member: Arc::clone(&member.id),
                    since: turn.step.recorded,
                    confidence: Confidence::Certain,
                    evidence,
                    mark: None,
                },
            );
        }
    }
}
