//! What goes wrong: a worker that comes back after its work was given away, work that nobody
//! gets when its delay is over, and a group that never ends a round.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::{DELAY_MS, STRANGE, Scene};
use crate::alertmanager::Notified;
use crate::proxy::Fault;
use crate::scenario::membership::last;
use crate::scenario::opening::{NOTHING, all_owned, followers, members, owned_by, put, until};
use crate::scenario::stage::Stage;
use crate::scenario::unrest::steps;
use crate::security::Listener;
use crate::truth::{Step, TruthLog, Work};

const BROKER: &str = "broker-1";

const SURE: &str = "Trust: 3 of 3 sidecars are sure of all they see.";

/// How much later bytes of the stranger arrive. Without that it is a hundred rounds a second,
/// which only this machine suffers from.
const SLOW: Duration = Duration::from_millis(100);

/// Where the repository has its runbooks.
const RUNBOOKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/runbooks");

/// While this file exists, tasks that look at it do not end their stop.
pub(super) fn file_of_stops(stage: &Stage) -> String {
    let file = stage.cluster.folder().join("stops-hang");
    file.display().to_string()
}

/// A follower freezes, its work is handed out, and it thaws: until it has stopped what others
/// run by now, which takes a while, a warning says so, and nobody is woken.
pub(super) fn zombie(stage: &mut Stage, scene: &mut Scene) -> anyhow::Result<()> {
    let truth = stage.calm()?;
    let frozen = with_task(&truth, "alpha")?;
    let owns = owned_by(&truth, &frozen)?;
    let before = last(&truth)?.generation;
    stage.cluster.freeze(&frozen)?;
    let step = "a follower is frozen, and its work is handed out";
    let truth = stage.await_truth(step, NOTHING, |truth| all_owned(truth, 2, before))?;
    scene.say(step);
    let before = last(&truth)?.generation;
    let stuck = file_of_stops(stage);
    fs::write(&stuck, "")?;
    stage.cluster.thaw(&frozen)?;
    let told = scene.watch.told("chat", "EvenkeelDuplicateWork");
    fs::remove_file(&stuck)?;
    let told = told?;
    scene.say("chat is told that work runs twice");
    let worker = stage.cluster.worker(&frozen)?.worker_id();
    let count = owns.connectors.len() + owns.tasks.len();
    let count = format!("{count} connectors and tasks of connect run twice");
    says(scene, (&told, "warning"), &[&count, "alpha", &worker, SURE])?;
    let step = "the zombie has stopped what others run";
    stage.await_truth(step, NOTHING, |truth| all_owned(truth, 3, before))?;
    scene.watch.over("chat", "EvenkeelDuplicateWork")?;
    scene.say(step);
    scene.paged("a zombie", &[])
}

