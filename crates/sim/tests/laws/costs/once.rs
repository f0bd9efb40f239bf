//! Everything is counted once: whoever comes late, reads twice, or goes on from a state adds
//! nothing.

use std::collections::BTreeMap;

use evenkeel_core::answers::Counters;
use evenkeel_core::engine::{Engine, State};
use evenkeel_core::facts::input::{Input, InputKind};
use evenkeel_sim::observer::ObserverSpec;
use evenkeel_sim::world::World;
use serde_json::Value;

use crate::drive::{Watched, watch};

/// What was counted of costs, by name and labels.
pub(super) fn costs(counters: &Counters) -> BTreeMap<String, u64> {
    let all = serde_json::to_value(counters).unwrap();
    let mut counts = BTreeMap::new();
    for name in ["interruptions", "handovers", "moves", "unavailable_ms"] {
        for pair in all[name].as_array().unwrap() {
            let labels = pair[0].as_array().unwrap().iter();
            let labels: Vec<&str> = labels.filter_map(Value::as_str).collect();
            counts.insert(
                format!("{name} {}", labels.join(" ")),
                pair[1].as_u64().unwrap(),
            );
        }
    }
    counts
}

/// Whether nothing of one is more than of the other; what lasted and was seen to end is counted
/// whole, and so no longer than by who saw it begin, but for what two clocks make of it.
pub(super) fn no_more(
    less: &BTreeMap<String, u64>,
    than: &BTreeMap<String, u64>,
    who: &str,
) -> Result<(), String> {
    for (what, count) in less {
        let most = than.get(what).copied().unwrap_or(0);
        if *count > most {
            return Err(format!("{who} counts {count} {what}, not {most}"));
        }
    }
    Ok(())
}

/// What a sidecar counts that is there for a part of it, goes away, and comes back with the
/// state it had.
pub(super) fn with_an_absence(world: &World, (from_ms, to_ms): (i64, i64)) -> Counters {
    let whole = watch(world, ObserverSpec::default());
    let began = whole.inputs.first().map_or(0, |input| input.at.0);
    let mut first = Watched::of(Engine::new());
    let before = |input: &&Input| input.at.0 < began + from_ms;
    for input in whole.inputs.iter().take_while(before) {
        first.take(input);
    }
    let written = serde_json::to_vec(first.engine.state()).unwrap();
    let state: State = serde_json::from_slice(&written).unwrap();
    let mut read_to = BTreeMap::new();
    for topic in evenkeel_core::facts::input::Topic::ALL {
        for (partition, offset) in state.read_to(topic) {
            read_to.insert((topic, partition), offset);
        }
    }
    let late = ObserverSpec {
        start_ms: to_ms,
        ..super::to_the_end()
    };
    let mut observer = world.observer(late);
    let mut second: Option<Watched> = None;
    let mut state = Some(state);
    while let Some(mut input) = observer.next_input(
        second
            .as_ref()
            .is_some_and(|second| second.engine.wants_ends()),
    ) {
        let known = |topic, partition| read_to.get(&(topic, partition)).copied();
        let read = match &mut input.kind {
            InputKind::Record(record) => {
                known(record.topic, record.partition).is_some_and(|next| record.offset < next)
            }
            InputKind::Reached(reached) => {
                known(reached.topic, reached.partition).is_some_and(|next| reached.offset < next)
            }
            InputKind::Start(start) => {
                start.offset = known(start.topic, start.partition).unwrap_or(start.offset);
                false
            }
            _ => false,
        };
        if let Some(state) = state.take() {
            second = Some(Watched::of(Engine::resume(state, input.at)));
        }
        if let Some(second) = second.as_mut().filter(|_| !read) {
            second.take(&input);
        }
    }
    second
        .map(|second| second.engine.answers().counters)
        .unwrap_or_default()
}
