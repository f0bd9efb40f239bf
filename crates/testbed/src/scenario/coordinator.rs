//! Workers that lose the group's coordinator: they drop their work after
//! `heartbeat.interval.ms` and come back with their ids. And a coordinator that moves.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::json;

use super::Scenario;
use super::membership::{last, leader};
use super::opening::{ITEMS, NOTHING, follower, members, owned_by, three, two_connectors, until};
use super::stage::Stage;
use super::unrest::{WORKERS, handed_out_again, owned_after, put};
use crate::properties::Properties;
use crate::security::Listener;
use crate::spec::{BrokerSpec, ClusterSpec};
use crate::truth::{Cause, DepartureHow, ExpectedEpisode, TruthLog, What, Work};
use crate::wait::wait_until;

/// In the order in which they are recorded.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::recorded(
        "coordinator_away_all",
        "all workers lose the coordinator, drop their work and come back with their ids",
        away_all,
        behind_proxy,
    ),
    Scenario::recorded(
        "coordinator_away_follower",
        "all workers lose the coordinator, and a follower is killed meanwhile",
        away_follower,
        behind_proxy,
    ),
    Scenario::recorded(
        "coordinator_away_leader",
        "all workers lose the coordinator, and the leader is killed meanwhile",
        away_leader,
        behind_proxy,
    ),
    Scenario::recorded(
        "coordinator_moved",
        "the group's coordinator moves when its broker stops, and when it dies",
        moved,
        pair,
    ),
];

const BROKER: &str = "broker-1";

/// Shorter than `heartbeat.interval.ms` (3 s): workers look for the coordinator that long
/// before they drop their work.
const BLIP: Duration = Duration::from_millis(1_000);
const BACK_MAX: Duration = Duration::from_secs(60);
const MOVED_MAX: Duration = Duration::from_secs(60);

/// Three workers that reach their broker through a proxy.
fn behind_proxy() -> anyhow::Result<ClusterSpec> {
    let mut spec = three()?;
    spec.brokers.proxied = true;
    Ok(spec)
}

/// Three workers and two brokers of which either may go.
fn pair() -> anyhow::Result<ClusterSpec> {
    let mut spec = three()?;
    spec.brokers = BrokerSpec::pair();
    Ok(spec)
}

/// The coordinator is away for less than a heartbeat interval, for more, and restarted.
fn away_all(stage: &mut Stage) -> anyhow::Result<()> {
    behind(stage)?;
    stage.begin("the coordinator is away for a moment")?;
    stage.cluster.cut(BROKER)?;
    stage.pause(BLIP);
    stage.cluster.mend(BROKER)?;
    let before = stage.end_quiet()?;
    let dropped_ever = |truth: &TruthLog| WORKERS.iter().any(|name| drops(truth, name) > 0);
    ensure!(!dropped_ever(&before), "a worker dropped its work");

    let step = "the coordinator is away for longer than a heartbeat interval";
    stage.begin(step)?;
    stage.cluster.cut(BROKER)?;
    dropped(stage, &WORKERS, &before)?;
    stage.cluster.mend(BROKER)?;
    owned_after(stage, step, (ITEMS, &before))?;
    let after = stage.end(ExpectedEpisode::of(Cause::CoordinatorLost, None))?;
    dropped_and_back(stage, &before)?;

    let step = "the broker is restarted";
    stage.begin(step)?;
    stage.cluster.stop(BROKER)?;
    dropped(stage, &WORKERS, &after)?;
    stage.cluster.start_process(BROKER)?;
    current(stage)?;
    owned_after(stage, step, (ITEMS, &after))?;
    let lost = ExpectedEpisode::of(Cause::CoordinatorLost, None);
    // The partition that holds the group has a new leader epoch, on the same broker.
    stage.end(lost.perhaps(&[Cause::CoordinatorMoved]))?;
    dropped_and_back(stage, &after)
}

