//! The rules by which one piece of work is weighed, each alone: what the newest record says of
//! it beside what was written of it last.

use std::sync::Arc;

use super::{Disagreements, Facts, Gone, Open, is_active, patience_ms};
use crate::answers::{Confidence, DisagreementType};
use crate::facts::ids::WorkItem;
use crate::facts::observation::{Claim, Member, RunState};
use crate::facts::time::EventTime;
use crate::limits::DISAGREES_AFTER_MS;
use crate::story::status_log::Written;
use crate::view::statuses::StatusNow;

/// One piece of work, as it is weighed.
pub(super) struct Look<'a> {
    pub(super) item: WorkItem,
    pub(super) facts: &'a Facts<'a>,
    /// Who is told to have it.
    pub(super) told: Option<&'a Arc<Member>>,
    /// Whether that has written nothing of it since.
    awaited: bool,
    /// What was written of it last.
    newest: Option<&'a StatusNow>,
    /// When the group was deleted.
    deleted: Option<EventTime>,
    pub(super) now: EventTime,
}

/// A disagreement, and the instant from which on it is one.
pub(super) struct Found {
    pub(super) kind: DisagreementType,
    pub(super) worker: Arc<str>,
    pub(super) since: EventTime,
    pub(super) from: EventTime,
    /// When it is over, where nothing else ends it.
    pub(super) until: Option<EventTime>,
    pub(super) confidence: Confidence,
    pub(super) evidence: String,
}

// === impl Disagreements ===

impl Disagreements {
    /// Weighs one piece of work at an instant.
    pub(super) fn weigh(&mut self, item: WorkItem, now: EventTime, facts: &Facts<'_>) {
        if !facts.statuses_known {
            return;
        }
        let told = facts.record.filter(|_| self.deleted.is_none());
        let told = told.and_then(|record| record.members.iter().find(|m| m.is_told(item)));
        let of_told =
            |awaited: &super::Awaited| told.is_some_and(|told| told.worker == awaited.worker);
        if self.awaited.get(&item).is_some_and(|a| !of_told(a)) {
            self.awaited.remove(&item);
        }
        let look = Look {
            item,
            facts,
            told,
            awaited: self.awaited.contains_key(&item),
            newest: facts.statuses.get(item),
            deleted: self.deleted,
            now,
        };
        self.end(item, look.ended(), |open| look.is_stopped(open));
        let mut found = Vec::new();
        if facts.configured.contains(item) {
            self.weigh_departed(&look, &mut found);
            self.weigh_told(&look, &mut found);
            let writer = look.rule_6_two_writers();
            let runs_on = |worker: &str| {
                let mut open = self.open.get(&item).into_iter().flatten();
                open.any(|open| open.mark.is_some() && *open.worker == *worker)
                    || writer
                        .as_ref()
                        .is_some_and(|found| *found.worker == *worker)
            };
            found.extend(look.rule_2_elsewhere(&self.parted, runs_on));
            found.extend(writer);
        } else {
            self.gone.remove(&item);
            self.awaited.remove(&item);
        }
        if !found
            .iter()
            .any(|f| f.kind == DisagreementType::RunningElsewhere)
        {
            self.parted.remove(&item);
        }
        found.retain(|found| facts.on(found.kind));
        self.reconcile(&look, now, found);
    }

    /// Rule 1, for each who left.
    fn weigh_departed(&mut self, look: &Look<'_>, found: &mut Vec<Found>) {
        let Some(mut gone) = self.gone.remove(&look.item) else {
            return;
        };
        gone.retain(|gone| {
            let (is_watched, told) = look.rule_1_departed(gone);
            found.extend(told);
            // Another process of its address is there: nobody told that to have it.
            if look.told.is_none() && look.member(&gone.worker).is_some() {
                let parted = (Arc::clone(&gone.worker), gone.since);
                self.parted.insert(look.item, parted);
            }
            is_watched
        });
        if !gone.is_empty() {
            self.gone.insert(look.item, gone);
        }
    }

    /// Rules 3, 4 and 9.
    fn weigh_told(&self, look: &Look<'_>, found: &mut Vec<Found>) {
        let Some(told) = look.told.filter(|told| !look.is_shared(&told.worker)) else {
            return;
        };
        match self.awaited.get(&look.item) {
            Some(awaited) => found.push(look.rules_3_and_9_nothing_said(told, awaited)),
            None => found.extend(look.rule_4_stopped(told)),
        }
    }

