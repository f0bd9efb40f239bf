//! Generations and how they ended. A *round* is one pass of join and sync; it took
//! effect only if members applied the record it left, and the record itself does not
//! say so: a member that joins or leaves while the coordinator appends it makes everybody
//! rejoin instead (`GroupCoordinator.doSyncGroup`).
//!
//! The rules, in order; the first that applies settles the round:
//! 1. *emptied*: the record has no members.
//! 2. *mismatch*: the assignments carry an error.
//! 3. *completed*: a member's next claim follows what the record told it.
//! 4. *aborted*: members' next claims ignore what the record told them, and none follows it.
//! 5. *completed*: a member wrote a status with exactly this generation before the next
//!    join phase ended (a status carries the last generation its worker completed).
//! 6. *completed*: no other record within the largest rebalance timeout: had nobody
//!    applied it, all would have rejoined by then.
//! 7. *completed*: members stayed, and there was nothing to apply.
//! 8. *unknown*: none of these.
//! 9. a number without a record: *aborted* where the log is whole, else *unknown*.
//!
//! Rules 3, 4 and 7 need the next record alone. Rule 5 waits for its barrier, so that a
//! status that proves it cannot still be unread.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::Outcome;
use crate::facts::ids::WorkItem;
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::facts::sets;
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::{ROUNDS_OPEN_MAX, ROUNDS_SHOWN_MAX, TIMER_SLACK_MS};
use crate::story::barrier::Progress;
use crate::view::statuses::Statuses;

/// The rounds that are open, and the last that were settled, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Rounds {
    rounds: VecDeque<Round>,
    /// How many of them have no outcome yet.
    open: usize,
}

/// One round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Round {
    /// Which incarnation of the group.
    pub incarnation: u32,
    /// When that incarnation began, where it was seen.
    pub incarnation_began: Option<EventTime>,
    /// What its record says; absent when it left none.
    pub record: Option<Arc<GroupSnapshot>>,
    /// Its number.
    pub generation: i32,
    /// Whether each member of the record is proven to have applied it.
    pub applied: Vec<Option<bool>>,
    /// Whether each member of the record is in the next one too.
    pub stayed: Vec<bool>,
    /// What followed.
    pub next: Option<Next>,
    /// How it ended, and the rule that says so.
    pub outcome: Option<(Outcome, Rule)>,
    /// Whether it ended while the agent watched.
    pub counts: bool,
}

/// What followed a round.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Next {
    /// When the next join phase ended, or the group was found gone.
    pub join_ended: EventTime,
    /// When the agent had that record: the barrier is asked after it.
    pub arrived: ArrivalTime,
    /// Whether it happened while the agent watched.
    pub live: bool,
}

/// What the rules look at beside the rounds themselves.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// What the status topic says.
    pub statuses: &'a Statuses,
    /// How far the inputs were read.
    pub progress: &'a Progress,
    /// The instant up to which no group record is unread (rule 6).
    pub quiet_until: Option<EventTime>,
    /// The instant since which the agent watches: what ended before is not counted.
    pub watched_since: Option<EventTime>,
}

/// A rule of this module's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rule {
    /// No members.
    R1Emptied,
    /// An error in the assignments.
    R2Mismatch,
    /// A claim follows.
    R3Claimed,
    /// Claims ignore.
    R4Ignored,
    /// A status with this generation.
    R5Status,
    /// Quiet for the largest rebalance timeout.
    R6Quiet,
    /// Nothing to apply.
    R7NothingToApply,
    /// No evidence.
    R8NoEvidence,
    /// A missing number.
    R9Missing,
}

// === impl Rule ===

impl Rule {
    /// How answers name it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::R1Emptied => "generation rule 1",
            Self::R2Mismatch => "generation rule 2",
            Self::R3Claimed => "generation rule 3",
            Self::R4Ignored => "generation rule 4",
            Self::R5Status => "generation rule 5",
            Self::R6Quiet => "generation rule 6",
            Self::R7NothingToApply => "generation rule 7",
            Self::R8NoEvidence => "generation rule 8",
            Self::R9Missing => "generation rule 9",
        }
    }
}

// === impl Rounds ===