/// A follower is killed, and before its delay is over the other one begins a stop that does
/// not end: the round that would hand the work out waits for it. One page, until it is over.
pub(super) fn lost(stage: &mut Stage, scene: &mut Scene) -> anyhow::Result<()> {
    let truth = stage.calm()?;
    let Roles {
        killed,
        slow,
        connector,
    } = roles(&truth)?;
    let stuck = file_of_stops(stage);
    let stop = [("stop.file", stuck.as_str()), ("stop.tasks", slow.as_str())];
    put(stage, (&connector, 3), &stop)?;
    let task = format!("{connector}-{slow}");
    let starts = steps(&truth, &task, Step::Started);
    let step = format!("{task} may hang in its stop");
    let truth = stage.await_truth(&step, NOTHING, |truth| {
        steps(truth, &task, Step::Started) > starts && all_owned(truth, 3, 0)
    })?;

    let owns = owned_by(&truth, &killed)?;
    let before = last(&truth)?.generation;
    stage.cluster.kill(&killed)?;
    until(stage, "a follower is killed", |truth| {
        truth.is_settled() && members(truth, 2, before)
    })?;
    scene.say("a follower is killed, and its work waits");
    fs::write(&stuck, "")?;
    let again = [&stop[..], &[("round", "2")]].concat();
    put(stage, (&connector, 3), &again)?;
    let told = scene.watch.told("pager", "EvenkeelWorkLost");
    fs::remove_file(&stuck)?;
    let told = told?;
    scene.say("the pager is told that work is lost");
    let count = owns.connectors.len() + owns.tasks.len();
    let count = format!("{count} connectors and tasks of connect lost their worker");
    let of_tasks = owns.tasks.iter();
    let of_tasks = of_tasks.filter_map(|task| Some(task.rsplit_once('-')?.0));
    let connectors = owns.connectors.iter().map(String::as_str).chain(of_tasks);
    let connectors: BTreeSet<&str> = connectors.collect();
    let connectors: Vec<&str> = connectors.into_iter().collect();
    let connectors = format!("Connectors concerned: {}.", connectors.join(", "));
    let worker = stage.cluster.worker(&killed)?.worker_id();
    let newest = format!("Newest rebalance: worker_lost; subject: {worker}.");
    let said = [
        &count,
        "their scheduled delay ended at 2",
        " +0000 UTC, more than 12s ago.",
        &connectors,
        &newest,
        SURE,
    ];
    says(scene, (&told, "critical"), &said)?;
    stage.await_truth("the lost work is handed out", NOTHING, |truth| {
        all_owned(truth, 2, before)
    })?;
    scene.watch.over("pager", "EvenkeelWorkLost")?;
    scene.say("the pager is told that it is over");
    let paged = [
        "firing: EvenkeelWorkLost firing",
        "resolved: EvenkeelWorkLost resolved",
    ];
    scene.paged("lost work", &paged)
}

/// A worker joins whose config topic is another one, with more in it than the group's: the
/// leader never has what that one says there is, and every round ends in an error.
pub(super) fn looping(stage: &mut Stage, scene: &mut Scene) -> anyhow::Result<()> {
    let before = stage.calm()?;
    let count = last(&before)?.member_count;
    stage.cluster.proxy(BROKER)?.set(Fault::Delay(SLOW));
    let through = stage.cluster.bootstrap_of(Listener::Proxied)?;
    let spec = stage.worker_spec(DELAY_MS);
    let spec = spec
        .with("bootstrap.servers", through)
        .with("config.storage.topic", STRANGE);
    let stranger = stage.cluster.add_worker("connect", &spec)?;
    stage.cluster.spawn_worker(&stranger)?;
    let told = scene.watch.told("pager", "EvenkeelRebalanceLoop")?;
    scene.say("the pager is told of a loop");
    let said = [
        "connect had",
        "that failed, and none was completed since",
        "config_mismatch",
        // They cannot tell whose topic is the other one, and say so.
        " of 3 sidecars are sure of all they see.",
    ];
    says(scene, (&told, "critical"), &said)?;
    furthest_is(stage, scene, &stranger)?;
    let within = stage.cluster.truth(stage.group_id())?;
    let what = "tasks that were stopped in the loop";
    let [before_it, in_it] = [&before, &within].map(stops);
    scene.comparison.equal(what, &before_it, &in_it);
    stage.cluster.stop(&stranger)?;
    // Work as before proves nothing of the round that ended the loop; a change does.
    let generations = before.generations.len();
    put(stage, ("beta", 3), &[("round", "3")])?;
    let step = "the stranger is stopped, and a connector changed";
    stage.await_truth(step, NOTHING, |truth| {
        truth.generations.len() > generations && all_owned(truth, count, 0)
    })?;
    scene.say(step);
    scene.watch.over("pager", "EvenkeelRebalanceLoop")?;
    scene.say("the pager is told that it is over");
    let paged = [
        "firing: EvenkeelWorkLost firing",
        "resolved: EvenkeelWorkLost resolved",
        "firing: EvenkeelRebalanceLoop firing",
        "resolved: EvenkeelRebalanceLoop resolved",
    ];
    scene.paged("a loop", &paged)
}

