//! Runs a plan in virtual time: one queue of events, and what is left when it is over.

mod client;
mod deeds;
mod herder;
mod leader;
mod process;
mod sim;
mod work;

use evenkeel_core::facts::poll::Description;

use crate::log::Logs;
use crate::observer::{Observer, ObserverSpec};
use crate::plan::Plan;
use crate::truth::Truth;

/// Second 0 of every world, in ms since the epoch.
pub const BASE_MS: i64 = 1_700_000_000_000;

/// The group's name in every world.
pub const GROUP: &str = "connect-cluster";

/// A world that is over.
#[derive(Debug)]
pub struct World {
    plan: Plan,
    truth: Truth,
    logs: Logs,
    /// What the coordinator would have answered, from when on.
    seen: Vec<(i64, Option<Description>)>,
}

// === impl World ===

impl World {
    /// Lets a plan happen.
    #[must_use]
    pub fn of(plan: Plan) -> Self {
        let (truth, logs, seen) = sim::Sim::new(plan.clone()).run();
        Self {
            plan,
            truth,
            logs,
            seen,
        }
    }

    /// What it was made of.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What happened.
    #[must_use]
    pub fn truth(&self) -> &Truth {
        &self.truth
    }

    /// The topics.
    #[must_use]
    pub fn logs(&self) -> &Logs {
        &self.logs
    }

    /// What the coordinator would have answered at an instant; `None` while nobody
    /// would have.
    #[must_use]
    pub fn seen_at(&self, true_ms: i64) -> Option<&Description> {
        let later = self.seen.partition_point(|(from, _)| *from <= true_ms);
        self.seen.get(later.checked_sub(1)?)?.1.as_ref()
    }

    /// What one sidecar is fed.
    #[must_use]
    pub fn observer(&self, spec: ObserverSpec) -> Observer<'_> {
        Observer::new(self, spec)
    }
}