impl Rounds {
    /// A record opens a round. Returns it if rule 1 or 2 settles it at once.
    pub fn open(&mut self, mut round: Round, live: bool) -> Option<Round> {
        let record = round.record.as_deref()?;
        let at_once = rule_1_emptied(record).or_else(|| rule_2_mismatch(record));
        round.applied = vec![None; record.members.len()];
        round.stayed = vec![false; record.members.len()];
        round.outcome = at_once;
        round.counts = live;
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
                applied: Vec::new(),
                stayed: Vec::new(),
                next: None,
                outcome: Some((outcome, Rule::R9Missing)),
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

    /// The newest open round learns what followed it; `next` is `None` when the group
    /// was deleted or created anew, so that nobody of it can be seen again.
    pub fn followed(&mut self, next: Option<&GroupSnapshot>, facts: Next) {
        let Some(round) = self
            .rounds
            .back_mut()
            .filter(|round| round.outcome.is_none())
        else {
            return;
        };
        if let (Some(record), Some(next)) = (&round.record, next) {
            let members = || record.members.iter();
            round.applied = members().map(|member| followed_by(member, next)).collect();
            round.stayed = members()
                .map(|member| next.member(&member.id).is_some())
                .collect();
        }
        round.next = Some(facts);
    }

    /// Settles every round that can be settled, and returns them in order.
    pub fn settle(&mut self, evidence: Evidence<'_>) -> Vec<Round> {
        let mut settled = Vec::new();
        if self.open > 0 {
            for round in self
                .rounds
                .iter_mut()
                .filter(|round| round.outcome.is_none())
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
            oldest.outcome = Some((Outcome::Unknown, Rule::R8NoEvidence));
            oldest.counts = oldest.next.is_some_and(|next| next.live);
            given_up.push(oldest.clone());
            self.open = self.open.saturating_sub(1);
        }
        while self.rounds.len() > ROUNDS_SHOWN_MAX
            && self
                .rounds
                .front()
                .is_some_and(|round| round.outcome.is_some())
        {
            self.rounds.pop_front();
        }
        given_up
    }

    /// Whether a round waits for its barrier, so that the agent should ask where the
    /// topics end. The instant is the oldest that such a question must follow.
    #[must_use]
    pub fn waits_since(&self) -> Option<ArrivalTime> {
        self.rounds
            .iter()
            .filter(|round| round.outcome.is_none())
            .find_map(|round| round.next.map(|next| next.arrived))
    }

    /// The next instant at which rule 6 may settle the newest round.
    #[must_use]
    pub fn quiet_deadline(&self) -> Option<EventTime> {
        let round = self.rounds.back().filter(|round| round.outcome.is_none())?;
        round
            .next
            .is_none()
            .then(|| round.record.as_deref().map(quiet_deadline))
            .flatten()
    }

    /// Whether members of the newest record are proven to have applied it, in its order.
    #[must_use]
    pub fn newest(&self) -> Option<&Round> {
        self.rounds.back()
    }

    /// The rounds kept, oldest first.
    pub fn shown(&self) -> impl Iterator<Item = &Round> {
        let skip = self.rounds.len().saturating_sub(ROUNDS_SHOWN_MAX);
        self.rounds.iter().skip(skip)
    }
}

// === impl Round ===

impl Round {
    /// A round of this incarnation, about which nothing is known yet.
    #[must_use]
    pub fn of(incarnation: u32, incarnation_began: Option<EventTime>) -> Self {
        Self {
            incarnation,
            incarnation_began,
            record: None,
            generation: 0,
            applied: Vec::new(),
            stayed: Vec::new(),
            next: None,
            outcome: None,
            counts: false,
        }
    }

    /// Those of them that are in the next record too.
    pub fn appliers_that_stayed(&self) -> impl Iterator<Item = &Arc<Member>> {
        let members = self
            .record
            .as_deref()
            .map(|record| record.members.as_slice());
        members
            .unwrap_or_default()
            .iter()
            .zip(self.applied.iter().zip(&self.stayed))
            .filter(|(_, (applied, stayed))| **applied == Some(true) && **stayed)
            .map(|(member, _)| member)
    }

