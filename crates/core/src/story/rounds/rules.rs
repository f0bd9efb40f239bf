//! The rules that settle a round, each alone: small functions of the round, the record and
//! the evidence.

use std::sync::Arc;

use super::{Evidence, Round};
use crate::answers::Outcome;
use crate::facts::ids::{Protocol, WorkItem};
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits::TIMER_SLACK_MS;
use serde::{Deserialize, Serialize};

/// A rule of the list in `rounds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rule {
    /// No members.
    R1Emptied,
    /// An error in the assignments.
    R2Mismatch,
    /// A claim follows.
    R3Claimed,
    /// A status with this generation.
    R4Status,
    /// Quiet for two rebalance timeouts.
    R5Quiet,
    /// Claims ignore.
    R6Ignored,
    /// No evidence.
    R7NoEvidence,
    /// A missing number.
    R8Missing,
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
            Self::R6Ignored => "generation rule 6",
            Self::R4Status => "generation rule 4",
            Self::R5Quiet => "generation rule 5",
            Self::R7NoEvidence => "generation rule 7",
            Self::R8Missing => "generation rule 8",
        }
    }
}

pub(super) fn settle_one(round: &mut Round, evidence: Evidence<'_>) -> bool {
    let Some(record) = round.record.clone() else {
        return false;
    };
    round.outcome = outcome_of(round, &record, evidence);
    round.outcome.is_some()
}

fn outcome_of(
    round: &Round,
    record: &GroupSnapshot,
    evidence: Evidence<'_>,
) -> Option<(Outcome, Rule)> {
    let Some(next) = round.next else {
        return rule_4_status(round, record, evidence)
            .or_else(|| rule_5_quiet(record, evidence.quiet_until));
    };
    let at_once = rule_3_claimed(round)
        .or_else(|| rule_4_status(round, record, evidence))
        // The timer fires at its event time, whoever asked when.
        .or_else(|| rule_5_quiet(record, next.on_same_clock()));
    if at_once.is_some() || !evidence.is_all(&next) {
        return at_once;
    }
    rule_6_ignored(round).or(Some((Outcome::Unknown, Rule::R7NoEvidence)))
}

pub(super) fn rule_1_emptied(record: &GroupSnapshot) -> Option<(Outcome, Rule)> {
    record
        .members
        .is_empty()
        .then_some((Outcome::Emptied, Rule::R1Emptied))
}

pub(super) fn rule_2_mismatch(record: &GroupSnapshot) -> Option<(Outcome, Rule)> {
    record.error.map(|_| (Outcome::Mismatch, Rule::R2Mismatch))
}

fn rule_3_claimed(round: &Round) -> Option<(Outcome, Rule)> {
    round
        .followed
        .contains(&Some(true))
        .then_some((Outcome::Completed, Rule::R3Claimed))
}

fn rule_6_ignored(round: &Round) -> Option<(Outcome, Rule)> {
    round
        .followed
        .contains(&Some(false))
        .then_some((Outcome::Aborted, Rule::R6Ignored))
}

fn rule_4_status(
    round: &Round,
    record: &GroupSnapshot,
    evidence: Evidence<'_>,
) -> Option<(Outcome, Rule)> {
    let proves = |member: &Arc<Member>| wrote_status(round, record, member, evidence);
    record
        .members
        .iter()
        .any(proves)
        .then_some((Outcome::Completed, Rule::R4Status))
}

/// Whether a member's worker wrote a status with the round's generation. A worker that
/// several members advertise proves nothing about any of them.
fn wrote_status(
    round: &Round,
    record: &GroupSnapshot,
    member: &Member,
    evidence: Evidence<'_>,
) -> bool {
    // An older life of the group had the same numbers: a status is of this one only if it
    // was written after the join phase, give or take the skew of two clocks.
    let since = record
        .join_ended
        .unwrap_or(record.recorded)
        .plus_ms(-TIMER_SLACK_MS);
    // While nothing is known to follow, a status proves something once no record that is
    // older than it can be unread: else it would matter which of both is read first.
    let until = round
        .next
        .map_or(evidence.quiet_until, |next| Some(next.recorded));
    let Some(until) = until.filter(|_| evidence.knows_clocks(round.next.as_ref())) else {
        return false;
    };
    let skew_ms = evidence.skews.of(&member.worker).ms();
    let by_its_clock = |at: EventTime| at.plus_ms(skew_ms);
    let (since, until) = (Some(by_its_clock(since)), Some(by_its_clock(until)));
    evidence
        .statuses
        .proves(&member.worker, record.generation, since, until)
        && !record.shares_worker(&member.worker)
}

