//! Rule 6: two workers that write of the same work beside each other.

use std::sync::Arc;

use super::is_active;
use super::rules::{Found, Look};
use crate::answers::{Confidence, DisagreementType};
use crate::facts::observation::{Claim, RunState};
use crate::facts::sets;
use crate::limits::DEPARTURE_WINDOW_MS;
use crate::story::status_log::Written;

// === impl Look ===

impl Look<'_> {
    /// Rule 6: who wrote that it runs it, and nothing since, beside another who did so before with
    /// a generation that is no smaller and had not stopped.
    pub(super) fn rule_6_two_writers(&self) -> Option<Found> {
        let words = self.facts.log.of(self.item);
        let mut later: Vec<&str> = Vec::new();
        for (place, word) in words.iter().enumerate().rev() {
            if later.contains(&&*word.worker) {
                continue;
            }
            later.push(&word.worker);
            let before = words.get(..place).unwrap_or_default();
            if let Some(other) = self.written_beside(word, before) {
                return self.two_writers(word, other);
            }
        }
        None
    }

    /// Who ran it when somebody else wrote that it does.
    fn written_beside<'w>(&self, word: &Written, before: &'w [Written]) -> Option<&'w Written> {
        let counts = |word: &Written| self.facts.life.has(word) && !self.is_shared(&word.worker);
        let is_told = self.told.is_some_and(|told| told.worker == word.worker);
        if !is_active(word.state) || is_told || !counts(word) {
            return None;
        }
        let other = before
            .iter()
            .rev()
            .find(|other| other.worker != word.worker)?;
        let runs = other.state == RunState::Running && other.generation >= word.generation;
        Some(other).filter(|other| runs && counts(other))
    }

    fn two_writers(&self, word: &Written, other: &Written) -> Option<Found> {
        let since = self.written_at(word);
        let until = match self.member(&word.worker) {
            // It joined since, and says that it has it no more.
            Some(member) => {
                let joined = self.facts.record.map_or(0, |record| record.generation);
                let claims = sets::contains(member.claimed(), self.item);
                if joined > word.generation && member.claim != Claim::Unsaid && !claims {
                    return None;
                }
                None
            }
            None => Some(since.plus_ms(DEPARTURE_WINDOW_MS)),
        };
        if until.is_some_and(|until| until <= self.now) {
            return None;
        }
        Some(Found {
            kind: DisagreementType::TwoWriters,
            worker: Arc::clone(&word.worker),
            since,
            from: since,
            until,
            confidence: Confidence::Certain,
            evidence: format!(
                "it wrote that it runs it in generation {}, after {} did in generation {}",
                word.generation, other.worker, other.generation
            ),
        })
    }
}
