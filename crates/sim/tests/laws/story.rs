//! Prints a world and what the engine says of it: for a person with a seed at hand.

use evenkeel_sim::observer::ObserverSpec;
use evenkeel_sim::plan::Plan;
use evenkeel_sim::world::BASE_MS;

use crate::drive::watch;

#[test]
fn a_seed_is_told_as_a_story() {
    let Ok(seed) = std::env::var("EVENKEEL_SIM_STORY") else {
        return;
    };
    let world = Plan::of(seed.parse().unwrap()).run();
    println!("{}", world.plan());
    let truth = world.truth();
    for round in &truth.rounds {
        println!(
            "{}/{} {:?} prepared {} joined {} recorded {:?} effective {:?} v{} delay {}",
            round.incarnation,
            round.generation,
            round.outcome,
            round.prepare_started_ms - BASE_MS,
            round.join_ended_ms - BASE_MS,
            round.recorded_ms.map(|at| at - BASE_MS),
            round.effective_ms.map(|at| at - BASE_MS),
            round.version,
            round.delay_ms
        );
        for trigger in &round.triggers {
            println!("      {}", serde_json::to_string(trigger).unwrap());
        }
        for (id, member) in &round.members {
            let list = |work: &evenkeel_sim::item::Work| {
                let items: Vec<String> = work.iter().map(ToString::to_string).collect();
                items.join(",")
            };
            println!(
                "    {} claim {} +{} -{} received {:?} applied {:?}",
                &id[id.len().saturating_sub(60)..],
                member.claim.as_ref().map_or("none".to_owned(), &list),
                list(&member.assigned),
                list(&member.revoked),
                member.received_ms.map(|at| at - BASE_MS),
                member.applied_ms.map(|at| at - BASE_MS)
            );
        }
    }
    for departure in &truth.departures {
        println!(
            "{} {:?} {:?} died {} removed {} owned {:?} successor {:?}",
            departure.member,
            departure.how,
            departure.seen,
            departure.died_ms - BASE_MS,
            departure.removed_ms - BASE_MS,
            departure
                .owned
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
            departure.successor
        );
    }
    for loss in &truth.losses {
        println!(
            "{} of {} lost {} until {:?} {:?}",
            loss.item,
            loss.member,
            loss.from_ms - BASE_MS,
            loss.until_ms.map(|at| at - BASE_MS),
            loss.ended
        );
    }
    for (topic, partition) in evenkeel_sim::log::partitions() {
        for entry in world.logs().partition(topic, partition) {
            let Some(record) = &entry.record else {
                continue;
            };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            if topic != evenkeel_core::facts::input::Topic::Offsets {
                println!(
                    "{} {:?} {} {} {}",
                    entry.written_ms - BASE_MS,
                    topic,
                    record.offset,
                    text(record.key.as_deref().unwrap_or_default()),
                    text(record.value.as_deref().unwrap_or(b"-"))
                );
            }
        }
    }
    let watched = watch(&world, ObserverSpec::default());
    for round in &watched.settled {
        println!(
            "SAID {}/{} {:?} by {:?}",
            round.incarnation, round.generation, round.outcome, round.settled_by
        );
    }
    println!("{:?}", watched.missing);
    let answers = watched.engine.answers();
    println!("{:#?}\n{:?}", answers.counters, answers.findings);
    for each in answers.without_owner() {
        println!("unassigned {each:?}");
    }
}
