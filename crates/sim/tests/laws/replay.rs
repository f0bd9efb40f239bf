//! Laws of the engine on every world: the same inputs give the same answers, a state
//! written down goes on the same, and sidecars agree.

use std::collections::BTreeMap;

use serde_json::Value;

use evenkeel_core::answers::{EpisodeAnswer, RoundAnswer};
use evenkeel_core::engine::{Engine, State};
use evenkeel_core::facts::time::EventTime;
use evenkeel_sim::observer::ObserverSpec;
use evenkeel_sim::plan::Deed;
use evenkeel_sim::rng::Rng;
use evenkeel_sim::world::World;

use crate::drive::{Watched, over_seeds, watch};
use crate::hand;

#[test]
fn a_replay_gives_the_same_answers() {
    over_seeds(30, |world| {
        let live = watch(world, ObserverSpec::default());
        let mut replayed = Watched::of(Engine::new());
        for input in &live.inputs {
            replayed.take(input);
        }
        let same = replayed.answers_json() == live.answers_json();
        same.then_some(()).ok_or("the replay differs".to_owned())
    });
}

#[test]
fn a_state_written_down_anywhere_goes_on_the_same() {
    over_seeds(30, |world| {
        let live = watch(world, ObserverSpec::default());
        let mut rng = Rng::new(world.plan().seed);
        let last = i64::try_from(live.inputs.len()).unwrap() - 1;
        let mut cuts: Vec<i64> = (0..4).map(|_| rng.between(0, last)).collect();
        cuts.sort_unstable();
        let mut cut = Watched::of(Engine::new());
        for (at, input) in (0_i64..).zip(&live.inputs) {
            if cuts.contains(&at) {
                let written = serde_json::to_vec(cut.engine.state()).unwrap();
                let state: State = serde_json::from_slice(&written).unwrap();
                cut.engine = Engine::restore(state);
            }
            cut.take(input);
        }
        let same = cut.answers_json() == live.answers_json();
        same.then_some(()).ok_or(format!("cut at {cuts:?}"))
    });
}

/// What sidecars must agree on: which proof came first may differ.
fn agreed(watched: &Watched, since_ms: i64) -> BTreeMap<(i32, EventTime), Value> {
    let told = |round: &RoundAnswer| {
        let recorded = round.recorded.filter(|at| at.0 >= since_ms)?;
        let round = RoundAnswer {
            settled_by: None,
            incarnation: 0,
            ..round.clone()
        };
        Some((
            (round.generation, recorded),
            serde_json::to_value(&round).unwrap(),
        ))
    };
    watched.settled.iter().filter_map(told).collect()
}

/// Whether two sidecars tell the same of a round. Where a clock is so far off that a status of
/// the group's first moments seems to be of a life before, who saw it arrive knows better.
fn same(world: &World, one: &Value, other: &Value) -> bool {
    let mut one = one.clone();
    let one_knows = (one["outcome"] == "unknown") != (other["outcome"] == "unknown");
    if one_knows && far_off(world) {
        one["outcome"] = other["outcome"].clone();
    }
    one == *other
}

/// `limits::TIMER_SLACK_MS`.
const SLACK_MS: i64 = 5_000;

/// `limits::LAST_STOPS_MS`.
const LAST_STOPS_MS: i64 = 1_000;

/// Whether clocks differ by more than the slack of a life's beginning.
fn far_off(world: &World) -> bool {
    off_by_ms(world) > SLACK_MS
}

/// By how much clocks differ at most.
fn off_by_ms(world: &World) -> i64 {
    let clocks = world.truth().clocks.values();
    let off_ms = clocks.flat_map(|clock| {
        let mut off_ms = clock.skew_ms;
        let set = clock.steps.iter().map(move |(_, by_ms)| {
            off_ms += by_ms;
            off_ms
        });
        std::iter::once(clock.skew_ms).chain(set)
    });
    let off_ms: Vec<i64> = off_ms.collect();
    let most = off_ms.iter().max().copied().unwrap_or(0);
    most - off_ms.iter().min().copied().unwrap_or(0)
}

/// An eager worker, whose claims say nothing, has a clock that is 400 ms ahead: its statuses
/// prove a round, or do not, whatever is read first.
#[test]
fn rule_4_does_not_depend_on_what_arrives_first() {
    let mut plan = hand::plan(vec![hand::slot()]);
    plan.slots[0].version = 0;
    plan.slots[0].clock.skew_ms = 400;
    plan.connectors = vec![hand::connector("orders", 2)];
    plan.deeds = vec![hand::start(0, 0), (5_000, Deed::Create(0))];
    let world = plan.run();
    let live = agreed(&watch(&world, ObserverSpec::default()), i64::MIN);
    // Which topic is read first differs.
    for seed in 1..=10 {
        let late = ObserverSpec {
            start_ms: 30_000,
            seed,
            ..ObserverSpec::default()
        };
        assert_eq!(agreed(&watch(&world, late), i64::MIN), live, "{seed}");
    }
}

