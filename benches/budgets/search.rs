//! The first true answer: from the start of an agent until what it says of the group may be
//! shown, on a partition whose newest group record lies far back, and on one where it is new.

use anyhow::ensure;
use evenkeel::read::kafka::ReadSettings;
use evenkeel::run::clock;

use crate::Scale;
use crate::fleet::{Fleet, KeyValue};
use crate::report::{Held, Report, short, spread};
use crate::scan::{self, Log, RealLog};
use crate::stage::{self, Running};
use crate::stopwatch::Spread;

pub(crate) fn run(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let mut fleet = Fleet::new(3, 10, 9);
    if scale.real {
        let records = scale.records.unwrap_or(scale.of(10_000_000, 200_000));
        let real = RealLog::write(records, Some(round(&mut fleet)?))?;
        let side = Side {
            settings: real.settings(),
            broker: "real broker",
            topic: scan::LOG,
            partition: 0,
        };
        let again = |pair| real.produce(std::iter::once(pair));
        return both(
            scale,
            report,
            (&runtime, &side, records),
            (&mut fleet, &again),
        );
    }
    let records = scale.records.unwrap_or(scale.of(1_000_000, 100_000));
    let broker = runtime.block_on(stage::broker())?;
    let partition = stage::partition()?;
    let append = |(key, value)| -> anyhow::Result<()> {
        broker.append(stage::OFFSETS, partition, stage::record(key, value))?;
        Ok(())
    };
    append(round(&mut fleet)?)?;
    stage::fill(&broker, records)?;
    let side = Side {
        settings: stage::settings(broker.address().to_string(), stage::OFFSETS),
        broker: "embedded broker, in this process",
        topic: stage::OFFSETS,
        partition,
    };
    both(
        scale,
        report,
        (&runtime, &side, records),
        (&mut fleet, &append),
    )?;
    runtime.block_on(broker.shutdown());
    Ok(())
}

struct Side {
    settings: ReadSettings,
    broker: &'static str,
    topic: &'static str,
    partition: i32,
}

/// Appends one more record to the log.
type Append<'a> = &'a dyn Fn(KeyValue) -> anyhow::Result<()>;

fn both(
    scale: Scale,
    report: &mut Report,
    (runtime, side, records): (&tokio::runtime::Runtime, &Side, u64),
    (fleet, append): (&mut Fleet, Append<'_>),
) -> anyhow::Result<()> {
    report.settings("both clients", scan::settings_told(&side.settings)?);
    report.settings("broker", side.broker);
    let rounds = scale.of(if scale.real { 3 } else { 5 }, 2);
    let log = Log {
        topic: side.topic,
        partition: side.partition,
        records: records + 1,
    };
    // Warms the broker's page cache; both sides read from it.
    scan::bare(&side.settings, &log)?;
    let (mut far, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        bare.push(scan::bare(&side.settings, &log)?.as_secs_f64());
        far.push(runtime.block_on(first_answer(&side.settings, fleet.generation))?);
    }
    let ratio = Spread::of_ratios(&far, &bare);
    let records = short(records as f64);
    report.row(
        format!(
            "first true answer, cold: {records} records after the group's, {}",
            side.broker
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
    append(round(fleet)?)?;
    let mut near = Vec::new();
    for _ in 0..rounds {
        near.push(runtime.block_on(first_answer(&side.settings, fleet.generation))?);
    }
    let near = Spread::of(&near);
    report.row(
        format!(
            "first true answer, warm: the group's record is the newest of {records}, {}",
            side.broker
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
