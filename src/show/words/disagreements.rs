//! Disagreements between status topic and group, in the log: a line when a worker has some of a
//! type, and a line when it has none any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::answers::{Answers, Confidence, DisagreementType};
use evenkeel_core::limits::DISAGREEMENTS_SHOWN_MAX;
use tracing::{info, warn};

/// What is told of one worker and type: one line for however many tasks, and one more for each
/// connector that joins them would say little.
type Key = (DisagreementType, Arc<str>);

/// What was told last.
#[derive(Debug, Default)]
pub(super) struct Told {
    standing: BTreeMap<Key, u64>,
}

// === impl Told ===

impl Told {
    /// Tells what is new, and what is gone.
    pub(super) fn say(&mut self, group: &Arc<str>, answers: &Answers) {
        let Some(now) = &answers.disagreements else {
            return;
        };
        let mut standing: BTreeMap<Key, u64> = BTreeMap::new();
        for ((kind, _, worker), count) in &now.counts {
            let sum = standing.entry((*kind, Arc::clone(worker))).or_default();
            *sum = sum.saturating_add(*count);
        }
        for ((kind, worker), count) in &standing {
            if self.standing.contains_key(&(*kind, Arc::clone(worker))) {
                continue;
            }
            let mut shown = now.now.iter();
            let first = shown.find(|each| each.kind == *kind && each.worker == *worker);
            let kind = kind.label();
            // Of very many not all are listed.
            debug_assert!(first.is_some() || now.now.len() >= DISAGREEMENTS_SHOWN_MAX);
            let evidence = first.map_or("", |first| first.evidence.as_str());
            let connector = first.map_or("", |first| &*first.item.connector);
            let sure = first.map_or(Confidence::Possible, |first| first.confidence);
            let confidence = sure.label();
            match sure {
                Confidence::Possible => {
                    info!(%group, disagreement = kind, %worker, count, connector, confidence, "{evidence}");
                }
                Confidence::Likely | Confidence::Certain => {
                    warn!(%group, disagreement = kind, %worker, count, connector, confidence, "{evidence}");
                }
            }
        }
        for (kind, worker) in self.standing.keys() {
            if !standing.contains_key(&(*kind, Arc::clone(worker))) {
                info!(%group, disagreement = kind.label(), %worker, "status topic and group agree again");
            }
        }
        self.standing = standing;
    }
}
