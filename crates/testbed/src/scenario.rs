//! Scripts that drive a real cluster, with evenkeel beside it and the truth as judge.
//!
//! evenkeel runs as the program that users run, and is asked over HTTP: what it says is
//! compared as JSON, so that no type of it can be wrong on both sides.

mod agent;
mod brokers;
mod changed;
mod changes;
mod clock;
mod compare;
mod coordinator;
mod counts;
mod described;
mod expiry;
mod hidden;
mod membership;
mod namespaces;
mod outage;
mod replay;
mod rights;
mod secured;
mod sidecars;
mod stage;
mod tokens;
mod unrest;

use std::path::PathBuf;

pub use agent::{Agent, Reason, Recorder, Told};
pub use compare::{Expected, compare_state};
pub use replay::{compare_history, replay};
pub use stage::Stage;

use crate::network::Network;
use crate::skew;
use crate::spec::ClusterSpec;
use crate::version::Version;

/// How a scenario is run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The `evenkeel` program.
    pub program: PathBuf,
    /// Where the capture and its truth go; nothing is kept without it.
    pub keep: Option<PathBuf>,
    /// Releases of brokers and workers; the testbed's own without.
    pub releases: Option<(Version, Version)>,
    /// Whether all steps are made, or only those that a CI run has time for.
    pub whole: bool,
}

/// A scenario: a name and a script.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Its name, and that of its files.
    pub name: &'static str,
    /// What it shows, in a line.
    pub shows: &'static str,
    /// Whether its recording is kept and replayed: what others show is asked of a running
    /// agent, and not in what it reads.
    pub recorded: bool,
    script: fn(&mut Stage) -> anyhow::Result<()>,
    spec: fn() -> anyhow::Result<ClusterSpec>,
}

/// All scenarios, in the order in which they are recorded.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "membership",
        shows: "workers come, stop, die and come back; connectors change; an eager worker visits",
        recorded: true,
        script: membership::membership,
        spec: membership::spec,
    },
    Scenario {
        name: "incident",
        shows: "a worker is killed, its tasks are parked and handed out, a connector changes",
        recorded: true,
        script: membership::incident,
        spec: membership::spec,
    },
    Scenario {
        name: "outage",
        shows: "the broker goes away and comes back; a sidecar starts in between",
        recorded: true,
        script: outage::outage,
        spec: outage::spec,
    },
    Scenario {
        name: "brokers",
        shows: "the coordinator moves to another broker and back; all brokers hang for one sidecar",
        recorded: false,
        script: brokers::brokers,
        spec: brokers::spec,
    },
    Scenario {
        name: "secured",
        shows: "wrong credentials and missing rights are named, survived and recovered from",
        recorded: false,
        script: secured::secured,
        spec: secured::spec,
    },
    Scenario {
        name: "hidden",
        shows: "the membership script without the right to read the group's records; it comes, goes, comes",
        recorded: false,
        script: hidden::hidden,
        spec: hidden::spec,
    },
    Scenario {
        name: "rights",
        shows: "the rights that the documentation names are all that is needed, and each of them is",
        recorded: false,
        script: rights::rights,
        spec: secured::spec,
    },
    Scenario {
        name: "sidecars",
        shows: "a sidecar beside each worker finds it, one reports, two ask often, all say the same",
        recorded: false,
        script: sidecars::sidecars,
        spec: sidecars::spec,
    },
    Scenario {
        name: "changed",
        shows: "certificates, authorities, passwords and tokens change under a running sidecar",
        recorded: false,
        script: changed::changed,
        spec: changed::spec,
    },
    Scenario {
        name: "namespaces",
        shows: "sidecars with addresses of their own know the worker beside them, and nobody else's",
        recorded: false,
        script: namespaces::namespaces,
        spec: namespaces::spec,
    },
    Scenario {
        name: "connector_changes",
        shows: "a connector is created, reconfigured in five ways, paused, restarted and deleted",
        recorded: true,
        script: changes::connector_changes,
        spec: unrest::spec,
    },
    Scenario {
        name: "task_count",
        shows: "a connector gets more tasks, fewer, and more again",
        recorded: true,
        script: changes::task_count,
        spec: unrest::spec,
    },
    Scenario {
        name: "deleted_while_away",
        shows: "a connector is deleted while a worker that ran its tasks is killed, and frozen",
        recorded: true,
        script: changes::deleted_while_away,
        spec: unrest::spec,
    },
    Scenario {
        name: "coordinator_away_all",
        shows: "all workers lose the coordinator, drop their work and come back with their ids",
        recorded: true,
        script: coordinator::away_all,
        spec: coordinator::behind_proxy,
    },
    Scenario {
        name: "coordinator_away_follower",
        shows: "all workers lose the coordinator, and a follower is killed meanwhile",
        recorded: true,
        script: coordinator::away_follower,
        spec: coordinator::behind_proxy,
    },
    Scenario {
        name: "coordinator_away_leader",
        shows: "all workers lose the coordinator, and the leader is killed meanwhile",
        recorded: true,
        script: coordinator::away_leader,
        spec: coordinator::behind_proxy,
    },
    Scenario {
        name: "coordinator_moved",
        shows: "the group's coordinator moves when its broker stops, and when it dies",
        recorded: true,
        script: coordinator::moved,
        spec: coordinator::pair,
    },
    Scenario {
        name: "group_expired",
        shows: "all workers stop, later all die; the group is deleted and created anew each time",
        recorded: true,
        script: expiry::group_expired,
        spec: expiry::spec,
    },
    Scenario {
        name: "clock_behind",
        shows: "a worker whose clock is 90 s behind joins, is killed, comes back and stops",
        recorded: true,
        script: clock::clock_behind,
        spec: clock::spec,
    },
];

/// The scenario of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

impl Scenario {
    /// Why it cannot be run on this machine; `None` if it can.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn obstacle(&self) -> anyhow::Result<Option<String>> {
        let spec = (self.spec)()?;
        let mut workers = spec.groups.iter().flat_map(|group| &group.workers);
        if workers.any(|worker| worker.skew_ms != 0) && skew::library().is_none() {
            return Ok(Some("libfaketime is not installed".to_owned()));
        }
        Ok(spec.brokers.namespaces.then(Network::obstacle).flatten())
    }

    /// Runs the script on a new cluster; gives how much was compared.
    ///
    /// # Errors
    /// When a step fails, something differs from the truth, or the run is void.
    pub fn run(&self, run: &Run) -> anyhow::Result<usize> {
        let mut spec = (self.spec)()?;
        if let Some((broker, workers)) = run.releases {
            spec.brokers.version = broker;
            for worker in spec.groups.iter_mut().flat_map(|group| &mut group.workers) {
                worker.version = workers;
            }
        }
        let mut stage = Stage::set(self.name, &spec, run)?;
        (self.script)(&mut stage)?;
        stage.finish()
    }
}
