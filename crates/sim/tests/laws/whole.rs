//! Law: each configured piece of work is owned or has a reason why not, at every moment at
//! which the engine says that it knows.

use std::collections::BTreeSet;

use evenkeel_core::answers::Answers;
use evenkeel_core::engine::Engine;
use evenkeel_sim::item::{CONNECTOR, Item, Work};
use evenkeel_sim::observer::ObserverSpec;

use crate::drive::over_seeds;

fn held(answers: &Answers) -> Result<(), String> {
    let (Some(configured), Some(unassigned), Some(group)) =
        (&answers.configured, &answers.unassigned, &answers.group)
    else {
        return Ok(());
    };
    let configured: Work = configured
        .connectors
        .iter()
        .flat_map(|c| (CONNECTOR..c.tasks).map(|task| Item::new(&c.connector, task)))
        .collect();
    let of = |item: &evenkeel_core::answers::ItemAnswer| {
        Item::new(&item.connector, item.task.unwrap_or(CONNECTOR))
    };
    let owned: BTreeSet<Item> = group
        .members
        .iter()
        .flat_map(|member| member.owned.iter().map(of))
        .collect();
    let without: BTreeSet<Item> = unassigned.iter().map(|each| of(&each.item)).collect();
    for item in &configured {
        if !owned.contains(item) && !without.contains(item) {
            return Err(format!("{item} is neither owned nor without an owner"));
        }
    }
    match without.iter().find(|item| !configured.contains(*item)) {
        Some(item) => Err(format!("{item} is not configured")),
        None => Ok(()),
    }
}

#[test]
fn configured_work_is_owned_or_has_a_reason() {
    over_seeds(30, |world| {
        let mut observer = world.observer(ObserverSpec::default());
        let mut engine = Engine::new();
        let mut inputs = 0;
        while let Some(input) = observer.next_input(engine.wants_ends()) {
            engine.apply(&input);
            inputs += 1;
            if inputs % 20 == 0 {
                held(&engine.answers())?;
            }
        }
        held(&engine.answers())
    });
}
