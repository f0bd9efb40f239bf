//! Clocks that contradict each other, in the log: a line when a check fires, and one when it
//! does no more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_core::answers::{Answers, FiredAnswer, Severity};
use tracing::{info, warn};

/// What was told last.
#[derive(Debug, Default)]
pub(super) struct Told {
    standing: BTreeSet<&'static str>,
}

// === impl Told ===

impl Told {
    /// Tells what is new, one line a check: fifty workers with one file say one thing.
    pub(super) fn say(&mut self, group: &Arc<str>, answers: &Answers) {
        let Some(checks) = &answers.checks else {
            return;
        };
        let mut now: BTreeMap<&'static str, Vec<&FiredAnswer>> = BTreeMap::new();
        for fired in &checks.fired {
            now.entry(fired.check).or_default().push(fired);
        }
        for (check, fired) in &now {
            if self.standing.contains(check) {
                continue;
            }
            let [first, ..] = fired.as_slice() else {
                continue;
            };
            let (subject, subjects, said) = (&*first.subject, fired.len(), &first.said);
            let (severity, link) = (first.severity.word(), &first.link);
            match first.severity {
                Severity::Error | Severity::Warning => {
                    warn!(%group, check, severity, subject, subjects, said, link, "clocks contradict each other");
                }
                Severity::Info => {
                    info!(%group, check, severity, subject, subjects, said, link, "about the clocks");
                }
            }
        }
        // A list that is full leaves out checks that still fire.
        let is_full = checks.fired_left_out > 0;
        for check in self.standing.iter().filter(|_| !is_full) {
            if !now.contains_key(check) {
                info!(%group, check, "the clocks agree again");
            }
        }
        self.standing = now.into_keys().collect();
    }
}
