//! What the group does, in the log: generations, work without an owner, the delay.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::answers::{Answers, Pattern, UnassignedReason};
use evenkeel_core::facts::time::ArrivalTime;
use tracing::{info, warn};

/// A generation is told this often at most: a loop makes hundreds a second.
const GENERATION_MS_MIN: i64 = 1_000;

/// What was told last.
#[derive(Debug, Default)]
pub(super) struct Told {
    generation: Option<(u32, Option<i32>)>,
    generation_at: Option<ArrivalTime>,
    unowned: BTreeMap<UnassignedReason, usize>,
    pattern: Option<Pattern>,
}

// === impl Told ===

impl Told {
    /// Tells what is new. The first answers are the state, not news: they are told too,
    /// so that the log says where the group stood when the agent came.
    pub(super) fn say(&mut self, group: &Arc<str>, answers: &Answers) {
        self.say_generation(group, answers);
        self.say_unowned(group, answers);
        self.say_pattern(group, answers);
    }

    /// Every group is quiet at first: that is no news.
    fn say_pattern(&mut self, group: &Arc<str>, answers: &Answers) {
        let Some(now) = &answers.pattern else {
            return;
        };
        let before = self.pattern.replace(now.pattern);
        if before.unwrap_or(Pattern::Quiet) == now.pattern {
            return;
        }
        let pattern = now.pattern.label();
        let before = before.map_or("", Pattern::label);
        let subject = now.subjects.first().map_or("", |subject| subject);
        let evidence = &now.evidence;
        match now.pattern {
            Pattern::Loop | Pattern::Storm | Pattern::Flapping | Pattern::Churn => {
                warn!(%group, pattern, before, subject, evidence, "pattern");
            }
            Pattern::Rollout | Pattern::Quiet => {
                info!(%group, pattern, before, subject, evidence, "pattern");
            }
        }
    }

    fn say_generation(&mut self, group: &Arc<str>, answers: &Answers) {
        let Some(now) = &answers.group else {
            return;
        };
        let newest = (now.incarnation, now.generation);
        let soon = match (self.generation_at, answers.arrived) {
            (Some(told), Some(arrived)) => arrived.since_ms(told) < GENERATION_MS_MIN,
            _ => false,
        };
        if self.generation == Some(newest) || soon {
            return;
        }
        self.generation = Some(newest);
        self.generation_at = answers.arrived;
        info!(
            %group,
            generation = now.generation,
            state = now.state.label(),
            members = now.members.len(),
            leader = now.leader.as_deref().unwrap_or_default(),
            protocol = now.protocol.map_or("", |protocol| protocol.label()),
            assigned = now.members.iter().map(|member| member.assigned.len()).sum::<usize>(),
            revoked = now.members.iter().map(|member| member.revoked.len()).sum::<usize>(),
            "generation"
        );
    }

    fn say_unowned(&mut self, group: &Arc<str>, answers: &Answers) {
        let mut unowned: BTreeMap<UnassignedReason, usize> = BTreeMap::new();
        for item in answers.without_owner() {
            // Between two rounds of a healthy rebalance: not worth a line.
            if !matches!(
                item.reason,
                UnassignedReason::Revoked | UnassignedReason::New
            ) {
                *unowned.entry(item.reason).or_default() += 1;
            }
        }
        if unowned == self.unowned {
            return;
        }
        for (reason, count) in &unowned {
            if self.unowned.get(reason) == Some(count) {
                continue;
            }
            let reason = reason.label();
            match (answers.deadline, answers.now) {
                (Some(deadline), Some(now)) => {
                    let delay_left_ms = deadline.at.since_ms(now);
                    warn!(%group, reason, count, delay_left_ms, "work without an owner");
                }
                _ => warn!(%group, reason, count, "work without an owner"),
            }
        }
        if unowned.is_empty() {
            info!(%group, "all work has an owner again, or is on its way to one");
        }
        self.unowned = unowned;
    }
}
