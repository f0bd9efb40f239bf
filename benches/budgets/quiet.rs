//! What watching a quiet cluster costs: three real workers, an agent beside each, polls on.

use std::time::{Duration, Instant};

use evenkeel_testbed::{Cluster, ClusterSpec};

use crate::Scale;
use crate::process::{self, Agent};
use crate::report::{Held, Report, short};

pub(crate) fn run(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    if !scale.real {
        report.note("skipped: needs real brokers and workers, see --real");
        return Ok(());
    }
    let cluster = Cluster::start(&ClusterSpec::of(3))?;
    let group = &cluster.groups()[0];
    let bootstrap = cluster.bootstrap();
    let mut agents = Vec::new();
    for worker in cluster.workers() {
        let own = worker.worker_id();
        agents.push(Agent::start(&[
            "--bootstrap",
            &bootstrap,
            "--group",
            &group.group_id,
            "--config-topic",
            &group.config_topic,
            "--status-topic",
            &group.status_topic,
            "--own-worker",
            &own,
        ])?);
    }
    for agent in &mut agents {
        agent.until_trusted()?;
    }
    let seconds = scale.of(60, 10);
    report.settings(
        "cluster",
        "one broker, three workers, no connector, default settings",
    );
    report.settings(
        "agents",
        format!("one beside each worker: leader, deputy, member; nobody scrapes; {seconds} s"),
    );
    std::thread::sleep(Duration::from_secs(5));
    let before = agents
        .iter()
        .map(|agent| process::cpu_s(agent.pid()))
        .collect::<anyhow::Result<Vec<f64>>>()?;
    let began = Instant::now();
    std::thread::sleep(Duration::from_secs(seconds));
    let elapsed_s = began.elapsed().as_secs_f64();
    let mut percents = Vec::new();
    for (agent, before) in agents.iter().zip(before) {
        percents.push((process::cpu_s(agent.pid())? - before) / elapsed_s * 100.0);
    }
    let most = percents.iter().copied().fold(0.0, f64::max);
    let each: Vec<String> = percents.iter().map(|percent| short(*percent)).collect();
    let memory = process::memory(agents[0].pid())?;
    report.row(
        "processor on a quiet cluster of 3 workers, polls on",
        (
            format!("{} % of a core, the busiest of three agents", short(most)),
            format!(
                "each: {} %; the first has {} MiB resident, peak {} MiB",
                each.join(", "),
                short(memory.resident_kib / 1024.0),
                short(memory.peak_kib / 1024.0)
            ),
        ),
        ("≤ 0.5 % of a core", Held::of(most <= 0.5)),
    );
    Ok(())
}
