//! The families about episodes: what people call rebalances, why they came about, what was
//! lost, and how long it took.

use evenkeel_core::answers::{Cause, DepartureHow, EpisodeOutcome, LossEnd, Outcome, Phase};

use super::group::{GROUP, KIND, WORKER, counter, gauge};
use super::{Count, Family, Label, MetricType, Scope, Values};

/// The value of `outcome` in `evenkeel_episode_info` while the episode is open.
pub const EPISODE_OPEN: &str = "open";
/// The value of `how` in `evenkeel_departed_workers` while it is not settled.
pub const UNSETTLED: &str = "unsettled";
/// Series of a histogram: its edges, the bucket that holds everything, sum and count.
const HISTOGRAM: usize = evenkeel_core::answers::Histogram::EDGES_MS.len() + 3;

const CAUSE: Label = Label {
    name: "cause",
    values: Values::Closed(|| Cause::ALL.map(Cause::label).to_vec()),
};

const fn histogram(name: &'static str, help: &'static str) -> Family {
    Family::new(name, MetricType::Histogram, Scope::Group, help)
}

/// Causes and outcomes that can occur together.
#[must_use]
pub fn generation_pairs() -> Vec<(Cause, Outcome)> {
    let of = |cause: Cause| {
        let outcomes = Outcome::ALL.into_iter().filter(move |outcome| match cause {
            // Only the round that the last member leaves ends without members.
            Cause::GroupEmptied => *outcome == Outcome::Emptied,
            Cause::Unknown => true,
            _ => *outcome != Outcome::Emptied,
        });
        outcomes.map(move |outcome| (cause, outcome))
    };
    Cause::ALL.into_iter().flat_map(of).collect()
}

pub static GENERATIONS: Family = counter(
    "evenkeel_generations_total",
    "Generations whose record was written while the agent watched, each counted once its cause and its outcome are settled; one that a worker left without a word waits until that worker is back, or the episode is over. Outcomes: completed (its assignment was taken), aborted (proven to have reached nobody), mismatch (the leader answered CONFIG_MISMATCH), emptied (it ended without members), unknown (not proven). A number without a record has the cause of the record that follows it.",
)
.labels(&[
    GROUP,
    CAUSE,
    Label {
        name: "outcome",
        values: Values::Closed(|| Outcome::ALL.map(Outcome::label).to_vec()),
    },
])
.count(Count::PerGroup(74));

pub static REBALANCES: Family = counter(
    "evenkeel_rebalances_total",
    "Episodes that closed while the agent watched: what a person calls a rebalance, one stretch of unrest over one or more generations, the scheduled delay in it included.",
)
.labels(&[GROUP, CAUSE])
.count(Count::PerGroup(Cause::ALL.len()));

pub static REBALANCE_IN_PROGRESS: Family = gauge(
    "evenkeel_rebalance_in_progress",
    "1 while the group is not stable, or work is stopping or starting. 0 while only a scheduled delay is waited for.",
)
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static REBALANCE_ACTIVE: Family = gauge(
    "evenkeel_rebalance_active_seconds",
    "How long the active stretch that runs has lasted, from its first sign in the logs; 0 when none runs.",
)
.unit("seconds")
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static REBALANCE_DURATION: Family = histogram(
    "evenkeel_rebalance_duration_seconds",
    "Active time of episodes that closed while the agent watched, without the time in which only a scheduled delay was waited for. A join phase whose beginning nothing dates is not in it, unless this agent's polls saw it begin: so sidecars may differ by that.",
)
.unit("seconds")
.labels(&[GROUP])
.count(Count::PerGroup(HISTOGRAM));

