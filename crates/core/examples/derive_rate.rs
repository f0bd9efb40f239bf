//! How many group records of 20 workers and 1,000 tasks one core takes a second, decoded
//! and derived: with members that stay the same, and with all of them changing. And what
//! one costs to mask, next to what it costs to decode.
//!
//! `cargo run --release -p evenkeel-core --features encode --example derive_rate`
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "measures the core from outside"
)]

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use evenkeel_core::engine::Engine;
use evenkeel_core::facts::group;
use evenkeel_core::facts::ids::Names;
use evenkeel_core::facts::input::{Input, InputKind, Record, Topic};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};
use evenkeel_core::wire::encode::{self, AssignmentSpec, SubscriptionSpec, items_of};
use evenkeel_core::wire::group_record::{GroupMetadata, Member};
use evenkeel_core::wire::mask::{Code, Mask};

const RECORDS: i32 = 20_000;

fn main() {
    let same: Vec<Vec<u8>> = (0..2).map(|_| value(0, 0)).collect();
    report("members unchanged", &same);
    // Every other record moves one task of each worker: every member's bytes change.
    let moving: Vec<Vec<u8>> = (0..2).map(|round| value(0, round)).collect();
    report("one task of each member moves", &moving);
    mask("tasks together", &value(0, 0));
    mask("tasks scattered", &scattered());
}

/// Masks with codes from a memory, as the agent does, and decodes what came of it.
fn mask(name: &str, value: &[u8]) {
    let mut codes: HashMap<Box<[u8]>, Code> = HashMap::new();
    let mut code = |text: &[u8]| match codes.get(text) {
        Some(code) => *code,
        None => {
            let code = [text.len().to_be_bytes()[7]; 6];
            codes.insert(text.into(), code);
            code
        }
    };
    let key = encode::group_metadata_key("cg").unwrap_or_default();
    let started = Instant::now();
    let mut bytes = 0;
    for _ in 0..RECORDS {
        let masked = Mask::new(&mut code).offsets_record(Some(&key), Some(value));
        bytes = black_box(masked).1.map_or(0, |value| value.len());
    }
    let mask_us = started.elapsed().as_secs_f64() * 1e6 / f64::from(RECORDS);
    let started = Instant::now();
    let mut names = Names::default();
    for _ in 0..RECORDS {
        let fact = group::decode(Some(value), 0, EventTime(0), None, &mut names);
        black_box(fact.is_ok());
    }
    let decode_us = started.elapsed().as_secs_f64() * 1e6 / f64::from(RECORDS);
    println!(
        "{name}: mask {mask_us:.1} us, decode {decode_us:.1} us a record ({} bytes, {bytes} masked)",
        value.len()
    );
}

fn report(name: &str, values: &[Vec<u8>]) {
    let key = encode::group_metadata_key("cg").unwrap_or_default();
    let mut engine = Engine::new();
    let started = Instant::now();
    for round in 0..RECORDS {
        let mut value = values[usize::try_from(round).unwrap_or(0) % values.len()].clone();
        // The generation follows the version, the protocol type and its length.
        value[11..15].copy_from_slice(&round.to_be_bytes());
        let record = Record {
            topic: Topic::Offsets,
            partition: 0,
            offset: i64::from(round),
            leader_epoch: None,
            timestamp: Some(EventTime(1_700_000_000_000 + i64::from(round) * 4)),
            append_time: false,
            key: Some(key.clone()),
            value: Some(value),
        };
        let at = ArrivalTime(1_700_000_000_000 + i64::from(round) * 4);
        engine.apply(&Input {
            at,
            kind: InputKind::Record(record),
        });
    }
    let seconds = started.elapsed().as_secs_f64();
    let rate = f64::from(RECORDS) / seconds;
    println!(
        "{name}: {rate:.0} records/s ({} bytes each)",
        values[0].len()
    );
}

fn value(generation: i32, moved: usize) -> Vec<u8> {
    record(generation, moved, 1)
}

/// Each worker has one task of each of fifty connectors.
fn scattered() -> Vec<u8> {
    record(0, 0, 21)
}

/// The tasks of worker w are those from w * 50 on, `step` apart.
fn record(generation: i32, moved: usize, step: usize) -> Vec<u8> {
    let names: Vec<String> = (0..100)
        .map(|number| format!("connector-name-{number:03}"))
        .collect();
    let items = |worker: usize| {
        let names = &names;
        items_of((0..50).map(move |n| {
            let task = (worker * 50 + (n + moved) % 50) * step % 1000;
            (
                names[task / 10].as_str(),
                i32::try_from(task % 10).unwrap_or(0),
            )
        }))
    };
    let spec = |worker: usize, assigned| AssignmentSpec {
        version: 2,
        error: 0,
        leader: "connect-0-00000000-0000-0000-0000-000000000000",
        leader_url: "http://worker-0:8083/",
        config_offset: i64::try_from(worker * moved).unwrap_or(0),
        assigned,
        revoked: Some(Vec::new()),
        delay_ms: 0,
    };
    let urls: Vec<String> = (0..20)
        .map(|worker| format!("http://worker-{worker}:8083/"))
        .collect();
    let ids: Vec<String> = (0..20)
        .map(|w| format!("connect-{w}-00000000-0000-0000-0000-000000000000"))
        .collect();
    let bytes: Vec<(Vec<u8>, Vec<u8>)> = (0..20)
        .map(|worker| {
            let mut claimed = items((worker + moved) % 20);
            claimed.truncate(if step == 1 { 5 } else { 50 });
            let claim = SubscriptionSpec {
                version: 2,
                url: &urls[worker],
                config_offset: 400,
                claim: Some(spec(worker, Some(claimed))),
            };
            (
                encode::subscription(&claim).unwrap_or_default(),
                encode::assignment(&spec(worker, Some(Vec::new()))).unwrap_or_default(),
            )
        })
        .collect();
    let members = bytes
        .iter()
        .enumerate()
        .map(|(worker, (subscription, assignment))| Member {
            member_id: &ids[worker],
            group_instance_id: None,
            client_id: "connect",
            client_host: "/192.0.2.1",
            rebalance_timeout_ms: Some(60_000),
            session_timeout_ms: 10_000,
            subscription,
            assignment,
        })
        .collect();
    let group = GroupMetadata {
        version: 3,
        protocol_type: "connect",
        generation,
        protocol: Some("sessioned"),
        leader: Some(&ids[0]),
        current_state_timestamp_ms: Some(1_700_000_000_000),
        members,
    };
    encode::group_metadata(&group).unwrap_or_default()
}
