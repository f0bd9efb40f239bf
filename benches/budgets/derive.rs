//! A group record of twenty workers and a thousand tasks, decoded and derived: with
//! members that stay as they are, with all of them changing, and with names masked.

use std::hint::black_box;

use evenkeel::read::mask::NameMask;
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{Input, InputKind, Record, Topic};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};
use evenkeel_core::wire::connect_protocol::{Assignment, Subscription};
use evenkeel_core::wire::group_record::GroupMetadata;

use crate::Scale;
use crate::fleet::Fleet;
use crate::report::{Held, Report, short, spread};
use crate::stopwatch::{Spread, thread_cpu_s};

const BASE_MS: i64 = 1_700_000_000_000;

/// Between two generations.
const STEP_MS: i64 = 4;

pub(crate) fn run(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    report.settings(
        "both sides",
        "processor time of one thread; the yardstick decodes each member and keeps nothing",
    );
    let layouts = [
        ("tasks dealt out as Connect does", Fleet::new as Deal),
        ("a connector's tasks together", Fleet::together as Deal),
    ];
    let mask = NameMask::new(b"a key of the benchmark");
    for (layout, deal) in layouts {
        let count = scale.of(1_000, 200);
        let same = inputs(deal, 0, count)?;
        let changing = inputs(deal, 1, count)?;
        let bytes = changing.first().map_or(0, value_bytes);
        report.settings(
            layout,
            format!("{count} records of {bytes} bytes; 20 workers, 100 connectors, 1,000 tasks"),
        );
        for (what, inputs, mask) in [
            ("members unchanged", &same, None),
            ("every member changing", &changing, None),
            (
                "every member changing, names masked",
                &changing,
                Some(&mask),
            ),
        ] {
            let what = format!("decode + derive, {what}, {layout}");
            compare(scale, report, what, (inputs, mask));
        }
    }
    Ok(())
}

/// Lays out workers, connectors and tasks.
type Deal = fn(usize, usize, i32) -> Fleet;

fn compare(
    scale: Scale,
    report: &mut Report,
    what: String,
    (inputs, mask): (&[Input], Option<&NameMask>),
) {
    let (mut derived, mut decoded) = (Vec::new(), Vec::new());
    for _ in 0..scale.of(7, 3) {
        decoded.push(per_s(inputs, |inputs| inputs.iter().for_each(decode)));
        derived.push(per_s(inputs, |inputs| derive(inputs, mask)));
    }
    let ratio = Spread::of_ratios(&derived, &decoded);
    let (derived, decoded) = (Spread::of(&derived), Spread::of(&decoded));
    let (budget, held) = match mask {
        None => (
            "≥ 20,000 records/s/core",
            Held::of(derived.median >= 20_000.0),
        ),
        Some(_) => ("none: a mask is an option", Held::None),
    };
    report.row(
        what,
        (
            format!(
                "{}, {} of the yardstick",
                spread(derived, "/s/core"),
                short(ratio.median)
            ),
            format!("decoding alone: {}/s", short(decoded.median)),
        ),
        (budget, held),
    );
}

/// Records of rounds that each revoke so much of every member.
fn inputs(deal: Deal, revoke: usize, count: i32) -> anyhow::Result<Vec<Input>> {
    let mut fleet = deal(20, 100, 10);
    let key = Fleet::key()?;
    let mut inputs = Vec::new();
    for number in 0..i64::from(count) {
        let now_ms = BASE_MS + number * STEP_MS;
        let value = fleet.round(revoke, now_ms)?;
        inputs.push(Input {
            at: ArrivalTime(now_ms + 1),
            kind: InputKind::Record(Record {
                topic: Topic::Offsets,
                partition: 0,
                offset: number,
                leader_epoch: Some(0),
                timestamp: Some(EventTime(now_ms)),
                append_time: false,
                key: Some(key.clone()),
                value: Some(value),
            }),
        });
    }
    Ok(inputs)
}

fn value_bytes(input: &Input) -> usize {
    match &input.kind {
        InputKind::Record(record) => record.value.as_ref().map_or(0, Vec::len),
        _ => 0,
    }
}

/// Inputs a second of processor time.
fn per_s(inputs: &[Input], work: impl FnOnce(&[Input])) -> f64 {
    let cpu = thread_cpu_s();
    work(inputs);
    inputs.len() as f64 / (thread_cpu_s() - cpu)
}

fn derive(inputs: &[Input], mask: Option<&NameMask>) {
    let mut engine = Engine::new();
    for input in inputs {
        let changes = match (mask, &input.kind) {
            (Some(mask), InputKind::Record(record)) => {
                let mut record = record.clone();
                mask.record(&mut record);
                engine.apply(&Input {
                    at: input.at,
                    kind: InputKind::Record(record),
                })
            }
            _ => engine.apply(input),
        };
        black_box(changes);
    }
}

fn decode(input: &Input) {
    let InputKind::Record(record) = &input.kind else {
        return;
    };
    let value = black_box(record.value.as_deref().unwrap_or_default());
    let Ok(Some(read)) = GroupMetadata::decode(value).map(|decoded| decoded.known()) else {
        return;
    };
    for member in &read.members {
        black_box(Subscription::decode(member.subscription).is_ok());
        black_box(Assignment::decode(member.assignment).is_ok());
    }
}
