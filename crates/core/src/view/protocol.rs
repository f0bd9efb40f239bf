//! D14, the protocol in force, and whether it fell below the best proven.
//!
//! The coordinator picks the best protocol that *every* member offers, and a record
//! carries only the winner: one eager worker silently turns all rebalances into
//! stop-the-world ones, and no member's own maximum is visible. So the fall is proven
//! by what the group spoke before.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::facts::ids::Protocol;
use crate::facts::observation::GroupSnapshot;

/// The protocol's history, as far as it matters.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ProtocolView {
    in_force: Option<Protocol>,
    best: Option<Protocol>,
    /// The workers that came with the fall that is in force.
    came_with_fall: Vec<Arc<str>>,
}

// === impl ProtocolView ===

impl ProtocolView {
    /// Takes a record; `before` is the record before it.
    pub fn apply(&mut self, before: Option<&GroupSnapshot>, now: &GroupSnapshot) {
        let Some(protocol) = now.protocol else {
            return;
        };
        let fell = self.in_force.is_some_and(|in_force| protocol < in_force);
        if fell {
            self.came_with_fall = now
                .members
                .iter()
                .filter(|member| before.is_none_or(|before| before.member(&member.id).is_none()))
                .map(|member| Arc::clone(&member.worker))
                .collect();
            self.came_with_fall.sort();
            self.came_with_fall.dedup();
        }
        self.in_force = Some(protocol);
        self.prove(protocol);
        if self.best.is_some_and(|best| protocol >= best) {
            self.came_with_fall.clear();
        }
    }

    /// The group is proven to have spoken `protocol` at some time.
    pub fn prove(&mut self, protocol: Protocol) {
        self.best = self.best.max(Some(protocol));
    }

    /// The best protocol proven.
    #[must_use]
    pub fn best(&self) -> Option<Protocol> {
        self.best
    }

    /// While the protocol in force is below the best: who came with the fall; empty when
    /// the fall itself was not seen.
    #[must_use]
    pub fn downgraded(&self) -> Option<&[Arc<str>]> {
        match (self.in_force, self.best) {
            (Some(in_force), Some(best)) if in_force < best => Some(&self.came_with_fall),
            _ => None,
        }
    }
}
