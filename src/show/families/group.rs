//! The families about one group, from its answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_core::answers::{
    Answers, AssignmentError, GroupAnswer, GroupState, Mode, RevocationHow, UnassignedAnswer,
    UnassignedReason,
};
use evenkeel_core::facts::ids::{Kind, Protocol};

use super::bound::largest;
use super::{Collected, Value, checks, cost, derived, episodes, state as work};
use crate::show::catalog as c;

/// Adds the series of one group.
pub(super) fn fill<'a>(
    out: &mut Collected<'a>,
    answers: &'a Answers,
    subjects_max: usize,
    traced: Option<&BTreeSet<Arc<str>>>,
) {
    let group = answers.settings.group.as_str();
    if let Some(now) = answers.state {
        state(out, group, answers, now);
    }
    // What lies between two answers of the coordinator is not known: not zero, but absent.
    // Of records that were left out nothing was counted but their numbers.
    if matches!(answers.mode, Mode::Full | Mode::Sampled | Mode::NoPolls) {
        counters(out, group, answers);
        episodes::fill(out, answers, traced);
        derived::fill(out, answers, subjects_max);
        checks::fill(out, answers, subjects_max);
        cost::fill(out, answers, subjects_max);
        recent(out, group, answers);
    }
    configured(out, group, answers);
    work::fill(out, answers, subjects_max);
    if let Some(items) = &answers.unassigned {
        unassigned(out, group, items, subjects_max);
    }
    if let Some(deadline) = answers.deadline {
        out.add(
            &c::DEADLINE,
            [group, deadline.reason.label()],
            Value::Millis(deadline.at.0),
        );
    }
    if let Some(answer) = &answers.group {
        protocol(out, group, answer, subjects_max);
        workers(out, group, answer);
    }
}

fn state<'a>(out: &mut Collected<'a>, group: &'a str, answers: &'a Answers, state: GroupState) {
    for each in GroupState::ALL {
        out.add(
            &c::GROUP_STATE,
            [group, each.label()],
            Value::truth(each == state),
        );
    }
    let members = answers
        .group
        .as_ref()
        .map_or(0, |answer| answer.members.len());
    // While members join and nothing told who was in before, their number is not known.
    if answers.group.is_some() || matches!(state, GroupState::Dead | GroupState::Empty) {
        out.add(&c::MEMBERS, [group], Value::size(members));
    }
    let Some(answer) = &answers.group else { return };
    if let Some(generation) = answer.generation {
        let generation = Value::Whole(i64::from(generation));
        out.add(&c::GENERATION, [group], generation);
    }
    if let Some(bytes) = answer.record_bytes {
        out.add(&c::GROUP_RECORD_BYTES, [group], Value::Count(bytes));
    }
    out.add(
        &c::GROUP_INFO,
        [
            group,
            protocol_label(answer),
            answer.leader.as_deref().unwrap_or(""),
        ],
        Value::Count(1),
    );
    // A deleted group's newest record is a tombstone, which is no generation. Without records
    // the newest generation has no time that is known, whatever was read before.
    let newest = answer.recorded.and_then(|recorded| {
        let told = answers.rounds.iter().rev().find_map(|round| round.recorded);
        told.or(Some(recorded).filter(|_| answer.state != GroupState::Dead))
    });
    if let Some(recorded) = newest {
        out.add(&c::LAST_REBALANCE, [group], Value::Millis(recorded.0));
    }
}

fn recent<'a>(out: &mut Collected<'a>, group: &'a str, answers: &'a Answers) {
    let windows = [
        answers.recent.in_2m,
        answers.recent.in_10m,
        answers.recent.in_30m,
    ];
    for (window, generations) in c::WINDOWS.into_iter().zip(windows) {
        out.add(
            &c::RECENT_GENERATIONS,
            [group, window],
            Value::Count(generations),
        );
    }
}

fn protocol_label(answer: &GroupAnswer) -> &'static str {
    match answer.protocol {
        Some(protocol) => Protocol::label(protocol),
        None if answer.members.is_empty() => c::PROTOCOL_NONE,
        None => c::PROTOCOL_UNKNOWN,
    }
}

fn counters<'a>(out: &mut Collected<'a>, group: &'a str, answers: &'a Answers) {
    let counters = &answers.counters;
    let count = |value: Option<&u64>| Value::Count(value.copied().unwrap_or(0));
    for kind in Kind::ALL {
        for how in RevocationHow::ALL {
            let value = count(counters.revocations.get(&(kind, how)));
            out.add(&c::REVOCATIONS, [group, kind.label(), how.label()], value);
        }
    }
    for kind in Kind::ALL {
        let value = count(counters.assignments.get(&kind));
        out.add(&c::ASSIGNMENTS, [group, kind.label()], value);
    }
    for error in AssignmentError::ALL {
        let value = count(counters.assignment_errors.get(&error));
        out.add(&c::ASSIGNMENT_ERRORS, [group, error.label()], value);
    }
    out.add(
        &c::LEADER_CHANGES,
        [group],
        Value::Count(counters.leader_changes),
    );
}

