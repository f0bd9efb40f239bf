//! How soon a record that can be read changes what is published, and how soon its verdict
//! is there: the whole pipeline, from a broker to what a scrape would show.

use std::time::{Duration, Instant};

use evenkeel::run::clock;
use evenkeel_core::answers::Answers;
use evenkeel_core::facts::input::Topic;

use crate::Scale;
use crate::fleet::Fleet;
use crate::kafka::{Kafka, Kind};
use crate::report::{Held, Report, short};
use crate::stage::Running;
use crate::stopwatch::{quantile, sorted};

pub(crate) fn run(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let rounds = scale.of(300, 30);
    report.settings(
        "both ends",
        "one process: writer, agent, stopwatch, the broker where it is embedded; \
         3 workers, 10 connectors, 90 tasks",
    );
    report.settings(
        "each round",
        "a group record, then a status of that generation, timed from before both are written; \
         the next after a pause of 20 to 200 ms",
    );
    for kind in Kind::of(scale) {
        let kafka = kind.start(&runtime)?;
        let measured = runtime.block_on(measure(&kafka, rounds))?;
        kafka.end(&runtime);
        let late = quantile(&sorted(&waits(&runtime)), 0.99);
        tell(report, (kind.told(), rounds), measured, late);
    }
    Ok(())
}

/// Milliseconds until each record's fact had changed, and until its verdict was settled.
type Measured = (Vec<f64>, Vec<f64>);

fn tell(
    report: &mut Report,
    (broker, rounds): (&str, u32),
    (mut changed, mut settled): Measured,
    late: f64,
) {
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
    let beside = format!("p99 by which a 50 ms sleep is late: {} ms", short(late));
    report.row(
        format!("record written → fact changed, {rounds} records, {broker}"),
        (told(&changed), beside.clone()),
        (
            "p99 ≤ 100 ms",
            Held::beside(quantile(&changed, 0.99), 100.0, late),
        ),
    );
    report.row(
        format!("record written → verdict settled, {rounds} records, {broker}"),
        (told(&settled), beside),
        (
            "p99 ≤ 2 s",
            Held::beside(quantile(&settled, 0.99), 2_000.0, late),
        ),
    );
}

async fn measure(kafka: &Kafka, rounds: u32) -> anyhow::Result<Measured> {
    let mut fleet = Fleet::new(3, 10, 9);
    kafka.fill(10_000)?;
    kafka.settle(&mut fleet, 3)?;
    let mut agent = Running::start(kafka.settings()).await?;
    agent.until_fresh().await?;
    let (mut changed, mut settled) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let value = fleet.round(usize::from(round % 2 == 0), clock::now().0)?;
        let generation = fleet.generation;
        let status = fleet.one_status()?;
        let began = Instant::now();
        kafka.write(Topic::Offsets, [(Fleet::key()?, value)])?;
        kafka.write(Topic::Status, [status])?;
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