/// All workers are in, with their ids; what each had dropped is handed out again.
fn dropped_and_back(stage: &mut Stage, before: &TruthLog) -> anyhow::Result<()> {
    let after = stage.calm()?;
    for worker in WORKERS {
        let id = |truth: &TruthLog| -> anyhow::Result<String> {
            let member = last(truth)?.member(worker).context("no member")?;
            Ok(member.member_id.clone())
        };
        ensure!(id(before)? == id(&after)?, "{worker} has another id");
        handed_out_again(stage, worker, &owned_by(before, worker)?)?;
    }
    Ok(())
}

/// A follower dies while the coordinator is away: the leader knows what everybody had, sees
/// that one member is gone, and lets all work wait for it.
fn away_follower(stage: &mut Stage) -> anyhow::Result<()> {
    let before = behind(stage)?;
    let lost = ExpectedEpisode::of(Cause::CoordinatorLost, None);
    let lost = lost.with(&[Cause::WorkerLost, Cause::DelayExpired]);
    away_and_killed(stage, &before, (&follower(&before)?, lost))
}

/// The leader dies while the coordinator is away: the next one knows nothing of before.
fn away_leader(stage: &mut Stage) -> anyhow::Result<()> {
    let before = behind(stage)?;
    let lost = ExpectedEpisode::of(Cause::CoordinatorLost, None);
    let lost = lost.with(&[Cause::WorkerLost]);
    away_and_killed(stage, &before, (&leader(&before)?, lost))
}

fn away_and_killed(
    stage: &mut Stage,
    before: &TruthLog,
    (victim, episode): (&str, ExpectedEpisode),
) -> anyhow::Result<()> {
    let step = format!("{victim} is killed while the coordinator is away");
    let owned: Vec<(&str, Work)> = WORKERS
        .into_iter()
        .map(|worker| Ok((worker, owned_by(before, worker)?)))
        .collect::<anyhow::Result<_>>()?;
    let left: Vec<&str> = WORKERS.into_iter().filter(|name| *name != victim).collect();
    let generation = last(before)?.generation;
    stage.begin(&step)?;
    stage.cluster.cut(BROKER)?;
    stage.pause(BLIP);
    stage.cluster.kill(victim)?;
    dropped(stage, &left, before)?;
    stage.cluster.mend(BROKER)?;
    until(stage, "the others to come back", |truth| {
        members(truth, 2, generation)
    })?;
    owned_after(stage, &step, (ITEMS, before))?;
    if episode.contributing.contains(&Cause::DelayExpired) {
        stage.end_parked(episode)?;
    } else {
        stage.end(episode)?;
    }
    stage.departed(victim, DepartureHow::Crashed, None);
    for (worker, work) in &owned {
        handed_out_again(stage, worker, work)?;
    }
    Ok(())
}

/// How often a worker dropped its work.
fn drops(truth: &TruthLog, worker: &str) -> usize {
    let events = truth.events.iter();
    events
        .filter(|event| event.process == worker && event.what == What::WorkDropped)
        .count()
}