#[test]
fn sidecars_settle_the_same() {
    over_seeds(30, |world| {
        let seed = world.plan().seed;
        let mut rng = Rng::new(seed);
        let latest = world.plan().end_ms / 2;
        let compacted_ms = rng.chance(50).then_some(10_000);
        let specs = [
            ObserverSpec::default(),
            ObserverSpec {
                start_ms: rng.between(1, latest),
                poll_ms: Some(500),
                lag_ms: (1, 2_500),
                doubled: 20,
                seed,
                ..ObserverSpec::default()
            },
            ObserverSpec {
                start_ms: latest,
                poll_ms: None,
                skew_ms: rng.between(-5_000, 5_000),
                compacted_ms,
                seed: seed + 1,
                ..ObserverSpec::default()
            },
        ];
        let watched = specs.map(|spec| watch(world, spec));
        // By the stamp of the newest broker clock that all of them saw: all rounds since
        // the last came, or all there are where history is whole.
        let clocks = world.truth().clocks.values();
        let off_ms = clocks.map(|clock| {
            let steps = clock.steps.iter().map(|(_, by)| by.abs());
            clock.skew_ms.abs() + steps.sum::<i64>()
        });
        let ahead_ms = off_ms.max();
        let since_ms = match compacted_ms {
            None => i64::MIN,
            Some(_) => evenkeel_sim::world::BASE_MS + latest + 2 * ahead_ms.unwrap_or(0),
        };
        let [first, second, third] = watched.each_ref().map(|each| agreed(each, since_ms));
        for other in [second, third] {
            for (key, told) in &first {
                match other.get(key) {
                    None => return Err(format!("{key:?} is not settled by all")),
                    Some(theirs) if !same(world, told, theirs) => {
                        return Err(format!("{key:?}: {told} and {theirs}"));
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    });
}

/// An episode but for what the sidecar itself saw.
fn told(episode: &EpisodeAnswer) -> Value {
    let mut episode = serde_json::to_value(episode).unwrap();
    episode.as_object_mut().unwrap().remove("polled");
    episode
}

/// Three sidecars that came at different times, read at different paces, or not at all, and
/// all read the whole history.
fn three(world: &World) -> [ObserverSpec; 3] {
    let seed = world.plan().seed;
    let mut rng = Rng::new(seed);
    let end_ms = world.plan().end_ms;
    let whole = ObserverSpec {
        after_ms: 1_300_000,
        ..ObserverSpec::default()
    };
    [
        whole.clone(),
        ObserverSpec {
            start_ms: rng.between(1, end_ms / 2),
            poll_ms: Some(500),
            lag_ms: (1, 2_500),
            doubled: 20,
            seed,
            ..whole.clone()
        },
        ObserverSpec {
            start_ms: rng.between(end_ms / 2, end_ms),
            poll_ms: None,
            skew_ms: rng.between(-5_000, 5_000),
            seed: seed + 1,
            ..whole
        },
    ]
}

/// What differs between the episodes that all three saw whole; `told` is what is compared.
fn differences(world: &World, told: impl Fn(&EpisodeAnswer) -> Value) -> Result<(), String> {
    let all = three(world).map(|spec| watch(world, spec).episodes());
    let [first, second, third] = all.each_ref().map(|episodes| {
        let whole = episodes.iter().filter(|episode| episode.whole);
        whole.map(|episode| told(episode)).collect::<Vec<_>>()
    });
    for other in [&second, &third] {
        for (one, other) in first.iter().zip(other) {
            let mut differences = Vec::new();
            difference(one, other, "", &mut differences);
            if !differences.is_empty() {
                return Err(format!("{}: {}", one["id"], differences.join(", ")));
            }
        }
        if first.len() != other.len() {
            return Err(format!("{} and {} episodes", first.len(), other.len()));
        }
    }
    Ok(())
}

/// Sidecars that read the same log tell the same episodes, whenever they came. Where a clock is
/// off by more than a status is waited for, who was there knows it sooner.
#[test]
fn sidecars_tell_the_same_episodes() {
    over_seeds(60, |world| {
        if off_by_ms(world) > LAST_STOPS_MS {
            return Ok(());
        }
        differences(world, told)
    });
}

/// Which parts of an episode differ, each with both values.
fn difference(one: &Value, other: &Value, path: &str, out: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
            for (key, value) in one {
                let theirs = other.get(key).unwrap_or(&Value::Null);
                difference(value, theirs, &format!("{path}.{key}"), out);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (at, (mine, theirs)) in one.iter().zip(other).enumerate() {
                difference(mine, theirs, &format!("{path}[{at}]"), out);
            }
        }
        _ if one != other => out.push(format!("{path}: {one} and {other}")),
        _ => {}
    }
}
