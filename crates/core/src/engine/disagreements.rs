//! Where the status topic and the group disagree, weighed as time passes, and as it is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::answers::{DisagreementAnswer, DisagreementsAnswer};
use crate::engine::State;
use crate::engine::publish::item;
use crate::facts::ids::WorkItem;
use crate::facts::input::Topic;
use crate::facts::time::EventTime;
use crate::limits::DISAGREEMENTS_SHOWN_MAX;
use crate::story::disagreements::{Facts, Open};

// === impl State ===

impl State {
    /// Time has passed up to an instant before which no group record is unread.
    pub(super) fn weigh_disagreements(&mut self, until: EventTime) {
        let statuses_known = !self.progress.of(Topic::Status).is_beyond_reach();
        let story = &mut self.story;
        let facts = Facts {
            record: story.steps.judged().map(|record| &**record),
            life: story.steps.judged_life(&story.skews),
            generation: self
                .group
                .newest
                .as_deref()
                .map_or(0, |newest| newest.generation),
            log: &story.statuses,
            statuses: &self.statuses,
            statuses_known,
            configured: &self.configured,
            departures: &story.departures,
            switches: story.switches,
        };
        story.disagreements.advance(until, &facts);
    }
}

/// What disagrees, as it is shown.
pub(super) fn answer(state: &State) -> DisagreementsAnswer {
    let told = &state.story.disagreements;
    let shown = |of: WorkItem, open: &Open, until: Option<EventTime>| DisagreementAnswer {
        kind: open.kind,
        item: item(&state.names, of),
        worker: Arc::clone(&open.worker),
        since: open.since,
        until,
        confidence: open.confidence,
        evidence: open.evidence.clone(),
    };
    let mut counts = BTreeMap::new();
    let mut now: Vec<(WorkItem, &Open)> = Vec::new();
    for (of, open) in told.open(&state.configured) {
        let connector = state.names.name(of.connector);
        let count: &mut u64 = counts
            .entry((open.kind, connector, Arc::clone(&open.worker)))
            .or_default();
        *count = count.saturating_add(1);
        now.push((of, open));
    }
    let mut now: Vec<DisagreementAnswer> = now
        .into_iter()
        .map(|(of, open)| shown(of, open, None))
        .collect();
    let place =
        |each: &DisagreementAnswer| (each.kind, each.item.clone(), Arc::clone(&each.worker));
    now.sort_by_cached_key(place);
    let left_out = now.len().saturating_sub(DISAGREEMENTS_SHOWN_MAX);
    now.truncate(DISAGREEMENTS_SHOWN_MAX);
    let over = told.over().rev();
    let over = over.map(|over| shown(over.item, &over.was, Some(over.until)));
    DisagreementsAnswer {
        now,
        left_out,
        counts,
        over: over.collect(),
        statuses_known: !state.progress.of(Topic::Status).is_beyond_reach(),
    }
}
