//! A sensible world from a seed: what is usual often, what is rare sometimes.

use super::{Connector, Deed, Plan, Slot};
use crate::assignor::Rules;
use crate::clock::Clock;
use crate::coordinator::Manner;
use crate::rng::Rng;
use crate::world::BASE_MS;

/// Names that try what names may hold.
const NAMES: [&str; 5] = ["orders", "a-1", "sink.of-things", "x", "orders-copy"];

pub(super) fn plan(seed: u64) -> Plan {
    let mut rng = Rng::new(seed);
    let append_ms = *rng.pick(&[(1, 12), (1, 12), (1, 900), (300, 4_000)]);
    let mut plan = Plan {
        seed,
        rules: if rng.chance(85) {
            Rules::Since34
        } else {
            Rules::Before34
        },
        manner: Manner {
            java: rng.chance(60),
            initial_delay_ms: if rng.chance(80) { 3_000 } else { 0 },
            append_ms,
        },
        broker_clock: clock(&mut rng),
        slots: Vec::new(),
        connectors: Vec::new(),
        deeds: Vec::new(),
        end_ms: 0,
        gaps: if rng.chance(40) { 30 } else { 0 },
        transactions: rng.chance(25),
        doubled: if rng.chance(25) { 10 } else { 0 },
    };
    plan.slots = slots(&mut rng);
    plan.connectors = connectors(&mut rng);
    let begun_ms = beginning(&mut rng, &mut plan);
    let mut now = begun_ms;
    for _ in 0..rng.between(1, 9) {
        now += *rng.pick(&[400, 2_000, 7_000, 15_000, 30_000, 70_000]);
        now += rng.between(0, 3_000);
        for (after, deed) in deeds(&mut rng, &plan) {
            plan.deeds.push((now + after, deed));
        }
    }
    plan.deeds.sort_by_key(|(at, _)| *at);
    let last = plan.deeds.iter().map(|(at, _)| *at).max().unwrap_or(now);
    plan.end_ms = last + rng.between(20_000, 150_000);
    plan
}

/// Everything starts, near enough together, and connectors are made.
fn beginning(rng: &mut Rng, plan: &mut Plan) -> i64 {
    let spread = *rng.pick(&[100, 3_000, 20_000]);
    for slot in 0..plan.slots.len() {
        let at = rng.between(0, spread);
        plan.deeds.push((at, Deed::Start { slot, moved: false }));
    }
    let mut at = spread + 5_000;
    for connector in 0..plan.connectors.len() {
        at += *rng.pick(&[50, 400, 6_000]);
        plan.deeds.push((at, Deed::Create(connector)));
    }
    at + 10_000
}

fn clock(rng: &mut Rng) -> Clock {
    let skew_ms = match rng.between(0, 9) {
        0 => rng.between(-60_000, 60_000),
        1..=3 => rng.between(-500, 500),
        _ => 0,
    };
    let mut clock = Clock::ahead(skew_ms);
    if rng.chance(6) {
        // A person or a daemon sets it in the course of the world.
        let from = BASE_MS + rng.between(20_000, 200_000);
        let by = *rng.pick(&[-20_000, -1_500, -200, 200, 1_500, 20_000]);
        clock.steps.push((from, by));
    }
    clock
}

fn slots(rng: &mut Rng) -> Vec<Slot> {
    let count = rng.between(1, 6);
    let max_delay_ms = *rng.pick(&[0, 1_000, 20_000, 20_000, 60_000, 60_000, 300_000]);
    let rebalance_ms = *rng.pick(&[6_000, 10_000, 60_000, 60_000, 60_000]);
    let graceful_ms = *rng.pick(&[5_000, 5_000, 5_000, 13_000, 25_000]);
    let eager = rng.chance(8);
    let mut slot = |_| Slot {
        clock: clock(rng),
        latency_ms: rng.between(1, 15),
        session_ms: 10_000,
        heartbeat_ms: 3_000,
        rebalance_ms,
        max_delay_ms,
        graceful_ms,
        version: if eager { 0 } else { 2 },
        compute_ms: if rng.chance(15) {
            (200, 1_500)
        } else {
            (1, 30)
        },
    };
    (0..count).map(&mut slot).collect()
}

