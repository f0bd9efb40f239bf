//! The membership script while one sidecar may not read `__consumer_offsets`: what it tells
//! of the group is right all the same, what it cannot know is absent. Then the right comes
//! and goes: everything is seen, nothing is counted twice.

use std::time::Duration;

use anyhow::{Context, anyhow, ensure};

use super::agent::Agent;
use super::compare::Expected;
use super::counts::{Counts, at_rest, counted_alike};
use super::membership;
use super::stage::Stage;
use crate::group::Group;
use crate::properties::Properties;
use crate::security::{AGENT_USER, Access, Resource, Right, Security};
use crate::spec::ClusterSpec;
use crate::truth::{Comparison, TruthLog};
use crate::wait::wait_until;

const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};

const NAME: &str = "restricted";
const OFFSETS: &str = "__consumer_offsets";

/// A client that was refused asks again every 10 s; after that the group is searched for.
const CHANGED_MAX: Duration = Duration::from_secs(40);

pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = membership::spec()?;
    spec.brokers.security = Some(Security::new()?);
    Ok(spec)
}

pub(super) fn hidden(stage: &mut Stage) -> anyhow::Result<()> {
    let group = played(stage)?;
    let (records, others): (Vec<Right>, Vec<Right>) = Right::of_observer(AGENT_USER, &group)
        .into_iter()
        .partition(|right| right.resource == Resource::Topic(OFFSETS.to_owned()));
    stage.cluster.grant(&others)?;
    let file = stage.cluster.agent_file(
        (NAME, stage.group_id()),
        Access::Scram512,
        &Properties::new(),
    )?;
    let agent = stage.agent_with_file(NAME, &file)?;
    stage.adopt_without_records(agent);
    membership::comings_and_goings(stage)?;
    refused(stage)?;

    // The right is granted: the history before it is history, and counts nothing.
    stage.cluster.grant(&records)?;
    allowed(stage)?;
    let truth = stage.rest("the records may be read", NOTHING)?;
    let at_grant = membership::last(&truth)?.generation;
    let mut comparison = Comparison::new();
    let counted = Counts::of(stage.agent(NAME)?)?;
    comparison.equal("counted at the grant", &0.0, &counted.sum());
    membership::connector(stage, "alpha", 2)?;
    let truth = await_owned(stage, "more tasks", 3)?;
    // From now on the sidecar that always saw everything is the measure.
    for name in ["first", NAME] {
        settled(stage.agent(name)?)?;
    }
    let since = truth.generations.iter();
    let since = since.filter(|generation| generation.generation > at_grant);
    let before = at_rest(&[stage.agent("first")?, stage.agent(NAME)?])?;
    let [first, counted] = before.try_into().map_err(|_| anyhow!("two sidecars"))?;
    let generations = f64::from(u32::try_from(since.count())?);
    comparison.equal(
        "generations since the grant",
        &generations,
        &counted.generations(),
    );
    let before = (first, counted);

    // It is taken away; the leader goes, and another leads.
    stage.cluster.revoke(&records)?;
    stage.records_allowed(NAME, false)?;
    let what = "the records to be hidden again";
    wait_until(what, CHANGED_MAX, || {
        let mode = stage.agent(NAME)?.mode()?;
        ensure!(mode == "no_offsets_topic", "{mode}");
        Ok(Some(()))
    })?;
    refused(stage)?;
    let truth = stage.rest("the records are hidden again", NOTHING)?;
    let leader = membership::leader(&truth)?;
    stage.cluster.stop(&leader)?;
    stage.await_truth("another leads", NOTHING, |truth| {
        membership::leader(truth).is_ok_and(|now| now != leader)
            && membership::owned(truth) == 3
            && membership::nothing_unassigned(truth)
    })?;
    // Until its new leader has read the topics a worker refuses.
    wait_until("a worker to take a change", CHANGED_MAX, || {
        membership::connector(stage, "alpha", 3).map(Some)
    })?;
    await_owned(stage, "more tasks under another leader", 4)?;

    stage.cluster.grant(&records)?;
    allowed(stage)?;
    stage.rest("the records may be read again", NOTHING)?;
    counted_alike(
        stage,
        ("all that was hidden", NAME),
        &before,
        &mut comparison,
    )?;
    comparison.equal("runs since the start", &true, &stage.agent(NAME)?.runs());
    stage.count(comparison)
}

/// The group that is played.
fn played(stage: &Stage) -> anyhow::Result<Group> {
    let groups = stage.cluster.groups();
    let found = groups
        .iter()
        .find(|group| group.group_id == stage.group_id());
    found.cloned().context("the group that is played")
}

fn await_owned(stage: &mut Stage, step: &str, items: usize) -> anyhow::Result<TruthLog> {
    stage.await_truth(step, NOTHING, |truth| {
        membership::owned(truth) == items && membership::nothing_unassigned(truth)
    })
}

/// Waits until the newest generation is settled, and so counted.
fn settled(agent: &Agent) -> anyhow::Result<()> {
    wait_until(&format!("{} to settle", agent.name()), CHANGED_MAX, || {
        let state = agent.state()?;
        let newest = state["rounds"].as_array().and_then(|rounds| rounds.last());
        Ok(newest
            .filter(|round| !round["outcome"].is_null())
            .map(|_| ()))
    })
}

/// `/readyz` names the one right that is missing and who needs it, and nothing else.
fn refused(stage: &mut Stage) -> anyhow::Result<()> {
    let agent = stage.agent(NAME)?;
    let reasons = agent.reasons()?;
    let mut comparison = Comparison::new();
    comparison.equal("reasons", &1, &reasons.len());
    let Some(reason) = reasons.first() else {
        return stage.count(comparison);
    };
    comparison.equal("refused: input", &Some("offsets".to_owned()), &reason.input);
    comparison.equal("refused: reason", &"denied".to_owned(), &reason.reason);
    for word in [OFFSETS, AGENT_USER, "READ", "DESCRIBE"] {
        let what = format!("refused: {word} in {:?}", reason.text);
        comparison.equal(&what, &true, &reason.text.contains(word));
    }
    comparison.equal("refused: status", &200, &agent.status("/readyz")?);
    comparison.equal(
        "refused: mode",
        &"no_offsets_topic".to_owned(),
        &agent.mode()?,
    );
    stage.count(comparison)
}

/// Waits until everything is seen; from now on it is compared as one that sees.
fn allowed(stage: &mut Stage) -> anyhow::Result<()> {
    wait_until("the records to be seen", CHANGED_MAX, || {
        let agent = stage.agent(NAME)?;
        let (mode, reasons) = (agent.mode()?, agent.reasons()?);
        ensure!(mode == "full" && reasons.is_empty(), "{mode}: {reasons:?}");
        Ok(Some(()))
    })?;
    stage.records_allowed(NAME, true)
}
