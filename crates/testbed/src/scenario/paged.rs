//! From real Kafka to the page: sidecars beside the workers, Prometheus with evenkeel's rules,
//! Alertmanager with its sample of routes, and what a person is told in the end.

mod incidents;
mod watch;

use std::fs;
use std::time::Instant;

use anyhow::Context;
use serde_json::json;

use super::Scenario;
use super::membership::{last, leader};
use super::opening::{NOTHING, all_owned, followers, group_of, put};
use super::stage::Stage;
use crate::admin::{TopicSpec, TopicVerb};
use crate::prometheus::Target;
use crate::properties::Properties;
use crate::spec::ClusterSpec;
use crate::truth::{Comparison, TruthLog};
use watch::Watch;

pub(super) const SCENARIOS: &[Scenario] = &[Scenario {
    name: "paged",
    shows: "what Alertmanager tells whom: a rolling restart, a zombie, lost work, a loop",
    recorded: false,
    script: paged,
    spec,
}];

const WORKERS: [&str; 3] = ["worker-1", "worker-2", "worker-3"];

/// `scheduled.rebalance.max.delay.ms`: time to change a connector while work waits for it.
const DELAY_MS: u32 = 15_000;

/// Rounds take as long here as anywhere, so that rules are not as much shorter as the delay
/// is. And an hour is twelve minutes then, of which three incidents take a good part: how much
/// of a month's budget they burn is not the question here.
const RULES: [&str; 4] = ["--time-scale", "0.2", "--set", "availability_target=0.99"];

/// A topic full of what is no configuration.
const STRANGE: &str = "strange-config";

/// Workers that wait for tasks that stop slowly, and for each other for longer than any page
/// takes.
fn spec() -> anyhow::Result<ClusterSpec> {
    let settings = [
        ("task.shutdown.graceful.timeout.ms", "100000"),
        ("rebalance.timeout.ms", "120000"),
    ];
    let mut spec = group_of(WORKERS.len(), DELAY_MS, &settings);
    spec.brokers.proxied = true;
    Ok(spec)
}

/// What the incidents share.
struct Scene {
    watch: Watch,
    began: Instant,
    comparison: Comparison,
}

impl Scene {
    /// Says how far it is.
    fn say(&self, what: &str) {
        eprintln!("  {:>4} s  {what}", self.began.elapsed().as_secs());
    }

    /// All that the pager got so far.
    fn paged(&mut self, when: &str, expected: &[&str]) -> anyhow::Result<()> {
        let expected: Vec<String> = expected.iter().map(|&line| line.to_owned()).collect();
        let paged = self.watch.lines("pager")?;
        let what = format!("{when}: pages");
        self.comparison.equal(&what, &expected, &paged);
        Ok(())
    }
}

fn paged(stage: &mut Stage) -> anyhow::Result<()> {
    let began = Instant::now();
    let targets = sidecars(stage)?;
    let topic = TopicSpec::compacted(STRANGE, 1);
    stage.cluster.topics(&TopicVerb::Create(topic))?;
    let watch = Watch::start(stage, targets, &RULES)?;
    let mut scene = Scene {
        watch,
        began,
        comparison: Comparison::new(),
    };
    stage.cluster.start_processes(&WORKERS)?;
    let stuck = incidents::file_of_stops(stage);
    let stops = [("topic", STRANGE), ("stop.file", stuck.as_str())];
    put(stage, ("alpha", 3), &stops)?;
    put(stage, ("beta", 3), &[])?;
    let truth = stage.await_truth("three workers, each with a sidecar", NOTHING, |truth| {
        all_owned(truth, WORKERS.len(), 0)
    })?;
    scene.say("three workers, each with a sidecar");
    rolling_restart(stage, &mut scene, &truth)?;
    incidents::zombie(stage, &mut scene)?;
    incidents::lost(stage, &mut scene)?;
    incidents::looping(stage, &mut scene)?;
    for receiver in ["pager", "chat", "tickets"] {
        for line in scene.watch.lines(receiver)? {
            eprintln!("  {receiver}: {line}");
        }
    }
    scene.say(&format!(
        "alerts at any time: {}",
        scene.watch.ever()?.join(", ")
    ));
    scene.watch.stop()?;
    stage.count(scene.comparison)
}

fn beside(worker: &str) -> String {
    format!("beside-{worker}")
}

/// A sidecar beside each worker, that reads its file; and what Prometheus scrapes.
fn sidecars(stage: &mut Stage) -> anyhow::Result<Vec<Target>> {
    let mut targets = Vec::new();
    for worker in WORKERS {
        let properties = stage.cluster.worker(worker)?.properties_file();
        let config = json!({ "groups": [{ "worker_properties": properties }] });
        let file = stage.cluster.folder().join(format!("{worker}.yaml"));
        // JSON is YAML, too.
        fs::write(&file, config.to_string()).with_context(|| format!("{}", file.display()))?;
        let agent = stage.agent_with_file(&beside(worker), &file)?;
        targets.push(Target::local("evenkeel", agent.port()));
        stage.adopt(agent);
    }
    stage.await_watching(&WORKERS.map(beside))?;
    Ok(targets)
}

/// Each worker stops and starts again, the leader last, each when all is owned again: nobody
/// is woken.
fn rolling_restart(stage: &mut Stage, scene: &mut Scene, truth: &TruthLog) -> anyhow::Result<()> {
    let mut names = followers(truth)?;
    names.push(leader(truth)?);
    let mut before = last(truth)?.generation;
    for name in &names {
        stage.cluster.restart(name, &Properties::new())?;
        let step = format!("{name} is restarted");
        let truth = stage.await_truth(&step, NOTHING, |truth| {
            all_owned(truth, WORKERS.len(), before)
        })?;
        before = last(&truth)?.generation;
        scene.say(&step);
    }
    scene.say(&format!("alerts so far: {:?}", scene.watch.ever()?));
    scene.paged("all workers were restarted", &[])
}
