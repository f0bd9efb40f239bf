//! A sidecar beside each worker, in the worker's network namespace: each finds its worker by
//! address, the one beside the leader reports, two ask often, and all say the same.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::agent::{Agent, value};
use super::compare::{Expected, text, worker_id};
use super::membership::{self, connector};
use super::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::{Comparison, TruthLog};
use crate::wait::wait_until;

const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};

const WORKERS: [&str; 3] = ["worker-1", "worker-2", "worker-3"];
const GENERATION: &str = r#"evenkeel_generation{group="connect"}"#;
const REPORTER: &str = r#"evenkeel_reporter{group="connect"}"#;

const LISTS: &str = r#"evenkeel_polls_total{group="connect",api="list_groups"}"#;

/// Two questions at the slow pace fit in.
const WATCHED: Duration = Duration::from_secs(20);
/// 40 at most by 500 ms, and one more at an edge; half of it on a machine that runs other
/// things, too.
const FAST: RangeInclusive<f64> = 20.0..=41.0;
/// 2 by 10 s, one more or less at an edge.
const SLOW: RangeInclusive<f64> = 1.0..=3.0;
/// A generation is settled by statuses, or by two rebalance timeouts of a minute.
const SETTLED_MAX: Duration = Duration::from_secs(60);
const TOLD_MAX: Duration = Duration::from_secs(40);

pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = ClusterSpec::of(WORKERS.len());
    spec.brokers.namespaces = true;
    Ok(spec)
}

pub(super) fn sidecars(stage: &mut Stage) -> anyhow::Result<()> {
    for worker in WORKERS {
        let file = file(stage, worker)?;
        let agent = stage.agent_with_file_in(&beside(worker), &file, worker)?;
        stage.adopt(agent);
    }
    current(stage)?;
    stage.cluster.start_processes(&WORKERS)?;
    connector(stage, "alpha", 3)?;
    connector(stage, "beta", 3)?;
    let truth = owned_by_all(stage, "three workers, each with a sidecar")?;
    let mut comparison = Comparison::new();
    parts(stage, &truth, &mut comparison)?;
    paces(stage, &truth, &mut comparison)?;
    alike(stage, &mut comparison)?;

    // The leader dies: who reports is beside the next, and only there.
    let old = membership::leader(&truth)?;
    let before = truth.last().context("no generation")?.generation;
    stage.cluster.kill(&old)?;
    let truth = stage.await_truth("the leader is killed", NOTHING, |truth| {
        let last = truth.last();
        last.is_some_and(|last| last.generation > before && last.member_count == 2)
            && membership::owned(truth) == 8
    })?;
    parts(stage, &truth, &mut comparison)?;
    stage.cluster.start_process(&old)?;
    let truth = owned_by_all(stage, "it comes back")?;
    parts(stage, &truth, &mut comparison)?;
    alike(stage, &mut comparison)?;

    // The same once more, in order: who stops says so.
    let leader = membership::leader(&truth)?;
    let before = truth.last().context("no generation")?.generation;
    stage.cluster.stop(&leader)?;
    let truth = stage.await_truth("the leader stops", NOTHING, |truth| {
        let last = truth.last();
        last.is_some_and(|last| last.generation > before && last.member_count == 2)
            && membership::owned(truth) == 8
    })?;
    parts(stage, &truth, &mut comparison)?;
    alike(stage, &mut comparison)?;
    stage.count(comparison)
}

fn beside(worker: &str) -> String {
    format!("beside-{worker}")
}

/// Two are told where the cluster is and nothing of a worker, one reads its worker's file.
/// None is told which worker is its own.
fn file(stage: &Stage, worker: &str) -> anyhow::Result<std::path::PathBuf> {
    let groups = stage.cluster.groups();
    let group = groups.first().context("the group that is played")?;
    let group = if worker == "worker-3" {
        json!({ "worker_properties": stage.cluster.worker(worker)?.properties_file() })
    } else {
        json!({
            "group": group.group_id,
            "config_topic": group.config_topic,
            "status_topic": group.status_topic,
        })
    };
    let mut all = json!({
        "groups": [group],
        "metrics": { "group_series": "leader_and_deputy" },
    });
    if worker != "worker-3" {
        all["kafka"] = json!({ "bootstrap": stage.cluster.bootstrap() });
    }
    let file = stage.cluster.folder().join(format!("{worker}.yaml"));
    // JSON is YAML, too.
    fs::write(&file, all.to_string()).with_context(|| format!("write {}", file.display()))?;
    Ok(file)
}

