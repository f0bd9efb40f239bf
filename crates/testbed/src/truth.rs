//! What really happened, told by the brokers, the workers and the script, never by evenkeel.

mod assignment;
mod broker_log;
mod collect;
mod compare;
mod costs;
mod derive;
mod event;
mod expected;
mod jmx;
mod line;
mod restarts;
mod show;
mod statuses;
mod stints;
mod text;
mod void;
mod worker_log;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use assignment::{Assignment, Work};
pub use collect::{ProcessLog, read};
pub use compare::Comparison;
pub use costs::{
    Costs, Downtime, DowntimeEnd, Failure, Handover, Interruption, Move, Need, Reason, Run,
    RunBegin, RunEnd,
};
pub use derive::{Departure, DepartureWay, TruthGeneration, TruthMember};
pub use event::{Item, ItemKind, LeaderView, Step, TruthEvent, Verb, What};
pub use expected::{
    Cause, DelayReason, DepartureHow, EpisodeOutcome, Expectations, ExpectedDeadline,
    ExpectedDeparture, ExpectedEpisode, LostEnd, LostWork, Root, ScriptStep,
};
pub use jmx::JmxSample;
pub use restarts::{Restart, restarts};
pub use statuses::{ConnectorStatus, ItemStatus, Statuses};
pub use stints::Stint;

/// All that is known of one Connect group in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TruthLog {
    pub group_id: String,
    /// Process name of each worker to its REST URL.
    pub worker_urls: BTreeMap<String, String>,
    /// Process name of each worker whose clock is off to how far it is ahead. Instants from
    /// its log, in `events`, `generations` and `stints`, are on its own clock; what the script
    /// did to it (`script`, `request`, `statuses`, `jmx`, `killed_ms`) is on the script's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skews_ms: BTreeMap<String, i64>,
    /// In the order in which they happened.
    pub events: Vec<TruthEvent>,
    /// Every generation that completed its join phase, also those without a record.
    pub generations: Vec<TruthGeneration>,
    /// Why this run proves nothing and must be repeated; empty for a good run.
    pub void: Vec<String>,
    /// When each connector and task started and stopped where.
    #[serde(default)]
    pub stints: Vec<Stint>,
    /// What the script's author knows beside what the logs tell.
    #[serde(default)]
    pub expected: Expectations,
    /// What it cost; absent in what was recorded before there was this section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
}

impl TruthLog {
    /// When an event happened by the script's clock.
    pub fn true_ms(&self, event: &TruthEvent) -> i64 {
        event::true_ms(event, &self.skews_ms)
    }

    /// What it cost. Of a recording without that section it is derived from the events that were
    /// kept: then pauses are missing, and why something changed or was restarted is unknown.
    pub fn costs(&self) -> Costs {
        let derived = || {
            costs::costs(&self.events, &self.generations, &|event| {
                self.true_ms(event)
            })
        };
        self.costs.clone().unwrap_or_else(derived)
    }

    /// The newest generation.
    pub fn last(&self) -> Option<&TruthGeneration> {
        self.generations.last()
    }

    /// A generation of the newest incarnation of the group.
    pub fn generation(&self, generation: i64) -> Option<&TruthGeneration> {
        self.generations
            .iter()
            .rev()
            .find(|candidate| candidate.generation == generation)
    }

    /// Whether the group rests: the newest generation was handed out, every member of it has
    /// applied it and finished its starts, nobody prepares the next, and no revocation asks
    /// for one. A running scheduled delay is rest.
    pub fn is_settled(&self) -> bool {
        let Some(last) = self.last() else {
            return false;
        };
        let preparing = self.events.iter().any(|event| {
            matches!(&event.what, What::Preparing { old_generation, .. }
                if *old_generation == last.generation && event.at_ms >= last.join_end_ms)
        });
        if preparing {
            return false;
        }
        last.member_count == 0
            || last.assignment_ms.is_some()
                && last.members.len() == last.member_count
                && last.members.iter().all(|member| {
                    let follow_up = member.revoked.as_ref().is_some_and(|work| !work.is_empty());
                    member.finished_ms.is_some() && !follow_up
                })
    }
}

#[cfg(test)]
mod tests;
