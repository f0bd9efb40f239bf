//! `IncrementalCooperativeAssignor`: what one worker remembers of the rounds it led, and
//! what it hands out.

use std::collections::{BTreeMap, BTreeSet};

use super::balance::{Loads, hand_out, surplus, surplus_old, surplus_oldest};
use super::{Delta, Handed, Round};
use crate::item::{Work, minus};

/// Which release's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// 3.4 and later (KAFKA-12495): back off between revoking rounds.
    Since34,
    /// 2.6.2 to 3.3: never revoke in two rounds of the same leader.
    Before34,
    /// Before 2.6.2 (KAFKA-10413): a single candidate for lost work, and balance that takes
    /// no more than the newcomer's share.
    Before262,
}

/// One worker's assignor; it lives as long as its process.
#[derive(Debug, Clone)]
pub struct Incremental {
    rules: Rules,
    /// This worker's `scheduled.rebalance.max.delay.ms`.
    max_delay_ms: i64,
    previous_assignment: Work,
    previous_revocation: Work,
    previous_members: BTreeSet<String>,
    previous_generation: i32,
    /// Epoch ms; 0 is none.
    scheduled_ms: i64,
    delay_ms: i64,
    candidates: Vec<String>,
    revoked_before: bool,
    successive: u32,
    may_revoke: bool,
}

// === impl Incremental ===

impl Incremental {
    /// The assignor of a new process.
    #[must_use]
    pub fn new(rules: Rules, max_delay_ms: i64) -> Self {
        Self {
            rules,
            max_delay_ms,
            previous_assignment: Work::new(),
            previous_revocation: Work::new(),
            previous_members: BTreeSet::new(),
            previous_generation: -1,
            scheduled_ms: 0,
            delay_ms: 0,
            candidates: Vec::new(),
            revoked_before: false,
            successive: 0,
            may_revoke: true,
        }
    }

    /// `performTaskAssignment`.
    pub fn assign(&mut self, round: &Round<'_>) -> Handed {
        if self.previous_generation != round.last_completed {
            self.previous_assignment.clear();
        }
        let active: Work = round.claims.values().flatten().cloned().collect();
        if !self.previous_revocation.is_disjoint(&active) {
            self.previous_assignment.clone_from(&active);
        }
        self.previous_revocation.clear();
        let deleted = minus(&self.previous_assignment, round.configured);
        let lost = minus(&minus(&self.previous_assignment, &active), &deleted);
        let created = minus(&minus(round.configured, &self.previous_assignment), &active);
        let duplicated = duplicated(round.claims);
        let mut revoked: Loads = Loads::new();
        let mut next = Loads::new();
        for (member, claim) in round.claims {
            let (taken, kept): (Work, Work) = claim
                .iter()
                .cloned()
                .partition(|item| deleted.contains(item) || duplicated.contains(item));
            if !taken.is_empty() {
                revoked.insert(member.clone(), taken);
            }
            next.insert(member.clone(), kept);
        }
        let mut to_assign = created;
        self.handle_lost(round.now_ms, &lost, &mut to_assign, &mut next);
        // Before 3.4 loads were taken as they are claimed, and work that is revoked still
        // counted as a load of its owner when new work was handed out.
        match self.rules {
            Rules::Since34 => self.balance(round, &mut next, &mut revoked),
            Rules::Before34 | Rules::Before262 => self.balance_old(&active, round, &mut revoked),
        }
        hand_out(&mut next, &to_assign);
        self.remember(round, &next, &revoked, &lost);
        Handed {
            deltas: deltas(round.claims, &next, revoked, &deleted),
            delay_ms: self.delay_ms,
        }
    }

    /// `handleLostAssignments`.
    fn handle_lost(&mut self, now: i64, lost: &Work, to_assign: &mut Work, next: &mut Loads) {
        if lost.is_empty() && !self.revoked_before {
            return self.reset_delay();
        }
        let nobody_left = self.previous_members.iter().all(|m| next.contains_key(m));
        let at_once = self.max_delay_ms == 0 && self.rules == Rules::Since34;
        if (self.scheduled_ms <= 0 && nobody_left) || at_once {
            to_assign.extend(lost.iter().cloned());
        } else if self.scheduled_ms > 0 && now >= self.scheduled_ms {
            let present: Vec<String> = self
                .candidates
                .iter()
                .filter(|member| next.contains_key(*member))
                .cloned()
                .collect();
            if present.is_empty() {
                to_assign.extend(lost.iter().cloned());
            } else {
                for connectors in [true, false] {
                    let items = lost.iter().filter(|i| i.is_connector() == connectors);
                    for (item, member) in items.zip(present.iter().cycle()) {
                        next.entry(member.clone()).or_default().insert(item.clone());
                    }
                }
            }
            self.reset_delay();
            self.revoked_before = false;
        } else {
            self.add_candidates(next);
            self.delay_ms = if now < self.scheduled_ms {
                self.scheduled_ms - now
            } else {
                self.max_delay_ms
            };
            self.scheduled_ms = now + self.delay_ms;
        }
    }