    /// The members that are proven to have applied the record.
    pub fn appliers(&self) -> impl Iterator<Item = &Arc<Member>> {
        let members = self
            .record
            .as_deref()
            .map(|record| record.members.as_slice());
        members
            .unwrap_or_default()
            .iter()
            .zip(&self.applied)
            .filter(|(_, applied)| **applied == Some(true))
            .map(|(member, _)| member)
    }
}

fn settle_one(round: &mut Round, evidence: Evidence<'_>) -> bool {
    let Some(record) = round.record.clone() else {
        return false;
    };
    let Some(next) = round.next else {
        return rule_6_quiet(round, &record, evidence);
    };
    round.counts = next.live;
    let undecided = record
        .members
        .iter()
        .zip(&round.applied)
        .any(|(member, applied)| applied.is_none() && member.has_deltas());
    let by_claims = rule_3_claimed(round).or_else(|| rule_4_ignored(round));
    if by_claims.is_some() && !undecided {
        round.outcome = by_claims;
        return true;
    }
    let nothing_to_apply = rule_7_nothing_to_apply(round, &record);
    if by_claims.is_none() && nothing_to_apply.is_some() {
        round.outcome = nothing_to_apply;
        return true;
    }
    if !evidence.progress.passed(next.arrived) {
        return false;
    }
    let by_status = rule_5_status(round, &record, evidence.statuses, next);
    round.outcome = by_claims
        .or(by_status)
        .or(Some((Outcome::Unknown, Rule::R8NoEvidence)));
    true
}

fn rule_1_emptied(record: &GroupSnapshot) -> Option<(Outcome, Rule)> {
    record
        .members
        .is_empty()
        .then_some((Outcome::Emptied, Rule::R1Emptied))
}

fn rule_2_mismatch(record: &GroupSnapshot) -> Option<(Outcome, Rule)> {
    record.error.map(|_| (Outcome::Mismatch, Rule::R2Mismatch))
}

fn rule_3_claimed(round: &Round) -> Option<(Outcome, Rule)> {
    round
        .applied
        .contains(&Some(true))
        .then_some((Outcome::Completed, Rule::R3Claimed))
}

fn rule_4_ignored(round: &Round) -> Option<(Outcome, Rule)> {
    round
        .applied
        .contains(&Some(false))
        .then_some((Outcome::Aborted, Rule::R4Ignored))
}

/// Marks the members whose worker wrote a status with this generation. A worker that
/// several members advertise proves nothing about any of them.
fn rule_5_status(
    round: &mut Round,
    record: &GroupSnapshot,
    statuses: &Statuses,
    next: Next,
) -> Option<(Outcome, Rule)> {
    let since = round
        .incarnation_began
        .map(|began| began.plus_ms(-TIMER_SLACK_MS));
    let mut proven = false;
    for (member, applied) in record.members.iter().zip(&mut round.applied) {
        if applied.is_none()
            && !record.shares_worker(&member.worker)
            && statuses.proves(
                &member.worker,
                record.generation,
                since,
                Some(next.join_ended),
            )
        {
            *applied = Some(true);
            proven = true;
        }
    }
    proven.then_some((Outcome::Completed, Rule::R5Status))
}

fn rule_6_quiet(round: &mut Round, record: &GroupSnapshot, evidence: Evidence<'_>) -> bool {
    let deadline = quiet_deadline(record);
    if evidence.quiet_until.is_none_or(|until| until < deadline) {
        return false;
    }
    round.counts |= evidence
        .watched_since
        .is_some_and(|since| deadline >= since);
    round.applied = vec![Some(true); record.members.len()];
    round.outcome = Some((Outcome::Completed, Rule::R6Quiet));
    true
}

fn rule_7_nothing_to_apply(round: &Round, record: &GroupSnapshot) -> Option<(Outcome, Rule)> {
    let nothing = !record.members.iter().any(|member| member.has_deltas());
    (nothing && round.stayed.contains(&true))
        .then_some((Outcome::Completed, Rule::R7NothingToApply))
}

/// The instant after which a record without a successor is proven by rule 6.
fn quiet_deadline(record: &GroupSnapshot) -> EventTime {
    let timeout_ms = i64::from(record.rebalance_timeout_ms_max().max(0));
    record.recorded.plus_ms(timeout_ms).plus_ms(TIMER_SLACK_MS)
}

/// Whether `member`, as told by one record, did what it was told, by its claim in the
/// next one. `None`: it was told nothing, is gone, or says nothing.
fn followed_by(member: &Member, next: &GroupSnapshot) -> Option<bool> {
    let present = next.member(&member.id)?;
    let Claim::Items(claimed) = &present.claim else {
        return None;
    };
    if !member.has_deltas() {
        // A fresh process that was told nothing still shows that it was told: its next
        // claim is an empty list where it had none at all.
        return (member.claim == Claim::Nothing).then_some(true);
    }
    if sets::covers(claimed, &member.assigned) && sets::disjoint(claimed, &member.revoked) {
        return Some(true);
    }
    let ignored = claimed_before(member, claimed);
    ignored.then_some(false)
}

/// Whether the claim is what it would be had the record never been.
fn claimed_before(member: &Member, claimed: &[WorkItem]) -> bool {
    match &member.claim {
        Claim::Items(before) => before == claimed,
        Claim::Nothing | Claim::Unsaid => claimed.is_empty(),
    }
}
