//! Tells a seed's world and what the engine says of it, for a person who looks for a fault:
//! `cargo run -p evenkeel-sim --example story -- 41`.

use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::Topic;
use evenkeel_sim::item::{Item, Work};
use evenkeel_sim::log::partitions;
use evenkeel_sim::observer::ObserverSpec;
use evenkeel_sim::plan::Plan;
use evenkeel_sim::truth::{TrueRound, Truth};
use evenkeel_sim::world::{BASE_MS, World};

fn main() {
    let seed = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let world = Plan::of(seed.unwrap_or(1)).run();
    println!("{}", world.plan());
    for round in &world.truth().rounds {
        tell_round(round);
    }
    tell_departures(world.truth());
    tell_topics(&world);
    tell_engine(&world);
}

fn list(work: &Work) -> String {
    let items: Vec<String> = work.iter().map(Item::to_string).collect();
    items.join(",")
}

fn since(at: Option<i64>) -> String {
    at.map_or("never".to_owned(), |at| (at - BASE_MS).to_string())
}

fn tell_round(round: &TrueRound) {
    println!(
        "{}/{} {:?}: prepared {} joined {} recorded {} in effect {}, version {}, delay {}",
        round.incarnation,
        round.generation,
        round.outcome,
        round.prepare_started_ms - BASE_MS,
        round.join_ended_ms - BASE_MS,
        since(round.recorded_ms),
        since(round.effective_ms),
        round.version,
        round.delay_ms
    );
    for trigger in &round.triggers {
        println!("      {trigger:?}");
    }
    for (id, member) in &round.members {
        println!(
            "    {id} claim {} +[{}] -[{}] received {} applied {}",
            member.claim.as_ref().map_or("none".to_owned(), list),
            list(&member.assigned),
            list(&member.revoked),
            since(member.received_ms),
            since(member.applied_ms)
        );
    }
}

fn tell_departures(truth: &Truth) {
    for gone in &truth.departures {
        println!(
            "{} {:?} {:?}: died {} removed {} with [{}], successor {:?}",
            gone.member,
            gone.how,
            gone.seen,
            gone.died_ms - BASE_MS,
            gone.removed_ms - BASE_MS,
            list(&gone.owned),
            gone.successor
        );
    }
    for loss in &truth.losses {
        println!(
            "{} of {}: lost {} until {} {:?}",
            loss.item,
            loss.member,
            loss.from_ms - BASE_MS,
            since(loss.until_ms),
            loss.ended
        );
    }
}

fn tell_topics(world: &World) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (topic, partition) in partitions().filter(|(topic, _)| *topic != Topic::Offsets) {
        for entry in world.logs().partition(topic, partition) {
            let Some(record) = &entry.record else {
                continue;
            };
            println!(
                "{} {}-{partition} {} {} {}",
                entry.written_ms - BASE_MS,
                topic.label(),
                record.offset,
                text(record.key.as_deref().unwrap_or_default()),
                text(record.value.as_deref().unwrap_or(b"-"))
            );
        }
    }
}

fn tell_engine(world: &World) {
    let mut observer = world.observer(ObserverSpec::default());
    let mut engine = Engine::new();
    while let Some(input) = observer.next_input(engine.wants_ends()) {
        for change in engine.apply(&input) {
            match change {
                Change::Settled(round) => {
                    let told = engine.describe(&round);
                    println!(
                        "said of {}/{}: {:?} by {:?}",
                        told.incarnation, told.generation, told.outcome, told.settled_by
                    );
                }
                other => println!("said: {other:?}"),
            }
        }
    }
    let answers = engine.answers();
    println!("{:?}", answers.counters);
    for each in answers.without_owner() {
        println!("without an owner: {each:?}");
    }
    for skew in answers.episodes.iter().flat_map(|each| &each.skews) {
        println!("clock: {skew:?}");
    }
    for finding in &answers.findings {
        println!("finding: {finding:?}");
    }
}
