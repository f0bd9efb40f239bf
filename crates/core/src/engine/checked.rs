//! Holds what is known of the group against the checks, again only when that changed.
//!
//! What every agent knows is judged by itself; the settings of the worker beside this agent
//! are judged for that worker alone, so that all agents say the same of the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::known::{self, Watched};
use super::polls::Sight;
use super::{Engine, State};
use crate::answers::{ChecksAnswer, ComparedAnswer, FiredAnswer, UndecidedAnswer};
use crate::checks::known::Known;
use crate::checks::{Finding, Outcome, Severity, judge};
use crate::facts::cluster::Cluster;
use crate::limits::CHECKS_FIRED_MAX;

/// What the checks said last, and of what: a large group is shown twenty times a second.
#[derive(Debug, Default)]
pub(super) struct Checked(Mutex<Option<(Watched, Arc<ChecksAnswer>)>>);

/// What the checks say; `None` where the group's records are not read.
pub(super) fn answer(state: &State, sight: Option<&Sight<'_>>) -> Option<Arc<ChecksAnswer>> {
    let sight = sight.filter(|sight| sight.by_records)?;
    let watched = known::watched(state, sight);
    let mut last = state
        .checked
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some((before, answer)) = &*last
        && *before == watched
    {
        return Some(Arc::clone(answer));
    }
    let answer = Arc::new(judged(&watched));
    *last = Some((watched, Arc::clone(&answer)));
    Some(answer)
}

/// What the checks say: of the worker beside the agent more is known than all agents know.
pub(super) fn findings(watched: &Watched) -> Vec<Finding> {
    let Some(own_name) = own_name(watched) else {
        return judge(&watched.group);
    };
    let own = watched.own.as_ref().map(judge).unwrap_or_default();
    let is_of_own = |finding: &Finding| finding.judgement.subject == own_name;
    let mut findings = judge(&watched.group);
    findings.retain(|finding| !is_of_own(finding));
    findings.extend(own.into_iter().filter(is_of_own));
    findings
}

fn own_name(watched: &Watched) -> Option<&str> {
    let own = watched.own.as_ref()?;
    own.workers.first().map(|worker| worker.name.as_str())
}

/// What all agents say of the worker beside this one, too.
fn told_by_all(watched: &Watched) -> BTreeSet<&'static str> {
    let Some(own_name) = own_name(watched) else {
        return BTreeSet::new();
    };
    let shared = judge(&watched.group).into_iter();
    let of_own = shared.filter(|finding| {
        let judgement = &finding.judgement;
        judgement.outcome == Outcome::Fired && judgement.subject == own_name
    });
    of_own.map(|finding| finding.check.id).collect()
}

fn judged(watched: &Watched) -> ChecksAnswer {
    let told_by_all = told_by_all(watched);
    let own_name = own_name(watched);
    let is_of_own = |finding: &Finding| Some(finding.judgement.subject.as_str()) == own_name;
    let findings = findings(watched);

    let mut answer = ChecksAnswer {
        workers_left_out: watched.left_out,
        rights_missing: watched.rights_missing.clone(),
        ..ChecksAnswer::default()
    };
    let mut undecided: BTreeMap<(Severity, &'static str), UndecidedAnswer> = BTreeMap::new();
    for finding in findings {
        match finding.judgement.outcome {
            Outcome::Fired => {
                let own = is_of_own(&finding) && !told_by_all.contains(finding.check.id);
                answer.fired.push(fired(finding, own));
            }
            Outcome::Passed => answer.passed = answer.passed.saturating_add(1),
            Outcome::Undecided => {
                let check = finding.check;
                let entry = undecided
                    .entry((check.severity, check.id))
                    .or_insert_with(|| UndecidedAnswer {
                        check: check.id,
                        severity: check.severity,
                        subjects: 0,
                        missing: Vec::new(),
                    });
                entry.subjects = entry.subjects.saturating_add(1);
                for missing in finding.judgement.missing {
                    if !entry.missing.contains(&missing) {
                        entry.missing.push(missing);
                    }
                }
            }
        }
    }
    answer.undecided = undecided.into_values().collect();
    let order = |fired: &FiredAnswer| (fired.severity, fired.check, Arc::clone(&fired.subject));
    answer.fired.sort_by_key(order);
    // Some checks look at one subject twice: one series, one line.
    answer.fired.dedup_by(|again, first| {
        let is_same = order(again) == order(first);
        if is_same {
            first.said = format!("{}; {}", first.said, again.said);
            first.values.append(&mut again.values);
        }
        is_same
    });
    let left_out = answer.fired.len().saturating_sub(CHECKS_FIRED_MAX);
    answer.fired_left_out = u64::try_from(left_out).unwrap_or(u64::MAX);
    answer.fired.truncate(CHECKS_FIRED_MAX);
    answer
}

fn fired(finding: Finding, own: bool) -> FiredAnswer {
    let (check, judgement) = (finding.check, finding.judgement);
    let values = judgement.values.into_iter().map(|shown| ComparedAnswer {
        worker: shown.worker,
        name: shown.name,
        value: shown.value,
        source: shown.source.to_string(),
    });
    FiredAnswer {
        check: check.id,
        severity: check.severity,
        subject: Arc::from(judgement.subject),
        own,
        said: judgement.said,
        values: values.collect(),
        consequence: check.consequence,
        advice: judgement.advice.unwrap_or_else(|| check.advice.to_owned()),
        link: format!("docs/checks.md#{}", check.id),
    }
}

// === impl Engine ===

impl Engine {
    /// What checks compare of the running group, without what the file beside this agent says;
    /// where its records are not read, what brokers say alone.
    #[must_use]
    pub fn known(&self) -> Known {
        let sight = self.state.sight().filter(|sight| sight.by_records);
        match sight {
            Some(sight) => known::watched(&self.state, &sight).group,
            None => known::unwatched(&self.state),
        }
    }

    /// What the checks say of it, with the settings that the file beside this agent says.
    #[must_use]
    pub fn checked(&self) -> Vec<Finding> {
        let sight = self.state.sight().filter(|sight| sight.by_records);
        match sight {
            Some(sight) => findings(&known::watched(&self.state, &sight)),
            None => judge(&known::unwatched(&self.state)),
        }
    }

    /// What brokers said of themselves and of the topics; none where they did not.
    #[must_use]
    pub fn cluster(&self) -> Option<&Cluster> {
        self.state.cluster.as_ref()
    }
}

// === impl Checked ===

impl Clone for Checked {
    /// What is remembered is derived from the rest of the state.
    fn clone(&self) -> Self {
        Self::default()
    }
}
