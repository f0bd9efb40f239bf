//! Workers that come, and one that goes without having had anything.

use anyhow::Context;

use super::membership::{last, leader, nothing_unassigned, owned};
use super::opening::{
    DELAY_MS, NOTHING, all_owned, cold_start, created, followers, group_of, members, owned_by,
    two_connectors, until,
};
use super::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::{
    Cause, DelayReason, DepartureHow, EpisodeOutcome, ExpectedEpisode, LostEnd, TruthGeneration,
    TruthLog, Work,
};

/// `session.timeout.ms` of the workers: Kafka's default.
const SESSION_MS: i64 = 10_000;

pub(super) fn one_worker() -> anyhow::Result<ClusterSpec> {
    Ok(group_of(1, DELAY_MS, &[]))
}

/// Three workers start at once, and get work.
pub(super) fn starts(stage: &mut Stage) -> anyhow::Result<()> {
    two_connectors(stage, &[])?;
    Ok(())
}

/// One worker with all work, then one more, then three more at once.
pub(super) fn scale_out(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let mut before = last(&truth)?.generation;
    for (step, more) in [("one more worker", 1), ("three more workers at once", 3)] {
        stage.begin(step)?;
        let mut names = Vec::new();
        for _ in 0..more {
            let spec = stage.worker_spec(DELAY_MS);
            names.push(stage.cluster.add_worker("connect", &spec)?);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        stage.cluster.start_processes(&names)?;
        let count = stage.cluster.workers().len();
        stage.await_truth(step, NOTHING, |truth| {
            all_owned(truth, count, before) && shared(truth)
        })?;
        before = last(&stage.end_arrivals()?)?.generation;
    }
    Ok(())
}

/// Whether nobody has two tasks more than another.
fn shared(truth: &TruthLog) -> bool {
    let members = truth.last().map(|last| last.members.as_slice());
    let owned = members.unwrap_or_default().iter();
    let tasks = owned.filter_map(|member| Some(member.owned.as_ref()?.tasks.len()));
    let (least, most) = tasks.fold((usize::MAX, 0), |(least, most), tasks| {
        (least.min(tasks), most.max(tasks))
    });
    most <= least + 1
}

/// More workers than work: the one that owns nothing is stopped. Sooner after its last join
/// than a session lasts, that shows that it left by itself; later nothing does.
pub(super) fn idle_scaled_in(stage: &mut Stage) -> anyhow::Result<()> {
    cold_start(stage)?;
    let truth = created(stage, ("alpha", 1), &[])?;
    let (before, joined_ms) = (last(&truth)?.generation, last(&truth)?.join_end_ms);
    let idle = last(&truth)?
        .members
        .iter()
        .find(|member| member.owned.as_ref().is_some_and(|work| work.is_empty()))
        .and_then(|member| member.worker.clone())
        .context("everybody owns something")?;
    let step = "an idle worker stops";
    stage.begin(step)?;
    stage.cluster.stop(&idle)?;
    let truth = stage.await_truth(step, NOTHING, |truth| {
        members(truth, 2, before) && owned(truth) == 2 && nothing_unassigned(truth)
    })?;
    let after = truth
        .generations
        .iter()
        .find(|after| after.generation > before);
    let left_ms = after.context("a generation without it")?.join_end_ms;
    let (cause, how) = if left_ms - joined_ms < SESSION_MS {
        (Cause::WorkerLeft, DepartureHow::Graceful)
    } else {
        (Cause::WorkerGone, DepartureHow::Unknown)
    };
    stage.end(ExpectedEpisode::of(cause, Some(&idle)))?;
    stage.departed(&idle, how, None);
    Ok(())
}

/// All workers stop, the leader last, and start again at once.
pub(super) fn all_restarted(stage: &mut Stage) -> anyhow::Result<()> {
    let truth = two_connectors(stage, &[])?;
    let mut names = followers(&truth)?;
    names.push(leader(&truth)?);
    let step = "all workers stop, the leader last";
    stage.begin(step)?;
    for (stopped, name) in names.iter().enumerate() {
        let before = last(&stage.cluster.truth(stage.group_id())?)?.generation;
        stage.cluster.stop(name)?;
        until(stage, step, |truth| {
            members(truth, names.len() - stopped - 1, before) && truth.is_settled()
        })?;
        if stopped + 1 < names.len() {
            stage.deadline(DelayReason::Lost)?;
        }
    }
    let mut episode = ExpectedEpisode::of(Cause::GroupEmptied, None).with(&[Cause::WorkerLeft]);
    episode.outcome = EpisodeOutcome::GroupGone;
    stage.end(episode)?;
    for name in &names {
        stage.departed(name, DepartureHow::Graceful, Some(name));
    }
    let emptied = stage.cluster.truth(stage.group_id())?.generations.len();
    let step = "all workers start again at once";
    stage.begin(step)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    stage.cluster.start_processes(&names)?;
    let started = |truth: &TruthLog| all_owned(truth, names.len(), 0) && shared(truth);
    stage.await_truth(step, NOTHING, started)?;
    let now = stage.end_arrivals()?;
    // Lost work outlives a group without members: who gets it first ends the loss.
    let after = now.generations.get(emptied..).unwrap_or_default();
    for name in names {
        let owns = owned_by(&truth, name)?;
        let own = first_owned(after, &owns, |worker| worker == name);
        let others = first_owned(after, &owns, |worker| worker != name);
        for (items, ended) in [(own, LostEnd::Reclaimed), (others, LostEnd::Reassigned)] {
            if !items.is_empty() {
                stage.lost_by((name, &items), ended);
            }
        }
    }
    Ok(())
}

/// What of these items such a worker is the first to own.
pub(super) fn first_owned(
    generations: &[TruthGeneration],
    items: &Work,
    by: impl Fn(&str) -> bool,
) -> Work {
    let (mut open, mut found) = (items.clone(), Work::default());
    for member in generations
        .iter()
        .flat_map(|generation| &generation.members)
    {
        let Some(owned) = &member.owned else { continue };
        let taken = open.without(&open.without(owned));
        open = open.without(owned);
        if member.worker.as_deref().is_some_and(&by) {
            found.add(&taken);
        }
    }
    found
}
