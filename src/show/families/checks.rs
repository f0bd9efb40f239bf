//! The families about clocks that contradict each other.

use evenkeel_core::answers::{Answers, Severity};

use super::{Collected, Value};
use crate::show::catalog as c;

/// Adds the series of one group whose records are read.
pub(super) fn fill<'a>(out: &mut Collected<'a>, answers: &'a Answers, subjects_max: usize) {
    let Some(checks) = &answers.checks else {
        return;
    };
    let group = answers.settings.group.as_str();
    for severity in Severity::ALL {
        let standing = checks.fired.iter();
        let standing = standing.filter(|fired| fired.severity == severity && !fired.own);
        let labels = [group, severity.word()];
        out.add(
            &c::CLOCK_INCONSISTENCIES,
            labels,
            Value::size(standing.count()),
        );
    }
    // They are in order: the worst first.
    for fired in checks.fired.iter().take(subjects_max) {
        let labels = [group, fired.check, &*fired.subject];
        out.add(&c::CHECK_INFO, labels, Value::Count(1));
    }
    let left_out = checks.fired.len().saturating_sub(subjects_max);
    let left_out = u64::try_from(left_out).unwrap_or(u64::MAX);
    let left_out = left_out.saturating_add(checks.fired_left_out);
    out.dropped = out.dropped.saturating_add(left_out);
}
