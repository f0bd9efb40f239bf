//! Scripts that drive a real cluster, with evenkeel beside it and the truth as judge.
//!
//! evenkeel runs as the program that users run, and is asked over HTTP: what it says is
//! compared as JSON, so that no type of it can be wrong on both sides.

mod accuracy;
mod agent;
mod alarms;
mod brokers;
mod changed;
mod changes;
mod checking;
mod clock;
mod compare;
mod coordinator;
mod costs;
mod counts;
mod demo;
mod departures;
mod described;
mod episodes;
mod expiry;
mod growth;
mod hidden;
mod membership;
mod mistuned;
mod namespaces;
mod opening;
mod outage;
mod paged;
mod replay;
mod rights;
mod run;
mod secured;
mod sidecars;
mod stage;
mod tokens;
mod traced;
mod unresponsive;
mod unrest;

use std::path::{Path, PathBuf};

pub use accuracy::{Cell, How, Kind, Poll, Range, accuracy, tables};
pub use agent::{Agent, Reason, Recorder, Told};
pub use compare::{Expected, compare_state};
pub use demo::Demo;
pub use episodes::compare_episodes;
pub use replay::{compare_history, replay};
pub use run::Run;
pub use stage::Stage;

use crate::network::Network;
use crate::skew;
use crate::spec::ClusterSpec;
use crate::version::Version;

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

/// Scenarios about what is told; those about costs have a table of their own.
const SCENARIOS: &[Scenario] = &[
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
    // Why it rebalanced: each writes down what it expects (truth::Expectations).
    Scenario::recorded(
        "cold_start",
        "three workers start at once and get work",
        growth::starts,
        opening::three,
    ),
    Scenario::recorded(
        "scale_out",
        "one worker with all the work; one more comes, then three at once",
        growth::scale_out,
        growth::one_worker,
    ),
    Scenario::recorded(
        "idle_scaled_in",
        "a worker that owns nothing is stopped",
        growth::idle_scaled_in,
        opening::three,
    ),
    Scenario::recorded(
        "all_restarted",
        "all workers stop, the leader last, and start again at once",
        growth::all_restarted,
        opening::three,
    ),
    Scenario::recorded(
        "stop_follower",
        "a follower stops; its work is parked and handed out",
        departures::stop_follower,
        opening::three,
    ),
    Scenario::recorded(
        "stop_leader",
        "the leader stops; its work is handed out at once",
        departures::stop_leader,
        opening::three,
    ),
    Scenario::recorded(
        "kill_leader",
        "the leader is killed; its work is handed out at once",
        departures::kill_leader,
        opening::three,
    ),
    Scenario::recorded(
        "kill_never",
        "a follower is killed and never comes back",
        departures::kill_never,
        opening::three,
    ),
    Scenario::recorded(
        "kill_back_early",
        "a killed follower is back before its session ends",
        departures::kill_back_early,
        opening::three,
    ),
    Scenario::recorded(
        "kill_back_inside",
        "a killed follower is back within the delay",
        departures::kill_back_inside,
        departures::returning,
    ),
    Scenario::recorded(
        "kill_new_address",
        "a killed follower is back within the delay, elsewhere",
        departures::kill_new_address,
        departures::returning,
    ),
    Scenario::recorded(
        "kill_back_after",
        "a killed follower is back after the delay",
        departures::kill_back_after,
        opening::three,
    ),
    Scenario::recorded(
        "delay_zero",
        "without a delay, one follower is killed and the other stopped",
        departures::delay_zero,
        departures::without_delay,
    ),
    Scenario::recorded(
        "kill_two",
        "two followers are killed, one within the delay of the other",
        departures::kill_two,
        opening::three,
    ),
    Scenario::recorded(
        "rollout",
        "each worker is restarted within the delay, the leader last",
        departures::rollout,
        departures::returning,
    ),
    Scenario::recorded(
        "eager_departures",
        "in the eager protocol, one follower is killed and the other stopped",
        departures::eager_departures,
        departures::eager,
    ),
    Scenario::recorded(
        "freeze",
        "a follower freezes for longer than a session and thaws",
        unresponsive::freeze,
        opening::three,
    ),
    Scenario::recorded(
        "freeze_long",
        "a follower freezes, its work is handed out, it thaws and claims it",
        unresponsive::freeze_long,
        opening::three,
    ),
    Scenario::recorded(
        "herder_blocked",
        "a worker stops a slow task for longer than the group waits",
        unresponsive::herder_blocked,
        unresponsive::impatient_group,
    ),
    Scenario::recorded(
        "grace_ends",
        "a follower is killed in the middle of an orderly stop",
        unresponsive::grace_ends,
        unresponsive::patient_three,
    ),
    Scenario::recorded(
        "vanish_between",
        "a newcomer is killed between the round that revokes and the one that hands out",
        unresponsive::vanish_between,
        unresponsive::patient_two,
    ),
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
    Scenario::recorded(
        "connector_changes",
        "a connector is created, reconfigured in five ways, paused, restarted and deleted",
        changes::connector_changes,
        opening::three,
    ),
    Scenario::recorded(
        "task_count",
        "a connector gets more tasks, fewer, and more again",
        changes::task_count,
        opening::three,
    ),
    Scenario::recorded(
        "deleted_while_away",
        "a connector is deleted while a worker that ran its tasks is killed, and frozen",
        changes::deleted_while_away,
        opening::three,
    ),
    Scenario::recorded(
        "group_expired",
        "all workers stop, later all die; the group is deleted and created anew each time",
        expiry::group_expired,
        expiry::spec,
    ),
    Scenario::recorded(
        "clock_behind",
        "a worker whose clock is 90 s behind joins, is killed, comes back and stops",
        clock::clock_behind,
        clock::spec,
    ),
];

/// All scenarios, as they are recorded.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    let more = [
        coordinator::SCENARIOS,
        costs::SCENARIOS,
        mistuned::SCENARIOS,
        traced::SCENARIOS,
        paged::SCENARIOS,
        alarms::SCENARIOS,
    ];
    SCENARIOS.iter().chain(more.into_iter().flatten())
}

/// The scenario of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Scenario> {
    all().find(|scenario| scenario.name == name)
}

impl Scenario {
    const fn recorded(
        name: &'static str,
        shows: &'static str,
        script: fn(&mut Stage) -> anyhow::Result<()>,
        spec: fn() -> anyhow::Result<ClusterSpec>,
    ) -> Scenario {
        Scenario {
            name,
            shows,
            recorded: true,
            script,
            spec,
        }
    }

    /// The capture and the truth that a recording leaves in `folder`.
    #[must_use]
    pub fn files(&self, folder: &Path, releases: Option<(Version, Version)>) -> [PathBuf; 2] {
        let releases = releases.unwrap_or((Version::DEFAULT, Version::DEFAULT));
        stage::files(self.name, releases).map(|name| folder.join(name))
    }

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
