//! That the simulated group goes through what real groups go through, step by step: worlds
//! by hand, one incident each, and the rounds that must come of it.

use evenkeel_sim::item::Item;
use evenkeel_sim::plan::{Deed, Plan};
use evenkeel_sim::truth::{How, LossEnd, Outcome, Removed, Trigger, Truth};
use evenkeel_sim::world::{BASE_MS, World};

use crate::hand;

/// Three workers with one connector of four tasks, at rest before 20 s.
fn three() -> Plan {
    let mut plan = hand::plan(vec![hand::slot(), hand::slot(), hand::slot(), hand::slot()]);
    plan.manner.initial_delay_ms = 3_000;
    plan.connectors = vec![hand::connector("c", 4)];
    plan.deeds = vec![
        hand::start(0, 0),
        hand::start(10, 1),
        hand::start(20, 2),
        (8_000, Deed::Create(0)),
    ];
    plan
}

fn run(mut plan: Plan, deeds: Vec<(i64, Deed)>, end_ms: i64) -> World {
    plan.deeds.extend(deeds);
    plan.end_ms = end_ms;
    plan.run()
}

/// One line a round: number, outcome, delay, and what members claim, start and stop, in
/// order of their workers.
fn told(truth: &Truth, from: i32) -> Vec<String> {
    let rounds = truth.rounds.iter().filter(|round| round.generation >= from);
    rounds
        .map(|round| {
            let mut members: Vec<_> = round.members.values().collect();
            members.sort_by(|a, b| a.worker.cmp(&b.worker));
            let members = members.into_iter().map(|m| {
                let claim = m
                    .claim
                    .as_ref()
                    .map_or("none".to_owned(), |c| c.len().to_string());
                format!("{claim}+{}-{}", m.assigned.len(), m.revoked.len())
            });
            let members: Vec<String> = members.collect();
            format!(
                "{} {:?} {} {}",
                round.generation,
                round.outcome,
                round.delay_ms,
                members.join(" ")
            )
        })
        .collect()
}

#[test]
fn a_connector_takes_two_rounds() {
    let world = run(three(), Vec::new(), 20_000);
    assert_eq!(
        told(world.truth(), 1),
        [
            "1 Completed 0 none+0-0 none+0-0 none+0-0",
            "2 Completed 0 0+1-0 0+0-0 0+0-0",
            "3 Completed 0 1+2-0 0+1-0 0+1-0",
        ]
    );
    // It is new: all wait three seconds, and once more because others came meanwhile.
    let first = &world.truth().rounds[0];
    assert_eq!(first.join_ended_ms - first.prepare_started_ms, 6_000);
}

#[test]
fn a_fourth_worker_costs_two_rounds() {
    let world = run(three(), vec![hand::start(20_000, 3)], 40_000);
    assert_eq!(
        told(world.truth(), 4),
        [
            "4 Completed 0 3+0-1 1+0-0 1+0-0 none+0-0",
            "5 Completed 0 2+0-0 1+0-0 1+0-0 0+1-0",
        ]
    );
    let round = &world.truth().rounds[4];
    assert!(matches!(round.triggers[0], Trigger::Rejoined { .. }));
    // Who was to stop something comes back when it has.
    let stop = world.truth().stops.last().unwrap();
    assert_eq!(stop.generation, 3);
    assert!(stop.until_ms.unwrap() <= round.prepare_started_ms);
}

#[test]
fn a_worker_that_stops_leaves_its_work_for_the_delay() {
    let mut plan = three();
    for slot in &mut plan.slots {
        slot.max_delay_ms = 20_000;
    }
    let stop = Deed::Stop {
        slot: 2,
        grace_ms: None,
    };
    let world = run(plan, vec![(20_000, stop)], 60_000);
    assert_eq!(
        told(world.truth(), 4),
        ["4 Completed 20000 3+0-0 1+0-0", "5 Completed 0 3+0-0 1+1-0"]
    );
    let gone = &world.truth().departures[0];
    assert_eq!((gone.how, gone.seen), (How::Graceful, Removed::Left));
    let loss = &world.truth().losses[0];
    assert_eq!(
        (loss.from_ms - BASE_MS, loss.ended),
        (20_000, LossEnd::Reassigned)
    );
}

