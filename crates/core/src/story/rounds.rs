//! Generations and how they ended. A *round* is one pass of join and sync; it took
//! effect only if members applied the record it left, and the record itself does not
//! say so: a member that joins or leaves while the coordinator appends it makes everybody
//! rejoin instead (`GroupCoordinator.doSyncGroup`).
//!
//! The rules, in order; the first that applies settles the round:
//! 1. *emptied*: the record has no members.
//! 2. *mismatch*: the assignments carry an error.
//! 3. *completed*: a member's next claim follows what the record told it, or carries the
//!    leader, config offset and delay of this record and not of the one before.
//! 4. *completed*: a member wrote a status with exactly this generation before the next
//!    join phase ended (a status carries the last generation its worker completed).
//! 5. *completed*: no other record within twice the largest rebalance timeout: had nobody
//!    applied it, all would have rejoined by then. Another coordinator has another clock.
//! 6. *aborted*: members' next claims ignore what the record told them, or carry what was
//!    handed out before it, and none follows it.
//! 7. *unknown*: none of these.
//! 8. a number without a record: *aborted* where the log is whole, else *unknown*.
//!
//! What each member was told is counted by itself: a member that did not ask for its
//! assignment before the next rebalance gets nothing although the round was completed.
//!
//! Rules 3 and 5 need the next record alone.
//! Where rule 4 does not settle at once, rules 6 and 7 wait for the barrier of the next
//! record, so that a status that proves the contrary cannot still be unread, and for the turn
//! of its step, so that it can be told whether its clock speaks against it.

mod due;
mod next;
mod round;
mod rules;

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::Outcome;
use crate::facts::ids::Protocol;
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::{ROUNDS_OPEN_MAX, ROUNDS_SHOWN_MAX};
use crate::story::barrier::Progress;
use crate::story::losses::Took;
use crate::story::skew::Skews;
use crate::view::statuses::Statuses;
pub use due::Due;
pub use next::Next;
pub use round::Round;
pub use rules::Rule;
use rules::{
    followed_by, is_unshown, member_applied, rule_1_emptied, rule_2_mismatch, settle_one,
    status_waits,
};

/// The rounds that are open, and the last that were settled, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Rounds {
    rounds: VecDeque<Round>,
    /// How many of them have no outcome yet.
    open: usize,
}

/// What the rules look at beside the rounds themselves.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// What the status topic says.
    pub statuses: &'a Statuses,
    /// Clocks of those who wrote it.
    pub skews: &'a Skews,
    /// How far the inputs were read.
    pub progress: &'a Progress,
    /// How many steps were taken to be judged.
    pub steps_taken: u64,
    /// Whether others wait for that.
    pub steps_wait: bool,
    /// The instant up to which no group record is unread (rule 5).
    pub quiet_until: Option<EventTime>,
}

// === impl Evidence ===

impl Evidence<'_> {
    /// Whether nothing that says more of a round with this follower can be unread, and what
    /// earlier steps tell of clocks is known: whoever reads the history knows it no later.
    fn is_all(&self, next: &Next) -> bool {
        self.knows_clocks(Some(next)) && self.progress.passed(next.arrived)
    }

    /// Whether all is known that steps tell of clocks before a round, and what it had started
    /// does: a status is not held against clocks that are known later.
    fn knows_clocks(&self, next: Option<&Next>) -> bool {
        match next {
            Some(next) => next.step < self.steps_taken,
            None => !self.steps_wait,
        }
    }
}

// === impl Rounds ===

impl Rounds {
    /// A record opens a round. Returns it if rule 1 or 2 settles it at once.
    pub fn open(&mut self, mut round: Round, live: bool) -> Option<Round> {
        let record = round.record.as_deref()?;
        let at_once = rule_1_emptied(record).or_else(|| rule_2_mismatch(record));
        round.outcome = at_once;
        // Who was told nothing has nothing to count.
        round.counted = record
            .members
            .iter()
            .map(|member| !member.has_deltas())
            .collect();
        round.counts = live;
        round.fresh = true;
        let settled = at_once.is_some().then(|| round.clone());
        self.push(round);
        settled
    }

