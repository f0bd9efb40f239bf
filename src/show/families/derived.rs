//! The families about what a group looks like, from the answers of one group.

use evenkeel_core::answers::{Answers, BalanceAnswer, FAILED_ROUNDS, Pattern, PatternAnswer};

use super::{Collected, Value};
use crate::show::catalog as c;

/// Adds the series of one group whose records are read.
pub(super) fn fill<'a>(out: &mut Collected<'a>, answers: &'a Answers, subjects_max: usize) {
    let group = answers.settings.group.as_str();
    if let Some(pattern) = &answers.pattern {
        told(out, group, pattern, subjects_max);
    }
    if let Some(balance) = &answers.balance {
        spread(out, group, balance);
    }
}

fn told<'a>(
    out: &mut Collected<'a>,
    group: &'a str,
    answer: &'a PatternAnswer,
    subjects_max: usize,
) {
    for each in Pattern::ALL {
        let holds = Value::truth(each == answer.pattern);
        out.add(&c::PATTERN, [group, each.label()], holds);
    }
    let mut numbers = answer.numbers.iter();
    let failed = numbers.find(|of| of.pattern == Pattern::Loop && of.what == FAILED_ROUNDS);
    let failed = failed.map_or(0, |rounds| rounds.counted);
    out.add(&c::FAILED_ROUNDS, [group], Value::Count(failed));
    if answer.pattern == Pattern::Quiet {
        return;
    }
    let label = answer.pattern.label();
    if answer.subjects.is_empty() {
        out.add(&c::PATTERN_INFO, [group, label, ""], Value::Count(1));
    }
    // They are in order: the worst first.
    for subject in answer.subjects.iter().take(subjects_max) {
        out.add(&c::PATTERN_INFO, [group, label, subject], Value::Count(1));
    }
    let left_out = answer.subjects.len().saturating_sub(subjects_max);
    let left_out = u64::try_from(left_out).unwrap_or(u64::MAX);
    out.dropped = out.dropped.saturating_add(left_out);
}

fn spread<'a>(out: &mut Collected<'a>, group: &'a str, balance: &'a BalanceAnswer) {
    for each in &balance.kinds {
        let imbalance = Value::Count(each.imbalance);
        out.add(&c::IMBALANCE, [group, each.kind.label()], imbalance);
    }
    for each in &balance.kinds {
        if let Some(most) = each.survivor_most {
            let labels = [group, each.kind.label(), c::SCOPE_WORKER];
            out.add(&c::SURVIVOR_ASSIGNMENTS, labels, Value::Count(most));
        }
    }
}