/// Waits until these workers have dropped their work after `before`.
fn dropped(stage: &Stage, workers: &[&str], before: &TruthLog) -> anyhow::Result<TruthLog> {
    until(stage, "the workers to drop their work", |truth| {
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
    two_connectors(stage, &[])
}

/// Waits until the sidecar sees everything again.
fn current(stage: &Stage) -> anyhow::Result<()> {
    wait_until("the sidecar to be current", BACK_MAX, || {
        let state = stage.agent("first")?.state()?;
        ensure!(state["current"] == true, "blind");
        Ok(Some(()))
    })
}

/// The coordinator's broker stops in order, which moves its partitions first, and the one that
/// has taken over is killed: of that the workers of some releases notice nothing, others drop
/// their work. Then a connector is created while the coordinator moves, and a worker dies with
/// its broker.
fn moved(stage: &mut Stage) -> anyhow::Result<()> {
    two_connectors(stage, &[])?;
    stage.begin("the coordinator's broker is stopped")?;
    let gone = coordinator(stage)?;
    stage.cluster.stop(&gone)?;
    moved_from(stage, &gone)?;
    stage.end_quiet()?;
    let before = both_brokers(stage, &gone)?;

    let step = "the coordinator's broker is killed";
    stage.begin(step)?;
    let gone = coordinator(stage)?;
    stage.cluster.kill(&gone)?;
    moved_from(stage, &gone)?;
    if have_dropped(stage, &before)? {
        current(stage)?;
        owned_after(stage, step, (ITEMS, &before))?;
        let lost = ExpectedEpisode::of(Cause::CoordinatorLost, None);
        stage.end(lost.perhaps(&[Cause::CoordinatorMoved]))?;
        dropped_and_back(stage, &before)?;
    } else {
        stage.end_quiet()?;
    }
    let before = both_brokers(stage, &gone)?;

    let step = "a connector is created while the coordinator moves";
    stage.begin(step)?;
    let gone = coordinator(stage)?;
    stage.cluster.kill(&gone)?;
    put(stage, "gamma", &json!({"tasks.max": "3"}))?;
    owned_after(stage, step, (ITEMS + 4, &before))?;
    let created = ExpectedEpisode::of(Cause::ConnectorCreated, Some("gamma"));
    let (episode, dropped) = or_lost(stage, &before, created)?;
    stage.end(episode)?;
    if dropped {
        dropped_and_back(stage, &before)?;
    }
    let before = both_brokers(stage, &gone)?;

    let step = "a worker and the coordinator's broker are killed";
    let victim = follower(&before)?;
    stage.begin(step)?;
    let gone = coordinator(stage)?;
    stage.cluster.kill(&victim)?;
    stage.cluster.kill(&gone)?;
    moved_from(stage, &gone)?;
    current(stage)?;
    owned_after(stage, step, (ITEMS + 4, &before))?;
    let lost = ExpectedEpisode::of(Cause::WorkerLost, Some(&victim));
    let lost = lost.with(&[Cause::DelayExpired]);
    let (episode, dropped) = or_lost(stage, &before, lost)?;
    stage.end_parked(episode)?;
    stage.departed(&victim, DepartureHow::Crashed, None);
    for worker in WORKERS {
        if dropped || worker == victim {
            handed_out_again(stage, worker, &owned_by(&before, worker)?)?;
        }
    }
    both_brokers(stage, &gone)?;
    Ok(())
}

/// Whether a worker has dropped its work since.
fn have_dropped(stage: &Stage, before: &TruthLog) -> anyhow::Result<bool> {
    let now = stage.cluster.truth(stage.group_id())?;
    let mut workers = WORKERS.iter();
    Ok(workers.any(|name| drops(&now, name) > drops(before, name)))
}

/// This episode, or one of a lost coordinator to which its causes contribute; and which.
fn or_lost(
    stage: &Stage,
    before: &TruthLog,
    episode: ExpectedEpisode,
) -> anyhow::Result<(ExpectedEpisode, bool)> {
    let dropped = have_dropped(stage, before)?;
    let episode = if dropped {
        let lost = ExpectedEpisode::of(Cause::CoordinatorLost, None);
        lost.with(&[episode.cause]).with(&episode.contributing)
    } else {
        episode
    };
    Ok((episode.perhaps(&[Cause::CoordinatorMoved]), dropped))
}

fn coordinator(stage: &Stage) -> anyhow::Result<String> {
    stage.cluster.coordinator(stage.group_id())
}

/// Starts a broker that was away, and compares.
fn both_brokers(stage: &mut Stage, broker: &str) -> anyhow::Result<TruthLog> {
    let step = format!("{broker} is back");
    stage.begin(&step)?;
    stage.cluster.start_process(broker)?;
    let truth = stage.end_quiet()?;
    current(stage)?;
    stage.rest(&step, NOTHING)?;
    Ok(truth)
}

fn moved_from(stage: &Stage, broker: &str) -> anyhow::Result<()> {
    wait_until("the coordinator to move", MOVED_MAX, || {
        Ok((coordinator(stage)? != broker).then_some(()))
    })
}
