//! What generations moved from one worker to another.

use std::collections::BTreeMap;

use super::Move;
use super::needs::{self, Moved};
use crate::truth::assignment::Work;
use crate::truth::derive::{TruthGeneration, TruthMember};
use crate::truth::event::{Item, ItemKind};

/// Each item that a generation gave to another worker than the last that owned it; `end_ms` is
/// when the recording ended. What was not configured in between belonged to nobody.
pub(super) fn moves(generations: &[TruthGeneration], end_ms: i64) -> Vec<Move> {
    let mut last: BTreeMap<Item, (usize, String)> = BTreeMap::new();
    let mut all: Vec<Moved> = Vec::new();
    for (index, generation) in generations.iter().enumerate() {
        let view = generation.leader_view.as_ref();
        if let Some(configured) = view.map(|view| &view.configured) {
            last.retain(|item, _| has(configured, item));
        }
        for (item, owners) in owners(generation) {
            // Two may own the same for a round; who had it before has it still.
            if let Some(before) = last.get_mut(&item)
                && owners.contains(&before.1)
            {
                before.0 = index;
                continue;
            }
            let Some(to) = owners.into_iter().next() else {
                continue;
            };
            if let Some((had, from)) = last.insert(item.clone(), (index, to.clone())) {
                all.push(Moved {
                    had,
                    got: index,
                    item,
                    from,
                    to,
                });
            }
        }
    }
    let needs = needs::needs(generations, &all, end_ms);
    let with_need = all.into_iter().zip(needs).map(|(moved, need)| Move {
        incarnation: generations[moved.got].incarnation,
        generation: generations[moved.got].generation,
        item: moved.item,
        from: moved.from,
        to: moved.to,
        need,
    });
    with_need.collect()
}

pub(super) fn has(work: &Work, item: &Item) -> bool {
    match item.kind {
        ItemKind::Connector => work.connectors.contains(&item.name),
        ItemKind::Task => work.tasks.contains(&item.name),
    }
}

/// What a member owned in the end.
pub(super) fn owned(member: &TruthMember) -> impl Iterator<Item = Item> {
    items(member.owned.as_ref())
}

pub(super) fn items(work: Option<&Work>) -> impl Iterator<Item = Item> {
    let of = |kind| {
        move |name: &String| Item {
            kind,
            name: name.clone(),
        }
    };
    work.into_iter().flat_map(move |work| {
        let connectors = work.connectors.iter().map(of(ItemKind::Connector));
        connectors.chain(work.tasks.iter().map(of(ItemKind::Task)))
    })
}

fn owners(generation: &TruthGeneration) -> BTreeMap<Item, Vec<String>> {
    let mut owners: BTreeMap<Item, Vec<String>> = BTreeMap::new();
    for member in &generation.members {
        let Some(worker) = &member.worker else {
            continue;
        };
        for item in owned(member) {
            owners.entry(item).or_default().push(worker.clone());
        }
    }
    owners
}

#[cfg(test)]
mod tests;