#[test]
fn a_killed_worker_is_missed_after_its_session_and_a_successor_waits() {
    let mut plan = three();
    for slot in &mut plan.slots {
        slot.max_delay_ms = 20_000;
    }
    let kill = (20_000, Deed::Kill { slot: 2 });
    let world = run(plan, vec![kill, hand::start(35_000, 2)], 80_000);
    let truth = world.truth();
    let told = told(truth, 4);
    assert_eq!(told[0], "4 Completed 20000 3+0-0 1+0-0");
    assert!(told[1].starts_with("5 Completed 1"), "{}", told[1]);
    assert!(told[1].ends_with("3+0-0 1+0-0 none+0-0"), "{}", told[1]);
    assert_eq!(told[2], "6 Completed 0 3+0-0 1+0-0 0+1-0");
    let gone = &truth.departures[0];
    assert_eq!((gone.how, gone.seen), (How::Crashed, Removed::Expired));
    let missed_ms = gone.removed_ms - gone.died_ms;
    assert!((7_000..=10_100).contains(&missed_ms), "{missed_ms}");
}

#[test]
fn a_killed_leader_leaves_no_delay() {
    let world = run(three(), vec![(20_000, Deed::KillLeader)], 60_000);
    let told = told(world.truth(), 4);
    assert_eq!(told[0], "4 Completed 0 1+2-0 1+1-0");
}

#[test]
fn a_frozen_worker_comes_back_with_its_claim_and_all_duplicates_stop() {
    let mut plan = three();
    for slot in &mut plan.slots {
        slot.max_delay_ms = 0;
    }
    let freeze = Deed::Freeze {
        slot: 2,
        ms: 25_000,
    };
    let world = run(plan, vec![(20_000, freeze)], 80_000);
    let told = told(world.truth(), 4);
    assert_eq!(told[0], "4 Completed 0 3+0-0 1+1-0");
    assert_eq!(told[1], "5 Completed 0 3+0-0 2+0-1 1+0-1");
    assert_eq!(told[2], "6 Completed 0 3+0-0 1+0-0 0+1-0");
    assert_eq!(world.truth().departures[0].how, How::Unresponsive);
}

#[test]
fn a_lost_coordinator_makes_workers_drop_their_work() {
    let away = Deed::Away {
        ms: 9_000,
        moved: None,
    };
    let world = run(three(), vec![(20_000, away)], 60_000);
    let last = world.truth().rounds.last().unwrap();
    assert_eq!(world.truth().drops.len(), 3);
    assert_eq!(last.outcome, Outcome::Completed);
    let handed: usize = last.members.values().map(|m| m.assigned.len()).sum();
    // All of it, at once, to the same ids, which claim nothing.
    assert!(world.truth().departures.is_empty());
    assert_eq!(
        (handed, last.delay_ms),
        (5, 0),
        "{:?}",
        told(world.truth(), 4)
    );
}

#[test]
fn an_empty_group_is_deleted_and_numbers_start_over() {
    let stop = |slot| Deed::Stop {
        slot,
        grace_ms: None,
    };
    let mut deeds: Vec<(i64, Deed)> = (0..3).map(|slot| (20_000, stop(slot))).collect();
    deeds.extend((0..3).map(|slot| hand::start(1_300_000, slot)));
    let world = run(three(), deeds, 1_330_000);
    let truth = world.truth();
    assert_eq!(truth.lives.len(), 2);
    assert_eq!(truth.rounds.last().unwrap().generation, 1);
    assert!(
        truth
            .losses
            .iter()
            .all(|loss| loss.ended == LossEnd::GroupGone)
    );
    assert!(truth.end.owned.values().flat_map(|(_, work)| work).count() == 5);
}

#[test]
fn tasks_that_ignore_their_stop_write_nothing_more() {
    let deeds = vec![(18_000, Deed::Stick(0)), hand::start(20_000, 3)];
    let world = run(three(), deeds, 60_000);
    let truth = world.truth();
    let stuck: Vec<&Item> = truth
        .stops
        .iter()
        .filter(|s| s.stuck)
        .map(|s| &s.item)
        .collect();
    assert_eq!(stuck.len(), 1);
    let stop = truth.stops.iter().find(|stop| stop.stuck).unwrap();
    assert_eq!(stop.until_ms.unwrap() - stop.from_ms, 5_000);
    let written = evenkeel_sim::log::partitions()
        .flat_map(|(topic, partition)| world.logs().partition(topic, partition))
        .filter_map(|entry| entry.record.as_ref())
        .filter(|record| {
            record.key.as_deref() == Some(format!("status-task-{}", stuck[0]).as_bytes())
        })
        .filter_map(|record| record.value.as_deref())
        .any(|value| String::from_utf8_lossy(value).contains("UNASSIGNED"));
    assert!(!written);
}
