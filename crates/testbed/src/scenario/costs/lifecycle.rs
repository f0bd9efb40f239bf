//! What people and connectors do to connectors, and what of it moves or stops a task.

use std::time::Duration;

use serde_json::json;

use crate::scenario::changes::{paused_and_resumed, started_anew};
use crate::scenario::opening::{ITEMS, NOTHING, cold_start, created, two_connectors};
use crate::scenario::stage::Stage;
use crate::scenario::unrest::{ask, owned_after, put};
use crate::truth::{ExpectedEpisode, Root, TruthLog};

use super::stops::ALIVE;

/// A connector asks for new task configurations so often: a round and a calm fit in between.
const EVERY: Duration = Duration::from_secs(12);

/// How often it does.
const TIMES: usize = 4;

/// beta is paused, resumed, stopped and resumed; alpha is restarted without its tasks and with
/// them, and one task of it alone.
pub(super) fn connector_lifecycle(stage: &mut Stage) -> anyhow::Result<()> {
    two_connectors(stage, &[ALIVE])?;
    paused_and_resumed(stage)?;
    let before = stage.calm()?;
    let step = "beta is stopped";
    stage.begin(step)?;
    ask(stage, "PUT", "/connectors/beta/stop", None)?;
    owned_after(stage, step, (ITEMS - 3, &before))?;
    let before = stage.end(ExpectedEpisode::tasks_changed("beta", Root::Stopped))?;

    let step = "beta is resumed after its stop";
    stage.begin(step)?;
    ask(stage, "PUT", "/connectors/beta/resume", None)?;
    owned_after(stage, step, (ITEMS, &before))?;
    let before = stage.end(ExpectedEpisode::tasks_changed("beta", Root::Resumed))?;

    let step = "alpha is restarted, without its tasks";
    stage.begin(step)?;
    ask(stage, "POST", "/connectors/alpha/restart", None)?;
    started_anew(stage, step, ("alpha", &before))?;
    let before = stage.calm()?;

    let step = "alpha is restarted, with its tasks";
    stage.begin(step)?;
    let path = "/connectors/alpha/restart?includeTasks=true&onlyFailed=false";
    ask(stage, "POST", path, None)?;
    started_anew(stage, step, ("alpha", &before))?;
    let before = stage.calm()?;

    let step = "one task of alpha is restarted";
    stage.begin(step)?;
    ask(stage, "POST", "/connectors/alpha/tasks/1/restart", None)?;
    started_anew(stage, step, ("alpha-1", &before))
}

/// Asked for on a timer, which writes nothing as long as they are the same; then written with
/// each change of the connector that no task sees (KAFKA-9228).
pub(super) fn task_configs_same(stage: &mut Stage) -> anyhow::Result<()> {
    cold_start(stage)?;
    created(stage, ("beta", 3), &[ALIVE])?;
    let timer = ("reconfigure.every.ms", "3000");
    let mut before = created(stage, ("alpha", 3), &[timer, ALIVE])?;
    stage.begin("alpha asks for its task configurations, and they are the same")?;
    stage.pause(EVERY);
    stage.end_quiet()?;
    for time in 1..=TIMES {
        let step = format!("alpha is changed where no task sees it, time {time}");
        stage.begin(&step)?;
        let config = json!({
            "tasks.max": "3",
            "reconfigure.every.ms": "3000",
            "alive.every.ms": ALIVE.1,
            "connector.start.delay.ms": (10 * time).to_string(),
        });
        put(stage, "alpha", &config)?;
        owned_after(stage, &step, (ITEMS, &before))?;
        let root = Root::ReconfiguredUnchanged;
        before = stage.end(ExpectedEpisode::tasks_changed("alpha", root))?;
    }
    Ok(())
}

/// On a timer, each time with other content: every owner stops its tasks each time.
pub(super) fn task_configs_changing(stage: &mut Stage) -> anyhow::Result<()> {
    let mut before = two_connectors(stage, &[ALIVE])?;
    let step = "alpha gets a timer";
    stage.begin(step)?;
    let timer = json!({
        "tasks.max": "3",
        "alive.every.ms": ALIVE.1,
        "reconfigure.every.ms": EVERY.as_millis().to_string(),
        "reconfigure.content": "changing",
    });
    put(stage, "alpha", &timer)?;
    owned_after(stage, step, (ITEMS, &before))?;
    before = stage.end(ExpectedEpisode::tasks_changed("alpha", Root::Reconfigured))?;
    for time in 1..=TIMES {
        let step = format!("alpha changes its tasks, time {time}");
        stage.begin(&step)?;
        owned_after(stage, &step, (ITEMS, &before))?;
        before = stage.end(ExpectedEpisode::tasks_changed("alpha", Root::Itself))?;
    }
    let step = "alpha loses its timer";
    stage.begin(step)?;
    put(stage, "alpha", &json!({"tasks.max": "3"}))?;
    owned_after(stage, step, (ITEMS, &before))?;
    before = stage.end(ExpectedEpisode::tasks_changed("alpha", Root::Reconfigured))?;
    rests(stage, &before)
}

/// Nothing goes on.
fn rests(stage: &mut Stage, before: &TruthLog) -> anyhow::Result<()> {
    stage.begin("nothing changes any more")?;
    stage.pause(EVERY);
    let truth = stage.end_quiet()?;
    anyhow::ensure!(
        truth.generations.len() == before.generations.len(),
        "it does"
    );
    stage.rest("nothing changes any more", NOTHING)?;
    Ok(())
}