    /// What is found begins, or goes on; what is not is over.
    fn reconcile(&mut self, look: &Look<'_>, now: EventTime, found: Vec<Found>) {
        use DisagreementType::{AbandonedStop, DuplicateClaim, PossibleOrphan};
        let is_found = |open: &Open| {
            let mut found = found.iter();
            found.any(|f| f.kind == open.kind && f.worker == open.worker && f.from <= now)
        };
        self.end(look.item, look.ended(), |open| {
            let weighed = !matches!(open.kind, DuplicateClaim | PossibleOrphan | AbandonedStop);
            weighed && !is_found(open)
        });
        for found in found {
            if found.from > now {
                self.look(look.item, found.from);
                continue;
            }
            if let Some(until) = found.until {
                self.look(look.item, until);
            }
            self.add(
                look.item,
                Open {
                    kind: found.kind,
                    worker: found.worker,
                    member: Arc::from(""),
                    since: found.since,
                    confidence: found.confidence,
                    evidence: found.evidence,
                    mark: None,
                },
            );
        }
    }
}

// === impl Look ===

impl Look<'_> {
    /// The newest thing that was read of it: what is over ended by that.
    fn ended(&self) -> EventTime {
        let earliest = EventTime(i64::MIN);
        let recorded = self.facts.record.map_or(earliest, |record| record.recorded);
        let word = self.facts.log.of(self.item).last();
        let word = word.map_or(earliest, |word| self.written_at(word));
        recorded.max(word).max(self.deleted.unwrap_or(earliest))
    }

    pub(super) fn written_at(&self, word: &Written) -> EventTime {
        self.facts.placed(&word.worker, word.recorded)
    }

    pub(super) fn is_shared(&self, worker: &str) -> bool {
        let record = self.facts.record;
        record.is_some_and(|record| record.shares_worker(worker))
    }

    pub(super) fn member(&self, worker: &str) -> Option<&Arc<Member>> {
        let record = self.facts.record.filter(|_| self.deleted.is_none())?;
        record.members.iter().find(|m| *m.worker == *worker)
    }

    /// When somebody may hand it out, where it has no owner: the end of the delay, else the
    /// newest record, or that the group was deleted with all its members.
    fn handed_out_by(&self) -> EventTime {
        let earliest = EventTime(i64::MIN);
        let Some(record) = self.facts.record else {
            return earliest;
        };
        match self.deleted {
            Some(deleted) if !record.members.is_empty() => deleted,
            _ => record.recorded.plus_ms(i64::from(record.delay_ms.max(0))),
        }
    }

    /// Rules 7 and 8 are over: its worker wrote something newer, is another process, or is gone.
    fn is_stopped(&self, open: &Open) -> bool {
        let Some(mark) = &open.mark else {
            return false;
        };
        let Some(member) = self.member(&open.worker) else {
            return true;
        };
        let another = member.id != open.member && member.claim == Claim::Nothing;
        another || self.facts.last_by(self.item, &open.worker) != Some(mark)
    }

    /// Rule 1: whether who left is still to be watched, and whether it is a disagreement.
    fn rule_1_departed(&self, gone: &Gone) -> (bool, Option<Found>) {
        let last = self.facts.last_by(self.item, &gone.worker);
        let silent = last.is_some_and(|last| is_active(last.state));
        if !silent || self.member(&gone.worker).is_some() {
            return (false, None);
        }
        let mut departures = self.facts.departures.recent();
        let departure = departures.find(|d| Some(&d.member) == gone.member.as_ref());
        let may_live = departure.is_some_and(|departure| !departure.settled);
        let told = |from: EventTime, evidence: String| Found {
            kind: DisagreementType::RunningOnDepartedWorker,
            worker: Arc::clone(&gone.worker),
            since: gone.since,
            from,
            until: None,
            confidence: Confidence::Possible,
            evidence,
        };
        let Some(owner) = self.told else {
            let is_newest = self
                .newest
                .is_some_and(|newest| newest.worker == gone.worker);
            let from = self.handed_out_by().plus_ms(DISAGREES_AFTER_MS);
            let found = is_newest.then(|| {
                let evidence = "it is not in the group, nobody else has it, and its status says \
                                that it runs it";
                told(from, evidence.to_owned())
            });
            return (is_newest || may_live, found);
        };
        if self.awaited {
            return (true, None);
        }
        let found = may_live.then(|| {
            let evidence = format!(
                "it left the group and did not write that it stopped; {} runs it now. A worker that \
                 died looks the same",
                owner.worker
            );
            told(gone.since, evidence)
        });
        (may_live, found)
    }

    /// Rule 2. `runs_on` says whether that is told of a worker already.
    fn rule_2_elsewhere(
        &self,
        parted: &std::collections::BTreeMap<WorkItem, (Arc<str>, EventTime)>,
        runs_on: impl Fn(&str) -> bool,
    ) -> Option<Found> {
        let newest = self.newest.filter(|newest| is_active(newest.state))?;
        let worker = &newest.worker;
        let member = self.member(worker)?;
        if member.is_told(self.item) || self.is_shared(worker) || self.awaited || runs_on(worker) {
            return None;
        }
        let parted = parted.get(&self.item).filter(|(of, _)| of == worker);
        // It had it, or knew that it has not; else another process of that address wrote it.
        let knew = self.facts.record.map(|record| record.generation) <= Some(newest.generation);
        if self.told.is_none() && parted.is_none() && !knew {
            return None;
        }
        let written = self.facts.placed(worker, newest.recorded);
        let since = parted.map_or(written, |(_, at)| written.max(*at));
        let waits = self.told.is_none().then(|| self.handed_out_by());
        let from = waits.map_or(since, |by| since.max(by));
        let owner = match self.told {
            Some(owner) => format!("{} is told to have it", owner.worker),
            None => "nobody is told to have it".to_owned(),
        };
        Some(Found {
            kind: DisagreementType::RunningElsewhere,
            worker: Arc::clone(worker),
            since,
            from: from.plus_ms(patience_ms(member)),
            until: None,
            confidence: Confidence::Likely,
            evidence: format!("its status says that it runs there; {owner}"),
        })
    }

    /// Rules 3 and 9.
    fn rules_3_and_9_nothing_said(&self, told: &Member, awaited: &super::Awaited) -> Found {
        let frozen = self.frozen_by(told);
        let (kind, evidence) = match frozen {
            Some(newest) if self.facts.on(DisagreementType::StatusFrozen) => (
                DisagreementType::StatusFrozen,
                format!(
                    "it wrote nothing since it was told to have it; the status of {} with generation \
                     {} is of an older group, and keeps out that it failed or stopped",
                    newest.worker, newest.generation
                ),
            ),
            _ => (
                DisagreementType::AssignedNotRunning,
                "it is told to have it, and wrote nothing of it since".to_owned(),
            ),
        };
        Found {
            kind,
            worker: Arc::clone(&told.worker),
            since: awaited.since,
            from: awaited.due,
            until: None,
            confidence: Confidence::Likely,
            evidence,
        }
    }

    /// A status of an older life of the group, by another worker, with a generation that the
    /// group has not reached again: `KafkaStatusBackingStore.sendConnectorStatus` and
    /// `sendTaskStatus` with `safeWrite`.
    fn frozen_by(&self, told: &Member) -> Option<&Written> {
        let newest = self.newest?;
        let mut words = self.facts.log.of(self.item).iter().rev();
        let is_it =
            |word: &&Written| word.worker == newest.worker && word.generation == newest.generation;
        words
            .find(is_it)
            .filter(|word| word.worker != told.worker && word.generation > self.facts.generation)
    }

    /// Rule 4.
    fn rule_4_stopped(&self, told: &Member) -> Option<Found> {
        let newest = self.newest;
        let newest = newest.filter(|newest| newest.state == RunState::Unassigned)?;
        let since = self.facts.placed(&newest.worker, newest.recorded);
        Some(Found {
            kind: DisagreementType::UnassignedButOwned,
            worker: Arc::clone(&told.worker),
            since,
            from: since.plus_ms(patience_ms(told)),
            until: None,
            confidence: Confidence::Likely,
            evidence: format!("it has it; {} wrote last that it stopped", newest.worker),
        })
    }
}
