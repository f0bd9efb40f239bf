//! The families about what rebalances cost, from the answers of one group.

use std::collections::BTreeSet;

use evenkeel_core::answers::{Answers, DownReason, HandoverHow, MoveNeed};
use evenkeel_core::facts::ids::Kind;

use super::bound::largest;
use super::{Collected, Value};
use crate::show::catalog as c;

/// Adds the series of one group whose records are read.
pub(super) fn fill<'a>(out: &mut Collected<'a>, answers: &'a Answers, subjects_max: usize) {
    let group = answers.settings.group.as_str();
    let counters = &answers.counters;
    for kind in Kind::ALL {
        for reason in DownReason::ALL {
            let count = counters.interruptions.get(&(kind, reason));
            let labels = [group, kind.label(), reason.label()];
            out.add(
                &c::INTERRUPTIONS,
                labels,
                Value::Count(count.copied().unwrap_or(0)),
            );
        }
    }
    for kind in Kind::ALL {
        for how in HandoverHow::ALL {
            let count = counters.handovers.get(&(kind, how));
            let labels = [group, kind.label(), how.label()];
            out.add(
                &c::HANDOVERS,
                labels,
                Value::Count(count.copied().unwrap_or(0)),
            );
        }
    }
    for kind in Kind::ALL {
        for need in MoveNeed::ALL {
            let count = counters.moves.get(&(kind, need));
            let labels = [group, kind.label(), need.label()];
            let count = count.copied().unwrap_or(0);
            out.add(&c::MOVES, labels, Value::Count(count));
        }
    }
    // Series of what is deleted vanish; who creates it again goes on where they were.
    let configured = answers.configured.as_ref().map(|now| {
        let names = now.connectors.iter().map(|one| &*one.connector);
        names.collect::<BTreeSet<&str>>()
    });
    let is_gone = |name: &str| configured.as_ref().is_some_and(|now| !now.contains(name));
    for ((connector, reason), ms) in &counters.unavailable_ms {
        if is_gone(connector) {
            continue;
        }
        let ms = i64::try_from(*ms).unwrap_or(i64::MAX);
        let labels = [group, connector, reason.label()];
        out.add(&c::TASK_UNAVAILABLE, labels, Value::Millis(ms));
    }
    let down = answers.unavailable.iter();
    let down = down.map(|((connector, reason), count)| ((&**connector, *reason), *count));
    let (shown, left_out) = largest(down.collect(), subjects_max);
    out.dropped = out.dropped.saturating_add(left_out);
    for ((connector, reason), count) in shown {
        let labels = [group, connector, reason.label()];
        out.add(&c::UNAVAILABLE_TASKS, labels, Value::Count(count));
    }
}
