//! A worker process, as far as the world needs to know it.

use std::collections::{BTreeMap, VecDeque};

use crate::assignor::Incremental;
use crate::item::{Item, Work};
use crate::protocol::{Meta, Told, Why};
use crate::truth::{Doer, How};

/// What a process is in the group, as it sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It has to join.
    Out,
    /// It asked to join.
    Joining,
    /// It asked for its assignment.
    Syncing,
    /// It has one.
    In,
}

/// What the herder does when it is done with what keeps it busy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Then {
    /// Looks what is to do.
    Look,
    /// Takes the assignment it received as its own.
    Apply,
    /// Its work is started.
    Started,
    /// It has read the config topic to its end; joins again for this reason, or resolves.
    Read(Option<Why>),
    /// Starts again what it stopped for its new configuration.
    Restart(Vec<Item>),
    /// All is stopped: it leaves and exits.
    Exit,
}

/// A piece of work that a process runs.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// Which of its runs: events of older ones mean nothing.
    pub(super) token: u64,
    /// The last state it wrote; `None` while it starts.
    pub(super) state: Option<&'static str>,
    /// Its number among the starts of the truth.
    pub(super) start: usize,
    /// Its number among the runs, while it runs.
    pub(super) ran: Option<usize>,
    /// Its number among the stops, once it is being stopped.
    pub(super) stop: Option<usize>,
}

/// A worker process.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub(super) slot: usize,
    pub(super) url: String,
    pub(super) host: String,
    /// `host:port`
    pub(super) worker: String,
    pub(super) client_id: String,
    pub(super) alive: bool,
    pub(super) frozen_ms: Option<i64>,
    /// When it stopped working, and how, once it has.
    pub(super) died: Option<(i64, How)>,
    /// What it owned then.
    pub(super) had: Work,
    pub(super) assignor: Incremental,
    pub(super) member: Option<String>,
    pub(super) generation: i32,
    pub(super) phase: Phase,
    /// How many questions it asked; answers to older ones mean nothing.
    pub(super) asked: u64,
    /// Why it asked to join.
    pub(super) why: Why,
    /// Why it has to join again, if it has.
    pub(super) rejoin: Option<Why>,
    /// Whether its work is what its assignment says.
    pub(super) resolved: bool,
    /// What it was told in which generation and as whom, until it is applied.
    pub(super) received: Option<(i32, String, Told)>,
    /// The protocol version of its newest generation.
    pub(super) version: i16,
    /// What it believes it owns.
    pub(super) claim: Option<Told>,
    pub(super) last_completed: i32,
    pub(super) config_seen: i64,
    /// When the config records on their way will have been seen.
    pub(super) config_due_ms: i64,
    /// Offsets of config records it has seen and not looked at.
    pub(super) changes: VecDeque<i64>,
    /// Since when its herder is busy, with which token, and what then.
    pub(super) busy: Option<(i64, u64, Then)>,
    pub(super) runs: BTreeMap<Item, Run>,
    /// What it stopped by itself and was not told anything about since.
    pub(super) dropped: Work,
    /// Whether it has no coordinator.
    pub(super) lost: bool,
    /// Until when it searches before it gives its work up.
    pub(super) search_until_ms: Option<i64>,
    /// Whether it is told to stop, and whether it began to.
    pub(super) stopping: Option<bool>,
    /// Tells timers of an older delay from the newest.
    pub(super) delay: u64,
    /// What the leader computes with, once all have joined.
    pub(super) members: Option<BTreeMap<String, Meta>>,
}

// === impl Process ===

impl Process {
    /// Whether its herder can act.
    pub(super) fn is_idle(&self) -> bool {
        self.alive && self.frozen_ms.is_none() && self.busy.is_none()
    }

    /// Who it is to the truth.
    pub(super) fn doer(&self) -> Doer {
        Doer {
            worker: self.worker.clone(),
            member: self.member.clone(),
            generation: self.last_completed,
        }
    }

    /// What it believes it owns.
    pub(super) fn owned(&self) -> Work {
        let claim = self.claim.as_ref();
        claim
            .map(|claim| claim.assigned.clone())
            .unwrap_or_default()
    }

    /// What has no owner if it is gone.
    pub(super) fn leaves(&self) -> Work {
        self.owned().union(&self.dropped).cloned().collect()
    }

    /// Whether it takes itself for the leader.
    pub(super) fn leads(&self) -> bool {
        let leader = self.claim.as_ref().map(|claim| &claim.leader);
        self.member.is_some() && leader == self.member.as_ref()
    }
}
