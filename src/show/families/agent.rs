//! The families about the agent itself: always there, whatever it sees.

use std::collections::BTreeMap;

use evenkeel_core::answers::{Answers, InputAnswer, Mode, Role};
use evenkeel_core::facts::input::Topic;
use evenkeel_core::wire::DecodeError;

use super::bound::largest;
use super::{Collected, Value};
use crate::show::catalog::{self as c, Family};
use crate::show::health::{Health, is_heard_of};
use crate::show::view::View;

/// The label `version` under which records beyond the bound are summed.
const OTHER: &str = "other";

static PROCESS: [&Family; 7] = [
    &c::PROCESS_CPU,
    &c::PROCESS_OPEN_FDS,
    &c::PROCESS_MAX_FDS,
    &c::PROCESS_VIRTUAL_MEMORY,
    &c::PROCESS_RESIDENT_MEMORY,
    &c::PROCESS_START_TIME,
    &c::PROCESS_THREADS,
];

/// Adds the agent's own series, without the two that count series.
pub(super) fn fill<'a>(out: &mut Collected<'a>, view: &'a View, groups: &[(&'a Answers, Health)]) {
    for (answers, health) in groups {
        let group = answers.settings.group.as_str();
        for mode in Mode::ALL {
            out.add(
                &c::MODE,
                [group, mode.label()],
                Value::truth(mode == answers.mode),
            );
        }
        out.add(&c::TRUST, [group], Value::truth(health.trusted));
        let leads = answers
            .own
            .as_ref()
            .is_some_and(|own| own.role == Role::Leader);
        out.add(&c::REPORTER, [group], Value::truth(leads && health.current));
        if let Some(own) = &answers.own {
            out.add(&c::SIDECAR_INFO, [group, &own.worker], Value::Count(1));
        }
        for topic in Topic::ALL {
            input(out, view, answers, topic);
        }
        polls(out, view, group);
        findings(out, group, answers, view.limits.subjects_max);
    }
    for (usage, at_seconds) in &view.agent.expiries {
        let at = Value::Millis(at_seconds.saturating_mul(1000));
        out.add(&c::CERTIFICATE_EXPIRY, [usage.label()], at);
    }
    for (result, count) in view.agent.reloads.results() {
        out.add(&c::CONFIG_RELOADS, [result], Value::Count(count));
    }
    if let Some(traces) = view.agent.traces {
        out.add(&c::SPANS_EXPORTED, [], Value::Count(traces.exported));
        out.add(&c::SPANS_FAILED, [], Value::Count(traces.failed));
        out.add(&c::SPANS_DROPPED, [], Value::Count(traces.dropped));
        out.add(&c::SPANS_WAITING, [], Value::Count(traces.waiting));
    }
    let build = &view.agent.build;
    out.add(
        &c::BUILD_INFO,
        [&build.version, &build.librdkafka],
        Value::Count(1),
    );
    if let Some(process) = &view.process {
        for family in PROCESS {
            if let Some(value) = process.get(family.name) {
                out.add(family, [], Value::Real(value));
            }
        }
    }
}

fn input<'a>(out: &mut Collected<'a>, view: &'a View, answers: &'a Answers, topic: Topic) {
    let group = answers.settings.group.as_str();
    let labels = [group, topic.label()];
    let answer = answers.inputs.iter().find(|input| input.topic == topic);
    let caught_up = answer.is_some_and(|input| input.caught_up);
    out.add(&c::INPUT_CAUGHT_UP, labels, Value::truth(caught_up));
    let read = view.agent.input(group, topic);
    out.add(
        &c::RECORDS,
        labels,
        Value::Count(read.map_or(0, |read| read.records_read)),
    );
    if let Some(start_up) = read.and_then(|read| read.start_up) {
        out.add(&c::INPUT_START_UP, labels, Value::Real(start_up.ratio()));
    }
    if let Some(input) = answer {
        if is_heard_of(input) {
            let lag = Value::Whole(input.lag_records.max(0));
            out.add(&c::INPUT_LAG, labels, lag);
        }
        undecoded(out, group, input, view.limits.subjects_max);
    }
}

fn polls<'a>(out: &mut Collected<'a>, view: &'a View, group: &'a str) {
    let stats = view.agent.polls.iter().find(|polls| &*polls.group == group);
    let answered = stats.map_or([0; 3], |polls| polls.answered);
    for (api, count) in c::POLL_APIS.into_iter().zip(answered) {
        out.add(&c::POLLS, [group, api], Value::Count(count));
    }
    let failed = stats.map_or(0, |polls| polls.failed);
    out.add(&c::POLLS_FAILED, [group], Value::Count(failed));
}

fn undecoded<'a>(
    out: &mut Collected<'a>,
    group: &'a str,
    input: &'a InputAnswer,
    subjects_max: usize,
) {
    let topic = input.topic.label();
    // Counters start at zero, so that the first error is an increase.
    let kinds: &'static [&'static str] = match input.topic {
        Topic::Offsets => &DecodeError::BINARY_LABELS,
        Topic::Config | Topic::Status => &DecodeError::TEXT_LABELS,
    };
    for kind in kinds {
        let count = input.decode_errors.get(*kind).copied().unwrap_or(0);
        out.add(&c::DECODE_ERRORS, [group, topic, kind], Value::Count(count));
    }
    // Summed, not dropped: these count records, and none may be lost.
    let mut other = input.unknown.get(OTHER).copied().unwrap_or(0);
    let named = input
        .unknown
        .iter()
        .filter(|(version, _)| *version != OTHER);
    let room = subjects_max.saturating_sub(1).max(1);
    for (index, (version, count)) in named.enumerate() {
        if index < room {
            let labels = [group, topic, version];
            out.add(&c::UNKNOWN_RECORDS, labels, Value::Count(*count));
        } else {
            other = other.saturating_add(*count);
        }
    }
    if other > 0 {
        out.add(
            &c::UNKNOWN_RECORDS,
            [group, topic, OTHER],
            Value::Count(other),
        );
    }
}

fn findings<'a>(
    out: &mut Collected<'a>,
    group: &'a str,
    answers: &'a Answers,
    subjects_max: usize,
) {
    // Two findings of a kind about one subject differ in their text only, which is
    // no label.
    let distinct: BTreeMap<(&str, &str), u64> = answers
        .findings
        .iter()
        .map(|finding| ((finding.finding, finding.subject.as_str()), 1))
        .collect();
    let (shown, left_out) = largest(distinct, subjects_max);
    out.dropped = out.dropped.saturating_add(left_out);
    for ((finding, subject), _) in shown {
        out.add(&c::FINDING_INFO, [group, finding, subject], Value::Count(1));
    }
}
