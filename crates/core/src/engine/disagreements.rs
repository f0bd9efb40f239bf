//! Where the status topic and the group disagree, weighed as time passes, and as it is shown.

use std::collections::BTreeMap;

use crate::answers::{DisagreementAnswer, DisagreementType, DisagreementsAnswer};
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
        worker: open.worker.clone(),
        since: open.since,
        until,
        confidence: open.confidence,
        evidence: open.evidence.clone(),
    };
    let mut counts: BTreeMap<DisagreementType, u64> = BTreeMap::new();
    let mut now: Vec<(WorkItem, &Open)> = Vec::new();
    for (of, open) in told.open(&state.configured) {
        let count = counts.entry(open.kind).or_default();
        *count = count.saturating_add(1);
        now.push((of, open));
    }
    let mut now: Vec<DisagreementAnswer> = now
        .into_iter()
        .map(|(of, open)| shown(of, open, None))
        .collect();
    now.sort_by(|left, right| {
        let key = |each: &DisagreementAnswer| (each.kind, each.item.clone(), each.worker.clone());
        key(left).cmp(&key(right))
    });
    now.truncate(DISAGREEMENTS_SHOWN_MAX);
    let over = told.over().rev();
    let over = over.map(|over| shown(over.item, &over.was, Some(over.until)));
    DisagreementsAnswer {
        now,
        counts: counts.into_iter().collect(),
        over: over.collect(),
        statuses_known: !state.progress.of(Topic::Status).is_beyond_reach(),
    }
}