fn connectors(rng: &mut Rng) -> Vec<Connector> {
    let count = usize::try_from(rng.between(1, 5)).unwrap_or(1);
    let connector = |name: &&str| Connector {
        name: (*name).to_owned(),
        tasks: i32::try_from(rng.between(0, 6)).unwrap_or(1),
        start_ms: *rng.pick(&[(5, 60), (5, 60), (500, 4_000)]),
        stop_ms: *rng.pick(&[(5, 60), (5, 60), (500, 4_000)]),
        fails: if rng.chance(10) { 15 } else { 0 },
    };
    NAMES[..count].iter().map(connector).collect()
}

/// One thing that befalls the world, with what belongs to it.
fn deeds(rng: &mut Rng, plan: &Plan) -> Vec<(i64, Deed)> {
    let slot = index(rng, plan.slots.len());
    let connector = index(rng, plan.connectors.len());
    let back = *rng.pick(&[60, 1_500, 6_000, 14_000, 45_000]);
    let moved = rng.chance(20);
    let restart = (back, Deed::Start { slot, moved });
    let stays = rng.chance(25);
    let mut out = match rng.between(0, 19) {
        0..=2 => vec![
            (
                0,
                Deed::Stop {
                    slot,
                    grace_ms: None,
                },
            ),
            restart,
        ],
        3..=4 => vec![(0, Deed::Kill { slot }), restart],
        5 => {
            let grace_ms = Some(*rng.pick(&[20, 300, 2_000]));
            vec![(0, Deed::Stop { slot, grace_ms }), restart]
        }
        6 => {
            let ms = *rng.pick(&[2_000, 8_000, 12_000, 25_000, 80_000]);
            return vec![(0, Deed::Freeze { slot, ms })];
        }
        7 => {
            let starts = (0..plan.slots.len()).map(|slot| (back, Deed::Start { slot, moved }));
            return std::iter::once((0, Deed::KillLeader))
                .chain(starts)
                .collect();
        }
        8..=9 => {
            let ms = *rng.pick(&[300, 2_500, 5_000, 15_000]);
            let moved = rng.chance(60).then(|| clock(rng));
            return vec![(0, Deed::Away { ms, moved })];
        }
        10 => return vec![(0, Deed::Stick(connector))],
        11 => {
            return vec![(
                0,
                Deed::SlowStop(connector, *rng.pick(&[3_000, 4_900, 12_000, 20_000])),
            )];
        }
        12 => return vec![(0, Deed::SlowStart(connector, *rng.pick(&[3_000, 20_000])))],
        13..=14 => {
            let tasks = i32::try_from(rng.between(0, 6)).unwrap_or(1);
            return vec![(0, Deed::Retask(connector, tasks))];
        }
        15 => {
            let again = (rng.between(10, 20_000), Deed::Create(connector));
            return vec![(0, Deed::Delete(connector)), again];
        }
        16 => {
            let slot = index(rng, plan.slots.len());
            let (ms, for_ms) = (rng.between(300, 2_500), 20_000);
            let tasks = i32::try_from(rng.between(1, 6)).unwrap_or(1);
            let lag = Deed::Lag { slot, ms, for_ms };
            return vec![(0, lag), (100, Deed::Retask(connector, tasks))];
        }
        17 if stays => return vec![(0, Deed::RotateKey)],
        17 => return vec![(0, Deed::Restart(connector))],
        18 => {
            let state = *rng.pick(&["PAUSED", "STOPPED"]);
            let (target, started) = (Deed::Target(connector, state), "STARTED");
            return vec![(0, target), (back, Deed::Target(connector, started))];
        }
        _ => return everybody(rng, plan),
    };
    if stays {
        out.truncate(1);
    }
    out
}

/// All workers stop, and come back before or after the group is deleted.
fn everybody(rng: &mut Rng, plan: &Plan) -> Vec<(i64, Deed)> {
    let back = *rng.pick(&[20_000, 700_000, 1_300_000]);
    let all = 0..plan.slots.len();
    let stops = all.clone().map(|slot| {
        let grace_ms = None;
        (0, Deed::Stop { slot, grace_ms })
    });
    let starts = all.map(|slot| (back, Deed::Start { slot, moved: false }));
    stops.chain(starts).collect()
}

fn index(rng: &mut Rng, len: usize) -> usize {
    let last = i64::try_from(len).unwrap_or(1) - 1;
    usize::try_from(rng.between(0, last)).unwrap_or(0)
}
