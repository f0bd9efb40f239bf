//! Resident memory of the built program once it has caught up: a usual group, and a large one.

use std::time::Duration;

use anyhow::ensure;

use crate::Scale;
use crate::fleet::Fleet;
use crate::kafka::{Kafka, Kind};
use crate::process::{self, Agent};
use crate::report::{Held, Report, short};

pub(crate) fn run(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    report.settings(
        "agent",
        "`evenkeel run` of this build, a process of its own; /proc/PID/status",
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    for kind in Kind::of(scale) {
        for case in [usual(scale), large(scale)] {
            let kafka = kind.start(&runtime)?;
            measure(scale, report, (&kafka, *kind), case)?;
            kafka.end(&runtime);
        }
    }
    Ok(())
}

fn usual(scale: Scale) -> Case {
    Case {
        name: "3 workers, 100 tasks",
        fleet: Fleet::new(3, 10, 10),
        tasks: 100,
        history: 50,
        foreign: scale.of(500_000, 50_000),
        resident_mib_max: 15.0,
        peak_mib_max: Some(24.0),
        budget: "≤ 15 MiB, peak ≤ 24 MiB",
    }
}

fn large(scale: Scale) -> Case {
    Case {
        name: "50 workers, 1,000 connectors, 10,000 tasks",
        fleet: Fleet::new(50, 1_000, 10),
        tasks: 10_000,
        history: scale.of(50, 5),
        foreign: scale.of(500_000, 50_000),
        resident_mib_max: 64.0,
        peak_mib_max: None,
        budget: "≤ 64 MiB",
    }
}

struct Case {
    name: &'static str,
    fleet: Fleet,
    tasks: u64,
    /// Rounds before the present one.
    history: u32,
    /// Records of other groups before the group's.
    foreign: u64,
    resident_mib_max: f64,
    peak_mib_max: Option<f64>,
    budget: &'static str,
}

fn measure(
    scale: Scale,
    report: &mut Report,
    (kafka, kind): (&Kafka, Kind),
    mut case: Case,
) -> anyhow::Result<()> {
    kafka.fill(case.foreign)?;
    kafka.settle(&mut case.fleet, case.history)?;
    let flags = kafka.flags();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let mut agent = Agent::start(&flags)?;
    agent.until_trusted()?;
    // Time for what catching up left behind to go: ends are asked for every ten seconds.
    std::thread::sleep(Duration::from_secs(scale.of(15, 3)));
    let rested = process::memory(agent.pid())?;
    let mut bytes = 0;
    for _ in 0..20 {
        bytes = agent.get("/metrics")?.len();
    }
    let scraped = process::memory(agent.pid())?;
    let mib = |kib: f64| short(kib / 1024.0);
    let met = rested.resident_kib <= case.resident_mib_max * 1024.0
        && case
            .peak_mib_max
            .is_none_or(|max| rested.peak_kib <= max * 1024.0);
    report.row(
        format!("resident memory, {}, {}", case.name, kind.told()),
        (
            format!(
                "{} MiB after catch-up, peak {} MiB; {} MiB are heap and stacks",
                mib(rested.resident_kib),
                mib(rested.peak_kib),
                mib(rested.own_kib)
            ),
            format!(
                "{} MiB after 20 scrapes of {bytes} bytes (peak {} MiB); \
                 {} items, {} rounds, {} foreign records",
                mib(scraped.resident_kib),
                mib(scraped.peak_kib),
                case.fleet.items(),
                case.history + 2,
                case.foreign,
            ),
        ),
        (case.budget, Held::of(met)),
    );
    let state: serde_json::Value = serde_json::from_str(&agent.get("/api/v1/state")?)?;
    let told = state.pointer("/groups/0/configured/connectors");
    let tasks = told.and_then(|all| all.as_array()).map_or(0, |all| {
        let tasks = all.iter().filter_map(|one| one["tasks"].as_u64());
        tasks.sum::<u64>()
    });
    ensure!(tasks == case.tasks, "the agent knows of {tasks} tasks");
    Ok(())
}
