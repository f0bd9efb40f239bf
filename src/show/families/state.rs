//! The families about what work does, from the answers of one group.

use evenkeel_core::answers::{Answers, DisagreementType, DisagreementsAnswer, StatesAnswer};

use super::bound::largest;
use super::{Collected, Value};
use crate::show::catalog as c;

/// Adds what all that is configured does.
pub(super) fn fill<'a>(out: &mut Collected<'a>, answers: &'a Answers, subjects_max: usize) {
    let group = answers.settings.group.as_str();
    if let Some(told) = &answers.disagreements {
        disagreements(out, group, told, subjects_max);
    }
    if let Some(told) = &answers.states {
        states(out, group, told);
    }
}

fn states<'a>(out: &mut Collected<'a>, group: &'a str, told: &'a StatesAnswer) {
    for each in &told.connectors {
        let labels = [group, &*each.connector, each.state.label()];
        out.add(&c::CONNECTORS, labels, Value::Count(1));
    }
    for each in &told.connectors {
        for (state, count) in &each.tasks {
            let labels = [group, &*each.connector, state.label()];
            out.add(&c::TASKS, labels, Value::Count(*count));
        }
    }
}

fn disagreements<'a>(
    out: &mut Collected<'a>,
    group: &'a str,
    told: &'a DisagreementsAnswer,
    subjects_max: usize,
) {
    for kind in DisagreementType::ALL {
        // What is not looked for is not zero.
        if told.statuses_known || kind == DisagreementType::DuplicateClaim {
            let count = Value::Count(told.count(kind));
            out.add(&c::DISAGREEMENTS, [group, kind.label()], count);
        }
    }
    let subjects = told.counts.iter();
    let subjects = subjects
        .map(|((kind, connector, worker), count)| ((*kind, &**connector, &**worker), *count));
    let (shown, left_out) = largest(subjects.collect(), subjects_max);
    out.dropped = out.dropped.saturating_add(left_out);
    for ((kind, connector, worker), _) in shown {
        let labels = [group, kind.label(), connector, worker];
        out.add(&c::DISAGREEMENT_INFO, labels, Value::Count(1));
    }
}