/// Where the runbook of the loop looks: the member that has read most of a config topic is the
/// one with another topic.
fn furthest_is(stage: &Stage, scene: &mut Scene, stranger: &str) -> anyhow::Result<()> {
    let state = stage.agent("first")?.state()?;
    let members = state.pointer("/group/members").and_then(Value::as_array);
    let members = members.context("no members")?.iter();
    let furthest = members.max_by_key(|member| member["config_offset"].as_i64());
    let told = furthest.and_then(|member| member["worker"].as_str());
    let id = stage.cluster.worker(stranger)?.worker_id();
    let what = "who has read most";
    scene.comparison.equal(what, &Some(id.as_str()), &told);
    Ok(())
}

/// Whether a message says what it must: these words, whom it is about, what can be trusted,
/// and where to read on.
fn says(
    scene: &mut Scene,
    (told, severity): (&Notified, &str),
    words: &[&str],
) -> anyhow::Result<()> {
    let name = told.name().to_owned();
    let text = told.annotation("description");
    eprintln!("  {name}: {text}");
    for words in words {
        let what = format!("{name} says {words:?} in {text:?}");
        scene.comparison.equal(&what, &true, &text.contains(words));
    }
    let labels = [
        ("severity", severity),
        ("group", "connect"),
        ("job", "evenkeel"),
    ];
    for (label, value) in labels {
        let what = format!("{name}: {label}");
        scene.comparison.equal(&what, &value, &told.label(label));
    }
    // One of all sidecars, not one of each.
    scene.comparison.equal(&name, &"", &told.label("instance"));
    let page = format!("{name}.md");
    let url = told.annotation("runbook_url");
    let leads = url.ends_with(&format!("/docs/runbooks/{page}"));
    ensure!(leads, "{name}: its runbook is {url:?}");
    let is_there = Path::new(RUNBOOKS).join(page).is_file();
    scene
        .comparison
        .equal("its runbook is there", &true, &is_there);
    Ok(())
}

/// How often tasks were asked to stop so far.
fn stops(truth: &TruthLog) -> usize {
    let tasks = |connector: &str| [0, 1, 2].map(|index| format!("{connector}-{index}"));
    let all = ["alpha", "beta"].into_iter().flat_map(tasks);
    all.map(|task| steps(truth, &task, Step::StopAsked)).sum()
}

/// A follower that owns a task of the connector.
fn with_task(truth: &TruthLog, connector: &str) -> anyhow::Result<String> {
    for name in followers(truth)? {
        if !tasks_of(&owned_by(truth, &name)?, connector).is_empty() {
            return Ok(name);
        }
    }
    bail!("no follower owns a task of {connector}")
}

/// Who is killed, and which task keeps another follower from the next round.
struct Roles {
    killed: String,
    slow: String,
    connector: String,
}

/// Tasks are made anew by whoever has their connector: that one must live on.
fn roles(truth: &TruthLog) -> anyhow::Result<Roles> {
    let followers = followers(truth)?;
    for killed in &followers {
        let gone = owned_by(truth, killed)?.connectors;
        let lives = |name: &&str| !gone.contains(*name);
        for connector in ["alpha", "beta"].into_iter().filter(lives) {
            for blocked in followers.iter().filter(|name| *name != killed) {
                let tasks = tasks_of(&owned_by(truth, blocked)?, connector);
                if let Some(slow) = tasks.into_iter().next() {
                    return Ok(Roles {
                        killed: killed.clone(),
                        slow,
                        connector: connector.to_owned(),
                    });
                }
            }
        }
    }
    bail!("no two followers of which one can be killed and one blocked")
}

/// The indexes of the tasks of a connector.
fn tasks_of(work: &Work, connector: &str) -> Vec<String> {
    let index = |task: &String| {
        task.strip_prefix(connector)?
            .strip_prefix('-')
            .map(str::to_owned)
    };
    work.tasks.iter().filter_map(index).collect()
}
