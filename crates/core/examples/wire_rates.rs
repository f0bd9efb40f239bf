//! Prints how fast records are filtered and decoded on this machine, one core.
//!
//! `cargo run --release -p evenkeel-core --example wire_rates [PART OF A NAME]`
#![allow(clippy::unwrap_used)]
// The bans are on the core; a stopwatch needs a clock and prints what it saw.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use evenkeel_core::wire::config_record::ConfigRecord;
use evenkeel_core::wire::connect_protocol::{Assignment, ItemList, Subscription};
use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::encode::{self, AssignmentSpec, Items, SubscriptionSpec, topics};
use evenkeel_core::wire::group_record::{GroupMetadata, Member};
use evenkeel_core::wire::offsets_key::{OffsetsKey, key_group, key_is_group_metadata_of};
use evenkeel_core::wire::redact::{redact_config, redact_status};
use evenkeel_core::wire::status_record::{State, StatusRecord};

const WORKERS: usize = 20;
const CONNECTORS: usize = 40;
const TASKS: usize = 1_000;

/// The best of many short runs: the machine is shared.
fn rate(what: &str, unit: &str, per_call: usize, mut call: impl FnMut()) {
    if std::env::args()
        .nth(1)
        .is_some_and(|part| !what.contains(&part))
    {
        return;
    }
    let mut best = 0.0_f64;
    for _ in 0..40 {
        let (start, mut calls) = (Instant::now(), 0_u32);
        while start.elapsed() < Duration::from_millis(20) {
            for _ in 0..16 {
                call();
            }
            calls += 16;
        }
        let seconds = start.elapsed().as_secs_f64();
        best = best.max(f64::from(calls) * per_call as f64 / seconds);
    }
    println!("{what:<58} {best:>12.0} {unit}/s");
}

/// The work of one worker when tasks are dealt round-robin.
fn claim(names: &[String], worker: usize) -> Items<'_> {
    encode::items_of((0..TASKS).filter(|n| n % WORKERS == worker).map(|n| {
        // A stride that is no divisor spreads a worker's tasks over all connectors.
        let connector = (n / WORKERS * 7 + worker) % CONNECTORS;
        (
            names[connector].as_str(),
            i32::try_from(n / CONNECTORS).unwrap(),
        )
    }))
}

fn group_record() -> Vec<u8> {
    let names: Vec<String> = (0..CONNECTORS)
        .map(|n| format!("orders-{n:02}-postgres-cdc-eu-west"))
        .collect();
    let ids: Vec<String> = (0..WORKERS)
        .map(|n| format!("connect-10.0.0.{n}:8083-0a1b2c3d-{n:04}"))
        .collect();
    let spec = |assigned| AssignmentSpec {
        version: 2,
        leader: &ids[0],
        leader_url: "http://10.0.0.0:8083/",
        config_offset: 2_117,
        assigned: Some(assigned),
        revoked: Some(vec![]),
        ..AssignmentSpec::default()
    };
    let subscriptions: Vec<Vec<u8>> = (0..WORKERS)
        .map(|worker| {
            let claim = Some(spec(claim(&names, worker)));
            let url = &format!("http://10.0.0.{worker}:8083/");
            let spec = SubscriptionSpec {
                version: 2,
                url,
                config_offset: 2_117,
                claim,
            };
            encode::subscription(&spec).unwrap()
        })
        .collect();
    let assignment = encode::assignment(&spec(vec![])).unwrap();
    let members = ids
        .iter()
        .zip(&subscriptions)
        .map(|(member_id, subscription)| Member {
            member_id,
            group_instance_id: None,
            client_id: "connect-10.0.0.1:8083",
            client_host: "/10.0.0.1",
            rebalance_timeout_ms: Some(60_000),
            session_timeout_ms: 10_000,
            subscription,
            assignment: &assignment,
        });
    encode::group_metadata(&GroupMetadata {
        version: 3,
        protocol_type: "connect",
        generation: 4_711,
        protocol: Some("sessioned"),
        leader: Some(&ids[0]),
        current_state_timestamp_ms: Some(1_700_000_000_000),
        members: members.collect(),
    })
    .unwrap()
}