/// Whether a member that nothing is known of yet wrote a status that only waits for the proof
/// that no older group record is unread.
pub(super) fn status_waits(round: &Round, evidence: Evidence<'_>) -> bool {
    let Some(record) = round.record.as_deref() else {
        return false;
    };
    let quiet = Evidence {
        quiet_until: Some(EventTime(i64::MAX)),
        ..evidence
    };
    let unknown =
        record.members.iter().enumerate().filter(|(place, _)| {
            round.outcome.is_none() || round.counted.get(*place) == Some(&false)
        });
    let mut members = unknown.map(|(_, member)| member);
    members.any(|member| {
        wrote_status(round, record, member, quiet) && !wrote_status(round, record, member, evidence)
    })
}

/// Whether one member of a completed round did what it was told; `None` until that can be
/// said.
pub(super) fn member_applied(
    round: &Round,
    record: &GroupSnapshot,
    place: usize,
    evidence: Evidence<'_>,
) -> Option<bool> {
    let member = record.members.get(place)?;
    let quiet_until = match round.next {
        Some(next) => next.on_same_clock(),
        None => evidence.quiet_until,
    };
    if rule_5_quiet(record, quiet_until).is_some() || wrote_status(round, record, member, evidence)
    {
        return Some(true);
    }
    let next = round.next?;
    match round.followed.get(place).copied().flatten() {
        Some(true) => Some(true),
        // A status that says that it did may still be unread.
        _ if !evidence.is_all(&next) => None,
        Some(false) => Some(false),
        // Twice without a claim: either it never got what it was told, or it has lost it
        // since. Only a status could say which.
        None if member.claim == Claim::Nothing && round.dropped.get(place) == Some(&true) => {
            Some(false)
        }
        // An eager member says in no claim whether it got anything, but what it starts it
        // tells.
        None if record.protocol == Some(Protocol::Eager) => Some(member.assigned.is_empty()),
        // Nothing contradicts a member that stayed in a completed round.
        None => Some(!is_unshown(round, place)),
    }
}

/// Whether nothing shows what a member did: it is not in the record after, or claims nothing
/// there and neither does anybody else.
pub(super) fn is_unshown(round: &Round, place: usize) -> bool {
    let claim = round.followed.get(place).copied().flatten();
    let is_gone = !round.stayed.get(place).copied().unwrap_or(false);
    let is_unknown = matches!(round.outcome, Some((Outcome::Unknown, _)));
    claim.is_none() && (is_gone || is_unknown)
}

fn rule_5_quiet(record: &GroupSnapshot, quiet_until: Option<EventTime>) -> Option<(Outcome, Rule)> {
    let quiet = quiet_until.is_some_and(|until| until >= quiet_deadline(record));
    quiet.then_some((Outcome::Completed, Rule::R5Quiet))
}

/// The instant after which a record without a successor is proven by rule 5. Had nobody
/// applied it, the next join phase would have ended within one rebalance timeout, and its
/// record would be there within another one, in which a leader that does not sync is
/// removed (KAFKA-12890).
pub(super) fn quiet_deadline(record: &GroupSnapshot) -> EventTime {
    let timeout_ms = i64::from(record.rebalance_timeout_ms_max().max(0));
    record
        .recorded
        .plus_ms(timeout_ms.saturating_mul(2))
        .plus_ms(TIMER_SLACK_MS)
}

/// Whether `member`, as told by one record, did what it was told, by its claim in the
/// next one. `None`: it was told nothing, is gone, or says nothing.
pub(super) fn followed_by(member: &Member, next: &GroupSnapshot) -> Option<bool> {
    let present = next.member(&member.id)?;
    let Claim::Items(claimed) = &present.claim else {
        return None;
    };
    let by_mark = received(member, present);
    if !member.has_deltas() {
        // A fresh process that was told nothing still shows that it was told: its next
        // claim is an empty list where it had none at all.
        let fresh = (member.claim == Claim::Nothing).then_some(true);
        return by_mark.or(fresh);
    }
    if sets::covers(claimed, &member.assigned) && sets::disjoint(claimed, &member.revoked) {
        return Some(true);
    }
    let ignored = claimed_before(member, claimed);
    by_mark.or(ignored.then_some(false))
}

/// Whether a member received what a record handed it, by what its next claim carries of the
/// assignment that it received last. `None` where that could be of another round.
fn received(member: &Member, next: &Member) -> Option<bool> {
    let (handed, has) = (member.handed?, next.received?);
    if has != handed {
        return Some(false);
    }
    // It had one with the same mark before.
    (member.received != Some(handed)).then_some(true)
}

/// Whether the claim is what it would be had the record never been.
fn claimed_before(member: &Member, claimed: &[WorkItem]) -> bool {
    match &member.claim {
        Claim::Items(before) => before == claimed,
        Claim::Nothing | Claim::Unsaid => claimed.is_empty(),
    }
}