pub static PHASE_DURATION: Family = histogram(
    "evenkeel_rebalance_phase_duration_seconds",
    "Phases of rounds, where they could be measured: join (as polls saw it begin, to the end that the record dates), sync (the leader computes and hands out), stop and start (until the slowest worker said so). Phases overlap and are not to be added.",
)
.unit("seconds")
.labels(&[
    GROUP,
    Label {
        name: "phase",
        values: Values::Closed(|| Phase::ALL.map(Phase::label).to_vec()),
    },
])
.count(Count::PerGroup(4 * HISTOGRAM));

pub static PHASE_UNMEASURED: Family = counter(
    "evenkeel_phase_unmeasured_total",
    "Phases that took place and could not be measured: polls did not see the join phase begin, or a worker did not say that it stopped or started something.",
)
.labels(&[
    GROUP,
    Label {
        name: "phase",
        values: Values::Closed(|| Phase::ALL.map(Phase::label).to_vec()),
    },
])
.count(Count::PerGroup(Phase::ALL.len()));

pub static EPISODE_INFO: Family = Family::new(
    "evenkeel_episode_info",
    MetricType::Info,
    Scope::Group,
    "The newest episode: its cause, the worker or connector that it is about, and how it ended; open while it goes on. Absent until one was seen.",
)
.labels(&[
    GROUP,
    CAUSE,
    Label {
        name: "subject",
        values: Values::Open("a worker's `host:port`, a connector's name, or empty"),
    },
    Label {
        name: "outcome",
        values: Values::Closed(|| {
            let mut values = EpisodeOutcome::ALL.map(EpisodeOutcome::label).to_vec();
            values.push(EPISODE_OPEN);
            values
        }),
    },
])
.count(Count::OnDemand);

pub static LOST_ASSIGNMENTS: Family = counter(
    "evenkeel_lost_assignments_total",
    "Connectors and tasks whose loss of their owner ended while the agent watched: reclaimed (their owner, or who came in its place, has them again), reassigned (another worker has them), removed (they are not configured any more), group_gone (the group was deleted).",
)
.labels(&[
    GROUP,
    KIND,
    Label {
        name: "outcome",
        values: Values::Closed(|| LossEnd::ALL.map(LossEnd::label).to_vec()),
    },
])
.count(Count::PerGroup(8));

pub static LOST_DURATION: Family = histogram(
    "evenkeel_lost_assignment_duration_seconds",
    "How long lost work was without an owner: from its stop where its owner wrote so, else from the moment at which the group was without the owner, which is later.",
)
.unit("seconds")
.labels(&[GROUP])
.count(Count::PerGroup(HISTOGRAM));

pub static DEPARTURES: Family = counter(
    "evenkeel_departures_total",
    "Workers that left while the agent watched, once it is settled how: graceful (it stopped its work first), cut_short (it was killed while it stopped), crashed (it wrote nothing and did not come back as the same process for ten minutes, or another one came in its place), unresponsive (it came back with its claim), unknown (it had nothing to stop, or its address is not its own).",
)
.labels(&[
    GROUP,
    WORKER,
    Label {
        name: "how",
        values: Values::Closed(|| DepartureHow::ALL.map(DepartureHow::label).to_vec()),
    },
])
.count(Count::PerWorker(DepartureHow::ALL.len()));

pub static DEPARTED_WORKERS: Family = gauge(
    "evenkeel_departed_workers",
    "Workers that left in the last ten minutes, or whose work is still lost, by how; unsettled ones wrote nothing and may still come back.",
)
.labels(&[
    GROUP,
    Label {
        name: "how",
        values: Values::Closed(|| {
            let mut values = DepartureHow::ALL.map(DepartureHow::label).to_vec();
            values.push(UNSETTLED);
            values
        }),
    },
])
.count(Count::PerGroup(DepartureHow::ALL.len() + 1));

pub static CLOCK_SKEW: Family = gauge(
    "evenkeel_clock_skew_seconds",
    "How far a worker's clock is ahead of the coordinator's, by pairs of records whose order is known; 0 where that is possible. Absent without evidence.",
)
.unit("seconds")
.labels(&[GROUP, WORKER])
.count(Count::OnDemand);
