//! The one projection from what is known to what is exposed: a pure function of a
//! [`View`], made anew at each scrape, so that what vanished is not shown and nothing
//! is shown twice.

mod agent;
mod bound;
mod checks;
mod cost;
mod derived;
mod episodes;
mod exemplars;
mod group;
mod state;

use std::collections::BTreeSet;

use evenkeel_core::answers::{Answers, Role};
use evenkeel_core::facts::time::ArrivalTime;

use crate::config::GroupSeries;
use crate::show::catalog::{self, Family};
use crate::show::health::{Health, health};
use crate::show::view::{SeriesLimits, View};

/// Everything one scrape says.
#[derive(Debug)]
pub struct Snapshot<'a> {
    /// The families that have series, in the order of the catalogue.
    pub families: Vec<Samples<'a>>,
    /// Samples in all.
    pub samples: usize,
    /// Series that a bound kept out.
    pub dropped: u64,
}

/// The series of one family.
#[derive(Debug)]
pub struct Samples<'a> {
    /// Which.
    pub family: &'static Family,
    /// Its series.
    pub series: Vec<Series<'a>>,
}

/// One series.
#[derive(Debug, Clone, PartialEq)]
pub struct Series<'a> {
    /// The values of the family's labels, in their order.
    pub labels: Vec<&'a str>,
    /// Its value.
    pub value: Value,
}

/// The value of a series.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A whole number that may be negative.
    Whole(i64),
    /// An instant or a duration.
    Millis(i64),
    /// Any other number.
    Real(f64),
    /// Counts by upper bound.
    Histogram(Histogram),
}

/// A histogram with fixed edges.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    /// Upper bound and how many values lie at or below it (cumulative), smallest
    /// first, without the last bucket that holds everything.
    pub buckets: Vec<(f64, u64)>,
    /// How many values in all.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// Examples of what was counted, by the place of their bucket; that after the last is
    /// the bucket that holds everything. At most one a bucket, in their order.
    pub exemplars: Vec<(usize, Exemplar)>,
}

/// Where to read about one of the values that a bucket counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Exemplar {
    /// The trace, in hexadecimal.
    pub trace_id: String,
    /// The span of that trace, in hexadecimal.
    pub span_id: String,
    /// The value.
    pub value: f64,
    /// When it was counted, in milliseconds.
    pub at_ms: i64,
}

/// The families of a view.
#[must_use]
pub fn families(view: &View) -> Snapshot<'_> {
    let now = view.now.unwrap_or(ArrivalTime(0));
    let groups = distinct(view, now);
    let mut own = Collected::default();
    agent::fill(&mut own, view, &groups);
    let mut told = Collected::default();
    for (answers, health) in &groups {
        if health.current && is_shown_here(view.limits.group_series, answers) {
            let traced = view.agent.traced.get(answers.settings.group.as_str());
            let traced = traced.map(|traced| &**traced);
            group::fill(&mut told, answers, view.limits.subjects_max, traced);
        }
    }
    finish(own, told, view)
}

/// Members up to which every agent shows the group: five copies of 300 series are cheap,
/// and copies agree.
const SHOWN_BY_ALL_MAX: usize = 5;

/// Whether this agent is one of those that show the group's series.
fn is_shown_here(policy: GroupSeries, answers: &Answers) -> bool {
    let chosen = answers
        .own
        .as_ref()
        .is_none_or(|own| matches!(own.role, Role::Leader | Role::Deputy));
    let members = answers
        .group
        .as_ref()
        .map_or(0, |group| group.members.len());
    match policy {
        GroupSeries::Always => true,
        GroupSeries::Never => false,
        GroupSeries::LeaderAndDeputy => chosen,
        GroupSeries::Auto => chosen || members <= SHOWN_BY_ALL_MAX,
    }
}

/// The groups, each once: were one configured twice, the first would speak.
fn distinct(view: &View, now: ArrivalTime) -> Vec<(&Answers, Health)> {
    let mut seen = BTreeSet::new();
    view.groups
        .iter()
        .filter(|answers| seen.insert(answers.settings.group.as_str()))
        .map(|answers| (&**answers, health(answers, now)))
        .collect()
}

/// Puts the agent's own series and the groups' together, within the bound, and counts.
fn finish<'a>(own: Collected<'a>, told: Collected<'a>, view: &View) -> Snapshot<'a> {
    let mut dropped = own.dropped.saturating_add(told.dropped);
    let room = room_for_groups(view.limits, own.samples());
    let (kept, left_out) = bound::within(told.families, room);
    dropped = dropped.saturating_add(left_out);
    let mut families = kept;
    families.extend(own.families);

    let mut totals = Collected {
        families,
        dropped: 0,
    };
    let total_dropped = view.series_dropped_before.saturating_add(dropped);
    totals.add(&catalog::SERIES_DROPPED, [], Value::Count(total_dropped));
    let samples = totals.samples().saturating_add(1);
    totals.add(
        &catalog::SERIES,
        [],
        Value::Count(u64::try_from(samples).unwrap_or(u64::MAX)),
    );
    let mut families = totals.families;
    families.sort_by_key(|samples| position(samples.family));
    Snapshot {
        families,
        samples,
        dropped,
    }
}

/// What the bound leaves for group series beside the agent's own and the two totals.
fn room_for_groups(limits: SeriesLimits, own: usize) -> usize {
    limits.series_max.saturating_sub(own).saturating_sub(2)
}

fn position(family: &Family) -> usize {
    let place = catalog::ALL
        .iter()
        .position(|known| known.name == family.name);
    debug_assert!(place.is_some(), "every exposed family is in the catalogue");
    place.unwrap_or(usize::MAX)
}

/// Series by family, while they are collected.
#[derive(Debug, Default)]
struct Collected<'a> {
    families: Vec<Samples<'a>>,
    dropped: u64,
}

// === impl Collected ===

impl<'a> Collected<'a> {
    fn add<const N: usize>(&mut self, family: &'static Family, labels: [&'a str; N], value: Value) {
        debug_assert_eq!(
            N,
            family.labels.len(),
            "a value for each label of {}",
            family.name
        );
        let series = Series {
            labels: labels.to_vec(),
            value,
        };
        // Series come family by family, so the one wanted is the last or near it.
        match self
            .families
            .iter_mut()
            .rev()
            .find(|known| known.family.name == family.name)
        {
            Some(known) => known.series.push(series),
            None => self.families.push(Samples {
                family,
                series: vec![series],
            }),
        }
    }

    fn samples(&self) -> usize {
        self.families.iter().map(Samples::samples).sum()
    }
}

// === impl Samples ===

impl Samples<'_> {
    /// Lines these series take in a scrape.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.series
            .iter()
            .map(|series| series.value.samples())
            .sum()
    }
}

// === impl Value ===

impl Value {
    /// A truth as 0 or 1.
    #[must_use]
    pub fn truth(holds: bool) -> Self {
        Self::Count(u64::from(holds))
    }

    /// A size of something in memory.
    #[must_use]
    pub fn size(size: usize) -> Self {
        Self::Count(u64::try_from(size).unwrap_or(u64::MAX))
    }

    fn samples(&self) -> usize {
        match self {
            // The edges, the bucket that holds everything, the sum and the count.
            Self::Histogram(histogram) => histogram.buckets.len().saturating_add(3),
            Self::Count(_) | Self::Whole(_) | Self::Millis(_) | Self::Real(_) => 1,
        }
    }
}

#[cfg(test)]
mod tests;
