//! Everything to everybody, anew each round (`EagerAssignor`).

use std::collections::BTreeMap;

use super::{Delta, Handed};
use crate::item::Work;

/// Deals connectors, then tasks, to the members in order of their ids.
#[must_use]
pub fn eager(configured: &Work, claims: &BTreeMap<String, Work>) -> Handed {
    let members: Vec<&String> = claims.keys().collect();
    let mut deltas: BTreeMap<String, Delta> = members
        .iter()
        .map(|member| ((*member).clone(), Delta::default()))
        .collect();
    let connectors = configured.iter().filter(|item| item.is_connector());
    let tasks = configured.iter().filter(|item| !item.is_connector());
    // One circular iterator over both: tasks go on where connectors ended.
    for (item, member) in connectors.chain(tasks).zip(members.iter().cycle()) {
        if let Some(delta) = deltas.get_mut(*member) {
            delta.assigned.insert(item.clone());
        }
    }
    Handed {
        deltas,
        delay_ms: 0,
    }
}
