//! The families about episodes, from the answers of one group.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_core::answers::{
    self, Answers, Cause, Counters, DepartureHow, EpisodeOutcome, EpisodesAnswer, GroupState,
    LossEnd, Outcome, Phase,
};
use evenkeel_core::facts::ids::Kind;

use super::exemplars::Traced;
use super::{Collected, Exemplar, Histogram, Value};
use crate::show::catalog as c;

/// Adds the series of one group whose records are read.
pub(super) fn fill<'a>(
    out: &mut Collected<'a>,
    answers: &'a Answers,
    traced: Option<&BTreeSet<Arc<str>>>,
) {
    let group = answers.settings.group.as_str();
    counters(out, group, answers, &Traced::of(answers, traced));
    if let Some(episodes) = &answers.episodes {
        now(out, group, answers, episodes);
    }
}

fn now<'a>(
    out: &mut Collected<'a>,
    group: &'a str,
    answers: &'a Answers,
    episodes: &'a EpisodesAnswer,
) {
    let rebalancing = matches!(
        answers.state,
        Some(GroupState::PreparingRebalance | GroupState::CompletingRebalance)
    );
    let active = episodes.active_since;
    let in_progress = Value::truth(rebalancing || active.is_some());
    out.add(&c::REBALANCE_IN_PROGRESS, [group], in_progress);
    let lasted = answers
        .now
        .zip(active)
        .map(|(now, since)| now.since_ms(since));
    let lasted = Value::Millis(lasted.unwrap_or(0).max(0));
    out.add(&c::REBALANCE_ACTIVE, [group], lasted);
    if let Some(newest) = episodes.open.as_ref().or(episodes.closed.last()) {
        let labels = [
            group,
            newest.cause.label(),
            newest.subject.as_deref().unwrap_or(""),
            newest
                .outcome
                .map_or(c::EPISODE_OPEN, EpisodeOutcome::label),
        ];
        out.add(&c::EPISODE_INFO, labels, Value::Count(1));
    }
    let departed: BTreeMap<Option<DepartureHow>, u64> = episodes.departed.iter().copied().collect();
    let hows = DepartureHow::ALL.map(Some).into_iter().chain([None]);
    for how in hows {
        let count = departed.get(&how).copied().unwrap_or(0);
        let label = how.map_or(c::UNSETTLED, DepartureHow::label);
        out.add(&c::DEPARTED_WORKERS, [group, label], Value::Count(count));
    }
    let present: BTreeSet<&str> = workers(answers).collect();
    for skew in &episodes.skews {
        if present.contains(&*skew.worker) {
            let labels = [group, &*skew.worker];
            out.add(&c::CLOCK_SKEW, labels, Value::Millis(skew.ms));
        }
    }
}

fn counters<'a>(
    out: &mut Collected<'a>,
    group: &'a str,
    answers: &'a Answers,
    traced: &Traced<'_>,
) {
    let counters = &answers.counters;
    let pairs: BTreeSet<(Cause, Outcome)> = c::generation_pairs()
        .into_iter()
        .chain(counters.generations.keys().copied())
        .collect();
    for pair in pairs {
        let (cause, outcome) = pair;
        let count = counters.generations.get(&pair).copied().unwrap_or(0);
        let labels = [group, cause.label(), outcome.label()];
        out.add(&c::GENERATIONS, labels, Value::Count(count));
    }
    for cause in Cause::ALL {
        let count = counters.rebalances.get(&cause).copied().unwrap_or(0);
        out.add(&c::REBALANCES, [group, cause.label()], Value::Count(count));
    }
    let of_it = &counters.rebalance_duration;
    let duration = histogram(of_it, traced.durations(of_it));
    out.add(&c::REBALANCE_DURATION, [group], duration);
    let none = answers::Histogram::default();
    for phase in Phase::ALL {
        let of_it = counters.phases.get(&phase).unwrap_or(&none);
        let lasted = histogram(of_it, traced.phases(phase, of_it));
        out.add(&c::PHASE_DURATION, [group, phase.label()], lasted);
    }
    for phase in Phase::ALL {
        let count = counters.phases_unmeasured.get(&phase).copied().unwrap_or(0);
        out.add(
            &c::PHASE_UNMEASURED,
            [group, phase.label()],
            Value::Count(count),
        );
    }
    for kind in Kind::ALL {
        for end in LossEnd::ALL {
            let count = counters.lost.get(&(kind, end)).copied().unwrap_or(0);
            let labels = [group, kind.label(), end.label()];
            out.add(&c::LOST_ASSIGNMENTS, labels, Value::Count(count));
        }
    }
    let of_it = &counters.lost_duration;
    let lasted = histogram(of_it, traced.losses(of_it));
    out.add(&c::LOST_DURATION, [group], lasted);
    departures(out, group, answers, counters);
}

/// Workers that are there start at zero; those that left keep what was counted.
fn departures<'a>(
    out: &mut Collected<'a>,
    group: &'a str,
    answers: &'a Answers,
    counters: &'a Counters,
) {
    let counted = counters.departures.keys().map(|(worker, _)| &**worker);
    let all: BTreeSet<&str> = counted.chain(workers(answers)).collect();
    let mut counts: BTreeMap<(&str, DepartureHow), u64> = BTreeMap::new();
    for ((worker, how), count) in &counters.departures {
        counts.insert((worker, *how), *count);
    }
    for worker in all {
        for how in DepartureHow::ALL {
            let count = counts.get(&(worker, how)).copied().unwrap_or(0);
            let labels = [group, worker, how.label()];
            out.add(&c::DEPARTURES, labels, Value::Count(count));
        }
    }
}

fn workers(answers: &Answers) -> impl Iterator<Item = &str> {
    let members = answers.group.iter().flat_map(|group| &group.members);
    members.map(|member| &*member.worker)
}

fn histogram(counted: &answers::Histogram, exemplars: Vec<(usize, Exemplar)>) -> Value {
    let mut below = 0_u64;
    let mut bucket = |(edge_ms, count): (&u64, &u64)| {
        below = below.saturating_add(*count);
        (seconds(*edge_ms), below)
    };
    let edges = answers::Histogram::EDGES_MS.iter();
    let buckets = edges.zip(&counted.counts).map(&mut bucket).collect();
    Value::Histogram(Histogram {
        buckets,
        count: counted.count,
        sum: seconds(counted.sum_ms),
        exemplars,
    })
}

/// Milliseconds are exact in seconds up to a quarter of a million years.
#[allow(clippy::cast_precision_loss)]
pub(super) fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