fn sum(list: &ItemList<'_>) -> i64 {
    list.iter()
        .map(|(connector, task)| i64::from(task) + i64::from(connector.len() > 3))
        .sum()
}

fn main() {
    let mut keys: Vec<Vec<u8>> = (0..1_023)
        .map(|n| {
            encode::offset_commit_key(&format!("connect-sink-{}", n % 50), "orders", n).unwrap()
        })
        .collect();
    keys.push(encode::group_metadata_key("connect-cluster").unwrap());
    rate(
        "filter: key_is_group_metadata_of",
        "records",
        keys.len(),
        || {
            let group = black_box("connect-cluster");
            black_box(
                keys.iter()
                    .filter(|key| key_is_group_metadata_of(key, group))
                    .count(),
            );
        },
    );
    rate("filter: key_group, compared", "records", keys.len(), || {
        let group = black_box(&b"connect-cluster"[..]);
        black_box(
            keys.iter()
                .filter(|key| key_group(key) == Some(group))
                .count(),
        );
    });
    rate("OffsetsKey::decode", "records", keys.len(), || {
        black_box(
            keys.iter()
                .filter(|key| OffsetsKey::decode(key).is_ok())
                .count(),
        );
    });

    let record = group_record();
    let read = GroupMetadata::decode(&record).unwrap().known().unwrap();
    let owned = |member: &Member<'_>| {
        Subscription::decode(member.subscription)
            .unwrap()
            .claim
            .owned()
            .unwrap()
            .len()
    };
    let tasks: usize = read.members.iter().map(owned).sum();
    println!(
        "group record: {} bytes, {} members, {tasks} tasks",
        record.len(),
        read.members.len()
    );
    rate("GroupMetadata::decode", "records", 1, || {
        black_box(GroupMetadata::decode(black_box(&record)).unwrap());
    });
    rate(
        "the same, all subscriptions and assignments decoded",
        "records",
        1,
        || {
            let read = GroupMetadata::decode(black_box(&record))
                .unwrap()
                .known()
                .unwrap();
            for member in &read.members {
                black_box(Subscription::decode(member.subscription).unwrap());
                black_box(Assignment::decode(member.assignment).unwrap());
            }
        },
    );
    rate("the same, every task looked at", "records", 1, || {
        let read = GroupMetadata::decode(black_box(&record))
            .unwrap()
            .known()
            .unwrap();
        for member in &read.members {
            let subscription = Subscription::decode(member.subscription).unwrap();
            let assignment = Assignment::decode(member.assignment).unwrap().unwrap();
            let told = sum(&assignment.assigned) + sum(&assignment.revoked);
            black_box(told + subscription.claim.owned().map_or(0, sum));
        }
    });

    let properties: Vec<(String, String)> = (0..40)
        .map(|n| {
            (
                format!("some.connector.setting.{n}"),
                "a value of usual length".repeat(2),
            )
        })
        .collect();
    let pairs = properties
        .iter()
        .map(|(name, value)| (name.as_str(), Some(value.as_str())));
    let config = topics::properties(pairs.chain([("tasks.max", Some("8"))]));
    let mut contents = Contents::new([7; 16], 0);
    rate(
        &format!("config: redact and decode, {} bytes", config.len()),
        "records",
        1,
        || {
            let redacted = redact_config(b"task-orders-0", Some(black_box(&config)), &mut contents);
            black_box(ConfigRecord::decode(b"task-orders-0", redacted.value()).unwrap());
        },
    );
    let status = topics::status(&State::Running, "10.0.0.1:8083", 4_711, None);
    rate("status: redact and decode", "records", 1, || {
        let redacted = redact_status(b"status-task-orders-0", Some(black_box(&status)));
        black_box(StatusRecord::decode(b"status-task-orders-0", redacted.value()).unwrap());
    });
}