/// All watch before anything happens, so that all count the same.
fn current(stage: &Stage) -> anyhow::Result<()> {
    for name in WORKERS.map(beside).iter().chain([&"first".to_owned()]) {
        wait_until(&format!("{name} to watch"), TOLD_MAX, || {
            let agent = stage.agent(name)?;
            let polled = !agent.state()?["polls"]["confirmed"].is_null();
            ensure!(polled, "no answer yet");
            Ok(Some(()))
        })?;
    }
    Ok(())
}

fn owned_by_all(stage: &mut Stage, step: &str) -> anyhow::Result<TruthLog> {
    stage.await_truth(step, NOTHING, |truth| {
        let everybody = truth.last().is_some_and(|last| {
            last.member_count == 3
                && last
                    .members
                    .iter()
                    .all(|member| member.owned.as_ref().is_some_and(|owned| !owned.is_empty()))
        });
        everybody && membership::owned(truth) == 8 && membership::nothing_unassigned(truth)
    })
}

/// The leader's worker id, and that of the next after it.
fn chosen(truth: &TruthLog) -> anyhow::Result<(String, String)> {
    let last = truth.last().context("no generation")?;
    let leader = last.leader_url.as_deref().map(worker_id);
    let leader = leader.context("nobody leads")?;
    let ids: BTreeSet<String> = last
        .members
        .iter()
        .filter_map(|member| member.worker_url.as_deref().map(worker_id))
        .collect();
    let after = ids.iter().find(|id| **id > leader).or(ids.first());
    let deputy = after.context("no members")?.clone();
    Ok((leader, deputy))
}

/// What each sidecar is: whose, which part its worker has, who reports, who shows the group.
fn parts(stage: &Stage, truth: &TruthLog, comparison: &mut Comparison) -> anyhow::Result<()> {
    let told = wait_until("every sidecar to know its part", TOLD_MAX, || {
        let mut told = Comparison::new();
        parts_now(stage, truth, &mut told)?;
        told.finish().map(Some)
    });
    if let Err(error) = told {
        eprintln!("  {error:#}");
    }
    parts_now(stage, truth, comparison)
}