    fn add_candidates(&mut self, next: &Loads) {
        let single = self.rules == Rules::Before262;
        if single {
            let kept = self.candidates.iter().any(|m| next.contains_key(m));
            if kept {
                return;
            }
            self.candidates.clear();
        }
        for (member, work) in next {
            if work.is_empty() && !self.candidates.contains(member) {
                self.candidates.push(member.clone());
                if single {
                    return;
                }
            }
        }
    }

    fn reset_delay(&mut self) {
        self.candidates.clear();
        self.scheduled_ms = 0;
        self.delay_ms = 0;
    }

    fn balance(&mut self, round: &Round<'_>, next: &mut Loads, revoked: &mut Loads) {
        if self.delay_ms != 0 {
            self.revoked_before = false;
            return;
        }
        let surplus = surplus(round.configured, next);
        if surplus.is_empty() {
            if self.revoked_before {
                self.revoked_before = false;
                self.successive = 0;
            }
            return;
        }
        if self.revoked_before {
            self.successive += 1;
            self.delay_ms = backoff_ms(self.max_delay_ms, self.successive);
            if self.delay_ms != 0 {
                self.scheduled_ms = round.now_ms + self.delay_ms;
                return;
            }
        } else {
            self.revoked_before = true;
        }
        for (member, work) in surplus {
            if let Some(load) = next.get_mut(&member) {
                load.retain(|item| !work.contains(item));
            }
            revoked.entry(member).or_default().extend(work);
        }
    }

    fn balance_old(&mut self, active: &Work, round: &Round<'_>, revoked: &mut Loads) {
        if self.delay_ms != 0 || !self.may_revoke {
            self.may_revoke = self.delay_ms == 0;
            return;
        }
        let surplus = match self.rules {
            Rules::Before262 => surplus_oldest(active, round.claims),
            Rules::Since34 | Rules::Before34 => surplus_old(active, round.claims),
        };
        self.may_revoke = surplus.is_empty();
        for (member, work) in surplus {
            revoked.entry(member).or_default().extend(work);
        }
    }

    fn remember(&mut self, round: &Round<'_>, next: &Loads, revoked: &Loads, lost: &Work) {
        let taken: Work = revoked.values().flatten().cloned().collect();
        let handed: Work = next.values().flatten().cloned().collect();
        self.previous_assignment = minus(&handed, &taken);
        // Lost work stays remembered until it is handed out again.
        self.previous_assignment.extend(lost.iter().cloned());
        self.previous_revocation.extend(taken);
        self.previous_generation = round.generation;
        self.previous_members = round.claims.keys().cloned().collect();
    }
}

fn deltas(
    claims: &BTreeMap<String, Work>,
    next: &Loads,
    mut revoked: Loads,
    deleted: &Work,
) -> BTreeMap<String, Delta> {
    claims
        .iter()
        .map(|(member, claim)| {
            let remains = minus(claim, deleted);
            let load = next.get(member).cloned().unwrap_or_default();
            let delta = Delta {
                assigned: minus(&load, &remains),
                revoked: revoked.remove(member).unwrap_or_default(),
            };
            (member.clone(), delta)
        })
        .collect()
}

fn duplicated(claims: &BTreeMap<String, Work>) -> Work {
    let mut seen = Work::new();
    let mut out = Work::new();
    for item in claims.values().flatten() {
        if !seen.insert(item.clone()) {
            out.insert(item.clone());
        }
    }
    out
}

/// `ExponentialBackoff(1, 40, maxDelay, 0)`: 40, 1600, 64 000, then the most.
fn backoff_ms(max_delay_ms: i64, attempts: u32) -> i64 {
    if max_delay_ms == 0 {
        return 0;
    }
    40_i64
        .checked_pow(attempts)
        .map_or(max_delay_ms, |ms| ms.min(max_delay_ms))
}
