//! Workers that lose the group's coordinator: they drop their work after
//! `heartbeat.interval.ms` and come back with their ids. And a coordinator that moves.

use std::thread;
use std::time::Duration;

use anyhow::ensure;

use super::membership::{follower, last, leader, nothing_unassigned, owned};
use super::stage::Stage;
use super::unrest::{
    NOTHING, WORKERS, all_owned_after, apart, at_work, newest, seen, spec as three_workers,
};
use crate::properties::Properties;
use crate::security::Listener;
use crate::spec::{BrokerSpec, ClusterSpec};
use crate::truth::{Comparison, TruthLog, What};
use crate::wait::wait_until;

const BROKER: &str = "broker-1";

/// Shorter than `heartbeat.interval.ms` (3 s): workers look for the coordinator that long
/// before they drop their work.
const BLIP: Duration = Duration::from_millis(1_000);
/// A killed worker must not come back to life by a heartbeat that was on its way.
const BEFORE_KILL: Duration = Duration::from_millis(1_000);
const BACK_MAX: Duration = Duration::from_secs(60);
const MOVED_MAX: Duration = Duration::from_secs(60);

/// Three workers that reach their broker through a proxy.
pub(super) fn behind_proxy() -> anyhow::Result<ClusterSpec> {
    let mut spec = three_workers()?;
    spec.brokers.proxied = true;
    Ok(spec)
}

/// Three workers and two brokers of which either may go.
pub(super) fn pair() -> anyhow::Result<ClusterSpec> {
    let mut spec = three_workers()?;
    spec.brokers = BrokerSpec::pair();
    Ok(spec)
}

/// The coordinator is away for less than a heartbeat interval, for more, and restarted.
pub(super) fn away_all(stage: &mut Stage) -> anyhow::Result<()> {
    let before = behind(stage)?;
    stage.cluster.cut(BROKER)?;
    thread::sleep(BLIP);
    stage.cluster.mend(BROKER)?;
    thread::sleep(BLIP);
    let after = apart(stage)?;
    let mut comparison = Comparison::new();
    let generations = |truth: &TruthLog| truth.generations.len();
    let what = "generations after a short absence";
    comparison.equal(what, &generations(&before), &generations(&after));
    stage.count(comparison)?;

    stage.cluster.cut(BROKER)?;
    dropped(stage, &WORKERS, &after)?;
    stage.cluster.mend(BROKER)?;
    all_owned_after(stage, "the coordinator was away", (8, &after))?;
    let before = apart(stage)?;

    stage.cluster.stop(BROKER)?;
    dropped(stage, &WORKERS, &before)?;
    stage.cluster.start_process(BROKER)?;
    current(stage)?;
    all_owned_after(stage, "the broker was restarted", (8, &before))?;
    apart(stage)?;
    Ok(())
}

/// A follower dies while the coordinator is away.
pub(super) fn away_follower(stage: &mut Stage) -> anyhow::Result<()> {
    let before = behind(stage)?;
    away_and_killed(stage, &before, &follower(&before)?)
}

/// The leader dies while the coordinator is away.
pub(super) fn away_leader(stage: &mut Stage) -> anyhow::Result<()> {
    let before = behind(stage)?;
    away_and_killed(stage, &before, &leader(&before)?)
}

fn away_and_killed(stage: &mut Stage, before: &TruthLog, victim: &str) -> anyhow::Result<()> {
    stage.cluster.cut(BROKER)?;
    thread::sleep(BEFORE_KILL);
    stage.cluster.kill(victim)?;
    let left: Vec<&str> = WORKERS.into_iter().filter(|name| *name != victim).collect();
    dropped(stage, &left, before)?;
    stage.cluster.mend(BROKER)?;
    let first = newest(before)?;
    seen(stage, "the others to come back", |truth| {
        last(truth).is_ok_and(|last| last.generation > first && last.member_count == 2)
    })?;
    all_owned_after(stage, "all work is handed out again", (8, before))?;
    apart(stage)?;
    Ok(())
}

/// Waits until these workers have dropped their work after `before`.
fn dropped(stage: &Stage, workers: &[&str], before: &TruthLog) -> anyhow::Result<TruthLog> {
    let drops = |truth: &TruthLog, worker: &str| {
        let mut events = truth.events.iter();
        let this = |what: &What| *what == What::WorkDropped;
        events
            .by_ref()
            .filter(|event| event.process == worker && this(&event.what))
            .count()
    };
    seen(stage, "the workers to drop their work", |truth| {
        let mut workers = workers.iter();
        workers.all(|worker| drops(truth, worker) > drops(before, worker))
    })
}

fn behind(stage: &mut Stage) -> anyhow::Result<TruthLog> {
    let through = stage.cluster.bootstrap_of(Listener::Proxied)?;
    for worker in WORKERS {
        let bootstrap = ("bootstrap.servers".to_owned(), through.clone());
        stage.cluster.set(worker, &Properties::from([bootstrap]))?;
    }
    at_work(stage)?;
    apart(stage)
}

/// Waits until the sidecar sees everything again.
fn current(stage: &Stage) -> anyhow::Result<()> {
    wait_until("the sidecar to be current", BACK_MAX, || {
        let state = stage.agent("first")?.state()?;
        ensure!(state["current"] == true, "blind");
        Ok(Some(()))
    })
}

/// The coordinator's broker stops in order, which moves its partitions first; then the one
/// that has taken over is killed.
pub(super) fn moved(stage: &mut Stage) -> anyhow::Result<()> {
    at_work(stage)?;
    let before = apart(stage)?;
    let group_id = stage.group_id().to_owned();
    let first = stage.cluster.coordinator(&group_id)?;
    stage.cluster.stop(&first)?;
    moved_from(stage, &first)?;
    let after = apart(stage)?;
    eprintln!(
        "  the coordinator's broker is stopped: {} generations more",
        after.generations.len() - before.generations.len()
    );
    current(stage)?;
    stage.rest("the coordinator's broker is stopped", NOTHING)?;
    stage.cluster.start_process(&first)?;
    let before = apart(stage)?;

    let second = stage.cluster.coordinator(&group_id)?;
    stage.cluster.kill(&second)?;
    moved_from(stage, &second)?;
    let after = apart(stage)?;
    eprintln!(
        "  the coordinator's broker is killed: {} generations more",
        after.generations.len() - before.generations.len()
    );
    current(stage)?;
    stage.await_truth("the coordinator's broker is killed", NOTHING, |truth| {
        owned(truth) == 8 && nothing_unassigned(truth)
    })?;
    stage.cluster.start_process(&second)?;
    apart(stage)?;
    stage.rest("both brokers are there", NOTHING)?;
    Ok(())
}

fn moved_from(stage: &Stage, broker: &str) -> anyhow::Result<()> {
    wait_until("the coordinator to move", MOVED_MAX, || {
        let now = stage.cluster.coordinator(stage.group_id())?;
        Ok((now != broker).then_some(()))
    })
}