    /// Numbers that left no record. Their outcome is known at once; only the last few
    /// are kept to be shown.
    pub fn missing(&mut self, template: &Round, numbers: std::ops::Range<i32>, outcome: Outcome) {
        let shown = i32::try_from(ROUNDS_SHOWN_MAX).unwrap_or(i32::MAX);
        let first = numbers.start.max(numbers.end.saturating_sub(shown));
        for generation in first..numbers.end {
            self.push(Round {
                generation,
                record: None,
                followed: Vec::new(),
                stayed: Vec::new(),
                dropped: Vec::new(),
                counted: Vec::new(),
                next: None,
                fresh: false,
                outcome: Some((outcome, Rule::R8Missing)),
                ..template.clone()
            });
        }
    }

    fn push(&mut self, round: Round) {
        self.open = self
            .open
            .saturating_add(usize::from(round.outcome.is_none()));
        self.rounds.push_back(round);
    }

    /// The newest round learns what followed it; `next` is `None` when the group was
    /// deleted or created anew, so that nobody of it can be seen again. Returns the round
    /// if it was settled before.
    pub fn followed(&mut self, next: Option<&GroupSnapshot>, facts: Next) -> Option<&Round> {
        let round = self
            .rounds
            .back_mut()
            .filter(|round| round.next.is_none())?;
        let record = round.record.as_deref()?;
        if let Some(next) = next {
            let members = || record.members.iter();
            round.followed = members().map(|member| followed_by(member, next)).collect();
            round.stayed = members()
                .map(|member| next.member(&member.id).is_some())
                .collect();
            let cooperative = record.protocol.is_some_and(Protocol::is_cooperative);
            let without_claim = |member: &Arc<Member>| {
                cooperative
                    && next
                        .member(&member.id)
                        .is_some_and(|new| new.claim == Claim::Nothing)
            };
            round.dropped = members().map(without_claim).collect();
        }
        round.next = Some(facts);
        round.fresh = true;
        round.outcome.is_some().then_some(&*round)
    }

    /// Settles every round that can be settled by what is due, and returns them in order.
    pub fn settle(&mut self, evidence: Evidence<'_>, due: &Due) -> Vec<Round> {
        let mut settled = Vec::new();
        if self.open > 0 {
            for round in self
                .rounds
                .iter_mut()
                .filter(|round| round.outcome.is_none() && due.has(round))
            {
                if settle_one(round, evidence) {
                    settled.push(round.clone());
                }
            }
        }
        self.open = self.open.saturating_sub(settled.len());
        settled.extend(self.bound());
        settled
    }

    /// Drops settled rounds that are no longer shown; gives up on the oldest open ones
    /// when there are too many.
    fn bound(&mut self) -> Vec<Round> {
        let mut given_up = Vec::new();
        while self.open > ROUNDS_OPEN_MAX {
            let Some(oldest) = self.rounds.iter_mut().find(|round| round.outcome.is_none()) else {
                break;
            };
            oldest.outcome = Some((Outcome::Unknown, Rule::R7NoEvidence));
            given_up.push(oldest.clone());
            self.open = self.open.saturating_sub(1);
        }
        // Settled rounds behind an open one go, too: one that cannot be settled must not
        // keep a loop's worth of others. Those with members that may still be counted stay,
        // as many as rounds may be open.
        let kept_max = ROUNDS_SHOWN_MAX.saturating_mul(2).saturating_add(self.open);
        if self.rounds.len() > kept_max {
            let shown_from = self.rounds.len().saturating_sub(ROUNDS_SHOWN_MAX);
            let counts_from = self.rounds.len().saturating_sub(ROUNDS_OPEN_MAX);
            let mut place = 0_usize;
            self.rounds.retain(|round| {
                place = place.saturating_add(1);
                place > shown_from
                    || round.outcome.is_none()
                    || (place > counts_from && round.waits_for_members())
            });
        }
        given_up
    }

    /// All open rounds end without evidence: their log is gone.
    pub fn give_up(&mut self) -> Vec<Round> {
        let rounds = std::mem::take(self).rounds.into_iter();
        let open = rounds.filter(|round| round.outcome.is_none());
        open.map(|round| Round {
            outcome: Some((Outcome::Unknown, Rule::R7NoEvidence)),
            ..round
        })
        .collect()
    }

    /// Whether a status with this generation may prove something that is open.
    #[must_use]
    pub fn waits_for(&self, generation: i32) -> bool {
        self.rounds.iter().rev().any(|round| {
            round.generation == generation && (round.outcome.is_none() || round.waits_for_members())
        })
    }

