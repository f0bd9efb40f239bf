//! The skip path: records of other groups, which are nearly all there are. The filter
//! alone, and the whole way from a broker against a bare client.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use evenkeel::read::kafka::{Limits, ReadSettings, start_within};
use evenkeel::run::clock;
use evenkeel_core::facts::input::{InputKind, Topic};
use evenkeel_core::wire::offsets_key::key_is_group_metadata_of;
use tokio::sync::mpsc;

use crate::fleet::{Fleet, GROUP};
use crate::kafka::Kind;
use crate::report::{Held, Report, short, spread};
use crate::scan::{self, Log};
use crate::stopwatch::{Spread, process_cpu_s, rate};
use crate::{Scale, stage};

/// How the filter stands to one million records a second.
pub(crate) fn filter(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let mut keys: Vec<Vec<u8>> = stage::foreign(1_023)?.map(|(key, _)| key).collect();
    keys.push(Fleet::key()?);
    let window = Duration::from_millis(scale.of(400, 50));
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..scale.of(9, 3) {
        let per_call = keys.len() as f64 / 1e6;
        bare.push(
            per_call
                * rate(window, || {
                    let sum = |key: &Vec<u8>| key.iter().map(|byte| u64::from(*byte)).sum::<u64>();
                    black_box(black_box(&keys).iter().map(sum).sum::<u64>());
                }),
        );
        ours.push(
            per_call
                * rate(window, || {
                    let group = black_box(GROUP);
                    let keys = black_box(&keys).iter();
                    black_box(
                        keys.filter(|key| key_is_group_metadata_of(key, group))
                            .count(),
                    );
                }),
        );
    }
    report.settings(
        "both sides",
        "1,024 keys, one of them the group's own; processor time of one thread",
    );
    let (ours, bare) = (Spread::of(&ours), Spread::of(&bare));
    report.row(
        "skip path: filter alone",
        (
            spread(ours, " M records/s/core"),
            format!("adding up the keys' bytes: {} M/s", short(bare.median)),
        ),
        ("≥ 1 M/s/core", Held::of(ours.median >= 1.0)),
    );
    Ok(())
}

/// A log without a record of the group, read by a bare client and by the agent's reader.
pub(crate) fn run(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    for kind in Kind::of(scale) {
        let records = match kind {
            Kind::Embedded => scale.of(1_000_000, 100_000),
            Kind::Real => scale.records.unwrap_or(scale.of(2_000_000, 200_000)),
        };
        let kafka = kind.start(&runtime)?;
        kafka.fill(records)?;
        let log = kafka.log(records);
        compare(scale, report, (&kafka.settings(), &log), kind.told())?;
        kafka.end(&runtime);
    }
    Ok(())
}

fn compare(
    scale: Scale,
    report: &mut Report,
    (settings, log): (&ReadSettings, &Log),
    broker: &str,
) -> anyhow::Result<()> {
    report.settings("both clients", scan::settings_told(settings)?);
    report.settings("broker", broker);
    report.settings(
        "ours",
        "search of the whole log in one chunk: nothing is found, all is skipped",
    );
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    let (mut ours_cpu, mut bare_cpu) = (Vec::new(), Vec::new());
    // One round of each that counts for nothing: files and memory get warm.
    for round in 0..=scale.of(7, 2) {
        let cpu = process_cpu_s();
        let bare_s = scan::bare(settings, log)?.as_secs_f64();
        let between = process_cpu_s();
        let ours_s = read(settings, log.records)?.as_secs_f64();
        if round > 0 {
            bare.push(bare_s);
            bare_cpu.push(between - cpu);
            ours.push(ours_s);
            ours_cpu.push(process_cpu_s() - between);
        }
    }
    let speed = Spread::of_ratios(&bare, &ours);
    let rate = |seconds: &[f64]| short(log.records as f64 / Spread::of(seconds).median / 1e6);
    let percent = Spread {
        median: speed.median * 100.0,
        min: speed.min * 100.0,
        max: speed.max * 100.0,
    };
    report.note(format!(
        "processor seconds, ours over bare: {}",
        spread(Spread::of_ratios(&ours_cpu, &bare_cpu), "")
    ));
    report.row(
        format!(
            "skip path end to end, {} records, {broker}",
            short(log.records as f64)
        ),
        (
            format!(
                "{} M records/s, {} of bare",
                rate(&ours),
                spread(percent, " %")
            ),
            format!("bare client with the same settings: {} M/s", rate(&bare)),
        ),
        ("≥ 90 % of bare", Held::of(percent.median >= 90.0)),
    );
    Ok(())
}

/// The agent's reader, until it has searched the whole log.
fn read(settings: &ReadSettings, records: u64) -> anyhow::Result<Duration> {
    let in_one = Limits {
        chunk_offsets_min: i64::MAX,
        ..Limits::default()
    };
    let (sender, mut inputs) = mpsc::channel(1_024);
    let began = Instant::now();
    let reader = start_within(settings.clone(), Arc::new(clock::now), sender, &in_one)?;
    while let Some(input) = inputs.blocking_recv() {
        if matches!(&input.kind, InputKind::Start(start) if start.topic == Topic::Offsets) {
            break;
        }
        ensure!(
            began.elapsed() < stage::WAIT_MAX,
            "the log was not read in time"
        );
    }
    let elapsed = began.elapsed();
    let read = reader.counters().topic(Topic::Offsets).records.get();
    ensure!(read == records, "{read} records were read of {records}");
    // Threads that wait for room in the channel are let go.
    drop(inputs);
    reader.join();
    Ok(elapsed)
}