fn configured<'a>(out: &mut Collected<'a>, group: &'a str, answers: &'a Answers) {
    let Some(configured) = &answers.configured else {
        return;
    };
    let tasks = configured.connectors.iter().fold(0u64, |sum, connector| {
        sum.saturating_add(u64::try_from(connector.tasks).unwrap_or(0))
    });
    let connectors = Value::size(configured.connectors.len());
    out.add(&c::CONFIGURED, [group, Kind::Connector.label()], connectors);
    out.add(
        &c::CONFIGURED,
        [group, Kind::Task.label()],
        Value::Count(tasks),
    );
}

fn unassigned<'a>(
    out: &mut Collected<'a>,
    group: &'a str,
    items: &'a [UnassignedAnswer],
    subjects_max: usize,
) {
    let mut by_kind: BTreeMap<(Kind, UnassignedReason), u64> = BTreeMap::new();
    let mut by_connector: BTreeMap<(&str, UnassignedReason), u64> = BTreeMap::new();
    for unassigned in items {
        let kind = match unassigned.item.task {
            None => Kind::Connector,
            Some(_) => Kind::Task,
        };
        *by_kind.entry((kind, unassigned.reason)).or_default() += 1;
        if kind == Kind::Task {
            let key = (&*unassigned.item.connector, unassigned.reason);
            *by_connector.entry(key).or_default() += 1;
        }
    }
    for kind in Kind::ALL {
        for reason in UnassignedReason::ALL {
            let count = by_kind.get(&(kind, reason)).copied().unwrap_or(0);
            out.add(
                &c::UNASSIGNED,
                [group, kind.label(), reason.label()],
                Value::Count(count),
            );
        }
    }
    let (shown, left_out) = largest(by_connector, subjects_max);
    out.dropped = out.dropped.saturating_add(left_out);
    for ((connector, reason), count) in shown {
        out.add(
            &c::UNASSIGNED_TASKS,
            [group, connector, reason.label()],
            Value::Count(count),
        );
    }
}

fn protocol<'a>(
    out: &mut Collected<'a>,
    group: &'a str,
    answer: &'a GroupAnswer,
    subjects_max: usize,
) {
    match answer.downgraded.as_deref() {
        None => out.add(&c::PROTOCOL_DOWNGRADED, [group, ""], Value::truth(false)),
        Some([]) => out.add(&c::PROTOCOL_DOWNGRADED, [group, ""], Value::truth(true)),
        Some(workers) => {
            let workers = workers.iter().map(|worker| (&**worker, 1)).collect();
            let (shown, left_out) = largest(workers, subjects_max);
            out.dropped = out.dropped.saturating_add(left_out);
            for (worker, _) in shown {
                out.add(&c::PROTOCOL_DOWNGRADED, [group, worker], Value::truth(true));
            }
        }
    }
}

/// What is said of a worker. Members that share a label are taken together: their
/// work is added, of their timeouts the smallest counts, since it ends first.
#[derive(Debug)]
struct Worker {
    connectors: u64,
    tasks: u64,
    session_timeout_ms: Option<i32>,
    rebalance_timeout_ms: Option<i32>,
}

fn workers<'a>(out: &mut Collected<'a>, group: &'a str, answer: &'a GroupAnswer) {
    let mut workers: BTreeMap<&str, Worker> = BTreeMap::new();
    for member in &answer.members {
        let tasks = member
            .owned
            .iter()
            .filter(|item| item.task.is_some())
            .count();
        let connectors = member.owned.len().saturating_sub(tasks);
        let worker = workers.entry(&member.worker).or_insert(Worker {
            connectors: 0,
            tasks: 0,
            session_timeout_ms: None,
            rebalance_timeout_ms: None,
        });
        worker.connectors += u64::try_from(connectors).unwrap_or(0);
        worker.tasks += u64::try_from(tasks).unwrap_or(0);
        let least = |known: Option<i32>, told: Option<i32>| known.into_iter().chain(told).min();
        worker.session_timeout_ms = least(worker.session_timeout_ms, member.session_timeout_ms);
        worker.rebalance_timeout_ms =
            least(worker.rebalance_timeout_ms, member.rebalance_timeout_ms);
    }
    for (worker, told) in workers {
        for (kind, owned) in [(Kind::Connector, told.connectors), (Kind::Task, told.tasks)] {
            let labels = [group, worker, kind.label()];
            out.add(&c::WORKER_ASSIGNMENTS, labels, Value::Count(owned));
        }
        let timeouts = [told.session_timeout_ms, told.rebalance_timeout_ms];
        for (timeout, ms) in c::TIMEOUTS.into_iter().zip(timeouts) {
            let labels = [group, worker, timeout];
            if let Some(ms) = ms {
                out.add(&c::WORKER_TIMEOUT, labels, Value::Millis(i64::from(ms)));
            }
        }
    }
}