    /// How the round of the record at this offset ended, and whether each of its members is
    /// proven to have done what it was told, or not to: neither, where nothing shows it.
    #[must_use]
    pub fn proof(
        &self,
        offset: i64,
        evidence: Evidence<'_>,
    ) -> Option<(Option<Outcome>, Vec<Option<bool>>)> {
        let is_it = |round: &&Round| round.record.as_deref().is_some_and(|r| r.offset == offset);
        let round = self.rounds.iter().rev().find(is_it)?;
        let record = round.record.as_deref()?;
        let proofs = (0..record.members.len())
            .map(|place| {
                let applied = member_applied(round, record, place, evidence);
                applied.filter(|applied| *applied || !is_unshown(round, place))
            })
            .collect();
        Some((round.outcome.map(|(outcome, _)| outcome), proofs))
    }

    /// Members of completed rounds that are proven to have done what they were told, each
    /// once: by a status of their own with that generation, by their next claim, or by the
    /// quiet after the round.
    pub fn take_applied(&mut self, evidence: Evidence<'_>, due: &Due) -> Vec<Took> {
        let mut applied = Vec::new();
        for round in &mut self.rounds {
            let is_due = due.has(round);
            round.fresh = false;
            if !is_due || !round.waits_for_members() {
                continue;
            }
            let Some(record) = round.record.clone() else {
                continue;
            };
            let proofs: Vec<Option<bool>> = (0..record.members.len())
                .map(|place| member_applied(round, &record, place, evidence))
                .collect();
            for ((member, counted), proof) in
                record.members.iter().zip(&mut round.counted).zip(proofs)
            {
                let (false, Some(proof)) = (*counted, proof) else {
                    continue;
                };
                *counted = true;
                if proof {
                    applied.push(Took {
                        member: Arc::clone(member),
                        recorded: record.recorded,
                        offset: record.offset,
                        live: round.counts,
                    });
                }
            }
        }
        applied
    }

    /// Whether a round waits for its barrier, so that the agent should ask where the
    /// topics end. The instant is the oldest that such a question must follow.
    #[must_use]
    pub fn waits_since(&self) -> Option<ArrivalTime> {
        self.rounds
            .iter()
            .filter(|round| round.outcome.is_none() || round.waits_for_members())
            .find_map(|round| round.next.map(|next| next.arrived))
    }

    /// Whether a status is there that proves something of the newest round as soon as no group
    /// record older than it can be unread.
    #[must_use]
    pub fn waits_for_quiet(&self, evidence: Evidence<'_>) -> bool {
        let newest = self.rounds.back().filter(|round| round.next.is_none());
        newest.is_some_and(|round| {
            let open = round.outcome.is_none();
            (open || round.waits_for_members()) && status_waits(round, evidence)
        })
    }

    /// Whether the newest round with a record is proven to have been applied.
    #[must_use]
    pub fn newest_applied(&self) -> Option<bool> {
        self.rounds
            .iter()
            .rev()
            .find(|round| round.record.is_some())?
            .applied()
    }

    /// The record of the newest round that is proven to be completed.
    #[must_use]
    pub fn newest_completed(&self) -> Option<&Arc<GroupSnapshot>> {
        let mut newest_first = self.rounds.iter().rev();
        let completed = newest_first.find(|round| round.applied() == Some(true));
        completed.and_then(|round| round.record.as_ref())
    }

    /// The records of all rounds.
    pub fn records_mut(&mut self) -> impl Iterator<Item = &mut Arc<GroupSnapshot>> {
        self.rounds
            .iter_mut()
            .filter_map(|round| round.record.as_mut())
    }

    /// Goes on after an absence, at `now`: whatever is asked from now on is asked after all
    /// that was had before, whatever the clock said then.
    pub fn resume(&mut self, now: ArrivalTime) {
        for next in self
            .rounds
            .iter_mut()
            .filter_map(|round| round.next.as_mut())
        {
            next.arrived = next.arrived.min(now);
        }
    }

    /// The rounds kept, oldest first.
    pub fn shown(&self) -> impl Iterator<Item = &Round> {
        let skip = self.rounds.len().saturating_sub(ROUNDS_SHOWN_MAX);
        self.rounds.iter().skip(skip)
    }
}