fn parts_now(stage: &Stage, truth: &TruthLog, comparison: &mut Comparison) -> anyhow::Result<()> {
    let (leader, deputy) = chosen(truth)?;
    let last = truth.last().context("no generation")?;
    let mut reporters = 0.0;
    for worker in WORKERS {
        let agent = stage.agent(&beside(worker))?;
        let what = |name: &str| format!("generation {}: {} {name}", last.generation, agent.name());
        let id = worker_id(&stage.cluster.worker(worker)?.url());
        let member = last
            .members
            .iter()
            .any(|m| m.worker.as_deref() == Some(worker));
        let role = member.then(|| match &id {
            id if *id == leader => "leader".to_owned(),
            id if *id == deputy => "deputy".to_owned(),
            _ => "member".to_owned(),
        });
        let metrics = agent.metrics()?;
        let own = agent.state()?["own"].clone();
        comparison.equal(
            &what("worker"),
            &member.then(|| id.clone()),
            &text(&own["worker"]),
        );
        comparison.equal(&what("role"), &role, &text(&own["role"]));
        let infos: Vec<&str> = metrics
            .lines()
            .filter(|line| line.starts_with("evenkeel_sidecar_info{"))
            .collect();
        let info = format!(r#"evenkeel_sidecar_info{{group="connect",worker="{id}"}} 1"#);
        let truth: Vec<&str> = member.then_some(info.as_str()).into_iter().collect();
        comparison.equal(&what("info"), &truth, &infos);
        let reporter = value(&metrics, REPORTER)?;
        let leads = f64::from(u8::from(id == leader));
        comparison.equal(&what("reporter"), &Some(leads), &reporter);
        reporters += reporter.unwrap_or(0.0);
        // Who has no worker beside it shows the group, too: nobody else may be there.
        let shown = value(&metrics, GENERATION)?.is_some();
        let truth = role.as_deref() != Some("member");
        comparison.equal(&what("shows the group"), &truth, &shown);
    }
    comparison.equal("reporters", &1.0, &reporters);
    let outsider = stage.agent("first")?.metrics()?;
    let reports = value(&outsider, REPORTER)?;
    comparison.equal("who is beside nobody: reporter", &Some(0.0), &reports);
    let info = outsider.contains("evenkeel_sidecar_info{");
    comparison.equal("who is beside nobody: info", &false, &info);
    Ok(())
}

/// How many questions the coordinator answers meanwhile.
fn paces(stage: &Stage, truth: &TruthLog, comparison: &mut Comparison) -> anyhow::Result<()> {
    let (leader, deputy) = chosen(truth)?;
    let asked = || -> anyhow::Result<Vec<f64>> {
        let asked = WORKERS.iter().map(|worker| {
            let metrics = stage.agent(&beside(worker))?.metrics()?;
            value(&metrics, LISTS)?.with_context(|| format!("{worker}: no {LISTS}"))
        });
        asked.collect()
    };
    let before = asked()?;
    thread::sleep(WATCHED);
    for ((worker, before), after) in WORKERS.iter().zip(before).zip(asked()?) {
        let id = worker_id(&stage.cluster.worker(worker)?.url());
        let fast = id == leader || id == deputy;
        let bounds = if fast { FAST } else { SLOW };
        let asked = after - before;
        let what = format!("{worker}: {asked} questions in {WATCHED:?}, allowed {bounds:?}");
        comparison.equal(&what, &true, &bounds.contains(&asked));
        eprintln!("  {what}");
    }
    Ok(())
}

/// Counters of how long a join phase took, which each sidecar bounds by its own questions.
const BY_POLLS: [&str; 3] = ["phases", "phases_unmeasured", "rebalance_duration"];

/// Rules of which either may settle a generation, to the same outcome.
const CLAIM_OR_STATUS: [&str; 2] = ["generation rule 3", "generation rule 4"];

/// The part of an answer that all sidecars of a cluster share.
fn shared(agent: &Agent) -> anyhow::Result<Value> {
    let mut state = agent.state()?;
    let mut shared = json!({});
    for name in [
        "group",
        "state",
        "mode",
        "configured",
        "deadline",
        "unassigned",
        "rounds",
        "counters",
        "recent",
    ] {
        shared[name] = state[name].take();
    }
    let counters = shared["counters"].as_object_mut();
    let counters = counters.context("no counters")?;
    for name in BY_POLLS {
        counters.remove(name);
    }
    // Which of both applies hangs on whether a status or the next record was read first.
    let rounds = shared["rounds"].as_array_mut().context("no rounds")?;
    for rule in rounds.iter_mut().map(|round| &mut round["settled_by"]) {
        if CLAIM_OR_STATUS.iter().any(|either| rule == either) {
            *rule = json!(CLAIM_OR_STATUS);
        }
    }
    Ok(shared)
}

/// All say the same, word for word, once every round is settled.
fn alike(stage: &Stage, comparison: &mut Comparison) -> anyhow::Result<()> {
    let names: Vec<String> = WORKERS.iter().map(|worker| beside(worker)).collect();
    let look = || -> anyhow::Result<_> {
        let first = shared(stage.agent("first")?)?;
        let others = names.iter().map(|name| shared(stage.agent(name)?));
        Ok((first, others.collect::<anyhow::Result<Vec<_>>>()?))
    };
    let settled = wait_until("all to say the same", SETTLED_MAX, || {
        let (first, others) = look()?;
        let rounds = first["rounds"].as_array().context("no rounds")?;
        let open = rounds.iter().filter(|round| round["outcome"].is_null());
        ensure!(open.count() == 0, "a round is not settled");
        ensure!(others.iter().all(|other| *other == first), "they differ");
        Ok(Some((first, others)))
    });
    let (first, others) = settled.or_else(|_| look())?;
    let rounds = first["rounds"].as_array().context("no rounds")?;
    let settled = rounds.iter().filter(|round| !round["outcome"].is_null());
    let settled: Vec<&Value> = settled.collect();
    ensure!(!settled.is_empty(), "no round is settled");
    for (name, other) in names.iter().zip(&others) {
        for (key, truth) in first.as_object().context("no object")? {
            if key != "rounds" {
                comparison.equal(&format!("{name}: {key}"), truth, &other[key]);
            }
        }
        for truth in &settled {
            let same = |round: &&Value| {
                round["generation"] == truth["generation"]
                    && round["incarnation"] == truth["incarnation"]
            };
            let told = other["rounds"].as_array().into_iter().flatten().find(same);
            let what = format!("{name}: generation {}", truth["generation"]);
            comparison.equal(&what, &Some(*truth), &told);
        }
    }
    eprintln!(
        "  {} settled rounds, the same on {} sidecars",
        settled.len(),
        others.len() + 1
    );
    Ok(())
}
