//! The first true answer: from the start of an agent until what it says of the group may be
//! shown, on a partition whose newest group record lies far back, and on one where it is new.

use anyhow::ensure;
use evenkeel::read::kafka::ReadSettings;
use evenkeel::run::clock;
use evenkeel_core::facts::input::Topic;
use tokio::runtime::Runtime;

use crate::Scale;
use crate::fleet::{Fleet, KeyValue};
use crate::kafka::{Kafka, Kind};
use crate::report::{Held, Report, short, spread};
use crate::scan;
use crate::stage::Running;
use crate::stopwatch::Spread;

pub(crate) fn run(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let (kind, records) = if scale.real {
        (Kind::Real, scale.of(10_000_000, 200_000))
    } else {
        (Kind::Embedded, scale.of(1_000_000, 100_000))
    };
    let records = scale.records.unwrap_or(records);
    let kafka = kind.start(&runtime)?;
    let mut fleet = Fleet::new(3, 10, 9);
    kafka.write(Topic::Offsets, [round(&mut fleet)?])?;
    kafka.fill(records)?;
    report.settings("broker", kind.told());
    both(scale, report, (&runtime, &kafka, kind, records), &mut fleet)?;
    kafka.end(&runtime);
    Ok(())
}

fn both(
    scale: Scale,
    report: &mut Report,
    (runtime, kafka, kind, records): (&Runtime, &Kafka, Kind, u64),
    fleet: &mut Fleet,
) -> anyhow::Result<()> {
    let settings = kafka.settings();
    report.settings("both clients", scan::settings_told(&settings)?);
    let rounds = scale.of(if scale.real { 3 } else { 5 }, 2);
    let log = kafka.log(records + 1);
    // Warms the broker's page cache; both sides read from it.
    scan::bare(&settings, &log)?;
    let (mut far, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        bare.push(scan::bare(&settings, &log)?.as_secs_f64());
        far.push(runtime.block_on(first_answer(&settings, fleet.generation))?);
    }
    let ratio = Spread::of_ratios(&far, &bare);
    let records = short(records as f64);
    report.row(
        format!(
            "first true answer, cold: {records} records after the group's, {}",
            kind.told()
        ),
        (
            format!(
                "{}, {} of a bare scan",
                spread(Spread::of(&far), " s"),
                spread(ratio, " times")
            ),
            format!(
                "bare scan of the same log: {}",
                spread(Spread::of(&bare), " s")
            ),
        ),
        ("≤ 1.2 times a bare scan", Held::of(ratio.median <= 1.2)),
    );
    kafka.write(Topic::Offsets, [round(fleet)?])?;
    let mut near = Vec::new();
    for _ in 0..rounds {
        near.push(runtime.block_on(first_answer(&settings, fleet.generation))?);
    }
    let near = Spread::of(&near);
    report.row(
        format!(
            "first true answer, warm: the group's record is the newest of {records}, {}",
            kind.told()
        ),
        (
            spread(near, " s"),
            format!("bare scan: {} s", short(Spread::of(&bare).median)),
        ),
        ("≤ 3 s", Held::of(near.median <= 3.0)),
    );
    Ok(())
}

fn round(fleet: &mut Fleet) -> anyhow::Result<KeyValue> {
    Ok((Fleet::key()?, fleet.round(0, clock::now().0)?))
}

/// Seconds until an agent that starts now says what is true.
async fn first_answer(settings: &ReadSettings, generation: i32) -> anyhow::Result<f64> {
    let began = std::time::Instant::now();
    let mut agent = Running::start(settings.clone()).await?;
    agent.until_fresh().await?;
    let elapsed = began.elapsed().as_secs_f64();
    let group = agent
        .published
        .borrow()
        .groups
        .first()
        .and_then(|answers| answers.group.clone());
    let told = group.and_then(|group| group.generation);
    ensure!(
        told == Some(generation),
        "generation {generation} expected, {told:?} told"
    );
    agent.end().await?;
    Ok(elapsed)
}
