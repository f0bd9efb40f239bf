//! How soon a record that can be read changes what is published, and how soon its verdict
//! is there: the real pipeline, from an embedded broker to what a scrape would show.

use std::time::{Duration, Instant};

use evenkeel::run::clock;
use evenkeel_core::answers::Answers;

use crate::Scale;
use crate::fleet::Fleet;
use crate::report::{Held, Report, short};
use crate::stage::{self, Running};
use crate::stopwatch::{quantile, sorted};

pub(crate) fn run(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let rounds = scale.of(300, 30);
    report.settings(
        "both ends",
        "one process: embedded broker, agent, stopwatch; 3 workers, 10 connectors, 90 tasks",
    );
    report.settings(
        "each round",
        "a group record, then a status of that generation; the next after a pause of 20 to 200 ms",
    );
    let (mut changed, mut settled) = runtime.block_on(measure(rounds))?;
    changed.sort_by(f64::total_cmp);
    settled.sort_by(f64::total_cmp);
    let told = |ms: &[f64]| {
        format!(
            "p50 {} ms, p99 {} ms, longest {} ms",
            short(quantile(ms, 0.5)),
            short(quantile(ms, 0.99)),
            short(quantile(ms, 1.0))
        )
    };
    let late = quantile(&sorted(&waits(&runtime)), 0.99);
    let beside = format!("p99 by which a 50 ms sleep is late: {} ms", short(late));
    report.row(
        format!("record readable → fact changed, {rounds} records"),
        (told(&changed), beside.clone()),
        (
            "p99 ≤ 100 ms",
            Held::beside(quantile(&changed, 0.99), 100.0, late),
        ),
    );
    report.row(
        format!("record readable → verdict settled, {rounds} records"),
        (told(&settled), beside),
        (
            "p99 ≤ 2 s",
            Held::beside(quantile(&settled, 0.99), 2_000.0, late),
        ),
    );
    Ok(())
}

async fn measure(rounds: u32) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let broker = stage::broker().await?;
    let mut fleet = Fleet::new(3, 10, 9);
    stage::fill(&broker, 10_000)?;
    stage::settle(&broker, &mut fleet, 3)?;
    let settings = stage::settings(broker.address().to_string(), stage::OFFSETS);
    let mut agent = Running::start(settings).await?;
    agent.until_fresh().await?;
    let (mut changed, mut settled) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let value = fleet.round(usize::from(round % 2 == 0), clock::now().0)?;
        let generation = fleet.generation;
        broker.append(
            stage::OFFSETS,
            stage::partition()?,
            stage::record(Fleet::key()?, value),
        )?;
        let began = Instant::now();
        let (key, value) = fleet.one_status()?;
        broker.append(stage::STATUS, 0, stage::record(key, value))?;
        agent
            .until("the new generation", |published| {
                let group = published
                    .groups
                    .first()
                    .and_then(|answers| answers.group.as_ref());
                group.is_some_and(|group| group.generation == Some(generation))
            })
            .await?;
        changed.push(began.elapsed().as_secs_f64() * 1e3);
        agent
            .until("its verdict", |published| {
                published
                    .groups
                    .first()
                    .is_some_and(|answers| is_settled(answers, generation))
            })
            .await?;
        settled.push(began.elapsed().as_secs_f64() * 1e3);
        // No multiple of the agent's own periods, or one phase of them alone is measured.
        tokio::time::sleep(Duration::from_millis(20 + u64::from(round) * 37 % 181)).await;
    }
    agent.end().await?;
    broker.shutdown().await;
    Ok((changed, settled))
}

fn is_settled(answers: &Answers, generation: i32) -> bool {
    let mut rounds = answers.rounds.iter();
    rounds.any(|round| round.generation == generation && round.outcome.is_some())
}

/// What the machine adds by itself: by how many milliseconds sleeps are late.
fn waits(runtime: &tokio::runtime::Runtime) -> Vec<f64> {
    let sleep = Duration::from_millis(50);
    runtime.block_on(async {
        let mut late = Vec::new();
        for _ in 0..100 {
            let began = Instant::now();
            tokio::time::sleep(sleep).await;
            late.push(began.elapsed().saturating_sub(sleep).as_secs_f64() * 1e3);
        }
        late
    })
}
